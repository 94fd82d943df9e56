// Methods that act on the whole queue and on the daemon.

import type { GcReport, PlanReport, StatusReport } from "../../contracts/scheduler.ts";
import type { PruneReport } from "../../contracts/workspace.ts";
import type { SharedEndpoint } from "../context.ts";
import type { ForecastDocument } from "../documents/forecast.ts";
import type { NowDocument } from "../documents/now.ts";
import type { StatusDocument } from "../documents/status.ts";
import type { Doc, Timestamp } from "../documents.ts";
import {
	adminMethod,
	choice,
	duration,
	flag,
	label,
	maybe,
	object,
	operatorMethod,
	text,
	time,
	viewerMethod,
	whole,
	word,
	words,
} from "../fields.ts";

export type VersionDocument = Doc<{
	version: string;
	pid: number;
	protocol: number;
	home: string;
	started_at: Timestamp;
	/** The HTTP port; null without HTTP. */
	port: number | null;
	/** Why there is no HTTP although a port is set, or why it has another port; null if neither. */
	http_problem: string | null;
	/** Runs from before the start were found again, and claims have begun. */
	ready: boolean;
	by: string;
	role: string;
	/** The name of the person who asks; null for a caller that is no person. */
	person: string | null;
	/** How the daemon is reached from other machines; null while it listens on 127.0.0.1 alone. */
	shared: SharedEndpoint | null;
}>;

const scope = {
	lane: maybe(label("this lane")),
	repo: maybe(label("this repo")),
	batch: maybe(label("this batch")),
	account: maybe(label("this account")),
};

export const SCHEDULER_METHODS = {
	"scheduler.status": viewerMethod<StatusDocument>()({
		about: "Queue, caps, holds and hosts at a glance.",
		params: {},
		result:
			"{paused, paused_by, paused_at, queued_total, queued_ready, queued_held, held: [{kind, subject, detail, jobs}], running, max_concurrent, lanes: {name: {queued, running, max}}, holds, hosts, backpressure, last_dispatch_at, needs_human: [{job, name, agent, question, denied, since}], unmerged: [{job, name, merge_status, uncommitted, message, path, since}], budgets, recent_failures: {since, failed, blocked_by_dependency}, denied: [{job, name, denied}], config_problem, http_port, http_problem, disk_problem, webhook_problems: [{webhook, error, waiting, failed_at}], now}",
	}),
	"scheduler.now": viewerMethod<Doc<NowDocument>>()({
		about:
			"What needs a person, what runs and what it is doing, what starts next and what the rest waits for, what has just ended, what it costs, when it is done: the home of the page in one answer.",
		params: {},
		result:
			"{now, counts, needs_you: [{job, asks, text, since, waiting}], running: [{job, usual, end}], next: [{job, cause, start}], causes: [{kind, subject, detail, jobs, clears_at, remedy}], failed: [job], ended: [job], money: {today_micro, hour_micro, since, complete, budgets}, done: {end, stuck, note}}; a `job` here has a part of its fields",
	}),
	"scheduler.run": viewerMethod<Doc<PlanReport>>()({
		about:
			"One cycle by hand, which does not wait for the next one, and the jobs that it started; or with `dry_run` its plan. Without `dry_run` an operator's business.",
		acts: "operator",
		params: { dry_run: maybe(flag("only say what would start")) },
		result: "{dispatch, skipped, reason, detail?}: `reason` is capacity, batch, ready, paused or none; `detail` says more in words",
	}),
	"scheduler.forecast": viewerMethod<ForecastDocument>()({
		about: "When each job and batch is likely to start and end, going by past runs; the critical path; which cap binds.",
		params: {
			max_concurrent: maybe(whole("what if this were max_concurrent; 0 or below = direct", -1, 1_000_000)),
			lanes: maybe(object<Record<string, number | null>>("what if these lanes had these caps: `{code: 8}`; null = none")),
			batch: maybe(label("only the jobs of this batch; the others are played all the same")),
		},
		result:
			"{now, runs, plays, jobs: [{id, name, status, lane, batch, start: {p50, p90}, end: {p50, p90}, basis: {of, runs, like}, stuck}], batches: [{name, jobs, stuck, end}], end, critical_path: [{job, because, start, end}], caps: [{cap, limit, waiting_ms}], binding, notes}",
	}),
	"scheduler.pause": operatorMethod<Doc<{ scope: string; paused: boolean; frozen: boolean; kernel: StatusReport["kernel"] }>>()({
		about:
			"Nothing new starts, everywhere or in one place; what runs goes on, unless it is frozen. Entries of the kernel's queue can still be claimed: `kernel` counts them.",
		params: {
			...scope,
			reason: maybe(text("why, for the record", 10_000)),
			freeze: maybe(flag("stop the processes that run, until resume")),
			until: maybe(time("resumes by itself then")),
		},
		result: "{scope, paused, frozen, kernel: {queued, dispatched}}",
	}),
	"scheduler.resume": operatorMethod<
		Doc<{ scope: string; paused: boolean; breaker_closed: boolean; was_paused: boolean; still_paused: string[] }>
	>()({
		about: "Ends a pause, and lets frozen runs go on; closes the open breaker of a repo or an agent.",
		params: { ...scope, agent: maybe(label("this agent, which has an open breaker")) },
		result: "{scope, paused, breaker_closed, was_paused, still_paused}; `still_paused`: the scopes that stay so",
	}),
	"scheduler.clear": operatorMethod<Doc<{ cleared: number[] }>>()({
		about: "Ends all jobs that are not running, or those of one item, with the reason `cleared`.",
		params: { item: maybe(word("`source:id` of the item, or its id alone")) },
		result: "{cleared}",
	}),
	"scheduler.gc": adminMethod<Doc<GcReport>>()({
		about:
			"Forgets jobs that ended long ago, that no active job refers to and whose merge is not open; `unmerged` of those kept wait for their merge.",
		params: { days: maybe(whole("ended before so many days (7)", 0, 100_000)) },
		result: "{deleted, kept, unmerged?}",
	}),
	"scheduler.down": adminMethod<Doc<{ stopping: boolean; running: number }>>()({
		about: "Stops the daemon: no new starts, a grace, then runs are left to their shims or stopped.",
		params: { stop_runs: maybe(flag("stop them")), grace_ms: maybe(duration("how long to wait for runs to end by themselves")) },
		result: "{stopping, running}",
	}),
	"scheduler.serve": adminMethod<Doc<{ shared: SharedEndpoint | null }>>()({
		about:
			"Shares the daemon on the network, by the settings `listen.…`, which it writes; with `off` ends that; without parameters says how it is shared. It counts at once, and after a restart.",
		params: {
			listen: maybe(word("address and port: `0.0.0.0:7443` is all addresses of this machine")),
			certificate: maybe(text("a file on the daemon's machine, with its whole path; without one the daemon makes its own", 4096, "one")),
			key: maybe(text("the file with its private key", 4096, "one")),
			names: maybe(words("names by which people reach it, the first for links")),
			tls: maybe(choice("off: plain HTTP, on a loopback address alone (on)", ["on", "off"])),
			off: maybe(flag("share it no longer")),
		},
		result: "{shared: {url, address, fingerprint, pin, own_certificate, problem}}",
	}),
	"scheduler.version": viewerMethod<VersionDocument>()({
		about: "Who answers, since when, and as whom it sees you.",
		params: {},
		result:
			"{version, pid, protocol, home, started_at, port, http_problem, ready, by, role, person, shared: {url, address, fingerprint, pin, own_certificate, problem}}",
	}),
	"scheduler.prune": adminMethod<Doc<PruneReport>>()({
		about:
			"Removes worktrees of ended jobs. What is not committed is saved on a rescue ref first; what must stay is named with the reason.",
		params: { dry_run: maybe(flag("only say what would be done")) },
		result: "{removed: [{job, path, branch, rescued}], kept: [{job, path, why}]}",
	}),
} as const;
