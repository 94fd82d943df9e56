// The limits for jobs that a run adds, read from the run's own job, its workspace and the settings. The rule itself is in core/trust/run-bounds.ts.

import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import type { JobView, Manifest } from "../contracts/scheduler.ts";
import { SluiceError } from "../core/errors.ts";
import { ALLOWED } from "../core/input/environment.ts";
import type { JobInput } from "../core/job.ts";
import { isInside } from "../core/trust/path.ts";
import { addAnew, levelOfRuns, mergeWayOf, type RunBounds, refuseForce } from "../core/trust/run-bounds.ts";
import type { At } from "./call.ts";
import type { Context } from "./context.ts";

/** Undefined if the caller is not a run. Refuses `force` before anything is read. */
export async function boundsOf(at: At, force?: boolean): Promise<RunBounds | undefined> {
	const { context, session } = at;
	const { job } = session.caller;
	if (job === undefined) return undefined;
	if (force === true) throw refuseForce({ job });
	const view = await context.scheduler.show(job);
	const { spec, kind, granted, priority, owner } = view;
	return { job, level: levelOfRuns(kind, spec, granted?.permission), priority, owner, reach: await reachOf(view, context) };
}

async function reachOf(view: JobView, context: Context): Promise<RunBounds["reach"]> {
	const { spec, repo, account, run, produces = [], host_labels = [] } = view;
	const place = context.work.worktrees().find((one) => one.job === view.id);
	const env = spec.env ?? {};
	const folder = place?.path ?? spec.cwd ?? env.HOME ?? homedir();
	const named = spec.base_branch ?? place?.base_branch;
	return {
		repo,
		folders: [...new Set([folder, await resolved(folder)])],
		env,
		usual_env: usualEnv(context),
		allow: spec.allow ?? [],
		accounts: [...new Set([account, run?.account].filter((one) => one !== undefined))],
		account,
		branches: [...new Set([spec.worktree, place?.branch].filter((one) => one !== undefined))],
		base_branch: named,
		merge: mergeWayOf({ repo }, spec, context.scheduler.config()),
		produces,
		host_labels,
	};
}

function usualEnv({ config }: Context): readonly string[] {
	const value = config.get("env").find(({ key }) => key === "env")?.value;
	return Array.isArray(value) ? value.filter((one) => typeof one === "string") : ALLOWED;
}

/** Resolves links as the system does; for a folder that does not exist yet, those of its nearest existing parent. */
async function resolved(path: string): Promise<string> {
	const parts = path.split("/");
	for (let kept = parts.length; kept > 0; kept--) {
		const found = await realpath(parts.slice(0, kept).join("/") || "/").catch(() => null);
		if (found !== null) return [found === "/" ? "" : found, ...parts.slice(kept)].join("/") || "/";
	}
	return path;
}

const hasVariable = (path: string): boolean => path.includes("${");

/** A job's input, and its path in the request: `jobs[2].`. */
export type NamedInput = { at: string; input: JobInput | null | undefined };

export const placedIn = ({ defaults, jobs }: Manifest): NamedInput[] => [
	{ at: "defaults.", input: defaults },
	...(Array.isArray(jobs) ? jobs.map((input, index) => ({ at: `jobs[${index}].`, input })) : []),
];

/** A link below the run's folder may lead out of it. A path with variables of a manifest (`${…}`) is known only later, so it is not resolved. */
export async function refuseOutside(inputs: readonly NamedInput[], bounds: RunBounds | undefined): Promise<void> {
	if (bounds === undefined || bounds.level === "full") return;
	const own = new Set<string>();
	for (const { at, input } of inputs) {
		const cwd = input?.cwd;
		if (typeof cwd !== "string" || own.has(cwd)) continue;
		if (hasVariable(cwd) || !(await isOwn(cwd, bounds))) throw outside(`${at}cwd`, cwd, bounds);
		own.add(cwd);
	}
}

const isOwn = async (path: string, { reach: { folders } }: RunBounds): Promise<boolean> => {
	if (!path.startsWith("/")) return false;
	const whole = await resolved(path);
	return folders.some((folder) => isInside({ path: whole, folder }));
};

/** git obeys the configuration in the folder it reads, so a run may capture only its own folder and its own repo. */
export async function refuseForeignCapture(cwd: string, bounds: RunBounds | undefined, { context }: At): Promise<void> {
	if (bounds === undefined || (await isOwn(cwd, bounds))) return;
	const repo = bounds.reach.repo === undefined ? null : await context.repos.show(bounds.reach.repo).catch(() => null);
	const path = repo?.path ?? null;
	if (path !== null && isInside({ path: await resolved(cwd), folder: await resolved(path) })) return;
	throw outside("capture_diff", cwd, bounds);
}

const outside = (field: string, path: string, { job, reach }: RunBounds): SluiceError =>
	new SluiceError(
		"forbidden",
		`${field}: jobs that runs of job ${job} add stay within its folder ${reach.folders[0]}, and ${path} is not in there`,
		{ field, hint: `name a folder there; ${addAnew(job)}` },
	);

/** Jobs that the scheduler is asked for at once. */
const ASKED_AT_ONCE = 10_000;

/**
 * Of these jobs, those whose payloads and results a run of job `run` reads as they are: its own job, the jobs below it, and the jobs that it comes after, whose
 * results its prompt may name. A job knows only its parent, so parents that are not among `shown` are asked for, one level at a time.
 */
export async function openToRun(
	run: number,
	shown: readonly Pick<JobView, "id" | "parent">[],
	{ scheduler }: Pick<Context, "scheduler">,
): Promise<Set<number>> {
	if (shown.length === 0) return new Set();
	const before = new Set((await scheduler.show(run)).after.map(({ job }) => job));
	const parents = new Map(shown.map(({ id, parent }) => [id, parent]));
	for (;;) {
		const isUnknown = (id: number | null): id is number => id !== null && id !== run && !parents.has(id);
		const unknown = [...new Set([...parents.values()].filter(isUnknown))].slice(0, ASKED_AT_ONCE);
		if (unknown.length === 0) break;
		const found = new Map((await scheduler.list({ ids: unknown })).map(({ id, parent }) => [id, parent]));
		for (const id of unknown) parents.set(id, found.get(id) ?? null);
	}
	const isBelow = (id: number | null): boolean => {
		for (let at = id; at !== null; at = parents.get(at) ?? null) if (at === run) return true;
		return false;
	};
	return new Set(shown.flatMap(({ id }) => (isBelow(id) || before.has(id) ? [id] : [])));
}
