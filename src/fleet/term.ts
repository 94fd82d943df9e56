// One term of a leader: its engine carries out the requests of all members, assigns jobs to the claims that stand, and hears the heartbeats of hosts. A term
// ends when a commit fails or is in doubt, when another process leads, or when the leader hands over.

import { type Op, TermOver } from "../contracts/store.ts";
import { codeOf } from "../core/errors.ts";
import type { EventRow } from "../core/event.ts";
import { beatMs, graceMs } from "../core/fleet.ts";
import { type ArgumentsOf, type Core, engineCore, type Given, type OperationName, type ResultOf } from "../scheduler/operations/core.ts";
import { hearBeats, takeLead } from "../scheduler/operations/hosts.ts";
import { Engine, type EngineOptions } from "../scheduler/transaction/group-commit.ts";
import { answer, type Settlement } from "../scheduler/transaction/pending.ts";
import type { Tx } from "../scheduler/transaction/tx.ts";
import { Consumed } from "./consumed.ts";
import type { FleetTime, Leadership } from "./database.ts";
import { Inbox, nothing } from "./inbox.ts";
import { StandingClaims } from "./standing.ts";
import { type Incoming, TermStore } from "./term-store.ts";

/** How often the leader reads its inbox while requests come, how long after the last one that goes on, and how often it reads otherwise. */
const BUSY_POLL_MS = 10;
const BUSY_FOR_MS = 5_000;
const IDLE_POLL_MS = 50;
/** How often the inbox is read whole: a request whose insert was committed late may lie behind those that were read before. */
const WHOLE_MS = 10_000;
/** How often the leader ends claims that were withdrawn or have expired, and looks whether a candidate waits for it to hand over. */
const CLAIMS_MS = 1_000;
const HAND_OVER_MS = 3_000;
const SWEEP_MS = 600_000;

/** Why a term is over. */
export type Ending = "handed over" | "closed" | Error;

export type TermParts = Pick<EngineOptions, "clock" | "host" | "chance" | "by" | "config"> & {
	seen: EngineOptions["seen"] | undefined;
	leadership: Leadership;
	time: FleetTime;
	/** The name of this process's host. */
	hostName: string;
	staleAfterMs(): number;
	/** Whether a transaction of a term that is over was committed. */
	wasCommitted(epoch: number, txn: number): Promise<boolean>;
	/** The term is over. Called once. */
	onOver(why: Ending): void;
};

export class Term {
	readonly engine: Engine;
	readonly core: Core;
	private readonly store: TermStore;
	private readonly standing = new StandingClaims();
	private readonly inbox: Inbox;
	/** Claims of this process that stand. */
	private readonly own = new Set<Incoming>();
	private isFinished = false;
	/** Why the store refuses everything. */
	private failure: TermOver | undefined;
	private cancelTimer = () => {};
	private reading: Promise<void> | undefined;
	private readAgain = false;
	private busyUntil = 0;
	/** A host whose heartbeat is older counts as heard of then: the database may have been away, and hosts could not beat. Null: heartbeats were heard. */
	private leaseFrom: number | null;
	private hasHeard = false;
	/** What a turn does besides reading new requests, how often, and when next. */
	private readonly chores: { everyMs: () => number; run: () => unknown; at: number }[] = [
		{ everyMs: () => WHOLE_MS, run: () => this.inbox.read("all"), at: 0 },
		{ everyMs: () => CLAIMS_MS, run: () => this.inbox.read("withdrawn").then(() => this.tryClaims()), at: 0 },
		{ everyMs: () => beatMs(this.parts.staleAfterMs()), run: () => this.hearHosts(), at: 0 },
		{ everyMs: () => HAND_OVER_MS, run: () => this.lookForSuccessor(), at: 0 },
		{ everyMs: () => SWEEP_MS, run: () => this.store.inner.sweepMail(), at: 0 },
	];

	private constructor(
		private readonly parts: TermParts,
		consumed: Consumed,
	) {
		const { leadership, clock, host, chance, by, config, seen } = parts;
		this.leaseFrom = clock.now();
		this.store = new TermStore(leadership.store, consumed, () => this.inbox.read("withdrawn"));
		this.engine = new Engine({
			...{ clock, host, chance, by, config },
			...(seen ? { seen } : {}),
			store: this.store,
			leases: "renew at first",
			first: (tx) => this.first(tx),
			last: (tx) => this.standing.assign(tx),
		});
		this.core = engineCore(this.engine);
		this.inbox = new Inbox({
			engine: this.engine,
			store: this.store,
			standing: this.standing,
			run: (task, settled) => this.run(task, settled),
			isOver: (error) => this.isOver(error),
			handOver: () => this.finish("handed over"),
		});
	}

	/** Begins a term: requests that an earlier leader left behind come first, one by one, since one of them may have ended it. */
	static async begin(parts: TermParts): Promise<Term> {
		const term = new Term(parts, new Consumed(await parts.leadership.store.consumed()));
		await term.inbox.carryOutOld();
		if (term.isOver()) return term;
		await term.engine.run((tx) => answer(takeLead(tx, parts.hostName)));
		term.schedule(0);
		return term;
	}

	/** There may be new requests. */
	nudge(): void {
		if (this.reading !== undefined) this.readAgain = true;
		else this.schedule(0);
	}

	/** Carries out an operation for this process itself. The outcome is known even if the commit was in doubt. */
	async call<N extends OperationName>(name: N, given: Given<N>, by: string | undefined): Promise<ResultOf<N> | "not done"> {
		const one: Incoming = { request: null, withdrawn: false, decided: () => {} };
		try {
			return await this.core.call(name, given, { by, settled: (outcome) => this.store.decide(one, outcome) });
		} catch (error) {
			if (!this.isOver(error) || !(error instanceof TermOver || codeOf(error) === "closed")) throw error;
			const outcome = await this.outcomeOf(one);
			if (outcome === undefined) return "not done";
			if ("error" in outcome) throw outcome.error;
			return outcome.value as ResultOf<N>;
		}
	}

	/** A claim of this process stands like the claims of members, so that no host is served first. Returns a function that withdraws it. */
	stand(args: ArgumentsOf<"claim">, until: number, done: (outcome: Settlement) => void): () => Promise<void> {
		let over = () => {};
		const ended = new Promise<void>((resolve) => {
			over = resolve;
		});
		const one: Incoming = {
			request: null,
			withdrawn: false,
			decided: (outcome) => {
				this.own.delete(one);
				this.standing.remove(claim);
				done(outcome);
				over();
			},
		};
		this.own.add(one);
		const claim = this.inbox.stand(one, args, until);
		// A transaction that is under way may still assign jobs to it.
		return () => {
			this.standing.end(claim);
			this.tryClaims();
			return ended;
		};
	}

	/** After each commit. */
	committed(events: readonly EventRow[]): void {
		if (this.standing.commit()) void this.run(nothing);
		if (this.hasHeard) this.leaseFrom = null;
		// New settings are in force from the next transaction on.
		if (events.some(({ kind }) => kind === "configured")) void this.parts.host.turn().then(() => this.tryClaims());
	}

	/** One pass of upkeep. Jobs that it starts decide when the next one is due, so then it looks again. */
	async keepUp(): ReturnType<Core["keepUp"]> {
		for (;;) {
			const { granted } = this.standing;
			this.standing.touch();
			const due = await this.core.keepUp();
			if (this.standing.granted === granted) return due;
		}
	}

	/** Ends the term, after what is under way. Claims of this process get what a commit in doubt has assigned to them, and are announced anew. */
	async end(): Promise<void> {
		this.finish("closed");
		await this.reading?.catch(() => {});
		await this.engine.close();
		for (const one of [...this.own]) one.decided((await this.outcomeOf(one)) ?? { value: [] });
	}

	/** Whether the term is over; an error of an operation may be how the leader learns of it. */
	isOver(error?: unknown): boolean {
		if (error instanceof TermOver) {
			this.failure ??= error;
			this.finish(error);
		}
		return this.isFinished;
	}

	/** What the transaction that ended the term had decided, if it was committed all the same. */
	private async outcomeOf(one: Incoming): Promise<Settlement | undefined> {
		const { failure, parts } = this;
		const outcome = this.store.lastDecision(one);
		if (!outcome || !failure?.doubt) return undefined;
		return (await parts.wasCommitted(parts.leadership.epoch, failure.txn)) ? outcome : undefined;
	}

	/** Something other than a commit may let claims start jobs, or end them: time has passed, or settings have changed. */
	private tryClaims(): void {
		this.standing.touch();
		void this.run(nothing);
	}

	private *first(tx: Tx): Op<void> {
		this.standing.begin();
		yield* [];
		const { beats } = this.store;
		if (beats === null) return;
		const { stale_after_ms } = tx.config;
		const leaseUntil = this.leaseFrom === null ? 0 : this.leaseFrom + beatMs(stale_after_ms) + graceMs(stale_after_ms);
		hearBeats(tx, beats, leaseUntil);
		this.hasHeard = true;
	}

	private schedule(ms: number): void {
		if (this.isOver()) return;
		this.cancelTimer();
		this.cancelTimer = this.parts.time.after(ms, () => {
			// If the member's connection is lost, the next turn tries again.
			this.reading ??= this.turn()
				.catch((error) => void this.isOver(error))
				.finally(() => {
					this.reading = undefined;
					const isBusy = this.parts.time.monotonic() < this.busyUntil;
					const pause = this.readAgain ? 0 : isBusy ? BUSY_POLL_MS : IDLE_POLL_MS;
					this.readAgain = false;
					this.schedule(pause);
				});
		});
	}

	/** Reads the inbox, and does what is due. */
	private async turn(): Promise<void> {
		const now = this.parts.time.monotonic();
		if ((await this.inbox.read("new")) > 0) this.busyUntil = now + BUSY_FOR_MS;
		for (const chore of this.chores) {
			if (this.isOver() || now < chore.at) continue;
			chore.at = now + chore.everyMs();
			await chore.run();
		}
	}

	private hearHosts(): void {
		this.store.askForBeats();
		void this.run(nothing);
	}

	private async lookForSuccessor(): Promise<void> {
		if (await this.store.inner.isOutdated()) this.finish("handed over");
	}

	/** Runs an operation of the leader itself, which has nothing to answer. */
	private run(task: () => Op<void>, settled?: () => void): Promise<void> {
		if (this.isOver()) return Promise.resolve();
		return this.engine.run(task, settled ? { settled } : {}).catch((error) => void this.isOver(error));
	}

	private finish(why: Ending): void {
		if (this.isFinished) return;
		this.isFinished = true;
		this.cancelTimer();
		this.parts.onOver(why);
	}
}
