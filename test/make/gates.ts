// A bucket and a world for the tests of the gates that look at them.

import type { Bucket } from "../../src/core/bucket.ts";
import { DEFAULTS } from "../../src/core/config.ts";
import type { LimitsView } from "../../src/core/limits-view.ts";

export const makeBucket = (more: Partial<Bucket> = {}): Bucket => ({ id: 1, kind: "command", lane: "default", ready: 1, ...more });

/** Nothing is held, nothing runs; it is `now`. */
export const worldAt =
	(now: number) =>
	(more: Partial<LimitsView> = {}): LimitsView => ({
		now,
		config: DEFAULTS,
		holds: new Map(),
		ledgers: new Map(),
		hosts: [],
		usage: new Map(),
		last_cycle_at: 0,
		cycle_left: 0,
		last_start_at: 0,
		starts: 0,
		...more,
	});
