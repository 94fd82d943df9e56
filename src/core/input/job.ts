// Turns the input of `add` or `apply` into a job document and its spec. All checks are done before anything is written.

import { type Config, NO_RETRY } from "../config.ts";
import { SluiceError } from "../errors.ts";
import { EXIT_KINDS, type Job, type JobInput, type JobSpec, type Lock, POLICIES, type Policy, type RetryPolicy } from "../job.ts";
import { refusePlaces } from "../recipes/after-result.ts";
import { policyOf } from "../retry.ts";
import { confine, type RunBounds, refuseForce } from "../trust/run-bounds.ts";
import * as check from "./check.ts";
import { known, knownAgent, laneIn, missing } from "./known-names.ts";
import { MODES, splitLock } from "./lock.ts";
import { addNeeds } from "./needs.ts";
import { branch, specOf } from "./spec.ts";

/** The job as far as its input determines it; id, path, bucket and parking are set when it is stored. */
export type Draft = {
	job: Job;
	spec: JobSpec;
	/** `gate`: added by the parent's gate. */
	after: { ref: number | string; policy: Policy; gate?: true }[];
	/** A name is replaced by its number before the job is added. */
	parent: number | string | undefined;
	parent_gate: boolean;
	unique: { key: string; window_ms: number | undefined; policy: "skip" | "replace" | "error" } | undefined;
	/** The job whose run adds this one: the parent is that job or one of its descendants. */
	within?: number | undefined;
	warnings: string[];
};

export const INPUT_KEYS = [
	"name",
	"batch",
	"parent",
	"parent_gate",
	"item",
	"source",
	"phase",
	"title",
	"command",
	"agent",
	"prompt",
	"payload",
	"repo",
	"base_branch",
	"worktree",
	"merge",
	"no_merge",
	"input_patch",
	"cwd",
	"env",
	"host_labels",
	"lane",
	"priority",
	"runnable_at",
	"deadline",
	"trigger",
	"after",
	"needs",
	"on_missing",
	"produces",
	"pinned_head",
	"conditions",
	"locks",
	"serial",
	"parallelizable",
	"requires_approval",
	"unique",
	"owner",
	"account",
	"timeout",
	"stall_timeout",
	"retry",
	"uses",
	"model",
	"permission",
	"may_add",
	"allow",
	"expect",
	"commit",
	"args",
	"vars",
	"recipe",
	"mode",
	"owned",
	"raw",
] as const satisfies readonly (keyof JobInput)[];

const KNOWN = new Set<string>(INPUT_KEYS);

/**
 * `agents`: known names of agents; absent = any. `flows`: lanes that the job's item asks for; a lane that no configuration names is created if `flow_max`
 * allows it.
 */
export type DraftOptions = {
	now: number;
	force: boolean;
	field?: string;
	agents?: readonly string[] | undefined;
	flows?: readonly string[] | undefined;
	/** Limits for a job that is added by a run. */
	within?: RunBounds | undefined;
};

export const draftJob = (value: unknown, config: Config, options: DraftOptions): Draft =>
	check.taking(options.field || "job", () => readJob(value, config, options));

function readJob(value: unknown, config: Config, { now, force, field = "", agents, flows = [], within }: DraftOptions): Draft {
	const at = (key: string) => (field === "" ? key : `${field}.${key}`);
	const input = check.record(value, field === "" ? "job" : field) as JobInput;
	if (within && force) throw refuseForce(within);
	for (const key in input) if (!KNOWN.has(key)) check.knownKeys(input as Record<string, unknown>, INPUT_KEYS, field);
	const kind = kindOf(input, at);
	const lane = laneIn(input.lane, config, { flows, force, field: at("lane") });

	const runnable_at = input.runnable_at === undefined ? now : check.instant(input.runnable_at, at("runnable_at"));
	const job: Job = {
		id: 0,
		status: "queued",
		kind,
		lane,
		trigger: input.trigger === undefined ? "manual" : check.word(input.trigger, at("trigger")),
		priority: input.priority === undefined ? 0 : check.integer(input.priority, at("priority"), -1_000_000, 1_000_000),
		created_at: now,
		runnable_at,
		attempt: 0,
		line: "",
		bucket: 0,
		// Fields that most jobs get later exist from the start: adding them to the copies that `apply` makes took a large part of its time. JSON leaves out
		// undefined.
		name: undefined,
		deps_left: undefined,
		dependents: undefined,
		ready_at: undefined,
		gate: undefined,
		since: undefined,
		due_at: undefined,
		wait_reason: undefined,
		waited_on: undefined,
		run: undefined,
		started_at: undefined,
		ended_at: undefined,
		exit_code: undefined,
		exit_kind: undefined,
		last_run: undefined,
	};
	if (input.name !== undefined) job.name = check.jobName(input.name, at("name"));
	if (input.batch !== undefined) job.batch = check.label(input.batch, at("batch"));
	if (input.deadline !== undefined && input.deadline !== null) {
		job.deadline = check.instant(input.deadline, at("deadline"));
		if (job.deadline < runnable_at)
			throw check.wrong(
				at("deadline"),
				"is before the start time (runnable_at): this job could never run",
				"set a later deadline, or an earlier start",
			);
	}
	if (input.repo !== undefined) job.repo = known("repo", input.repo, config.repos, at("repo"));
	if (input.account !== undefined) job.account = known("account", input.account, config.accounts, at("account"));
	if (input.agent !== undefined) job.agent = knownAgent(input.agent, config.agents, force ? undefined : agents, at("agent"));
	if (input.owner !== undefined) job.owner = check.word(input.owner, at("owner"));
	if (input.host_labels !== undefined) {
		const labels = check.labels(input.host_labels, at("host_labels"));
		if (labels.length > 0) job.host_labels = labels;
	}
	if (input.uses !== undefined) addUses(job, input.uses, config, force, at);
	// A job that asks for retries gets them after every failure, whatever the default for its kind.
	if (input.retry !== undefined) job.retry = retryOf(input.retry, { ...policyOf(job, config), on: NO_RETRY.on }, at("retry"));
	addItem(job, input, config, force, at);
	addNeeds(job, input, config, at);
	addLocks(job, input, at);
	if (input.requires_approval !== undefined && check.flag(input.requires_approval, at("requires_approval"))) job.approval = "needed";
	const spec = specOf(input, now, at);
	checkExpectation(job, spec, at);
	const warnings = within ? confine(job, spec, within, at) : [];
	addMerge(job, spec, config);
	const after = afterOf(input, at);
	if (spec.prompt !== undefined)
		refusePlaces(
			spec.prompt,
			after.map(({ ref }) => ref),
			at("prompt"),
		);
	const unique = uniqueOf(input, at);
	if (unique) {
		const { window_ms, ...rest } = unique;
		spec.unique = window_ms === undefined ? rest : { ...rest, window_ms };
	}
	return {
		job,
		spec,
		after,
		parent: input.parent === undefined ? within?.job : refOf(input.parent, at("parent")),
		parent_gate:
			(input.parent_gate === undefined ? config.parents.gate : check.oneOf(input.parent_gate, ["success", "none"], at("parent_gate"))) ===
			"success",
		unique,
		...(within ? { within: within.job } : {}),
		warnings,
	};
}

/** Only agents have `expect`: a command's exit code says how it went. Without a repo Sluice sees no change, so a recipe's `change` counts as `any`. */
function checkExpectation({ kind, repo }: Job, spec: JobSpec, at: At): void {
	for (const key of ["expect", "allow"] as const)
		if (spec[key] !== undefined && kind !== "agent") throw check.wrong(at(key), `is for agents, and this is a ${kind}`, "leave it out");
	if (spec.expect !== "change" || repo !== undefined) return;
	if (spec.recipe === undefined)
		throw check.wrong(at("expect"), "a change can be told only in a repo", "name one with --repo, or leave expect out");
	delete spec.expect;
}

/** If the repo's default is not to merge, the job records that, because `after: merged` was accepted or refused by it. */
function addMerge(job: Job, spec: JobSpec, config: Config): void {
	if (job.repo === undefined || spec.no_merge) return;
	const usual = config.repos[job.repo]?.merge;
	if (usual === "none") spec.no_merge = true;
	else if ((spec.merge ?? usual) === "local") spec.merge = "local";
	else {
		job.will_merge = true;
		job.merge_status = "none";
	}
}

type At = (key: string) => string;

function kindOf(input: JobInput, at: At): Job["kind"] {
	if (input.command !== undefined) {
		if (input.agent !== undefined) throw check.wrong(at("command"), "a job has a command or an agent, not both", "leave one out");
		return "command";
	}
	if (input.agent !== undefined) {
		if (input.prompt === undefined && input.recipe === undefined && input.args === undefined && input.payload === undefined)
			throw check.wrong(at("prompt"), "an agent needs a prompt", "give prompt, args or a recipe");
		return "agent";
	}
	if (input.payload !== undefined) return "payload";
	throw check.wrong(at("command"), "nothing to run", "give a command, an agent with a prompt, or a payload");
}

function addUses(job: Job, value: unknown, config: Config, force: boolean, at: At): void {
	const uses: Record<string, number> = {};
	for (const [name, amount] of Object.entries(check.record(value, at("uses")))) {
		const field = `${at("uses")}.${name.slice(0, 40)}`;
		if (!Object.hasOwn(config.resources, name)) throw missing("resource", name, Object.keys(config.resources), field);
		uses[name] = check.integer(amount, field, 1, 1_000_000);
		const total = config.resources[name] as number;
		if ((uses[name] as number) > total && !force)
			throw new SluiceError("impossible", `${field}: uses ${uses[name]} of ${total}: this job could never run`, {
				field,
				hint: `raise it: sluice config set resources.${name} N, or add it with --force`,
			});
	}
	if (Object.keys(uses).length > 0) job.uses = uses;
}

export function retryOf(value: unknown, base: RetryPolicy, field: string): RetryPolicy {
	if (typeof value === "number") return { ...base, max: check.integer(value, field, 0, 1000) };
	const given = check.record(value, field);
	check.knownKeys(given, ["max", "base_ms", "factor", "jitter", "cap_ms", "on"], field);
	return {
		max: given.max === undefined ? base.max : check.integer(given.max, `${field}.max`, 0, 1000),
		base_ms: given.base_ms === undefined ? base.base_ms : check.duration(given.base_ms, `${field}.base_ms`),
		factor: given.factor === undefined ? base.factor : check.number(given.factor, `${field}.factor`, 1, 100),
		jitter: given.jitter === undefined ? base.jitter : check.number(given.jitter, `${field}.jitter`, 0, 1),
		cap_ms: given.cap_ms === undefined ? base.cap_ms : check.duration(given.cap_ms, `${field}.cap_ms`),
		on:
			given.on === undefined
				? base.on
				: check.list(given.on, `${field}.on`, 20).map((kind, index) => check.oneOf(kind, EXIT_KINDS, `${field}.on[${index}]`)),
	};
}

function addItem(job: Job, input: JobInput, config: Config, force: boolean, at: At): void {
	if (input.phase !== undefined) job.phase = check.word(input.phase, at("phase"));
	if (input.item === undefined) {
		if (input.source !== undefined) check.label(input.source, at("source"));
		return;
	}
	const id = check.word(input.item, at("item"));
	const source = input.source === undefined ? "inline" : check.label(input.source, at("source"));
	job.item = `${source}:${id}`;
	const prefix = job.repo === undefined ? null : (config.repos[job.repo]?.prefix ?? null);
	if (prefix === null || force || id.startsWith(prefix)) return;
	const right = Object.entries(config.repos).find(([, repo]) => repo.prefix !== null && id.startsWith(repo.prefix))?.[0];
	throw new SluiceError(
		"forbidden",
		`${at("item")}: ${check.shown(id)} does not begin with ${check.shown(prefix)}, the prefix of repo ${job.repo}`,
		{
			field: at("item"),
			hint: right ? `its repo is ${right}: use --repo ${right}, or --force` : "no repo has its prefix; --force adds it all the same",
		},
	);
}

function addLocks(job: Job, input: JobInput, at: At): void {
	const locks = new Map<string, Lock>();
	const take = (key: string, mode: Lock["mode"]) => {
		if (locks.get(key)?.mode !== "exclusive") locks.set(key, { key, mode });
	};
	if (input.locks !== undefined)
		check.list(input.locks, at("locks"), 100).forEach((one, index) => {
			const field = `${at("locks")}[${index}]`;
			const given = typeof one === "string" ? splitLock(one, field) : check.record(one, field);
			check.knownKeys(given, ["key", "mode"], field);
			const mode = given.mode === undefined ? "exclusive" : check.oneOf(given.mode, MODES, `${field}.mode`);
			take(check.word(given.key, `${field}.key`), mode);
		});
	if (input.serial !== undefined) take(`serial:${check.word(input.serial, at("serial"))}`, "exclusive");
	if (input.parallelizable !== undefined && !check.flag(input.parallelizable, at("parallelizable"))) {
		const source =
			job.item?.slice(0, job.item.indexOf(":")) ?? (input.source === undefined ? "inline" : check.label(input.source, at("source")));
		take(`serial:${source}:${job.phase ?? ""}:${job.lane}`, "exclusive");
	}
	if (input.worktree !== undefined) take(`branch:${job.repo ?? ""}:${branch(input.worktree, at("worktree"))}`, "exclusive");
	if (locks.size > 0) job.locks = [...locks.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** A job by its number, which may be written as text, or by its name. */
function refOf(value: unknown, field: string): number | string {
	const ref = typeof value === "string" && /^[1-9]\d{0,14}$/.test(value) ? Number(value) : value;
	return typeof ref === "number" ? check.integer(ref, field, 1) : check.label(ref, field);
}

function afterOf(input: JobInput, at: At): Draft["after"] {
	if (input.after === undefined) return [];
	const seen = new Map<number | string, { ref: number | string; policy: Policy }>();
	check.list(input.after, at("after")).forEach((one, index) => {
		const field = `${at("after")}[${index}]`;
		let ref: unknown = one;
		let policy: unknown;
		if (one !== null && typeof one === "object") {
			const given = check.record(one, field);
			check.knownKeys(given, ["job", "policy"], field);
			ref = given.job;
			policy = given.policy;
		} else if (typeof one === "string") {
			// Names have no colons: the part after a colon is a policy.
			const match = /^(.+):([^:]*)$/s.exec(one);
			if (match) [, ref, policy] = match;
		}
		const job = refOf(ref, field);
		if (seen.has(job)) throw check.wrong(field, `names ${check.shown(job)} a second time`, "name each predecessor once");
		seen.set(job, { ref: job, policy: policy === undefined ? "success" : check.oneOf(policy, POLICIES, `${field}.policy`) });
	});
	return [...seen.values()];
}

function uniqueOf(input: JobInput, at: At): Draft["unique"] {
	if (input.unique === undefined) return undefined;
	const given = check.record(input.unique, at("unique"));
	check.knownKeys(given, ["key", "window_ms", "policy"], at("unique"));
	return {
		key: check.word(given.key, `${at("unique")}.key`),
		window_ms: given.window_ms === undefined ? undefined : check.duration(given.window_ms, `${at("unique")}.window_ms`),
		policy: given.policy === undefined ? "skip" : check.oneOf(given.policy, ["skip", "replace", "error"], `${at("unique")}.policy`),
	};
}
