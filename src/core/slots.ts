// Which slot of a schedule is due: slots are moments, told one after the other by whoever reads the schedule. Pure.
//
//   catch_up   after a time in which nobody looked (a suspended machine, a daemon that was down)
//   skip       what was missed is over; a slot that is late by no more than a minute still counts
//   one        the newest missed one, whatever their number
//   all        each of them, in order, one after the other

export const CATCH_UPS = ["skip", "one", "all"] as const;
export type CatchUp = (typeof CATCH_UPS)[number];
/** The first slot after a moment; null when there is none any more. */
export type NextSlot = (after: number) => number | null;

export const LATE_MS = 60_000;
const SMALLEST_LOOK_MS = 1000;

/** `fire`: its job is due now. `pass`: it was missed, and is over. */
export type Due = { fire: number } | { pass: number } | null;

/** `from`: the last slot that is dealt with, or when the schedule was registered; slots up to there never come again. */
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

/** The newest slot in (from, now]. Looks back in growing steps, since asking for slots is slow and there may be millions. */
export function newestSlot(next: NextSlot, from: number, now: number): number | null {
	for (let look = SMALLEST_LOOK_MS; ; look *= 4) {
		const begin = Math.max(from, now - look);
		let found: number | null = null;
		for (let slot = next(begin); slot !== null && slot <= now; slot = next(slot)) found = slot;
		if (found !== null || begin === from) return found;
	}
}
