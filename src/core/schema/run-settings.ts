// The settings of a host that concern its runs, one row a key.

import { group, setting } from "./setting.ts";
import { length, lengthOrNone } from "./setting-values.ts";

export const RUN_SETTINGS = {
	log_retention_ms: setting(30 * 86_400_000, length()).about("Run folders of ended jobs are kept this long: 30 days."),
	stop: group({
		grace_int_ms: setting(5000, length()).about("Time between the first signal of a stop and SIGTERM."),
		grace_term_ms: setting(10_000, length()).about("Time between SIGTERM and SIGKILL."),
	}),
	timeout_ms: setting(null, lengthOrNone).about("Timeout of jobs that name none; counts time awake. `null` = none."),
	stall_timeout_ms: setting(null, lengthOrNone).about(
		"Stall timeout of jobs that name none: time without any output; for an agent, only while none of its tools runs. `null` = none.",
	),
	agent_stall_timeout_ms: setting(1_200_000, lengthOrNone).about(
		'The same for agents whose output Sluice reads (`agents.<name>.output` other than `"command"`), if neither the job nor `stall_timeout_ms` sets one. `null` = none. A job\'s own `stall_timeout: 0` also means none.',
	),
	agent_patience_ms: setting(60_000, lengthOrNone).about(
		"An agent that has met a limit and waits for its end is stopped after this long: the account is held, and the job continues later in the same session. `null` = never.",
	),
};
