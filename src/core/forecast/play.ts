// Simulates a queue once, with given durations: dependencies, times, locks and caps as in the scheduler, best startable job first. Pure.
//
// A run that waits for jobs uses no slot until they have ended. Not simulated: failures and retries, priorities that grow while jobs wait, the share for
// overdue jobs, waits that begin later.

import type { Lock } from "../job.ts";
import { Heap } from "./heap.ts";

/** A job of the queue; other jobs are referred to by their index in the list. */
export type ForecastJob = {
	/** Predecessors in the list, including producers of artifacts; for a running job: the jobs that it waits for. */
	after: number[];
	/** Earliest start, in ms from now. */
	earliest: number;
	/** For a running job: since when, in ms from now, below zero. */
	since: number | null;
	locks: Lock[];
	/** Index into `Board.classes`: what the job uses of caps. */
	class: number;
};
/** Indexes of caps, and how much of each. */
type Taking = { cap: number; amount: number }[];
export type ForecastView = {
	/** Best first: of all startable jobs, the first in the list starts next. */
	pieces: ForecastJob[];
	classes: Taking[];
	/** Limits; Infinity = none. */
	caps: number[];
	/** Cycles: one every `every` ms, the first not before `first`, with at most `most` starts each (Infinity = all); `every` 0 = starts at any time. */
	cycle: { every: number; first: number; most: number };
	/** Minimum ms between two starts. */
	spacing: number;
};
/** What a start waited for last: the end of another job, and what that freed. */
type Cause = { job: number; kind: "after" | "lock" | "cap" } | null;
export type Played = {
	start: Float64Array;
	end: Float64Array;
	cause: Cause[];
	/** For each cap, the total time that startable jobs waited for it. */
	waited: Float64Array;
};

/** Reads of the inner loops: an assertion for each would double the time of a forecast. */
const value = (list: Float64Array | readonly number[], index: number): number => list[index] as number;
const item = <T>(list: readonly T[], index: number): T => list[index] as T;

/** The locks that runs hold, and the ready jobs that these hold back. */
class HeldLocks {
	private readonly held = new Map<string, { shared: number; exclusive: boolean }>();
	/** Jobs that are held back, by the first key that is taken. */
	private readonly parked = new Map<string, Heap>();
	constructor(private readonly pieces: readonly ForecastJob[]) {}

	private of(job: number): Lock[] {
		return item(this.pieces, job).locks;
	}
	/** The first key that keeps the job from starting. */
	taken(job: number): string | undefined {
		return this.of(job).find(({ key, mode }) => {
			const holders = this.held.get(key);
			return holders !== undefined && (holders.exclusive || (mode === "exclusive" && holders.shared > 0));
		})?.key;
	}
	park(job: number, key: string): void {
		const line = this.parked.get(key) ?? new Heap((one) => one);
		line.push(job);
		this.parked.set(key, line);
	}
	hold(job: number): void {
		for (const { key, mode } of this.of(job)) {
			const holders = this.held.get(key) ?? { shared: 0, exclusive: false };
			this.held.set(key, mode === "exclusive" ? { ...holders, exclusive: true } : { ...holders, shared: holders.shared + 1 });
		}
	}
	/** Calls `ready` with each job that this frees; it may find another key taken. */
	release(job: number, ready: (job: number) => void): void {
		for (const { key, mode } of this.of(job)) {
			const holders = this.held.get(key) ?? { shared: 0, exclusive: false };
			const rest = mode === "exclusive" ? { ...holders, exclusive: false } : { ...holders, shared: holders.shared - 1 };
			if (rest.shared === 0 && !rest.exclusive) this.held.delete(key);
			else this.held.set(key, rest);
			this.unpark(key, ready);
		}
	}
	private unpark(key: string, ready: (job: number) => void): void {
		const line = this.parked.get(key);
		if (!line) return;
		while (line.size > 0) {
			const job = line.top as number;
			if (this.taken(job) === key) break;
			line.pop();
			ready(job);
			if (this.of(job).some((lock) => lock.key === key && lock.mode === "exclusive")) break;
		}
		if (line.size === 0) this.parked.delete(key);
	}
	shares(a: number, b: number): boolean {
		if (this.of(a).length === 0) return false;
		const keys = new Set(this.of(b).map(({ key }) => key));
		return this.of(a).some(({ key }) => keys.has(key));
	}
}

/** What runs use of the caps, by the class of their job. */
class UsedCaps {
	/** For each cap, the total time that startable jobs waited for it. */
	readonly waited: Float64Array;
	private readonly used: Float64Array;
	constructor(private readonly board: ForecastView) {
		this.waited = new Float64Array(board.caps.length);
		this.used = new Float64Array(board.caps.length);
	}
	private of(kind: number): Taking {
		return item(this.board.classes, kind);
	}
	take(kind: number, sign: 1 | -1): void {
		for (const { cap, amount } of this.of(kind)) this.used[cap] = value(this.used, cap) + sign * amount;
	}
	/** The first cap without room for a job of this class. */
	full(kind: number): number | undefined {
		return this.of(kind).find(({ cap, amount }) => value(this.used, cap) + amount > value(this.board.caps, cap))?.cap;
	}
	/** `count` jobs of this class wait for so long. */
	wait(kind: number, count: number, ms: number): void {
		const cap = this.full(kind);
		if (cap !== undefined) this.waited[cap] = value(this.waited, cap) + count * ms;
	}
}

/** When starts are allowed: cycles, and the spacing of starts. */
class Pace {
	private last = Number.NEGATIVE_INFINITY;
	private cycleAt: number;
	private cycleLeft = 0;
	constructor(private readonly board: ForecastView) {
		this.cycleAt = board.cycle.first - board.cycle.every;
	}
	/** When the next start is allowed; now if it is already. */
	next(now: number): number {
		const spaced = this.last + this.board.spacing;
		const { every, most } = this.board.cycle;
		if (every <= 0) return Math.max(now, spaced);
		if (now >= this.cycleAt + every) {
			this.cycleAt += Math.floor((now - this.cycleAt) / every) * every;
			// The cycle began before `now`, when no job was ready: jobs that became ready since wait for the next one.
			this.cycleLeft = now === this.cycleAt ? most : 0;
		}
		return this.cycleLeft > 0 ? Math.max(now, spaced) : this.cycleAt + every;
	}
	started(now: number): void {
		this.last = now;
		this.cycleLeft--;
	}
	/** No job can start: this cycle is over. */
	endCycle(): void {
		this.cycleLeft = 0;
	}
}

/** `length(i)`: how long job i takes in total. Jobs that never start have `start` Infinity. */
export function play(board: ForecastView, length: (job: number) => number): Played {
	return new Play(board, length).run();
}

class Play {
	private readonly pieces: readonly ForecastJob[];
	private readonly played: Played;
	private readonly locks: HeldLocks;
	private readonly caps: UsedCaps;
	private readonly pace: Pace;
	/** Ready jobs, by class. */
	private readonly ready: Heap[];
	private readonly readyAt: Float64Array;
	/** Moments at which something happens: ends of runs, and earliest starts. */
	private readonly at: Float64Array;
	private readonly happenings: Heap;
	/** For each job, how many predecessors have not ended, and the jobs that wait for it. */
	private readonly left: number[];
	private readonly next: number[][];
	private now = 0;

	constructor(
		board: ForecastView,
		private readonly length: (job: number) => number,
	) {
		const { pieces, classes } = board;
		const never = () => new Float64Array(pieces.length).fill(Number.POSITIVE_INFINITY);
		this.pieces = pieces;
		this.locks = new HeldLocks(pieces);
		this.caps = new UsedCaps(board);
		this.pace = new Pace(board);
		this.played = { start: never(), end: never(), cause: new Array(pieces.length).fill(null), waited: this.caps.waited };
		this.ready = classes.map(() => new Heap((job) => job));
		this.readyAt = new Float64Array(pieces.length);
		const at = new Float64Array(pieces.length);
		this.at = at;
		this.happenings = new Heap((job) => value(at, job));
		this.left = pieces.map((piece) => piece.after.length);
		this.next = pieces.map(() => []);
		for (const [job, piece] of pieces.entries()) for (const one of piece.after) this.next[one]?.push(job);
	}

	run(): Played {
		const { pieces, played, happenings, at } = this;
		for (const [job, { since }] of pieces.entries()) {
			if (since === null) continue;
			this.begin(job, since);
			if (value(at, job) < 0) at[job] = 0;
			if (this.left[job] === 0) played.end[job] = value(at, job);
		}
		for (const [job, { since }] of pieces.entries()) if (since === null && this.left[job] === 0) this.makeReady(job);
		let paced = this.dispatch(null);
		while (happenings.size > 0 || paced < Number.POSITIVE_INFINITY) {
			const first = happenings.top;
			const when = Math.min(first === undefined ? Number.POSITIVE_INFINITY : value(at, first), paced);
			this.pass(Math.max(this.now, when));
			let ended: number | null = null;
			while (happenings.top !== undefined && value(at, happenings.top) <= this.now) {
				const job = happenings.pop();
				if (value(played.start, job) < Number.POSITIVE_INFINITY) {
					ended = job;
					this.finish(job);
				} else this.makeReady(job);
			}
			paced = this.dispatch(ended);
		}
		return played;
	}

	private classOf(job: number): number {
		return item(this.pieces, job).class;
	}
	private enqueue(job: number): void {
		this.ready[this.classOf(job)]?.push(job);
	}
	private begin(job: number, from: number): void {
		this.played.start[job] = from;
		this.at[job] = from + Math.max(1, this.length(job));
		this.locks.hold(job);
		// A run that waits for jobs lends its slots until they have ended.
		if (this.left[job] !== 0) return;
		this.played.end[job] = value(this.at, job);
		this.caps.take(this.classOf(job), 1);
		this.happenings.push(job);
	}
	/** The jobs that this run waited for have ended: it uses its slots again, and may be over. */
	private comeBack(job: number): void {
		this.caps.take(this.classOf(job), 1);
		this.played.end[job] = this.at[job] = Math.max(this.now, value(this.at, job));
		this.happenings.push(job);
	}
	private makeReady(job: number): void {
		const { earliest } = item(this.pieces, job);
		if (earliest > this.now) {
			this.at[job] = earliest;
			this.happenings.push(job);
			return;
		}
		this.readyAt[job] = this.now;
		this.enqueue(job);
	}
	private finish(job: number): void {
		this.caps.take(this.classOf(job), -1);
		this.locks.release(job, (one) => this.enqueue(one));
		for (const one of item(this.next, job)) {
			this.left[one] = value(this.left, one) - 1;
			if (this.left[one] !== 0) continue;
			this.played.cause[one] = { job, kind: "after" };
			if (item(this.pieces, one).since === null) this.makeReady(one);
			else this.comeBack(one);
		}
	}
	/** The first startable job; jobs whose locks are taken are parked. */
	private best(): number {
		let best = -1;
		for (const [kind, heap] of this.ready.entries()) {
			while (heap.top !== undefined) {
				const key = this.locks.taken(heap.top);
				if (key === undefined) break;
				this.locks.park(heap.pop(), key);
			}
			if (heap.top !== undefined && this.caps.full(kind) === undefined && (best < 0 || heap.top < best)) best = heap.top;
		}
		return best;
	}
	/** Starts every job that can start now. Returns when the pace allows the next start, if only the pace holds it back. */
	private dispatch(ended: number | null): number {
		for (;;) {
			const best = this.best();
			if (best < 0) {
				this.pace.endCycle();
				return Number.POSITIVE_INFINITY;
			}
			const paced = this.pace.next(this.now);
			if (paced > this.now) return paced;
			this.ready[this.classOf(best)]?.pop();
			if (this.now > value(this.readyAt, best) && ended !== null)
				this.played.cause[best] = { job: ended, kind: this.locks.shares(best, ended) ? "lock" : "cap" };
			this.pace.started(this.now);
			this.begin(best, this.now);
		}
	}
	/** Advances time, and adds it to the caps that jobs wait for meanwhile. */
	private pass(until: number): void {
		for (const [kind, heap] of this.ready.entries()) if (heap.size > 0) this.caps.wait(kind, heap.size, until - this.now);
		this.now = until;
	}
}
