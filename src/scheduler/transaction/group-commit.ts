// Runs operations in shared transactions (group commit). All calls of one turn of the event loop go into one transaction, so the cost of durability is paid
// once; each promise resolves only after the commit. If an operation fails after it changed something, the group is rolled back and its operations run again
// one by one, so that only that operation fails.

import {
	ask,
	type Begun,
	Busy,
	type Intent,
	type Op,
	RefusedValue,
	type Replies,
	StaleTransaction,
	type StoreRead,
} from "../../contracts/store.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import type { EventRow } from "../../core/event.ts";
import { beginDueCycle } from "../limits/cycle.ts";
import { countNotes } from "../rollups/count.ts";
import { HeldBuckets } from "../rollups/held.ts";
import { drain } from "../waiting/drain.ts";
import { sweep } from "../waiting/due.ts";
import { fetchLocks, fetchWaiters, lockKeys } from "../waiting/lock-reads.ts";
import { closeBatches } from "../waiting/park.ts";
import { runPendingWakeups } from "../waiting/wakeups.ts";
import { Memory, STANDING } from "./cache.ts";
import { Doubts } from "./doubts.ts";
import type { EngineOptions } from "./engine-options.ts";
import { type Committed, DryRunDone, FailedAfterChange } from "./outcomes.ts";
import { jobsOf, locksOf, type Pending, PHASES, type RunOptions, type Task, type Upkeep } from "./pending.ts";
import { type HighestIds, idsIn, leap, refuseMoved, tellRestored } from "./restored.ts";
import { Tx } from "./tx.ts";
import { isHidden } from "./unwritten.ts";

export type { EngineOptions } from "./engine-options.ts";
export type { Task } from "./pending.ts";

type Steps<T> = Generator<unknown, T, unknown>;
type Drive = <T>(op: Op<T>, begun?: IteratorResult<StoreRead, T>) => Steps<T>;
/** `late`: how many operations of the group are left for the next transaction. */
type Round = {
	readonly group: readonly Pending[];
	started: number;
	readonly results: { one: Pending; value?: unknown; error?: unknown }[];
	late: number;
};

/** Most operations in one transaction, and milliseconds after which the rest goes into the next one, so that no caller of this process waits for long. */
const GROUP = 512;
const GROUP_MS = 25;
/** The same for a store that answers with promises: its transactions do not block this process. */
const AWAITED_GROUP_MS = 250;
/** A gap between wall clock and monotonic clock that counts as a jump, and how long after a jump leases are renewed instead of expired. */
const JUMP_MS = 5_000;
const GRACE_MS = 30_000;
/** Most events of other processes that one transaction reads and reports. */
const HEARD = 1000;
/** Pause between two attempts to get a write lock that another process holds. */
const LOCK_NAP_MS = 20;
const NOTHING: readonly EventRow[] = [];
const NONE: readonly never[] = [];

export class Engine {
	private readonly queue: Pending[] = [];
	private readonly dryRuns: (() => Promise<void>)[] = [];
	private running: Promise<void> | undefined;
	private memory: Memory | undefined;
	private closed = false;
	/** The store answers with promises. */
	private isAwaited = false;
	private wall: number;
	private mono: number;
	/** The last event that `onCommit` has reported, ours or another process's, and the last numbers given out. */
	private seen: HighestIds | undefined;
	private readonly doubts = new Doubts();
	private readonly held = new HeldBuckets();
	/** Since when another process has held the write lock while we wanted it. */
	private busySince: number | undefined;
	private graceUntil = Number.NEGATIVE_INFINITY;
	/** Calls of this process that are about to cancel very many jobs and are still reading them; while there are any, no job may start. */
	cancelling = 0;
	/** Called after each commit. */
	onCommit: (summary: Committed) => void = () => {};

	constructor(private readonly options: EngineOptions) {
		this.wall = options.clock.now();
		this.mono = options.clock.monotonic();
		this.seen = options.seen;
		if (options.leases) this.graceUntil = this.mono + GRACE_MS;
	}

	/** The highest numbers that this process knows of. */
	get highest(): HighestIds | undefined {
		return this.seen;
	}

	/** Runs a task in the next transaction; resolves when it is durable. */
	run<T>(
		task: Task<T>,
		{ by, jobs = NONE, locks = NONE, phase = "any", intent = "change", reads = false, settled }: RunOptions = {},
	): Promise<T> {
		if (this.closed) return Promise.reject(closedError());
		return new Promise<T>((resolve, reject) => {
			const answered = resolve as (value: unknown) => void;
			this.queue.push({ task, by, jobs, locks, phase, intent, reads, settled, resolve: answered, reject });
			this.running ??= this.options.host.turn().then(() => this.drain());
		});
	}

	/** Runs a task that only reads: it takes no write lock and does not wait for another process that has it. */
	look<T>(task: Task<T>, { jobs = [] }: { jobs?: readonly number[] } = {}): Promise<T> {
		return this.run(task, { jobs, intent: "look", reads: true });
	}

	/** Runs a task in a transaction of its own and rolls it back. It comes between two groups, so that a busy queue does not put it off for ever. */
	dryRun<T>(task: Task<T>): Promise<T> {
		if (this.closed) return Promise.reject(closedError());
		return new Promise<T>((resolve, reject) => {
			this.dryRuns.push(() => this.thrownAway(task).then(resolve, reject));
			this.running ??= this.options.host.turn().then(() => this.drain());
		});
	}

	private async thrownAway<T>(task: Task<T>): Promise<T> {
		for (;;) {
			const work = this.inTransaction("change", [], function* (tx, drive) {
				const result = yield* drive(task(tx));
				throw new DryRunDone(result);
			});
			try {
				await this.follow(work);
			} catch (error) {
				if (error instanceof DryRunDone) return error.result as T;
				if (error instanceof Busy) await this.waitForLock(error);
				else if (!(error instanceof StaleTransaction)) throw error;
			}
		}
	}

	async close(): Promise<void> {
		this.closed = true;
		while (this.running !== undefined) await this.running;
		await this.options.store.close();
	}

	private async drain(): Promise<void> {
		try {
			while (this.queue.length + this.dryRuns.length > 0) {
				await this.dryRuns.shift()?.();
				const group = this.queue.splice(0, GROUP);
				if (group.some((one) => one.phase !== group[0]?.phase)) group.sort((a, b) => PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase));
				if (group.length > 0) await this.group(group);
				if (this.queue.length > 0) await this.options.host.turn();
			}
		} finally {
			this.running = undefined;
		}
	}

	private async group(
		group: Pending[],
		intent: Intent = group.every((one) => one.intent === "look") ? "look" : "change",
		upkeep: Upkeep = this.options.upkeep ?? "do",
	): Promise<void> {
		const round: Round = { group, started: 0, results: [], late: 0 };
		try {
			await this.follow(this.inTransaction(intent, group, (tx, drive) => this.all(round, tx, drive), upkeep));
			if (intent === "change") this.busySince = undefined;
		} catch (error) {
			// Retry. A store that gives up throws another error than StaleTransaction.
			if (error instanceof StaleTransaction) return this.group(group, "change");
			if (error instanceof Busy) return this.afterBusy(group, error, upkeep);
			const isOneOfMany = group.length > 1 && error instanceof RefusedValue;
			if (!(error instanceof FailedAfterChange || isOneOfMany)) {
				for (const one of group) one.reject(error);
				return;
			}
			if (group.length === 1 && error instanceof FailedAfterChange) error.one.reject(error.cause);
			else for (const one of group) await this.group([one]);
			return;
		}
		if (round.late > 0) this.queue.unshift(...group.slice(group.length - round.late));
		for (const { one, value, error } of round.results) error === undefined ? one.resolve(value) : one.reject(error);
	}

	/** Another process holds the write lock: operations that only read are answered without it, the rest is retried until `patienceMs` is over. */
	private async afterBusy(group: Pending[], error: Busy, upkeep: Upkeep): Promise<void> {
		const reading = upkeep === "do" ? group.filter((one) => one.reads) : [];
		if (reading.length > 0) await this.group(reading, "look", "skip");
		const rest = group.filter((one) => !reading.includes(one));
		if (rest.length === 0) return;
		try {
			await this.waitForLock(error);
		} catch (gaveUp) {
			for (const one of rest) one.reject(gaveUp);
			return;
		}
		await this.group(rest, "change");
	}

	/** Waits for the next attempt, and answers meanwhile the queued operations that only read. Throws `error` when `patienceMs` is over. */
	private async waitForLock(error: Busy): Promise<void> {
		const { clock, host } = this.options;
		this.busySince ??= clock.monotonic();
		if (clock.monotonic() - this.busySince >= error.patienceMs) {
			this.busySince = undefined;
			throw error;
		}
		await new Promise<void>((resolve) => void host.after(LOCK_NAP_MS, resolve, "hold"));
		const reading = this.queue.filter((one) => one.reads);
		if (reading.length === 0) return;
		const rest = this.queue.filter((one) => !one.reads);
		this.queue.splice(0, this.queue.length, ...rest);
		await this.group(reading, "look", "skip");
	}

	/**
	 * Runs the operations of a group in their order. A method, not a closure made for each group: V8 gives every generator function that is called a map of its
	 * own in the old space, and the map would keep alive what the function closes over until the next full collection.
	 */
	private *all(round: Round, tx: Tx, drive: Drive): Steps<void> {
		const { clock } = this.options;
		const { group, results } = round;
		// The time limit starts after the wait for the lock; otherwise a long wait would leave less and less time for the work.
		round.started = clock.monotonic();
		const limit = this.isAwaited ? AWAITED_GROUP_MS : GROUP_MS;
		for (let index = 0; index < group.length; index++) {
			const one = nth(group, index);
			if (index > 0 && clock.monotonic() - round.started > limit) {
				round.late = group.length - index;
				return;
			}
			let mark = tx.mutations;
			const by = tx.by;
			if (one.by !== undefined) tx.by = one.by;
			try {
				// Work is left here if the last of several ends was refused.
				if (!tx.work.isEmpty && one.phase !== "end") {
					yield* drive(drain(tx));
					mark = tx.mutations;
				}
				// A claim sees the effects of the operations before it in the group.
				if (one.phase === "claim" && index > 0 && group[index - 1]?.phase !== "claim" && tx.memory.all("settle").size > 0) {
					yield* drive(runPendingWakeups(tx));
					mark = tx.mutations;
				}
				// Most operations read nothing that is not in memory: they are done after their first step.
				const op = one.task(tx);
				const step = op.next();
				const value = step.done ? step.value : yield* drive(op, step);
				const together = one.phase === "end" && group[index + 1]?.phase === "end";
				if (!tx.work.isEmpty && !together) yield* drive(drain(tx));
				if (!together) tx.answerLate();
				results.push({ one, value });
				one.settled?.({ value });
			} catch (error) {
				if (error instanceof StaleTransaction || error instanceof Busy) throw error;
				if (!(error instanceof SluiceError) || error.code === "store" || tx.mutations !== mark) throw new FailedAfterChange(one, error);
				results.push({ one, error });
				one.settled?.({ error });
			}
			tx.by = by;
		}
	}

	/** begin · refresh memory · sweep · settle · cycle · body · write · commit. On any error nothing of it is left, in the store or in memory. */
	private *inTransaction(
		intent: Intent,
		group: readonly Pending[],
		body: (tx: Tx, drive: Drive) => Steps<void>,
		upkeep: Upkeep = "do",
	): Steps<void> {
		const { store, chance, by } = this.options;
		const { fresh, now } = (yield store.begin(intent)) as Begun;
		try {
			if (!fresh || !this.memory) {
				const rows = (yield store.read({ read: "standing", kinds: STANDING })) as Replies["standing"];
				this.memory = Memory.from(rows);
				refuseMoved(this.memory);
			}
			const heard = fresh ? NOTHING : yield* this.listen();
			const leases = this.checkClock(now);
			const older = fresh ? null : leap(this.memory, this.seen);
			const tx = new Tx(this.memory, {
				now: this.wall,
				config: this.options.config(this.memory),
				chance,
				by,
				cancelling: this.cancelling > 0,
				wasDoubted: (key, since) => this.doubts.has(key, since),
				held: this.held,
			});
			if (upkeep === "do") this.held.note(tx);
			if (this.seen === undefined) this.doubts.begin(idsIn(this.memory).seq);
			if (older && upkeep === "do") tellRestored(tx, older, this.seen as HighestIds);
			const drive = <T>(op: Op<T>, begun?: IteratorResult<StoreRead, T>) => this.drive(tx, op, begun);
			const jobs = jobsOf(group);
			if (jobs.length > 0) yield* drive(tx.load(jobs));
			const locks = [...lockKeys(tx, jobs), ...locksOf(group)];
			if (locks.length > 0) yield* drive(fetchLocks(tx, locks));
			if (locks.length > 0) yield* drive(fetchWaiters(tx, jobsOf(group.filter(({ phase }) => phase === "end"))));
			if (this.options.first) yield* drive(this.options.first(tx));
			let more = false;
			const isDue =
				tx.memory.nextDue === undefined || (tx.memory.nextDue !== null && tx.memory.nextDue <= tx.now) || tx.memory.all("reserve").size > 0;
			if (isDue && upkeep === "do") more = yield* drive(sweep(tx, leases));
			if (upkeep === "do" && tx.memory.all("settle").size > 0) yield* drive(runPendingWakeups(tx));
			if (upkeep === "do") beginDueCycle(tx);
			yield* body(tx, drive);
			if (!tx.work.isEmpty) yield* drive(drain(tx));
			if (this.options.last) yield* drive(this.options.last(tx));
			if (!tx.work.isEmpty) yield* drive(drain(tx));
			tx.answerLate();
			if (tx.work.closing.size > 0) yield* drive(closeBatches(tx));
			if (this.memory.nextDue === undefined) this.memory.nextDue = yield* drive(ask({ read: "next_due" }));
			if (tx.rollupNotes.length > 0) yield* drive(countNotes(tx));
			if (tx.pending()) yield store.write(tx.take());
			yield store.commit();
			this.memory.forget(tx.over);
			this.memory.trim();
			more ||= this.memory.all("settle").size > 0;
			this.seen = idsIn(this.memory);
			this.doubts.note(tx, this.seen.seq);
			const { probes, doubted, events } = tx;
			const asks = this.memory.all("ask");
			const isCut = heard.length >= HEARD;
			this.onCommit({
				stirred: tx.stirred || heard.length > 0,
				probes,
				doubted,
				events,
				heard,
				asks,
				more,
				due: this.memory.nextDue,
				...(isCut ? { compare: true } : {}),
			});
		} catch (error) {
			this.memory = undefined;
			yield store.rollback();
			throw error;
		}
	}

	/**
	 * Events that other processes have committed since our last commit, at most HEARD of them. Only a hint: a consumer that needs all of them reads the events
	 * itself.
	 */
	private *listen(): Steps<readonly EventRow[]> {
		if (this.seen === undefined) return NOTHING;
		return (yield this.options.store.read({ read: "events", since: this.seen.seq, limit: HEARD })) as EventRow[];
	}

	private *drive<T>(tx: Tx, op: Op<T>, begun?: IteratorResult<StoreRead, T>): Steps<T> {
		const { store } = this.options;
		let step = begun ?? op.next();
		while (!step.done) {
			const request = step.value;
			if (isHidden(tx, request.read)) yield store.write(tx.take());
			step = op.next(yield store.read(request));
		}
		return step.value;
	}

	/** Runs the steps and awaits only promises: with a synchronous store there is no await at all. */
	private async follow<T>(steps: Steps<T>): Promise<T> {
		let step = steps.next();
		while (!step.done) {
			const value = step.value;
			if (value instanceof Promise) {
				this.isAwaited = true;
				let reply: unknown;
				try {
					reply = await value;
				} catch (error) {
					step = steps.throw(error);
					continue;
				}
				step = steps.next(reply);
			} else step = steps.next(value);
		}
		return step.value;
	}

	/**
	 * Reads both clocks. After a jump (a laptop that slept, a corrected clock) leases are renewed for a while, so that live workers and hosts can heartbeat
	 * before they expire.
	 */
	private checkClock(now: number | undefined): "expire" | "renew" {
		const { clock } = this.options;
		const [wall, mono] = [now ?? clock.now(), clock.monotonic()];
		const drift = wall - this.wall - (mono - this.mono);
		if (Math.abs(drift) > JUMP_MS) this.graceUntil = mono + GRACE_MS;
		this.wall = wall;
		this.mono = mono;
		return mono < this.graceUntil ? "renew" : "expire";
	}
}

const closedError = () => new SluiceError("closed", "the scheduler is closed", { hint: "open it again" });
