// Packs rollups, once an hour: the open cells of past hours become one record an hour, the hours of a day that is over also one record a day, so that figures by
// day read few records; hours and days that are too old go.
// Everything is found by its number, from the oldest ones that the record `meta`/`rollups` names: packing never scans.

import type { Op } from "../../contracts/store.ts";
import { HOUR_MS } from "../../core/rollups/cell.ts";
import { mergePeriods, type RollupCaps, type RollupPeriod } from "../../core/rollups/period.ts";
import { addTo } from "../../core/text/lists-by-key.ts";
import { localDay } from "../../core/time/window.ts";
import { type RollupState, storedRecords } from "../transaction/record-map.ts";
import type { Tx } from "../transaction/tx.ts";
import { dayKey, hourIn, hourKey, namesIn } from "./keys.ts";

/** How long hours and days are kept. */
export const HOURS_KEPT = 31 * 24;
export const DAYS_KEPT = 366;
/** Most days that one pass makes of hours, and most hours and days that it drops: a clock that is years ahead for a moment must not cost the history. */
const PACKED_DAYS = 7;
const DROPPED_HOURS = 48;
const DROPPED_DAYS = 2;

/** What is open, by hour. */
export function openPeriods(tx: Tx): Map<number, RollupPeriod> {
	const periods = new Map<number, RollupPeriod>();
	for (const [key, value] of tx.memory.all("rollup_open")) {
		const hour = hourIn(key);
		const period: RollupPeriod = periods.get(hour) ?? { caps: tx.memory.meta("rollups")?.caps ?? {}, cells: [] };
		period.cells.push({ of: namesIn(key), counts: value });
		periods.set(hour, period);
	}
	return periods;
}

export function* packRollups(tx: Tx, hour: number, caps: RollupCaps): Op<void> {
	const { timezone } = tx.config;
	const begun = [...openPeriods(tx).keys()].reduce((least, one) => Math.min(least, one), hour);
	const fresh: RollupState = {
		hour,
		hours_from: begun,
		days_from: localDay(begun * HOUR_MS, timezone),
		days_to: begun,
		begun_at: tx.now,
		caps,
	};
	const state = { ...(tx.memory.meta("rollups") ?? fresh) };
	yield* packHours(tx, hour, state);
	yield* packDays(tx, hour, state);
	for (let left = DROPPED_HOURS; left > 0 && state.hours_from < Math.min(state.days_to, hour - HOURS_KEPT); left--)
		tx.putAside("rollup", hourKey(state.hours_from++), null);
	for (let left = DROPPED_DAYS; left > 0 && state.days_from < localDay(tx.now, timezone) - DAYS_KEPT; left--)
		tx.putAside("rollup", dayKey(state.days_from++), null);
	tx.putMeta("rollups", { ...state, hour, caps });
}

/** An hour that is part of a day already goes there, too: a run that began before ended, or the clock was set back. */
function* packHours(tx: Tx, hour: number, state: RollupState): Op<void> {
	const { timezone } = tx.config;
	const closed = new Map<string, RollupPeriod[]>();
	for (const [one, period] of openPeriods(tx)) {
		if (one === hour) continue;
		if (one >= state.hours_from) addTo(closed, hourKey(one), period);
		if (one >= state.days_to) continue;
		const day = localDay(one * HOUR_MS, timezone);
		addTo(closed, dayKey(day), period);
		state.days_from = Math.min(state.days_from, day);
	}
	if (closed.size === 0) return;
	const known = new Map(yield* storedRecords("rollup", [...closed.keys()]));
	for (const [key, periods] of closed) {
		const before = known.get(key);
		tx.putAside("rollup", key, mergePeriods(before ? [before, ...periods] : periods));
	}
	for (const key of [...tx.memory.all("rollup_open").keys()]) if (hourIn(key) !== hour) tx.put("rollup_open", key, null);
}

function* packDays(tx: Tx, hour: number, state: RollupState): Op<void> {
	const { timezone } = tx.config;
	for (let left = PACKED_DAYS; left > 0; left--) {
		const day = localDay(state.days_to * HOUR_MS, timezone);
		let next = state.days_to + 1;
		while (localDay(next * HOUR_MS, timezone) === day) next++;
		if (next > hour) return;
		const keys = Array.from({ length: next - state.days_to }, (_, index) => hourKey(state.days_to + index));
		const found = new Map(yield* storedRecords("rollup", [...keys, dayKey(day)]));
		// The day first: the hours after it have the later caps.
		const periods = [dayKey(day), ...keys].flatMap((key) => found.get(key) ?? []);
		if (periods.length > 0) tx.putAside("rollup", dayKey(day), mergePeriods(periods));
		state.days_to = next;
	}
}
