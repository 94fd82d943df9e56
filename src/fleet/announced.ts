// The claims that this process has announced to the leader: each stands there until jobs are assigned to it, it expires, or it is withdrawn. The next claim of
// the same worker takes what was assigned, and announces again.

import type { Claimed } from "../contracts/scheduler.ts";
import type { ArgumentsOf } from "../scheduler/operations/core.ts";
import type { Settlement } from "../scheduler/transaction/pending.ts";

export type ClaimArguments = ArgumentsOf<"claim">;
/** How long a claim stands: a host that died may be assigned jobs for so long. */
const STAND_MS = 10_000;

type Slot = {
	worker: string;
	life: ClaimArguments["life"];
	assigned: Claimed[];
	failed: { error: unknown } | undefined;
	/** A claim stands at the leader, or is on its way. */
	isOpen: boolean;
	/** Withdraws the last claim; without effect if it is over. */
	withdraw(): Promise<void>;
};
type Parts = {
	/** Lets the claim stand at the leader until then. Returns a function that withdraws it. */
	announce(claim: ClaimArguments, until: number, done: (outcome: Settlement) => void): () => Promise<void>;
	now(): number;
	/** The next claim of a worker would bring something. */
	wake(): void;
};

export class AnnouncedClaims {
	private readonly slots = new Map<string, Slot>();

	constructor(private readonly parts: Parts) {}

	claim(claim: ClaimArguments): Claimed[] {
		const { worker, host, lanes, kinds, life } = claim;
		const key = JSON.stringify([worker, host, lanes, kinds]);
		const slot = this.slots.get(key) ?? { worker, life, assigned: [], failed: undefined, isOpen: false, withdraw: async () => {} };
		this.slots.set(key, slot);
		const { failed } = slot;
		slot.failed = undefined;
		if (failed) throw failed.error;
		// What was assigned to an earlier life of the host was given up with it: other hosts may have these jobs.
		if (slot.life !== life) slot.assigned = [];
		slot.life = life;
		const assigned = slot.assigned.splice(0);
		const max = (claim.max ?? 1) - assigned.length;
		if (!slot.isOpen && max > 0) this.announce(slot, { ...claim, max });
		return assigned;
	}

	/** The worker claims no more: returns what was assigned to it meanwhile. */
	async retire(worker: string): Promise<Claimed[]> {
		const left: Claimed[] = [];
		for (const [key, slot] of this.slots) {
			if (slot.worker !== worker) continue;
			await slot.withdraw();
			left.push(...slot.assigned);
			this.slots.delete(key);
		}
		return left;
	}

	private announce(slot: Slot, claim: ClaimArguments): void {
		slot.isOpen = true;
		slot.withdraw = this.parts.announce(claim, this.parts.now() + STAND_MS, (outcome) => {
			slot.isOpen = false;
			// The worker's next claim throws the error. It is not woken for that: it would only claim again, and be refused again.
			if ("error" in outcome) slot.failed = outcome;
			else {
				if (claim.life === slot.life) slot.assigned.push(...(outcome.value as Claimed[]));
				this.parts.wake();
			}
		});
	}
}
