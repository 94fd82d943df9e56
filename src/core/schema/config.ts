// The scheduler's settings: one row a key. The type `Config`, the defaults, the check of input, known names and docs/reference/config.md come from it. Where
// several hosts share a store, these are the settings that all of them share. Unit last; `null` is none, `0` is zero (the exceptions say so).

import * as check from "../input/check.ts";
import type { RetryPolicy } from "../job.ts";
import { parseHours } from "../time/window.ts";
import { readRetry } from "./job-values.ts";
import {
	group,
	map,
	optional,
	plainMap,
	rowsReader,
	type SettingRow,
	setting,
	usualOf,
	type ValueReader,
	type ValuesOf,
} from "./setting.ts";
import { branchOrNone, cap, flag, labels, length, oneOf, orNone, whole, wordOrNone, zone } from "./setting-values.ts";

export const NO_RETRY: RetryPolicy = {
	max: 0,
	base_ms: 30_000,
	factor: 2,
	jitter: 0.1,
	cap_ms: 300_000,
	on: ["failed", "crashed", "timeout", "stalled", "lost"],
};
/** The retry schedule of preset cards: 30 s, ×2, ±10 %, at most five minutes, five times. */
export const CARD_RETRY: RetryPolicy = { ...NO_RETRY, max: 5 };

const readPolicy: ValueReader<RetryPolicy> = (value, field, before) => ({ ...before, ...readRetry(value, field) });
/** A group that may also be written as a number, and whose keys need their unit. */
const policy = (usual: RetryPolicy, lines: Partial<Record<keyof RetryPolicy, string>>): SettingRow<RetryPolicy> => {
	const rows = Object.entries(usual).map(([key, one]) => [key, { usual: one, about: lines[key as keyof RetryPolicy] ?? "" }]);
	return { usual, read: readPolicy, rows: Object.fromEntries(rows) };
};
const ownPolicy: ValueReader<RetryPolicy | null> = (value, field, before) =>
	value === null ? null : readPolicy(value, field, before ?? NO_RETRY);

const hours: ValueReader<string[]> = (value, field) =>
	check.list(value, field, 50).map((one, index) => {
		const text = check.text(one, `${field}[${index}]`, { max: 20, lines: "one" });
		if (!parseHours(text))
			throw check.wrong(`${field}[${index}]`, `${check.shown(text)} is not a range of hours`, 'for example "22:00-06:00"');
		return text;
	});
/** A whole number, or one of these words. */
const numberOr =
	<W extends string>(words: readonly W[], min: number, max: number): ValueReader<number | W> =>
	(value, field) => {
		const word = words.find((one) => one === value);
		if (word !== undefined) return word;
		const listed = words.map((one) => JSON.stringify(one)).join(" or ");
		if (typeof value === "string") throw check.wrong(field, `must be a whole number or ${listed}, not ${check.shown(value)}`);
		return check.integer(value, field, min, max);
	};
const autoOr = numberOr(["auto"], 0, 1_000_000_000);
const breaker = numberOr(["off", "run"], 1, 1000);

const openCap = orNone(whole(1));

const LANE = {
	max: setting(null, cap).about("Maximum number of live runs in this lane."),
	priority: setting(0, whole(-1_000_000)).about("The lane's base in the priority sum: see [Order](#order)."),
	accounts: setting([], labels).about(
		"Accounts to run on: the first that is open and has room. Empty = the job's account, or else the agent's own, which has the agent's name. Each has to be named under `accounts`.",
	),
	retry: setting(null, ownPolicy).about("Retry policy of the lane's jobs, with the keys of `retry`. `null` = the one for the job's kind."),
	active_hours: setting([], hours).about(
		'Times of day in which jobs may start, in `timezone`: `["22:00-06:00"]`. Empty = always. Runs are not stopped when the hours end.',
	),
};
export type LaneConfig = ValuesOf<typeof LANE>;
export const LANE_DEFAULT: LaneConfig = usualOf(LANE);

export const CONFIG = {
	max_concurrent: setting(4, whole(-1)).about(
		"Maximum number of live runs. `-1` or `0` = **direct**: a job starts the moment its gates pass, and there is no queue limit.",
	),
	safety_cap: setting(25, whole(0)).about("Maximum number of live runs in every mode, direct included; nothing exceeds it. `0` = off."),
	batch_size: setting(0, whole(0)).about("Maximum number of starts in one cycle, `spawn_delay_ms` apart. `0` = no bound."),
	spawn_delay_ms: setting(0, length()).about(
		"Shortest time between two starts. This, `batch_size` and `cycle_interval_ms` apply in deferred mode only.",
	),
	cycle_interval_ms: setting(0, length()).about(
		"Time between two cycles, which come at whole multiples of it on the clock (3 min: 12:00, 12:03 …), also while nothing waits. A new job starts in the next cycle, or with `sluice run`. `0` = a cycle at every change.",
	),
	poll_interval_ms: setting(1000, length(10)).about(
		"How often to poll for changes that send no notification, such as a file that appears.",
	),
	lanes: { ...map(LANE), usual: { default: LANE_DEFAULT } as Record<string, LaneConfig> },
	repos: map(
		{
			max: setting(null, cap).about("Maximum number of live runs in this repo."),
			max_open: optional(openCap).about(
				"Maximum number of its jobs that have ended with work that waits for a person, instead of `review.max_open`; `null` = none.",
				"`review.max_open`",
			),
			prefix: setting(null, wordOrNone).about("Prefix of the ids of its items; an item with another prefix is refused without `force`."),
			/** What becomes of the work of jobs that do not say; `none` for a repo without a folder, which Sluice does not merge. Absent = direct. */
			merge: optional(oneOf("direct", "mr", "local", "none")).about(null),
			/** The branch that jobs begin from and merge into, if configured; the engine only shows it. */
			base: optional(branchOrNone).about(null),
		},
		"Registered repositories.",
	),
	accounts: map(
		{
			max: setting(null, cap).about("Maximum number of live runs on this account."),
			max_api_calls: setting(10, whole(0)).about(
				"Call slots that cooperating agents take and release with `account.acquire` and `account.release`. Not a cap on runs.",
			),
		},
		"Provider accounts; rate limits belong to them.",
	),
	hosts: map(
		{ max: setting(null, cap).about("Maximum number of live runs on this host, counted for claims that name it.") },
		"Machines that run jobs.",
	),
	resources: plainMap(
		whole(0),
		0,
		'Named amounts of which jobs use a part with `uses`: `{ "build": 1 }`. A resource that is not named here is unlimited.',
	),
	/** The daemon has a map of the same name (daemon/config/settings.ts): how each agent is started. */
	agents: setting([], labels).about("Agents that a job may name. Empty = any."),
	flow_max: setting(null, cap).about(
		"The cap of a lane that an item asks for (a card's `agent_flow`) and that `lanes` does not name. `null` = such an item is refused. A lane that a person names always has to exist.",
	),
	queue: group({
		soft_limit: setting("auto", autoOr).about('Above it, `add` returns a warning. `"auto"` = the larger of 8 and 4 × `max_concurrent`.'),
		hard_limit: setting(0, autoOr).about(
			'When it is reached, `add` returns `deferred` and stores nothing. `"auto"` = 2 × the soft limit; `0` = none.',
		),
		count_serial: setting(false, flag).about(
			"Both limits also count jobs that wait for a serial lock (`--serial`, `parallelizable: false`), not only ready jobs.",
		),
		limit_items: setting(false, flag).about(
			"The hard limit also applies to items that are slung or watched: they stay as they are, with the reason.",
		),
	}),
	order: group({
		age_boost_per_minute: setting(1, whole(0, 1000)).about("Added for each whole minute of waiting."),
		age_boost_max: setting(50, whole(0, 1000)).about("Maximum of the age term."),
		depth_boost_per_level: setting(10, whole(-1000, 1000)).about("Added for each ancestor of the job."),
		retry_penalty_per_iteration: setting(5, whole(0, 1000)).about("Subtracted for each run of the job that ended as a failure."),
		retry_penalty_max: setting(30, whole(0, 10_000)).about("Maximum of the penalty."),
		age_from: setting("ready", oneOf("ready", "created")).about(
			'Age counts since the job became `"ready"` (passed the gates up to approval), or since it was `"created"`.',
		),
		overdue_share: setting(4, whole(0, 1000)).about(
			"Every nth start goes to the job that has been startable longest, if it is overdue: nothing starves. `0` = off.",
		),
		overdue_after_ms: setting(3_600_000, length()).about(
			"A job that has been startable for longer than this is overdue. After this time, a job that still waits for locks also reserves them. `0` = off.",
		),
	}),
	review: group({
		max_open: setting(null, openCap).about(
			"Maximum number of jobs of one repo that have ended with work that waits for a person: a merge that is `requested`, in conflict, refused by `verify`, or waiting for a dirty base or uncommitted work. While there are as many, no further job of that repo starts whose work would be merged. Runs under way go on. `null` = no cap.",
		),
	}),
	parents: group({
		gate: setting("none", oneOf("none", "success")).about(
			'`"success"`: a job with a parent starts only after the parent succeeded. A job\'s `parent_gate` overrides it.',
		),
		max_depth: setting(10, whole(0, 1000)).about("Maximum number of generations below a root."),
		max_descendants: setting(200, whole(0, 10_000_000)).about("Maximum number of jobs below one root."),
	}),
	on_missing: setting("block", oneOf("block", "wait")).about(
		'A needed artifact that no active job produces: `"block"` ends the job as `blocked_by_dependency`, `"wait"` keeps it waiting. A job\'s own `on_missing` overrides it.',
	),
	/** For commands and payloads. */
	retry: policy(NO_RETRY, {
		max: "Retries after the first run.",
		base_ms: "The first delay.",
		factor: "Each delay is this many times the one before.",
		jitter: "Random variation: up to this share of the delay is added or subtracted.",
		cap_ms: "The longest delay.",
		on: "Exit kinds that are retried.",
	}),
	agent_retry: policy(
		{ ...CARD_RETRY, on: ["crashed", "stalled", "lost"] },
		{
			max: "As above, for agents.",
			on: "A run that ended as `failed` did its work and reported failure; by default that is not repeated. Retries that a job asks for itself (`--retries N`, `retry: N`) cover all of `failed`, `crashed`, `timeout`, `stalled`, `lost`, unless the job's `retry.on` says otherwise.",
		},
	),
	dispatch_breaker: setting(3, breaker).about(
		'Dispatch failures in a row that end a job as `failed`, `circuit-broken`. `"off"`: it stays queued with the reason. `"run"`: each counts as a failed run.',
	),
	dispatch_backoff_ms: setting(10_000, length()).about(
		"Wait after the first dispatch failure; doubled by each further one, an hour at most.",
	),
	environment_breaker: group({
		failures: setting(3, whole(0, 1000)).about(
			"Launch failures in a row, of different jobs of one agent or repo and for a shared reason, that open its breaker: its jobs wait and burn no retry. A program or agent that does not exist never counts. `0` = off.",
		),
		cooldown_ms: setting(60_000, length()).about("Time until one job is let through as a probe, a different one each time."),
	}),
	rate_limit: group({
		margin_ms: setting(5000, length()).about("Added to the reset time that a provider named."),
		stagger_ms: setting(1000, length()).about(
			"Time between starts on an account that comes back from a limit, until a run that began after it succeeds.",
		),
		failover_after_ms: setting(1_800_000, length()).about(
			"A job with an agent session waits for its own account, unless the reset is further away than this, or its provider has been down for longer.",
		),
		outage_max_ms: setting(43_200_000, length()).about(
			"After an outage of this length, each further try burns a retry of its job. Until then jobs wait and burn nothing. `0` = every outage counts as a failure of its job, and no account is held.",
		),
	}),
	lease_ms: setting(600_000, length(1000, check.MAX_TIME)).about(
		"A run of a payload job, or of `work`, that has not been extended (`extend`) for this long is lost. Runs of hosts have no lease of their own.",
	),
	stale_after_ms: setting(600_000, length(1000, 86_400_000)).about(
		"If several hosts share a store: a host without a heartbeat for this long claims nothing more; after a grace (a tenth of it, 30 s at most) its runs are lost, and other hosts get the jobs. Hosts send a heartbeat every sixth of it, at least every 30 s.",
	),
	timezone: setting("UTC", zone('"Europe/Berlin" or "UTC"')).about(
		"IANA name of the zone for cron, active hours, and budgets by hour or day; `local` = that of the machine the daemon runs on. A home without this setting uses the machine's zone; the default applies in the library and in homes of older versions (without a file `zone`, or with `UTC` in it). In a fleet one zone applies to all hosts: that of the host which created the store, stored there.",
	),
	kernel: group({ enabled: setting(true, flag).about("`false` hides the kernel contract.") }),
};

export type Config = ValuesOf<typeof CONFIG>;
export const DEFAULTS: Config = usualOf(CONFIG);

const read = rowsReader(CONFIG);

/** Returns `before` with the changes of `value`; throws a SluiceError that names the key. A configuration with an error is not applied at all. */
export function readConfig(value: unknown, before: Config): Config {
	const config = read(value, "", before);
	for (const [name, lane] of Object.entries(config.lanes))
		for (const account of lane.accounts)
			if (!Object.hasOwn(config.accounts, account))
				throw check.wrong(`lanes.${name}.accounts`, `there is no account ${check.shown(account)}`, "add it under accounts");
	if (Object.keys(config.lanes).length === 0) throw check.wrong("lanes", "at least one lane must be left");
	return config;
}
