// The methods of the nouns: lanes, accounts, budgets, locks, artifacts, batches, sources, recipes, the configuration, `doctor`.

import type { ItemView, RecipeView, SourceView } from "../../contracts/intake.ts";
import type { AccountView, BudgetView } from "../../contracts/scheduler.ts";
import type { LaneConfig } from "../../core/config.ts";
import type { Status } from "../../core/job.ts";
import type { Checkup, Problem, Setting } from "../context.ts";
import type { RangeDocument } from "../documents/forecast.ts";
import type { JobDocument, ReasonDocument, Time } from "../documents.ts";
import { choice, decimal, duration, flag, json, maybe, method, orNull, text, time, whole, word, words } from "../fields.ts";

type Doc<T> = { schema_version: number } & T;
/** `lending`: running jobs that wait for other jobs and lend their slots. `timezone`: of its active hours. */
export type LaneDocument = { name: string; queued: number; running: number; lending: number; timezone: string } & LaneConfig;
export type AccountDocument = {
	name: string;
	max: number | null;
	max_api_calls: number;
	/** Live runs, and call slots in use. */
	running: number;
	calls: number;
	/** Lanes that list this account. */
	lanes: string[];
	/** `returning`: a limit is over, starts are spaced out until one has succeeded. `closed`: until a person clears it. */
	state: AccountView["state"];
	since: Time | null;
	until: Time | null;
	/** The earliest next start, after a limit. */
	next_at: Time | null;
	/** Consecutive limits; and whether the limit ends at a reset time that the provider named or that is assumed (`reason` says which). */
	hits: number;
	reset: boolean;
	by: string | null;
	reason: string | null;
	/** Everything that keeps runs from starting on it now. */
	reasons: ReasonDocument[];
};
export type BudgetDocument = Omit<BudgetView, "refills_at"> & { refills_at: Time | null };
/** Reported usage of a group of jobs. */
export type CostDocument = {
	/** The group's name; null for jobs that belong to none. */
	name: string | null;
	jobs: number;
	runs: number;
	cost_micro: number;
	tokens: number;
	/** Every dimension that was reported. */
	usage: Record<string, number>;
};
export const COST_GROUPS = ["batch", "owner", "repo", "lane", "agent", "job"] as const;
export type LockDocument = { key: string; holders: { job: number; mode: "shared" | "exclusive" }[]; reserved_for: number | null };
export type ArtifactDocument = { artifact: string; repo: string | null; present: boolean | null; observed_at: Time; error: string | null };
export type BatchDocument = {
	name: string;
	/** `closed` once all of its jobs have ended, unless its owner holds it open. */
	state: "open" | "closed";
	open: number;
	total: number;
	owned: boolean;
	/** Jobs by status, without those that gc has deleted. */
	counts: Partial<Record<Status, number>>;
	/** Share of its jobs that have ended. */
	progress: number;
	/** Attempts of its jobs, and their reported usage; null while no run has reported a cost. */
	runs: number;
	usage: Record<string, number>;
	cost_micro: number | null;
	/** When its last job is likely to end; null if that cannot be forecast. */
	eta: RangeDocument | null;
};

export const NOUN_METHODS = {
	"lane.list": method<Doc<{ lanes: LaneDocument[] }>>()({
		role: "viewer",
		about: "Lanes with their caps and what is in them.",
		params: {},
		result: "{lanes: [{name, queued, running, lending, max, priority, accounts, retry, active_hours, timezone}]}",
	}),
	"lane.set": method<Doc<{ lane: LaneDocument }>>()({
		role: "operator",
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
	"lane.remove": method<Doc<{ removed: string }>>()({
		role: "operator",
		about: "Takes a lane out of the configuration file; refused while a job of it is open.",
		params: { name: word("the lane") },
		result: "{removed}",
	}),
	"account.list": method<Doc<{ accounts: AccountDocument[] }>>()({
		role: "viewer",
		about: "Accounts, and which are limited, closed or with their provider down, until when, why.",
		params: {},
		result:
			"{accounts: [{name, max, max_api_calls, running, calls, lanes, state, since, until, next_at, hits, reset, by, reason, reasons: [Reason]}]}",
	}),
	"account.show": method<Doc<{ account: AccountDocument }>>()({
		role: "viewer",
		about: "One account: whether work may start on it, and all that keeps it from that.",
		params: { name: word("the account") },
		result: "{account}",
	}),
	"account.acquire": method<Doc<{ granted: boolean; in_use: number; limit: number }>>()({
		role: "run",
		about:
			"Takes one of an account's `max_api_calls` slots, if one is free. It comes back by itself after `lease_ms`; taking it again renews it.",
		params: { name: word("the account"), holder: maybe(word("who takes it; inside a run its own job, whatever is said")) },
		result: "{granted, in_use, limit}",
	}),
	"account.release": method<Doc<{ released: boolean }>>()({
		role: "run",
		about: "Gives a slot back.",
		params: { name: word("the account"), holder: maybe(word("who has it; inside a run its own job, whatever is said")) },
		result: "{released}",
	}),
	"account.clear": method<Doc<{ account: AccountDocument }>>()({
		role: "operator",
		about: "Opens an account that was limited or closed, or whose provider was down.",
		params: { name: word("the account") },
		result: "{account}",
	}),
	"account.limit": method<Doc<{ account: AccountDocument }>>()({
		role: "operator",
		about: "Reports that a provider has limited an account.",
		params: {
			name: word("the account"),
			until: maybe(time("the reset, where the provider named one")),
			retry_after_ms: maybe(duration("or how long it said to wait")),
			closed: maybe(text("closed until a person clears it; why", 10_000)),
		},
		result: "{account}",
	}),
	"budget.list": method<Doc<{ budgets: BudgetDocument[] }>>()({
		role: "viewer",
		about: "Budgets by subject and dimension.",
		params: { subject: maybe(word("only of `owner:<name>`, `batch:<name>` or `repo:<name>`")) },
		result: "{budgets: [{subject, dim, used, limit, warn_at, window, over_limit, reserved, reserve, on_breach, refills_at}]}",
	}),
	"budget.grant": method<Doc<{ budget: BudgetDocument }>>()({
		role: "operator",
		about: "Sets a limit; what waited for it goes on at once.",
		params: {
			subject: word("`owner:<name>`, `batch:<name>` or `repo:<name>`"),
			dim: word("`runs`, `wall_s`, `tokens`, `cost_micro` or any other"),
			limit: orNull(whole("in whole units; null = none", 0, Number.MAX_SAFE_INTEGER)),
			window: maybe(orNull(choice("begins anew each", ["hour", "day"]))),
			warn_at: maybe(decimal("share of the limit at which to warn (0.8)", 0, 1)),
			on_breach: maybe(choice("what becomes of runs in flight (finish)", ["finish", "stop"])),
			reserve: maybe(whole("what each run sets aside while it runs (1 of `runs`, else 0)", 0, Number.MAX_SAFE_INTEGER)),
		},
		result: "{budget}",
	}),
	"budget.report": method<
		| Doc<{ per: (typeof COST_GROUPS)[number]; costs: CostDocument[] }>
		| Doc<{ budget: BudgetDocument; warned: boolean; first_breach: boolean }>
	>()({
		role: "viewer",
		about:
			"What jobs have cost, as their runs told it, by batch or another trait, the dearest first. With `subject`, `dim` and `amount`, an operator's business: charges use that no run of ours told; below zero takes back.",
		params: {
			per: maybe(choice("one line per (batch)", COST_GROUPS)),
			batch: maybe(word("only jobs of this batch")),
			owner: maybe(word("only jobs of this owner")),
			repo: maybe(word("only jobs of this repo")),
			subject: maybe(word("charge: `owner:<name>`, `batch:<name>` or `repo:<name>`")),
			dim: maybe(word("charge: the dimension")),
			amount: maybe(whole("charge: as a delta, in whole units", -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
		},
		result: "{per, costs: [{name, jobs, runs, cost_micro, tokens, usage}]}, or {budget, warned, first_breach}",
	}),
	"lock.list": method<Doc<{ locks: LockDocument[] }>>()({
		role: "viewer",
		about: "Locks that are held, by whom, and for whom one is kept free.",
		params: {},
		result: "{locks: [{key, holders: [{job, mode}], reserved_for}]}",
	}),
	"artifact.list": method<Doc<{ artifacts: ArtifactDocument[] }>>()({
		role: "viewer",
		about: "Artifacts that are known, as they were last seen.",
		params: {},
		result: "{artifacts: [{artifact, repo, present, observed_at, error}]}",
	}),
	"artifact.set": method<Doc<{ artifact: string; present: boolean }>>()({
		role: "operator",
		about: "Sets or removes a marker: `custom:<type>:<key>` or `sentinel:<slug>`. Jobs that need it are decided again.",
		params: { artifact: text("the marker", 1000), absent: maybe(flag("remove it")) },
		result: "{artifact, present}",
	}),
	"artifact.mark": method<Doc<{ artifact: string; present: boolean }>>()({
		role: "operator",
		about: "Sets or removes a marker: `custom:<type>:<key>`, `sentinel:<slug>`.",
		params: { artifact: text("the marker", 1000), absent: maybe(flag("remove it")) },
		result: "{artifact, present}",
	}),
	"batch.list": method<Doc<{ batches: BatchDocument[] }>>()({
		role: "viewer",
		about:
			"Batches: how many jobs in which state, how many still open, what they cost and when they will be done, as far as that is known.",
		params: { all: maybe(flag("closed ones too")) },
		result: "{batches: [{name, state, open, total, owned, counts, progress, runs, usage, cost_micro, eta: {p50, p90}}]}",
	}),
	"batch.show": method<Doc<{ batch: BatchDocument; jobs: JobDocument[] }>>()({
		role: "viewer",
		about: "One batch with its jobs.",
		params: { name: word("the batch") },
		result: "{batch, jobs}",
	}),
	"batch.close": method<Doc<{ batch: BatchDocument }>>()({
		role: "operator",
		about: "Closes a batch that its caller owns: now, or when its last open job ends.",
		params: { name: word("the batch") },
		result: "{batch}",
	}),
	"batch.cancel": method<Doc<{ cancelled: number[]; requested: number[] }>>()({
		role: "operator",
		about: "Ends all jobs of a batch: waiting ones at once, running ones after a stop.",
		params: { name: word("the batch"), reason: maybe(text("why, for the record", 10_000)) },
		result: "{cancelled, requested}",
	}),
	"batch.retry": method<Doc<{ reset: number[]; restarted: number[]; skipped: { job: number; reason: string }[] }>>()({
		role: "operator",
		about: "Rewinds the jobs of a batch that failed, were cancelled or expired, each with what comes after it.",
		params: { name: word("the batch") },
		result: "{reset, restarted, skipped: [{job, reason}]}",
	}),
	"source.list": method<Doc<{ sources: SourceView[] }>>()({
		role: "viewer",
		about: "Sources of items: what is in them, and what is wrong with single items.",
		params: {},
		result:
			"{sources: [{name, kind, root, repo, watch, write_back, items, open, eligible, faults: [{source, id, place, code, message, hint}], error}]}",
	}),
	"source.show": method<Doc<{ source: SourceView; items: ItemView[] }>>()({
		role: "viewer",
		about: "One source with its items.",
		params: { name: word("the source"), all: maybe(flag("closed items too")) },
		result:
			"{source, items: [{source, id, kind, title, status, open, in_progress, eligible, held, blocked_by, members, batch, phase, flow, parallelizable, place}]}",
	}),
	"source.scan": method<Doc<{ sources: SourceView[]; added: number[] }>>()({
		role: "operator",
		about: "Looks at a source now, or at all; what is eligible becomes jobs where the source is watched.",
		params: { name: maybe(word("the source")) },
		result: "{sources, added}",
	}),
	"recipe.list": method<Doc<{ recipes: RecipeView[]; warning?: string }>>()({
		role: "viewer",
		about:
			"Recipes: of a repo, of the home, and the shipped ones. One that is wrong has an error. `warning` says why recipes of the repo's own do not count.",
		params: { repo: maybe(word("with those of this repo")) },
		result: "{recipes: [{name, description, origin, vars, steps, error}], warning?}",
	}),
	"recipe.show": method<Doc<{ recipe: RecipeView; warning?: string }>>()({
		role: "viewer",
		about: "One recipe: its variables and its steps.",
		params: { name: word("the recipe"), repo: maybe(word("as this repo has it")) },
		result:
			"{recipe: {name, description, origin, vars: [{name, about, required, default, pattern}], steps: [{name, after, template}], error}, warning?}",
	}),
	"recipe.check": method<Doc<{ ok: boolean; problems: { message: string; field: string | null; hint: string | null }[] }>>()({
		role: "viewer",
		about: "What is wrong with a recipe's text. Changes nothing.",
		params: { text: text("YAML"), name: maybe(word("its name, for messages")) },
		result: "{ok, problems: [{message, field, hint}]}",
	}),
	"config.get": method<Doc<{ settings: Setting[] }>>()({
		role: "viewer",
		about: "One setting, or all of a group, and where each comes from.",
		params: { key: word("for example `max_concurrent`, `lanes.code.max`, `lanes`") },
		result: "{settings: [{key, value, origin}]}",
	}),
	"config.set": method<Doc<{ settings: Setting[]; notes: string[] }>>()({
		role: "operator",
		about: "Changes a setting: checked, written to the file, in force at once; `notes` says what counts only from the next start.",
		params: { key: word("the key"), value: json("text is read as YAML: `8`, `null`, `5m`, `[a, b]`") },
		result: "{settings: [{key, value, origin}], notes}",
	}),
	"config.unset": method<Doc<{ settings: Setting[]; notes: string[] }>>()({
		role: "operator",
		about: "Takes a setting out of the file: its default counts again.",
		params: { key: word("the key") },
		result: "{settings: [{key, value, origin}], notes}",
	}),
	"config.list": method<Doc<{ settings: Setting[] }>>()({
		role: "viewer",
		about: "Every setting in force, and where it comes from.",
		params: {},
		result: "{settings: [{key, value, origin}]}",
	}),
	"config.check": method<Doc<{ ok: boolean; problems: Problem[] }>>()({
		role: "viewer",
		about: "What is wrong with a configuration, or with the file as it stands. Changes nothing.",
		params: { text: maybe(text("YAML to look at instead of the file")) },
		result: "{ok, problems: [{code, message, field, hint}]}",
	}),
	"doctor.run": method<Doc<{ ok: boolean; checks: Checkup[] }>>()({
		role: "operator",
		about: "Looks at everything the daemon needs, and says what to do about what is missing.",
		params: {},
		result: "{ok, checks: [{name, ok, optional?, detail, hint?}]}",
	}),
} as const;
