// Which slot of a schedule is due. Slots are moments; the caller's `next` computes them one after the other. Pure.
//
//   catch_up   after a time without a check (a suspended machine, a daemon that was down)
//   skip       missed slots are dropped; a slot that is late by at most a minute still fires
//   one        the newest missed slot fires, however many were missed
//   all        every missed slot fires, in order

export const CATCH_UPS = ["skip", "one", "all"] as const;
export type CatchUp = (typeof CATCH_UPS)[number];
/** The first slot after a moment; null if there are no more. */
export type NextSlot = (after: number) => number | null;

export const LATE_MS = 60_000;
const SMALLEST_LOOK_MS = 1000;

/** `fire`: the slot's job is due now. `pass`: the slot was missed and is dropped. */
export type Due = { fire: number } | { pass: number } | null;

/** `from`: the last slot that was handled, or when the schedule was registered; slots up to there never come again. */
export function dueSlot(next: NextSlot, from: number, now: number, catchUp: CatchUp): Due {
	if (now <= from) return null;
	if (catchUp === "all") {
		const first = next(from);
		return first !== null && first <= now ? { fire: first } : null;
	}
	const newest = newestSlot(next, from, now);
	if (newest === null) return null;
	return catchUp === "one" || now - newest <= LATE_MS ? { fire: newest } : { pass: newest };
}

/** The newest slot in (from, now]. Searches back in growing steps, because computing a slot is slow and there may be millions. */
export function newestSlot(next: NextSlot, from: number, now: number): number | null {
	for (let look = SMALLEST_LOOK_MS; ; look *= 4) {
		const begin = Math.max(from, now - look);
		let found: number | null = null;
		for (let slot = next(begin); slot !== null && slot <= now; slot = next(slot)) found = slot;
		if (found !== null || begin === from) return found;
	}
}
