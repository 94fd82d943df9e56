// A waiting job as input again: what `add` would have to be given to make it. `edit` changes this input and drafts the job anew. Defaults are left out.

import { type Config, NO_RETRY } from "../config.ts";
import { given } from "../given.ts";
import type { After, Condition, Job, JobInput, JobSpec, Lock } from "../job.ts";
import { policyOf } from "../runs/retry.ts";
import { INPUT_KEYS, type JobKey, keysMarked } from "../schema/job.ts";
import { writeJson } from "../text/json-text.ts";
import { exactPayload } from "./payload.ts";

/** `after`: all edges of the job, the gate on its parent too. */
export type Described = { job: Job; spec: JobSpec; after: readonly After[]; parent: number | undefined };

const IN_SPEC = keysMarked("spec");

export function inputOf({ job, spec, after, parent }: Described, config: Config): JobInput {
	const input: Record<string, unknown> = {};
	for (const key of IN_SPEC) input[key] = spec[key];
	for (const key of ["name", "agent", "lane", "batch", "repo", "account", "owner", "phase"] as const) input[key] = job[key];
	Object.assign(input, {
		payload: exactPayload(spec),
		priority: job.priority === 0 ? undefined : job.priority,
		runnable_at: job.runnable_at === job.created_at ? undefined : job.runnable_at,
		deadline: job.deadline,
		retry: retryOf(job, config),
		timeout: spec.timeout_ms,
		stall_timeout: spec.stall_timeout_ms,
		hold: job.hold ? true : undefined,
		requires_approval: job.approval === undefined ? undefined : true,
		needs: job.needs,
		on_missing: onMissing(job, config),
		produces: job.produces,
		conditions: job.conditions?.map(conditionOf),
		pinned_head: job.pinned_head && { branch: job.pinned_head.branch, commit: job.pinned_head.commit },
		host_labels: job.host_labels,
		uses: job.uses,
		unique: spec.unique,
		trigger: job.trigger === "manual" ? undefined : job.trigger,
		...familyOf(after, parent, config),
		...itemOf(job),
		...locksOf(job, spec),
	});
	return given(input);
}

function onMissing(job: Job, config: Config): JobInput["on_missing"] {
	const now = job.on_missing ?? "block";
	return now === config.on_missing ? undefined : now;
}

/** A number, if only the number of retries differs from the usual policy. */
function retryOf(job: Job, config: Config): JobInput["retry"] {
	if (!job.retry) return undefined;
	const { max, ...rest } = job.retry;
	const { max: _max, ...usual } = { ...policyOf({ ...job, retry: undefined }, config), on: NO_RETRY.on };
	return isSame(rest, usual) ? max : job.retry;
}

const conditionOf = (one: Condition): string | Condition =>
	one.kind === "clean_worktree" ? one.kind : one.kind === "branch_exists" ? `${one.kind}:${one.branch}` : one;

/** The gate on the parent is an edge like any other: it is taken out of the list. */
function familyOf(after: readonly After[], parent: number | undefined, config: Config): Pick<JobInput, "after" | "parent" | "parent_gate"> {
	const isGate = (edge: After) => edge.job === parent && edge.policy === "success";
	const own = after.filter((edge) => !isGate(edge)).map(({ job, policy }) => (policy === "success" ? job : `${job}:${policy}`));
	const gate = after.some(isGate) ? "success" : "none";
	return given({
		after: own.length > 0 ? own : undefined,
		parent,
		parent_gate: parent === undefined || gate === config.parents.gate ? undefined : gate,
	});
}

function itemOf({ item }: Job): Pick<JobInput, "item" | "source"> {
	if (item === undefined) return {};
	const colon = item.indexOf(":");
	const source = item.slice(0, colon);
	return { item: item.slice(colon + 1), ...(source === "inline" ? {} : { source }) };
}

const SERIAL = "serial:";

/** Some locks are made of other fields: the branch that the job writes on, its serial group, and that it is not parallelizable. */
function locksOf({ locks = [], repo, phase = "", lane, item }: Job, { worktree }: JobSpec): JobInput {
	const found: JobInput = {};
	const own: Lock[] = [];
	const end = `:${phase}:${lane}`;
	for (const lock of locks) {
		const group = lock.mode === "exclusive" && lock.key.startsWith(SERIAL) ? lock.key.slice(SERIAL.length) : undefined;
		const source = group?.endsWith(end) ? group.slice(0, -end.length) : undefined;
		if (worktree !== undefined && lock.key === `branch:${repo ?? ""}:${worktree}`) continue;
		if (source !== undefined && source !== "" && !source.includes(":") && found.parallelizable === undefined) {
			found.parallelizable = false;
			if (item === undefined && source !== "inline") found.source = source;
		} else if (group !== undefined && found.serial === undefined) found.serial = group;
		else own.push(lock);
	}
	if (own.length > 0) found.locks = own.map(lockOf);
	return found;
}

const lockOf = ({ key, mode }: Lock) => (key.includes(":") ? { key, mode } : mode === "shared" ? `${key}:shared` : key);

const isSame = (one: unknown, other: unknown): boolean => writeJson(one ?? null) === writeJson(other ?? null);

/** The fields in which two inputs differ. */
export const changedFields = (before: JobInput, now: JobInput): JobKey[] => INPUT_KEYS.filter((key) => !isSame(before[key], now[key]));
