// The methods of lanes.

import type { LaneConfig } from "../../core/config.ts";
import type { Doc } from "../documents.ts";
import { adminMethod, maybe, orNull, viewerMethod, whole, word, words } from "../fields.ts";

/** `lending`: running jobs that wait for other jobs and lend their slots. `timezone`: of its active hours. */
export type LaneDocument = { name: string; queued: number; running: number; lending: number; timezone: string } & LaneConfig;

export const LANE_METHODS = {
	"lane.list": viewerMethod<Doc<{ lanes: LaneDocument[] }>>()({
		about: "Lanes with their caps and what is in them.",
		params: {},
		result: "{lanes: [{name, queued, running, lending, max, priority, accounts, retry, active_hours, timezone}]}",
	}),
	"lane.set": adminMethod<Doc<{ lane: LaneDocument }>>()({
		about: "Changes a lane, or makes one; in force at once, and kept in the configuration file.",
		params: {
			name: word("the lane"),
			max: maybe(orNull(whole("live runs at most; null = no cap", 0, 1_000_000))),
			priority: maybe(whole("its base in the priority sum", -1_000_000, 1_000_000)),
			accounts: maybe(words("accounts to use, the first open one wins")),
			active_hours: maybe(words("times, in the setting `timezone`, in which jobs may start: `HH:MM-HH:MM`")),
		},
		result: "{lane}",
	}),
	"lane.remove": adminMethod<Doc<{ removed: string }>>()({
		about: "Takes a lane out of the configuration file; refused while a job of it is open.",
		params: { name: word("the lane") },
		result: "{removed}",
	}),
} as const;
