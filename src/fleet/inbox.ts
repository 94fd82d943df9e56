// The leader's inbox: the requests of all members, each carried out in a transaction of the engine, with its reply. Claims that can start nothing stand.

import { type Op, TermOver } from "../contracts/store.ts";
import { SluiceError } from "../core/errors.ts";
import { operationOf } from "../scheduler/operations/core.ts";
import type { Engine } from "../scheduler/transaction/group-commit.ts";
import { answer, type Settlement } from "../scheduler/transaction/pending.ts";
import type { Tx } from "../scheduler/transaction/tx.ts";
import type { Consumed } from "./consumed.ts";
import type { LeaderStore, Request, RequestId } from "./database.ts";
import { MESSAGES } from "./messages.ts";
import type { StandingClaim, StandingClaims } from "./standing.ts";
import type { Fate, Incoming, TermStore } from "./term-store.ts";

/** Requests under way at once: the engine takes them into its next transactions. */
const UNDER_WAY_MAX = 500;
/** A request that so many leaders have found is set aside: it may be what ended them. */
const TRIES_MAX = 3;

export const nothing = (): Op<void> => answer(undefined);
const keyOf = ({ member, n }: RequestId): string => `${member}/${n}`;

export type InboxParts = {
	engine: Engine;
	inner: LeaderStore;
	store: TermStore;
	consumed: Consumed;
	standing: StandingClaims;
	/** Runs an operation of the leader itself. */
	run(task: () => Op<void>, settled?: () => void): Promise<void>;
	isOver(): boolean;
	/** A member speaks later messages than this leader. */
	handOver(): void;
	/** An operation failed: the term may be over. */
	noteFailure(error: unknown): void;
};

export class Inbox {
	/** Requests that were read and are not consumed, by member and number; below, the standing claims among them. */
	private readonly known = new Map<string, Incoming>();
	private readonly claims = new Map<string, StandingClaim>();
	private underWay = 0;
	/** Requests that wait for those under way. */
	private readonly backlog: Incoming[] = [];

	constructor(private readonly parts: InboxParts) {}

	/** Requests that an earlier leader left behind come one by one, since one of them may have ended it. */
	async carryOutOld(): Promise<void> {
		const { inner, isOver } = this.parts;
		for (const request of await inner.requests("all")) {
			const one = this.accept(request);
			if (!one || isOver()) continue;
			if (one.until === null && one.tries + 1 >= TRIES_MAX) await this.setAside(one);
			else {
				if (one.until === null) await inner.countTry(one);
				await this.carryOut(one);
			}
		}
	}

	/** Reads new requests and begins to carry them out. Returns how many there were. */
	async read(which: "new" | "all"): Promise<number> {
		const accepted = (await this.parts.inner.requests(which)).flatMap((request) => this.accept(request) ?? []);
		this.backlog.push(...inRounds(accepted));
		this.carryOutSome();
		return accepted.length;
	}

	/** Drops the rows of requests that were withdrawn before they were carried out. */
	async dropWithdrawn(): Promise<void> {
		for (const one of await this.markWithdrawn()) void this.drop(one);
	}

	private carryOutSome(): void {
		while (this.underWay < UNDER_WAY_MAX) {
			const one = this.backlog.shift();
			if (!one) return;
			void this.carryOut(one);
		}
	}

	/** Undefined: the request is known already. */
	private accept(request: Request): Incoming | undefined {
		if (this.known.has(keyOf(request))) return undefined;
		const one: Incoming = { ...request, withdrawn: false };
		this.known.set(keyOf(request), one);
		return one;
	}

	private async carryOut(one: Incoming): Promise<void> {
		// A later version sent it: its host can lead, and this process cannot read the request.
		if (one.messages > MESSAGES) return this.parts.handOver();
		const settled = (outcome: Settlement) => this.parts.store.decide(one, outcome);
		if (this.parts.consumed.has(one.member, one.n)) return this.drop(one);
		const operation = operationOf(one.name);
		if (!operation) return this.parts.run(nothing, () => settled({ error: unknownOperation(one.name) }));
		if (one.until !== null && one.name === "claim") return this.letStand(one);
		const read = (): unknown => JSON.parse(one.args);
		const args = read();
		// Whether it is withdrawn counts when the transaction runs: a row that is withdrawn later makes the commit fail.
		let fate: Fate = "taken";
		const task = (tx: Tx) => {
			fate = one.withdrawn ? "dropped" : "taken";
			return one.withdrawn ? nothing() : operation.run(tx, read());
		};
		this.underWay++;
		try {
			await this.parts.engine.run<unknown>(task, {
				by: one.by ?? undefined,
				jobs: operation.jobs?.(args) ?? [],
				locks: operation.locks?.(args) ?? [],
				phase: operation.phase ?? "any",
				settled: (outcome) => this.parts.store.decide(one, outcome, fate),
			});
		} catch (error) {
			// It was refused and the refusal is committed, or the term is over.
			if (!this.known.has(keyOf(one)) || error instanceof TermOver || this.parts.isOver()) return this.parts.noteFailure(error);
			await this.parts.run(nothing, () => settled({ error }));
		} finally {
			this.underWay--;
			this.carryOutSome();
		}
	}

	private letStand(one: Incoming): Promise<void> {
		// Explicitly: jobs that were assigned are not given back because the claim was withdrawn meanwhile. The commit fails then.
		const settle = (outcome: Settlement) => this.parts.store.decide(one, outcome, "taken");
		const claim: StandingClaim = { claim: JSON.parse(one.args), until: one.until ?? 0, settle };
		this.claims.set(keyOf(one), claim);
		this.parts.standing.add(claim);
		return this.parts.run(nothing);
	}

	private setAside(one: Incoming): Promise<void> {
		const error = new SluiceError("store", `the request ${one.name} was set aside: ${TRIES_MAX} leaders ended while they carried it out`, {
			hint: "sluice doctor shows it",
		});
		return this.parts.run(nothing, () => this.parts.store.decide(one, { error }, "aside"));
	}

	private drop(one: Incoming): Promise<void> {
		return this.parts.run(nothing, () => this.parts.store.decide(one, { value: undefined }, "dropped"));
	}

	/** The request is decided, and the decision is committed. */
	forget(one: Incoming): void {
		const key = keyOf(one);
		this.known.delete(key);
		const claim = this.claims.get(key);
		if (claim) this.parts.standing.remove(claim);
		this.claims.delete(key);
	}

	/** Marks the requests that were withdrawn, so that they have no effect. Returns those that no operation is about to drop. */
	async markWithdrawn(): Promise<Incoming[]> {
		const left: Incoming[] = [];
		for (const id of await this.parts.inner.withdrawn()) {
			const key = keyOf(id);
			const claim = this.claims.get(key);
			const one = this.known.get(key) ?? {
				...id,
				messages: MESSAGES,
				name: "",
				args: "",
				by: null,
				until: null,
				tries: 0,
				withdrawn: true,
			};
			if (claim) this.parts.standing.remove(claim);
			if (claim || !this.known.has(key)) left.push(one);
			this.known.set(key, one);
			one.withdrawn = true;
		}
		return left;
	}
}

/** Members take turns, so that one with many requests does not hold up the others. */
function inRounds(requests: readonly Incoming[]): Incoming[] {
	const queues = new Map<string, Incoming[]>();
	for (const one of requests) queues.set(one.member, [...(queues.get(one.member) ?? []), one]);
	const ordered: Incoming[] = [];
	for (let at = 0; ordered.length < requests.length; at++)
		for (const queue of queues.values()) {
			const one = queue[at];
			if (one) ordered.push(one);
		}
	return ordered;
}

const unknownOperation = (name: string) =>
	new SluiceError("store", `the leader does not know the operation ${JSON.stringify(name)}`, {
		hint: "let a host of this version lead (host.lead: prefer), or upgrade the others",
	});
