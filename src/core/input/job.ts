// Turns the input of `add` or `apply` into a job document and its spec. All checks are done before anything is written.

import { type Config, NO_RETRY } from "../config.ts";
import { SluiceError } from "../errors.ts";
import type { Job, JobSpec, Lock, Policy } from "../job.ts";
import { READY } from "../parked.ts";
import { refusePlaces } from "../recipes/after-result.ts";
import { policyOf } from "../runs/retry.ts";
import type { Field } from "../schema/field.ts";
import { type CheckedJob, INPUT_KEYS, JOB, keysMarked, type SpecFields } from "../schema/job.ts";
import { confine, type RunBounds, refuseForce } from "../trust/run-bounds.ts";
import * as check from "./check.ts";
import { known, knownAgent, laneIn, missing } from "./known-names.ts";
import { addNeeds } from "./needs.ts";

/** The job as far as its input determines it; id, path, bucket and parking are set when it is stored. */
export type Draft = {
	job: Job;
	spec: JobSpec;
	/** `gate`: added by the parent's gate. */
	after: { ref: number | string; policy: Policy; gate?: true }[];
	/** A name is replaced by its number before the job is added. */
	parent: number | string | undefined;
	parent_gate: boolean;
	unique: JobSpec["unique"];
	/** The job whose run adds this one: the parent is that job or one of its descendants. */
	within?: number | undefined;
	warnings: string[];
};

const ROWS: ReadonlyMap<string, Field & { marks: readonly string[] }> = new Map(Object.entries(JOB));
const SPEC = new Set<string>(keysMarked("spec"));

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

type At = (key: string) => string;

function readJob(value: unknown, config: Config, options: DraftOptions): Draft {
	const { now, force, field = "", within } = options;
	const at = (key: string) => (field === "" ? key : `${field}.${key}`);
	const input = check.record(value, field === "" ? "job" : field);
	if (within && force) throw refuseForce(within);
	for (const key in input) if (!ROWS.has(key)) check.knownKeys(input, INPUT_KEYS, field);
	const kind = kindOf(input, at);
	const { given, spec: fields } = readFields(input, at);
	const job = jobOf(given, kind, config, options, at);
	const spec = specOf(given, fields, now);
	checkExpectation(job, spec, at);
	const warnings = within ? confine(job, spec, within, at) : [];
	addMerge(job, spec, config);
	const after = given.after ?? [];
	if (spec.prompt !== undefined)
		refusePlaces(
			spec.prompt,
			after.map(({ ref }) => ref),
			at("prompt"),
		);
	const unique = given.unique && { policy: "skip" as const, ...given.unique };
	if (unique) spec.unique = unique;
	return {
		job,
		spec,
		after,
		parent: given.parent ?? within?.job,
		parent_gate: (given.parent_gate ?? config.parents.gate) === "success",
		unique,
		...(within ? { within: within.job } : {}),
		warnings,
	};
}

/** Checks each field by its row, in the order of the input. */
function readFields(input: Record<string, unknown>, at: At): { given: CheckedJob; spec: SpecFields } {
	const given: Record<string, unknown> = {};
	const spec: Record<string, unknown> = {};
	for (const key in input) {
		const row = ROWS.get(key);
		const value = input[key];
		if (row === undefined || value === undefined) continue;
		const read = row.read(value, at(key));
		given[key] = read;
		if (SPEC.has(key)) spec[key] = read;
	}
	return { given, spec };
}

function specOf({ payload, timeout, stall_timeout }: CheckedJob, fields: SpecFields, now: number): JobSpec {
	const spec: JobSpec = { version: 1, enqueued_at: now, ...fields };
	if (payload !== undefined) Object.assign(spec, payload);
	if (timeout !== undefined) spec.timeout_ms = timeout;
	if (stall_timeout !== undefined) spec.stall_timeout_ms = stall_timeout;
	return spec;
}

function jobOf(given: CheckedJob, kind: Job["kind"], config: Config, { now, force, agents, flows = [] }: DraftOptions, at: At): Job {
	const runnable_at = given.runnable_at ?? now;
	const job: Job = {
		id: 0,
		status: "queued",
		kind,
		lane: laneIn(given.lane, config, { flows, force, field: at("lane") }),
		trigger: given.trigger ?? "manual",
		priority: given.priority ?? 0,
		created_at: now,
		runnable_at,
		attempt: 0,
		parked_on: READY,
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
	if (given.name !== undefined) job.name = given.name;
	if (given.batch !== undefined) job.batch = given.batch;
	if (given.owner !== undefined) job.owner = given.owner;
	if (given.phase !== undefined) job.phase = given.phase;
	if (typeof given.deadline === "number") {
		job.deadline = given.deadline;
		if (job.deadline < runnable_at)
			throw check.wrong(
				at("deadline"),
				"is before the start time (runnable_at): this job could never run",
				"set a later deadline, or an earlier start",
			);
	}
	if (given.repo !== undefined) job.repo = known("repo", given.repo, config.repos, at("repo"));
	if (given.account !== undefined) job.account = known("account", given.account, config.accounts, at("account"));
	if (given.agent !== undefined) job.agent = knownAgent(given.agent, config.agents, force ? undefined : agents, at("agent"));
	if (given.host_labels?.length) job.host_labels = given.host_labels;
	if (given.uses !== undefined) addUses(job, given.uses, config, force, at);
	// A job that asks for retries gets them after every failure, whatever the default for its kind.
	if (given.retry !== undefined) job.retry = { ...policyOf(job, config), on: NO_RETRY.on, ...given.retry };
	addItem(job, given, config, force, at);
	addNeeds(job, given, config, at);
	addLocks(job, given);
	if (given.requires_approval) job.approval = "needed";
	// The transaction that stores the job puts its caller here.
	if (given.hold) job.hold = { by: "", since: now };
	return job;
}

const STRICT = keysMarked("strict");

/** Only agents have `expect`: a command's exit code says how it went. Without a repo Sluice sees no change, so a recipe's `change` counts as `any`. */
function checkExpectation({ kind, repo }: Job, spec: JobSpec, at: At): void {
	for (const key of STRICT)
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

function kindOf(input: Record<string, unknown>, at: At): Job["kind"] {
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

function addUses(job: Job, uses: Record<string, number>, config: Config, force: boolean, at: At): void {
	for (const [name, amount] of Object.entries(uses)) {
		const field = `${at("uses")}.${name.slice(0, 40)}`;
		if (!Object.hasOwn(config.resources, name)) throw missing("resource", name, Object.keys(config.resources), field);
		const total = config.resources[name] as number;
		if (amount > total && !force)
			throw new SluiceError("impossible", `${field}: uses ${amount} of ${total}: this job could never run`, {
				field,
				hint: `raise it: sluice config set resources.${name} N, or add it with --force`,
			});
	}
	if (Object.keys(uses).length > 0) job.uses = uses;
}

function addItem(job: Job, { item: id, source = "inline" }: CheckedJob, config: Config, force: boolean, at: At): void {
	if (id === undefined) return;
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

function addLocks(job: Job, given: CheckedJob): void {
	const locks = new Map<string, Lock>();
	const take = ({ key, mode }: Lock) => {
		if (locks.get(key)?.mode !== "exclusive") locks.set(key, { key, mode });
	};
	const alone = (key: string) => take({ key, mode: "exclusive" });
	given.locks?.forEach(take);
	if (given.serial !== undefined) alone(`serial:${given.serial}`);
	if (given.parallelizable === false) alone(`serial:${given.source ?? "inline"}:${job.phase ?? ""}:${job.lane}`);
	if (given.worktree !== undefined) alone(`branch:${job.repo ?? ""}:${given.worktree}`);
	if (locks.size > 0) job.locks = [...locks.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
