// What is kept of an hour or a day: its cells and the caps that applied. Hours are merged into days; a period with too many different cells keeps the largest
// ones and adds up the rest by lane.

import { type Config, isDirect } from "../config.ts";
import { addCounts, type CellNames, OTHER, type RollupCounts } from "./cell.ts";

/** Slots that the configuration allowed; absent: no cap. */
export type RollupCaps = { all?: number; lanes?: Record<string, number>; accounts?: Record<string, number> };
export type RollupCell = { of: CellNames; counts: RollupCounts };
export type RollupPeriod = { caps: RollupCaps; cells: RollupCell[] };

/** Most cells of an hour or a day, before the smallest are added up. 365 days of this many take about 11 MB. */
const MOST_CELLS = 100;

function limitsIn(of: Readonly<Record<string, { max?: number | null | undefined }>>): Record<string, number> | undefined {
	const found: Record<string, number> = {};
	for (const [name, { max }] of Object.entries(of)) if (max !== null && max !== undefined) found[name] = max;
	return Object.keys(found).length > 0 ? found : undefined;
}

export function capsIn(config: Config): RollupCaps {
	const most = Math.min(
		isDirect(config) ? Number.POSITIVE_INFINITY : config.max_concurrent,
		config.safety_cap > 0 ? config.safety_cap : Number.POSITIVE_INFINITY,
	);
	const lanes = limitsIn(config.lanes);
	const accounts = limitsIn(config.accounts);
	return { ...(Number.isFinite(most) ? { all: most } : {}), ...(lanes ? { lanes } : {}), ...(accounts ? { accounts } : {}) };
}

const weightOf = ({ started = 0, runs = 0, succeeded = 0, failed = 0, cancelled = 0 }: RollupCounts): number =>
	started + runs + succeeded + failed + cancelled;

/** A cell for what is left over in a lane. */
export const otherOf = (lane: string): CellNames => [lane, OTHER, OTHER, OTHER, OTHER, OTHER];

/** Adds cells up by their names. Of more than `most`, the largest stay as they are. */
export function mergeCells(cells: readonly RollupCell[], most = MOST_CELLS): RollupCell[] {
	const sums = new Map<string, RollupCell>();
	const add = ({ of, counts }: RollupCell) => {
		const key = JSON.stringify(of);
		const known = sums.get(key);
		if (known) addCounts(known.counts, counts);
		else sums.set(key, { of, counts: addCounts({}, counts) });
	};
	for (const cell of cells) add(cell);
	if (sums.size <= most) return [...sums.values()];
	const bySize = [...sums.values()].sort((a, b) => weightOf(b.counts) - weightOf(a.counts));
	const kept = bySize.slice(0, most);
	sums.clear();
	for (const cell of kept) add(cell);
	const lanes = new Set(kept.map(({ of: [lane] }) => lane));
	for (const { of, counts } of bySize.slice(most)) add({ of: otherOf(lanes.has(of[0]) ? of[0] : OTHER), counts });
	return [...sums.values()];
}

/** Periods in the order of time: the caps of the last one that knows any count for all. */
export function mergePeriods(periods: readonly RollupPeriod[]): RollupPeriod {
	const caps = periods.findLast((one) => Object.keys(one.caps).length > 0)?.caps ?? {};
	return { caps, cells: mergeCells(periods.flatMap(({ cells }) => cells)) };
}
