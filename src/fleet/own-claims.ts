// The claims of the leader's own process. They stand among those of members, so that no host is served first; what a transaction assigned to them counts once it is
// committed.

import type { ArgumentsOf } from "../scheduler/operations/core.ts";
import type { Settlement } from "../scheduler/transaction/pending.ts";
import type { StandingClaim, StandingClaims } from "./standing.ts";

export class OwnClaims {
	private readonly open = new Map<StandingClaim, (outcome: Settlement) => void>();
	/** What the transaction that is under way has decided. */
	private decided: [StandingClaim, Settlement][] = [];

	constructor(private readonly standing: StandingClaims) {}

	/** `ended` resolves when `done` was called: if the commit that decides the claim is in doubt, the next term knows. */
	add(claim: ArgumentsOf<"claim">, until: number, done: (outcome: Settlement) => void): { one: StandingClaim; ended: Promise<void> } {
		const one: StandingClaim = { claim, until, settle: (outcome) => void this.decided.push([one, outcome]) };
		const ended = new Promise<void>((resolve) => {
			this.open.set(one, (outcome) => {
				done(outcome);
				resolve();
			});
		});
		this.standing.add(one);
		return { one, ended };
	}

	/** A transaction begins. */
	begin(): void {
		this.decided = [];
	}

	committed(): void {
		const { decided } = this;
		this.decided = [];
		for (const [claim, outcome] of decided) this.release(claim, outcome);
	}

	/** The term is over. `wasCommitted`: whether the last commit was carried out all the same; it may have assigned jobs, and then their host must know of its runs. */
	over(wasCommitted: boolean): void {
		if (wasCommitted) this.committed();
		for (const claim of [...this.open.keys()]) this.release(claim, { value: [] });
	}

	private release(claim: StandingClaim, outcome: Settlement): void {
		const done = this.open.get(claim);
		this.standing.remove(claim);
		this.open.delete(claim);
		done?.(outcome);
	}
}
