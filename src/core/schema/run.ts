// What workers say of runs, one row a field: which jobs they take, and how a run ended. The library's methods and the parameters of RPC come from it.

import { DENIED_MAX } from "../agents/permissions/denied.ts";
import * as check from "../input/check.ts";
import { EXIT_KINDS, MERGE_STATUSES } from "../job.ts";
import { choice, choices, field, flag, label, listOf, maybe, orNull, type ReadOf, text, time, whole, word } from "./field.ts";
import { labels } from "./job-values.ts";

export const CLAIM = {
	worker: word("who takes them"),
	max: maybe(whole("at most so many (1)", 0, 1000)),
	lanes: maybe(labels("only of these lanes")),
	/** Default: every kind but kernel. */
	kinds: maybe(choices("only of these kinds", ["command", "agent", "payload"])),
	host: maybe(label("the host that runs them")),
};
export type ClaimOptions = ReadOf<typeof CLAIM>;

/** Charges per ledger dimension, as deltas: tokens, cost_micro … (the scheduler adds wall_s and runs itself). */
const USAGE = field(
	"object",
	"charges by dimension, as deltas: `{tokens, cost_micro}`",
	(value, at): Record<string, number> =>
		Object.fromEntries(
			Object.entries(check.record(value, at)).map(([dim, amount]) => {
				check.label(dim, `${at}.${dim.slice(0, 40)}`);
				return [dim, check.integer(amount, `${at}.${dim}`, 0)];
			}),
		),
	{ type: "object", additionalProperties: { type: "integer", minimum: 0 } },
);

/** `DENIED_MAX` and one more, which counts the rest. */
const DENIED = listOf(
	"tool calls that it was not allowed to make: twenty at most, and `and 40 more` as the last one",
	(value, at) => check.text(value, at, { max: 1000 }),
	{ kind: "words", max: DENIED_MAX + 1 },
);

/** How a run ended, as an outside worker says it. */
export const RUN_END = {
	job: whole("the job", 1, Number.MAX_SAFE_INTEGER),
	token: whole("the run's token, from job.claim", 1, Number.MAX_SAFE_INTEGER),
	exit_kind: choice("how it ended", EXIT_KINDS),
	exit_code: maybe(orNull(whole("its exit code", -2_147_483_648, 4_294_967_295))),
	message: maybe(text("what went wrong")),
	usage: maybe(USAGE),
	session: maybe(word("the agent's session, for the next run")),
	until: maybe(time("rate_limited: when it may go on")),
	retry_after_ms: maybe(whole("rate_limited: or after how long", 0, check.MAX_TIME)),
	/** Until a person clears it (auth, billing). */
	closed: maybe(text("rate_limited: the account needs a person; why")),
	/** Its account is held, and the job waits without using up a retry: core/outage.ts. */
	outage: maybe(flag("crashed: the provider was down; the account is held, no retry is burned")),
	question: maybe(text("needs_human: what it asks")),
	/** An empty list: none was denied. Absent: not known. */
	denied: maybe(DENIED),
	closing_question: maybe(text("completed: what its last words ask", 4000)),
	/**
	 * The program or agent does not exist or cannot be executed. The failure counts against this job alone and opens no breaker. Absent: the cause may be
	 * shared with other jobs (a worktree that cannot be made, a full disk).
	 */
	fault: maybe(choice("launch_failed: the job itself is to blame, and no other job waits for it", ["job"])),
};

/** The same for the library, whose times are milliseconds, with what only hosts of ours say besides. */
export const HOST_RUN_END = {
	...RUN_END,
	until: maybe(whole(RUN_END.until.about, 0, check.MAX_TIME)),
	/** What `until` is: "midnight in California". */
	until_assumed: maybe(text("rate_limited: the provider named no reset, so `until` is assumed", 200, "one")),
	/** Verdict and result of this run stay. */
	goes_on: maybe(flag("crashed: the run was interrupted, and the next run continues its session")),
	/** No retry is used up. */
	reboot: maybe(flag("lost: the machine went down, or its host was lost with it")),
	merge_status: maybe(choice("what became of its branch", MERGE_STATUSES)),
	/** While that host is live, no other host gets the job. */
	stays: maybe(flag("its host has what the next run needs to continue")),
};
export type RunEnd = ReadOf<typeof HOST_RUN_END>;
