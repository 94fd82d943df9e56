// What a run may add: never more than its own job has. One rule for every entry point (job.add, job.apply, job.sling). Pure.
//
//   field                       a run of any job                                  more than that
//   force                       never                                             refused
//   parent                      its own job, or one below it                      refused (scheduler/operations/add.ts)
//   unique, policy replace      replaces a job below it                           refused (scheduler/operations/add.ts)
//   owner                       its own job's, if that has one                    refused
//   priority                    its own job's                                     lowered, with a warning
//   permission, may_add         its level                                         refused; absent: its level at most
//
//                               in addition, a run whose level is `ask` or `edit`
//   command, payload            none: commands and outside workers are not limited       refused
//   conditions                  no command                                        refused
//   repo                        its own job's                                     refused
//   cwd                         its own folder, or below                          refused; absent: its own folder
//   env                         its own job's variables                           refused; those that `env` takes along: its own job's value
//   allow                       its own job's                                     refused
//   account                     its own                                           refused; absent: the one that its job names
//   worktree                    its own branch                                    refused
//   base_branch                 of a merged job: its own base or branch           refused; absent: its own base
//   merge                       its own way (direct > mr > local > none)          refused; absent: its own way
//   produces                    no marker that its own job does not produce       refused
//   host_labels                 its own job's, and more                           its own job's are added
//
// The level of a job: its `may_add` if set, else what its agent may do; a command is a shell, so its level is `full`. All other fields are free: they
// decide when a job runs and what its prompt says, not what it may do.

import { PERMISSIONS, type Permission } from "../agents/profile.ts";
import type { Config } from "../config.ts";
import { SluiceError } from "../errors.ts";
import { isMarker } from "../fact.ts";
import type { Job, JobSpec } from "../job.ts";
import { matchesAny } from "../text/stars.ts";
import { isInside } from "./path.ts";

/** In ascending order of what is changed without a person. */
const MERGE_WAYS = ["none", "local", "mr", "direct"] as const;
export type MergeWay = (typeof MERGE_WAYS)[number];

/** The limits for jobs that one run adds. `reach`: set if its level is below `full`. */
export type RunBounds = {
	/** The run's own job. */
	job: number;
	level: Permission;
	priority: number;
	owner?: string | undefined;
	reach: Reach;
};
export type Reach = {
	repo?: string | undefined;
	/** The run's folders, absolute paths; the first is the default folder of an added job. */
	folders: readonly string[];
	env: Readonly<Record<string, string>>;
	/** Names and patterns (`LC_*`) of variables that the command line passes along by itself: the setting `env`. */
	usual_env: readonly string[];
	allow: readonly string[];
	/** Accounts that the run may use; `account` is the one that its job names. */
	accounts: readonly string[];
	account?: string | undefined;
	branches: readonly string[];
	base_branch?: string | undefined;
	merge: MergeWay;
	produces: readonly string[];
	host_labels: readonly string[];
};

/** One field in which an added job exceeds the limits. `most`: what it may have. `by`: whether the job's level, its reach or its owner sets the limit. */
export type Excess = { by: "level" | "reach" | "owner"; field: string; wanted: string; most: string };

const above = (one: Permission, other: Permission): boolean => PERMISSIONS.indexOf(one) > PERMISSIONS.indexOf(other);

/** The highest permission that a job's runs may give to jobs that they add. `granted`: by a person, in an answer. */
export function levelOfRuns(kind: Job["kind"], spec: Pick<JobSpec, "permission" | "may_add">, granted?: Permission): Permission {
	if (spec.may_add !== undefined) return spec.may_add;
	if (kind !== "agent") return "full";
	const own = spec.permission ?? "edit";
	return granted !== undefined && above(granted, own) ? granted : own;
}

/**
 * Says if jobs added by this job's runs may have more or less permission than the job itself; null if the same. An older daemon does not report `may_add`.
 */
export function mayAddWords(job: { agent?: string | null; permission?: Permission | null; may_add?: Permission | null }): string | null {
	const own = job.agent ? (job.permission ?? "edit") : "full";
	if (!job.may_add || job.may_add === own) return null;
	return job.may_add === "full" ? "may add everything, commands too" : `may add jobs with permission ${job.may_add} at most`;
}

/** Every field that exceeds the limits, as data. Changes nothing. */
export function excessOf(job: Job, spec: JobSpec, bounds: RunBounds): Excess[] {
	const found: Excess[] = [];
	const { level, owner } = bounds;
	if (owner !== undefined && job.owner !== undefined && job.owner !== owner)
		found.push({ by: "owner", field: "owner", wanted: job.owner, most: owner });
	for (const field of ["permission", "may_add"] as const) {
		const wanted = spec[field];
		if (wanted !== undefined && above(wanted, level)) found.push({ by: "level", field, wanted, most: level });
	}
	return level === "full" ? found : [...found, ...excessOfWork(job, level), ...excessOfReach(job, spec, bounds.reach)];
}

function excessOfWork({ kind, conditions = [] }: Job, level: Permission): Excess[] {
	const all = (field: string, what: string): Excess => ({ by: "level", field, wanted: what, most: level });
	return [
		...(kind === "command" ? [all("command", "a command")] : []),
		...(kind === "payload" ? [all("payload", "a job for an outside worker")] : []),
		...(conditions.some((one) => one.kind === "command") ? [all("conditions", "a command as a condition")] : []),
	];
}

function excessOfReach(job: Job, spec: JobSpec, reach: Reach): Excess[] {
	const found: Excess[] = [];
	const say = (field: string, wanted: string, most: string) => void found.push({ by: "reach", field, wanted, most });
	const listed = (all: readonly string[]) => (all.length === 0 ? "none" : all.join(", "));
	if (job.repo !== undefined && job.repo !== reach.repo) say("repo", job.repo, reach.repo === undefined ? "no repo" : `repo ${reach.repo}`);
	if (spec.cwd !== undefined && !reach.folders.some((folder) => isInside({ path: spec.cwd as string, folder })))
		say("cwd", spec.cwd, `${reach.folders[0] ?? "no folder"} and below`);
	for (const [name, value] of Object.entries(spec.env ?? {}))
		if (reach.env[name] !== value && !matchesAny(reach.usual_env, name))
			say(`env.${name}`, name, `its variables (${listed(Object.keys(reach.env))})`);
	const foreign = (spec.allow ?? []).find((one) => !allowsCommand(reach.allow, one));
	if (foreign !== undefined) say("allow", foreign, `its commands (${listed(reach.allow)})`);
	if (job.account !== undefined && !reach.accounts.includes(job.account))
		say("account", job.account, `its account (${listed(reach.accounts)})`);
	if (spec.worktree !== undefined && !reach.branches.includes(spec.worktree))
		say("worktree", spec.worktree, `its branch (${listed(reach.branches)})`);
	if (spec.merge !== undefined && !spec.no_merge && MERGE_WAYS.indexOf(spec.merge) > MERGE_WAYS.indexOf(reach.merge))
		say("merge", spec.merge, `its way of merging (${reach.merge})`);
	const bases = [...(reach.base_branch === undefined ? [] : [reach.base_branch]), ...reach.branches];
	if (spec.base_branch !== undefined && !spec.no_merge && reach.merge !== "none" && !bases.includes(spec.base_branch))
		say("base_branch", spec.base_branch, `its base and its branch (${listed(bases)})`);
	const marker = (job.produces ?? []).find((one) => isMarker(one) && !reach.produces.includes(one));
	if (marker !== undefined) say("produces", marker, `its markers (${listed(reach.produces.filter(isMarker))})`);
	return found;
}

/** Fills in or lowers fields that the caller did not set, so that they do not exceed the run's own. Returns warnings for the caller. */
export function lower(job: Job, spec: JobSpec, bounds: RunBounds): string[] {
	const warnings: string[] = [];
	if (job.priority > bounds.priority) {
		// 0 is the default priority: lowering it needs no warning, because the caller did not ask for it.
		if (job.priority !== 0)
			warnings.push(`priority ${job.priority} is lowered to ${bounds.priority}, the priority of job ${bounds.job}, whose run adds it`);
		job.priority = bounds.priority;
	}
	if (bounds.level === "full") return warnings;
	const { reach } = bounds;
	if (job.kind === "agent" && bounds.level === "ask") spec.permission ??= "ask";
	if (job.repo === undefined && reach.folders[0] !== undefined) spec.cwd ??= reach.folders[0];
	if (job.kind === "agent" && reach.account !== undefined) job.account ??= reach.account;
	if (spec.env !== undefined) spec.env = ownEnv(spec.env, reach);
	if (job.repo !== undefined) lowerMerge(spec, reach);
	const labels = [...new Set([...(job.host_labels ?? []), ...reach.host_labels])];
	if (labels.length > 0) job.host_labels = labels.sort();
	return warnings;
}

/** Variables that the command line passed along by itself get the values of the run's own job. */
function ownEnv(env: Record<string, string>, reach: Reach): Record<string, string> {
	const own = Object.entries(env).flatMap(([name]) => (Object.hasOwn(reach.env, name) ? [[name, reach.env[name] as string]] : []));
	return Object.fromEntries(own);
}

function lowerMerge(spec: JobSpec, { merge, base_branch }: Reach): void {
	if (spec.no_merge) return;
	if (merge === "none") {
		spec.no_merge = true;
		return;
	}
	if (merge !== "direct") spec.merge ??= merge;
	if (base_branch !== undefined) spec.base_branch ??= base_branch;
}

/** How a job's branch is merged: by the job's own setting, else by its repo's. */
export function mergeWayOf(job: Pick<Job, "repo">, spec: Pick<JobSpec, "merge" | "no_merge">, config: Pick<Config, "repos">): MergeWay {
	if (job.repo === undefined || spec.no_merge) return "none";
	const usual = config.repos[job.repo]?.merge;
	return usual === "none" ? "none" : (spec.merge ?? usual ?? "direct");
}

/** Refuses the first excess, with the job that sets the limit and what its owner can type; then lowers the rest. */
export function confine(job: Job, spec: JobSpec, bounds: RunBounds, at: (key: string) => string): string[] {
	const [first] = excessOf(job, spec, bounds);
	if (first !== undefined) throw refusal(first, bounds, at);
	return lower(job, spec, bounds);
}

/** What the owner can do about a refusal. A job cannot be changed once it is added. */
export const addAnew = (job: number): string =>
	`job ${job} cannot be given more, but its owner can add a new job for its work: sluice add --may-add full …`;

function refusal({ by, field, wanted, most }: Excess, { job }: RunBounds, at: (key: string) => string): SluiceError {
	const where = at(field);
	const refuse = (message: string, hint: string) => new SluiceError("forbidden", `${where}: ${message}`, { field: where, hint });
	switch (by) {
		case "owner":
			return refuse(`what job ${job} adds is paid by its own owner ${most}, not by ${wanted}`, "leave the owner out");
		case "level":
			return refuse(
				field === "permission" || field === "may_add"
					? `runs of job ${job} may add jobs with permission ${most} at most, not ${wanted}`
					: `runs of job ${job} may not add ${wanted}. It could do everything; the jobs that they add may have permission ${most} at most`,
				`ask for less; ${addAnew(job)}`,
			);
		case "reach":
			return refuse(`jobs that runs of job ${job} add stay within its own: ${most}, not ${wanted}`, `leave it out; ${addAnew(job)}`);
	}
}

export const refuseForce = ({ job }: Pick<RunBounds, "job">): SluiceError =>
	new SluiceError("forbidden", `force: a run of job ${job} may not override what the queue refuses`, {
		field: "force",
		hint: "leave it out; its owner may: sluice add --force …, outside of a run",
	});

export const refuseStranger = (what: { field: string; run: number; job: number; act: string }): SluiceError =>
	new SluiceError(
		"forbidden",
		`${what.field}: a run of job ${what.run} may ${what.act} its own job and jobs below it, not job ${what.job}`,
		{ field: what.field, hint: "leave it out; or have its owner do it, outside of a run" },
	);

/** Whether a job is the run's own job or a descendant of it. */
export const isBelow = (job: Pick<Job, "id" | "path">, run: number): boolean => job.id === run || (job.path ?? []).includes(run);

/** An allowed command permits every command that begins with its words. */
const allowsCommand = (allowed: readonly string[], command: string): boolean =>
	allowed.some((one) => command === one || command.startsWith(`${one} `));
