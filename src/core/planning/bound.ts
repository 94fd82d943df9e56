// Which limit bound the number of starts: free slots, batch size or ready jobs.

export type Bound = "capacity" | "batch" | "ready" | "paused" | "none";

/** The count of preset town: starts = min(free slots, batch, ready), and which of these was the limit. A batch of 0 is no limit. */
export function planDispatch<T>(capacity: number, batch: number, ready: readonly T[]): { dispatch: T[]; skipped: T[]; reason: Bound } {
	if (ready.length === 0) return { dispatch: [], skipped: [], reason: "none" };
	if (capacity <= 0) return { dispatch: [], skipped: [...ready], reason: "capacity" };
	const most = batch === 0 ? Number.POSITIVE_INFINITY : batch;
	const count = Math.min(capacity, most, ready.length);
	return { dispatch: ready.slice(0, count), skipped: ready.slice(count), reason: boundOf(capacity, most, ready.length) };
}

export function boundOf(capacity: number, batch: number, ready: number): Bound {
	if (ready === 0) return "none";
	if (capacity <= 0) return "capacity";
	if (capacity < batch && capacity < ready) return "capacity";
	if (ready < batch && ready <= capacity) return "ready";
	return "batch";
}
