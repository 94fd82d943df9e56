// Simulates a queue once, with given durations: dependencies, times, locks and caps as in the scheduler, best startable job first. Pure.
//
// A run that waits for jobs uses no slot until they have ended. Not simulated: failures and retries, priorities that grow while jobs wait, the share for
// overdue jobs, waits that begin later.

import type { Lock } from "../job.ts";

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

/** A heap of indexes, smallest key first. */
class Heap {
	private readonly items: number[] = [];
	constructor(private readonly key: (item: number) => number) {}
	get size() {
		return this.items.length;
	}
	get top(): number | undefined {
		return this.items[0];
	}
	push(item: number): void {
		const { items, key } = this;
		let at = items.push(item) - 1;
		while (at > 0) {
			const above = (at - 1) >> 1;
			if (key(items[above] as number) <= key(item)) break;
			items[at] = items[above] as number;
			at = above;
		}
		items[at] = item;
	}
	pop(): number {
		const { items, key } = this;
		const first = items[0] as number;
		const item = items.pop() as number;
		if (items.length === 0) return first;
		let at = 0;
		for (;;) {
			let below = 2 * at + 1;
			if (below >= items.length) break;
			if (below + 1 < items.length && key(items[below + 1] as number) < key(items[below] as number)) below++;
			if (key(item) <= key(items[below] as number)) break;
			items[at] = items[below] as number;
			at = below;
		}
		items[at] = item;
		return first;
	}
}

/** `length(i)`: how long job i takes in total. Jobs that never start have `start` Infinity. */
export function play(board: ForecastView, length: (job: number) => number): Played {
	const { pieces, classes, caps } = board;
	const count = pieces.length;
	const start = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
	const end = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
	const cause: Cause[] = new Array(count).fill(null);
	const waited = new Float64Array(caps.length);
	const used = new Float64Array(caps.length);
	const left = pieces.map((piece) => piece.after.length);
	const next: number[][] = pieces.map(() => []);
	pieces.forEach((piece, job) => {
		for (const one of piece.after) next[one]?.push(job);
	});
	const readyAt = new Float64Array(count);
	/** Moments at which something happens: ends of runs, and earliest starts. */
	const at = new Float64Array(count);
	const happenings = new Heap((job) => at[job] as number);
	const ready = classes.map(() => new Heap((job) => job));
	/** Ready jobs that a lock holds back, by the first key that is taken. */
	const parked = new Map<string, Heap>();
	const held = new Map<string, { shared: number; exclusive: boolean }>();
	let now = 0;
	let lastStart = Number.NEGATIVE_INFINITY;
	let [cycleAt, cycleLeft] = [board.cycle.first - board.cycle.every, 0];

	const takenLock = (job: number): string | undefined =>
		(pieces[job] as ForecastJob).locks.find(({ key, mode }) => {
			const holders = held.get(key);
			return holders !== undefined && (holders.exclusive || (mode === "exclusive" && holders.shared > 0));
		})?.key;
	function take(job: number, sign: 1 | -1): void {
		for (const { cap, amount } of classes[(pieces[job] as ForecastJob).class] as Taking) used[cap] = (used[cap] as number) + sign * amount;
	}
	/** The jobs that this run waited for have ended: it uses its slots again, and may be over. */
	function comeBack(job: number): void {
		take(job, 1);
		end[job] = at[job] = Math.max(now, at[job] as number);
		happenings.push(job);
	}
	function begin(job: number, from: number): void {
		const piece = pieces[job] as ForecastJob;
		start[job] = from;
		at[job] = from + Math.max(1, length(job));
		const isLending = left[job] !== 0;
		if (!isLending) {
			end[job] = at[job] as number;
			take(job, 1);
		}
		for (const { key, mode } of piece.locks) {
			const holders = held.get(key) ?? { shared: 0, exclusive: false };
			held.set(key, mode === "exclusive" ? { ...holders, exclusive: true } : { ...holders, shared: holders.shared + 1 });
		}
		if (!isLending) happenings.push(job);
	}
	function makeReady(job: number): void {
		const piece = pieces[job] as ForecastJob;
		if (piece.earliest > now) {
			at[job] = piece.earliest;
			happenings.push(job);
			return;
		}
		readyAt[job] = now;
		ready[piece.class]?.push(job);
	}
	/** Moves the best job parked on this key back to the ready jobs; it may find another key taken. */
	function unpark(key: string): void {
		const line = parked.get(key);
		if (!line) return;
		while (line.size > 0) {
			const job = line.top as number;
			if (takenLock(job) === key) break;
			line.pop();
			ready[(pieces[job] as ForecastJob).class]?.push(job);
			if ((pieces[job] as ForecastJob).locks.some((lock) => lock.key === key && lock.mode === "exclusive")) break;
		}
		if (line.size === 0) parked.delete(key);
	}
	function finish(job: number): void {
		const piece = pieces[job] as ForecastJob;
		take(job, -1);
		for (const { key, mode } of piece.locks) {
			const holders = held.get(key) ?? { shared: 0, exclusive: false };
			const rest = mode === "exclusive" ? { ...holders, exclusive: false } : { ...holders, shared: holders.shared - 1 };
			if (rest.shared === 0 && !rest.exclusive) held.delete(key);
			else held.set(key, rest);
			unpark(key);
		}
		for (const one of next[job] as number[]) {
			left[one] = (left[one] as number) - 1;
			if (left[one] !== 0) continue;
			cause[one] = { job, kind: "after" };
			if ((pieces[one] as ForecastJob).since === null) makeReady(one);
			else comeBack(one);
		}
	}
	/** The first cap without room for a job of this class. */
	const fullCap = (kind: number): number | undefined =>
		(classes[kind] as Taking).find(({ cap, amount }) => (used[cap] as number) + amount > (caps[cap] as number))?.cap;
	/** When the pace allows the next start; now if it does already. */
	function paceAt(): number {
		const spaced = lastStart + board.spacing;
		const { every, most } = board.cycle;
		if (every <= 0) return Math.max(now, spaced);
		if (now >= cycleAt + every) {
			cycleAt += Math.floor((now - cycleAt) / every) * every;
			// The cycle began before `now`, when no job was ready: jobs that became ready since wait for the next one.
			cycleLeft = now === cycleAt ? most : 0;
		}
		return cycleLeft > 0 ? Math.max(now, spaced) : cycleAt + every;
	}
	/** Starts every job that can start now. Returns when the pace allows the next start, if only the pace holds it back. */
	function dispatch(ended: number | null): number {
		for (;;) {
			let best = -1;
			for (const [kind, heap] of ready.entries()) {
				while (heap.top !== undefined) {
					const key = takenLock(heap.top);
					if (key === undefined) break;
					const job = heap.pop();
					const line = parked.get(key) ?? new Heap((one) => one);
					line.push(job);
					parked.set(key, line);
				}
				if (heap.top !== undefined && fullCap(kind) === undefined && (best < 0 || heap.top < best)) best = heap.top;
			}
			if (best < 0) {
				cycleLeft = 0;
				return Number.POSITIVE_INFINITY;
			}
			const paced = paceAt();
			if (paced > now) return paced;
			ready[(pieces[best] as ForecastJob).class]?.pop();
			if (now > (readyAt[best] as number) && ended !== null)
				cause[best] = { job: ended, kind: (pieces[best] as ForecastJob).locks.length > 0 && sharesLock(best, ended) ? "lock" : "cap" };
			lastStart = now;
			cycleLeft--;
			begin(best, now);
		}
	}
	const sharesLock = (a: number, b: number) => {
		const keys = new Set((pieces[b] as ForecastJob).locks.map(({ key }) => key));
		return (pieces[a] as ForecastJob).locks.some(({ key }) => keys.has(key));
	};
	/** Advances time, and adds it to the caps that jobs wait for meanwhile. */
	function pass(until: number): void {
		for (const [kind, heap] of ready.entries()) {
			if (heap.size === 0) continue;
			const cap = fullCap(kind);
			if (cap !== undefined) waited[cap] = (waited[cap] as number) + heap.size * (until - now);
		}
		now = until;
	}

	pieces.forEach((piece, job) => {
		if (piece.since !== null) {
			begin(job, piece.since);
			if ((at[job] as number) < 0) at[job] = 0;
			if (left[job] === 0) end[job] = at[job] as number;
		}
	});
	pieces.forEach((piece, job) => {
		if (piece.since === null && left[job] === 0) makeReady(job);
	});
	let paced = dispatch(null);
	while (happenings.size > 0 || paced < Number.POSITIVE_INFINITY) {
		const first = happenings.top;
		const when = Math.min(first === undefined ? Number.POSITIVE_INFINITY : (at[first] as number), paced);
		pass(Math.max(now, when));
		let ended: number | null = null;
		while (happenings.top !== undefined && (at[happenings.top] as number) <= now) {
			const job = happenings.pop();
			if ((start[job] as number) < Number.POSITIVE_INFINITY) {
				ended = job;
				finish(job);
			} else makeReady(job);
		}
		paced = dispatch(ended);
	}
	return { start, end, cause, waited };
}
