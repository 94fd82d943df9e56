// One term of a leader: its engine carries out the requests of all members, assigns jobs to the claims that stand, and hears the heartbeats of hosts. A term
// ends when a commit fails or is in doubt, when another process leads, or when the leader hands over.

import type { Clock, Host } from "../contracts/host.ts";
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
import type { FleetTime, LeaderStore, Leadership } from "./database.ts";
import { Inbox, nothing } from "./inbox.ts";
import { OwnClaims } from "./own-claims.ts";
import { StandingClaims } from "./standing.ts";
import { TermStore } from "./term-store.ts";

/** How often the leader reads its inbox while requests come, how long after the last one that goes on, and how often it reads otherwise. */
const BUSY_POLL_MS = 10;
const BUSY_FOR_MS = 5_000;
const IDLE_POLL_MS = 50;
/** How often the inbox is read whole: a request whose insert was committed late may lie behind those that were read before. */
const WHOLE_MS = 10_000;
/** How often claims that have expired are answered, and whether a candidate waits for this leader to hand over is looked at. */
const HOUSEKEEPING_MS = 1_000;
const HAND_OVER_LOOK_MS = 3_000;
const SWEEP_MS = 600_000;

/** Why a term is over. */
export type Ending = "handed over" | "closed" | Error;

export type TermParts = Pick<EngineOptions, "clock" | "host" | "chance" | "by" | "config" | "seen"> & {
	leadership: Leadership;
	clock: Clock;
	host: Host;
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
	readonly epoch: number;
	readonly engine: Engine;
	readonly core: Core;
	private readonly inner: LeaderStore;
	private readonly store: TermStore;
	private readonly standing = new StandingClaims();
	private readonly inbox: Inbox;
	private readonly own = new OwnClaims(this.standing);
	private over = false;
	private overBy: Ending | undefined;
	/** How many transactions have begun. */
	private transactions = 0;
	private cancelTimer = () => {};
	private reading: Promise<void> | undefined;
	private readAgain = false;
	private busyUntil = 0;
	private wholeAt = 0;
	private housekeepingAt = 0;
	private handOverAt = 0;
	private sweepAt = 0;
	private beatsAt = 0;
	/** A host whose heartbeat is older counts as heard of then: the database may have been away, and hosts could not beat. */
	private leaseFrom: number | null = null;
	private hasHeard = false;

	private constructor(
		private readonly parts: TermParts,
		consumed: Consumed,
	) {
		const { leadership, clock, host, chance, by, config, seen } = parts;
		this.epoch = leadership.epoch;
		this.inner = leadership.store;
		this.store = new TermStore(this.inner, consumed, {
			decided: (one) => this.inbox.forget(one),
			withdrawn: async () => void (await this.inbox.markWithdrawn()),
		});
		this.engine = new Engine({
			store: this.store,
			clock,
			host,
			chance,
			by,
			config,
			...(seen ? { seen } : {}),
			leases: "renew at first",
			first: (tx) => this.first(tx),
			last: (tx) => this.standing.assign(tx),
		});
		this.core = engineCore(this.engine);
		const { engine, inner, store, standing } = this;
		this.inbox = new Inbox({
			...{ engine, inner, store, standing, consumed },
			run: (task, settled) => this.run(task, settled),
			isOver: () => this.over,
			handOver: () => this.finish("handed over"),
			noteFailure: (error) => this.noteFailure(error),
		});
	}

	/** Begins a term: requests that an earlier leader left behind come first, one by one, since one of them may have ended it. */
	static async begin(parts: TermParts): Promise<Term> {
		const { store } = parts.leadership;
		const term = new Term(parts, new Consumed(await store.consumed()));
		term.store.askForBeats();
		term.leaseFrom = parts.clock.now();
		await term.inbox.carryOutOld();
		if (term.over) return term;
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
		let decided: { outcome: Settlement; transaction: number } | undefined;
		const settled = (outcome: Settlement) => {
			decided = { outcome, transaction: this.transactions };
		};
		try {
			return await this.core.call(name, given, { by, settled });
		} catch (error) {
			const isOver = error instanceof TermOver || (this.over && codeOf(error) === "closed");
			if (!isOver) throw error;
			this.noteFailure(error);
			// What an earlier attempt has decided was rolled back.
			if (decided === undefined || decided.transaction !== this.transactions || !(await this.wasLastCommitted(error))) return "not done";
			if ("error" in decided.outcome) throw decided.outcome.error;
			return decided.outcome.value as ResultOf<N>;
		}
	}

	/** Whether the transaction that ended the term was committed all the same. */
	private async wasLastCommitted(error: unknown): Promise<boolean> {
		return error instanceof TermOver && error.doubt && this.parts.wasCommitted(this.epoch, error.txn);
	}

	/** A claim of this process stands like the claims of members, so that no host is served first. Returns a function that withdraws it. */
	stand(claim: ArgumentsOf<"claim">, until: number, done: (outcome: Settlement) => void): () => Promise<void> {
		const { one, ended } = this.own.add(claim, until, done);
		void this.run(nothing);
		// A transaction that is under way may still assign jobs to it.
		return () => {
			one.until = 0;
			this.tryClaims();
			return ended;
		};
	}

	/** After each commit. */
	committed(events: readonly EventRow[]): void {
		if (this.standing.commit() && !this.over) void this.run(nothing);
		if (this.hasHeard) this.leaseFrom = null;
		// New settings are in force from the next transaction on.
		if (events.some(({ kind }) => kind === "configured")) void this.parts.host.turn().then(() => this.tryClaims());
		this.own.committed();
	}

	/** One pass of upkeep. Jobs that it starts may be due themselves, so then it looks again. */
	async keepUp(): Promise<{ wake: number | null; more: boolean }> {
		for (;;) {
			const { granted } = this.standing;
			this.standing.touch();
			const due = await this.core.keepUp();
			if (this.standing.granted === granted) return due;
		}
	}

	/** Something other than a commit may let claims start jobs: time has passed, or settings have changed. */
	private tryClaims(): void {
		this.standing.touch();
		if (!this.over) void this.run(nothing);
	}

	/** Ends the term, after what is under way. Claims of this process get what a commit in doubt has assigned to them, and are announced anew. */
	async end(): Promise<void> {
		this.finish("closed");
		await this.reading?.catch(() => {});
		await this.engine.close();
		this.own.over(await this.wasLastCommitted(this.overBy));
	}

	get isOver(): boolean {
		return this.over;
	}

	private *first(tx: Tx): Op<void> {
		this.own.begin();
		this.transactions++;
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
		if (this.over) return;
		this.cancelTimer();
		this.cancelTimer = this.parts.time.after(ms, () => {
			// If the member's connection is lost, the next turn tries again.
			this.reading ??= this.turn()
				.catch((error) => this.noteFailure(error))
				.finally(() => {
					this.reading = undefined;
					const isBusy = this.readAgain || this.parts.time.monotonic() < this.busyUntil;
					const pause = this.readAgain ? 0 : isBusy ? BUSY_POLL_MS : IDLE_POLL_MS;
					this.readAgain = false;
					this.schedule(pause);
				});
		});
	}

	/** Reads the inbox, and does what is due. */
	async turn(): Promise<void> {
		if (this.over) return;
		const now = this.parts.time.monotonic();
		const whole = now >= this.wholeAt;
		const found = await this.inbox.read(whole ? "all" : "new");
		if (whole) this.wholeAt = now + WHOLE_MS;
		if (found > 0) this.busyUntil = now + BUSY_FOR_MS;
		if (now >= this.housekeepingAt) await this.housekeeping(now);
	}

	private async housekeeping(now: number): Promise<void> {
		this.housekeepingAt = now + HOUSEKEEPING_MS;
		if (this.standing.hasExpired(this.parts.clock.now())) this.tryClaims();
		await this.inbox.dropWithdrawn();
		if (now >= this.beatsAt) {
			this.beatsAt = now + beatMs(this.parts.staleAfterMs());
			this.store.askForBeats();
			void this.run(nothing);
		}
		if (now >= this.handOverAt) {
			this.handOverAt = now + HAND_OVER_LOOK_MS;
			if (await this.inner.isOutdated()) return this.finish("handed over");
		}
		if (now >= this.sweepAt) {
			this.sweepAt = now + SWEEP_MS;
			await this.inner.sweepMail();
		}
	}

	/** Runs an operation of the leader itself, which has nothing to answer. */
	private run(task: () => Op<void>, settled?: () => void): Promise<void> {
		return this.engine.run(task, settled ? { settled } : {}).catch((error) => this.noteFailure(error));
	}

	private noteFailure(error: unknown): void {
		if (error instanceof TermOver) this.finish(error);
	}

	private finish(why: Ending): void {
		if (this.over) return;
		this.over = true;
		this.cancelTimer();
		this.overBy = why;
		this.parts.onOver(why);
	}
}
