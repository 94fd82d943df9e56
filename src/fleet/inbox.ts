// The leader's inbox: the requests of all members, each carried out in a transaction of the engine, with its reply. Claims that can start nothing stand.

import type { Op } from "../contracts/store.ts";
import { SluiceError } from "../core/errors.ts";
import { type ArgumentsOf, operationOf } from "../scheduler/operations/core.ts";
import type { Engine } from "../scheduler/transaction/group-commit.ts";
import { answer, type Settlement } from "../scheduler/transaction/pending.ts";
import type { Tx } from "../scheduler/transaction/tx.ts";
import type { LeaderStore, Request, RequestId } from "./database.ts";
import { DRY_RUN, MESSAGES } from "./messages.ts";
import type { StandingClaim, StandingClaims } from "./standing.ts";
import type { Fate, Incoming, TermStore } from "./term-store.ts";

/** Requests under way at once: the engine takes them into its next transactions. */
const UNDER_WAY_MAX = 500;
/** A request that so many leaders have found is set aside: it may be what ended them. */
const TRIES_MAX = 3;

export const nothing = (): Op<void> => answer(undefined);
const keyOf = ({ member, n }: RequestId): string => `${member}/${n}`;

/** `claim`: it stands. */
type Row = Incoming & { readonly request: Request; claim?: StandingClaim };

export type InboxParts = {
	engine: Engine;
	store: TermStore;
	standing: StandingClaims;
	/** Runs an operation of the leader itself. */
	run(task: () => Op<void>, settled?: () => void): Promise<void>;
	/** Whether the term is over, perhaps by this error of an operation. */
	isOver(error?: unknown): boolean;
	/** A member speaks later messages than this leader. */
	handOver(): void;
};

export class Inbox {
	/** Requests that were read and are not consumed, by member and number. */
	private readonly known = new Map<string, Row>();
	private underWay = 0;
	/** Requests that wait for those under way. */
	private readonly backlog: Row[] = [];

	constructor(private readonly parts: InboxParts) {}

	/** Requests that an earlier leader left behind come one by one, since one of them may have ended it. */
	async carryOutOld(): Promise<void> {
		const { inner } = this.parts.store;
		for (const request of await inner.requests("all")) {
			const one = this.accept(request);
			if (!one || this.parts.isOver()) continue;
			const mayBePoison = request.until === null && !request.withdrawn;
			if (mayBePoison && request.tries + 1 >= TRIES_MAX) await this.decide(one, { error: setAside(request.name) }, "aside");
			else {
				if (mayBePoison) await inner.countTry(request);
				await this.carryOut(one);
			}
		}
	}

	/** Reads requests and begins to carry out those that are new. Returns how many there were. */
	async read(which: Parameters<LeaderStore["requests"]>[0]): Promise<number> {
		const accepted = (await this.parts.store.inner.requests(which)).flatMap((request) => this.accept(request) ?? []);
		this.backlog.push(...inRounds(accepted));
		this.carryOutSome();
		return accepted.length;
	}

	/** A claim that can start nothing now stands; a transaction that assigns jobs to it, or finds that it has expired, decides it. */
	stand(one: Incoming, claim: ArgumentsOf<"claim">, until: number): StandingClaim {
		const standing: StandingClaim = { claim, until, settle: (outcome) => this.parts.store.decide(one, outcome) };
		this.parts.standing.add(standing);
		void this.parts.run(nothing);
		return standing;
	}

	private carryOutSome(): void {
		while (this.underWay < UNDER_WAY_MAX) {
			const one = this.backlog.shift();
			if (!one) return;
			this.underWay++;
			void this.carryOut(one).finally(() => {
				this.underWay--;
				this.carryOutSome();
			});
		}
	}

	/** Undefined: the request is known already. It may have been withdrawn since: then it must have no effect. */
	private accept(request: Request): Row | undefined {
		const known = this.known.get(keyOf(request));
		if (known === undefined) {
			const decided = () => {
				this.known.delete(keyOf(request));
				if (one.claim) this.parts.standing.remove(one.claim);
			};
			const one: Row = { request, withdrawn: request.withdrawn, decided };
			this.known.set(keyOf(request), one);
			return one;
		}
		known.withdrawn ||= request.withdrawn;
		if (known.withdrawn && known.claim) this.parts.standing.end(known.claim);
		return undefined;
	}

	private async carryOut(one: Row): Promise<void> {
		const { messages, name, args, by, until } = one.request;
		if (one.withdrawn || this.parts.store.consumed.has(one.request)) return this.decide(one, { value: undefined }, "dropped");
		// A later version sent it: its host can lead, and this process cannot read the request.
		if (messages > MESSAGES) return this.parts.handOver();
		const isDry = name.startsWith(DRY_RUN);
		const operation = operationOf(isDry ? name.slice(DRY_RUN.length) : name);
		if (!operation) return this.decide(one, { error: unknownOperation(name) });
		const read = (): unknown => JSON.parse(args);
		if (isDry) return this.carryOutDry(one, (tx) => operation.run(tx, read()));
		if (until !== null && name === "claim") {
			one.claim = this.stand(one, read() as ArgumentsOf<"claim">, until);
			return;
		}
		const first = read();
		// Whether it is withdrawn counts when the transaction runs: a row that is withdrawn later makes the commit fail.
		let fate: Fate = "taken";
		const task = (tx: Tx) => {
			fate = one.withdrawn ? "dropped" : "taken";
			return one.withdrawn ? nothing() : operation.run(tx, read());
		};
		try {
			await this.parts.engine.run<unknown>(task, {
				by: by ?? undefined,
				jobs: operation.jobs?.(first) ?? [],
				locks: operation.locks?.(first) ?? [],
				phase: operation.phase ?? "any",
				settled: (outcome) => this.parts.store.decide(one, outcome, fate),
			});
		} catch (error) {
			// Unless its refusal is committed, or the next leader finds it.
			if (!this.parts.isOver(error) && this.known.has(keyOf(one.request))) await this.decide(one, { error });
		}
	}

	/** A dry run has a transaction of its own, which is rolled back; its answer goes with the next one. */
	private async carryOutDry(one: Row, task: (tx: Tx) => Op<unknown>): Promise<void> {
		const outcome = await this.parts.engine.dryRun(task).then(
			(value): Settlement => ({ value }),
			(error): Settlement => ({ error }),
		);
		return this.decide(one, outcome);
	}

	/** Decides a request that no operation is run for. */
	private decide(one: Row, outcome: Settlement, fate?: Fate): Promise<void> {
		return this.parts.run(nothing, () => this.parts.store.decide(one, outcome, fate));
	}
}

/** Members take turns, so that one with many requests does not hold up the others. */
function inRounds(rows: readonly Row[]): Row[] {
	const counts = new Map<string, number>();
	const turns = new Map<Row, number>();
	for (const one of rows) {
		const turn = (counts.get(one.request.member) ?? 0) + 1;
		counts.set(one.request.member, turn);
		turns.set(one, turn);
	}
	return [...rows].sort((a, b) => (turns.get(a) ?? 0) - (turns.get(b) ?? 0));
}

const setAside = (name: string) =>
	new SluiceError("store", `the request ${name} was set aside: ${TRIES_MAX} leaders ended while they carried it out`, {
		hint: "sluice doctor shows it",
	});

const unknownOperation = (name: string) =>
	new SluiceError("store", `the leader does not know the operation ${JSON.stringify(name)}`, {
		hint: "let a host of this version lead (host.lead: prefer), or upgrade the others",
	});
