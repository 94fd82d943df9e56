// Diffs for people: what a job has changed, and what a branch has that its base does not have.

import { currentBranch, headOf, limited } from "../contracts/git.ts";
import { messageOf, SluiceError } from "../core/errors.ts";
import type { Repo, WorkspaceContext } from "./context.ts";
import { NO_PATCH, patchOf } from "./leaving.ts";
import { patchOptions } from "./merging/staging.ts";
import { recordOf, worktreeOf } from "./record.ts";

/** At most two diffs at a time, of all callers together. */
const diffTurns = limited(2);
const MAX_PATCH_BYTES = 5_000_000;

/** `beginning`: of a patch that is too long, its first lines instead of an error. */
type PatchPart = "whole" | "beginning";
/** `of_bytes`: the size of the whole patch, if this is only its beginning. */
type Patch = { patch: string; of_bytes?: number };
const NOTHING: Patch = { patch: "" };

export function createDiffs(context: WorkspaceContext) {
	let calls = 0;
	return {
		/** What a job has changed, as a patch: from its worktree, else from the folder of its latest run that left one. */
		diff: (job: number, attempt: number, which: PatchPart = "whole") =>
			diffTurns(() => diffOf(context, { job, attempt, call: ++calls, which })),
		/** What a branch has that its base does not have; null when one of them does not exist. */
		async branchDiff(name: string, branch: string, base: string | undefined, which: PatchPart = "whole") {
			const repo = context.repo(name);
			if (repo === null) return null;
			context.disk.makeFolder(context.worktrees);
			const into = `${context.worktrees}/branch.diff-${++calls}`;
			try {
				return await diffTurns(() => branchPatch(context, repo, { branch, base }, into, which));
			} finally {
				context.disk.remove(into);
			}
		},
	};
}

/** `call`: a number of its own for each call, because calls may overlap and each writes to files of its own. */
async function diffOf(
	context: WorkspaceContext,
	{ job, attempt, call, which }: { job: number; attempt: number; call: number; which: PatchPart },
): Promise<(Patch & { from: "worktree" | "run" }) | null> {
	const found = readyWorktree(context, job);
	if (found !== null) {
		const into = `${found.path}.diff-${call}`;
		try {
			const fault = await patchOf(context, { ...found, index: `${into}-index`, into, untouched: false }).then(() => null, messageOf);
			// A removal may have begun meanwhile. It cleans the worktree, so git has failed on a file that went, or has seen a part of the work; the run's folder
			// has all of it.
			if (readyWorktree(context, job) !== null) {
				if (fault !== null) throw noDiff(job, fault);
				return { ...(readPatch(context, into, which) ?? NOTHING), from: "worktree" };
			}
		} finally {
			context.disk.remove(into);
		}
	}
	for (let at = attempt; at > 0; at--) {
		const dir = `${context.runs}/${job}/${at}`;
		const patch = readPatch(context, `${dir}/output.patch`, which);
		if (patch !== null) return { ...patch, from: "run" };
		const why = context.disk.read(`${dir}/${NO_PATCH}`);
		if (why !== null) throw noDiff(job, why);
	}
	return null;
}

/** A job's worktree and the commit it began from; null when there is none, or it is being made or removed. */
function readyWorktree(context: WorkspaceContext, job: number): { path: string; from: string } | null {
	const record = recordOf(context, job);
	if (record?.state !== "ready") return null;
	const path = worktreeOf(context, record.repo, job);
	return context.disk.size(`${path}/.git`) === null ? null : { path, from: record.base_commit };
}

const noDiff = (job: number, why: string): SluiceError =>
	new SluiceError("invalid", `the diff of job ${job} cannot be made: ${why}`, {
		field: "id",
		hint: `look at its branch yourself: sluice open ${job} shows the folder`,
	});

/** The diff from the commit where the branch left its base. */
async function branchPatch(
	context: WorkspaceContext,
	repo: Repo,
	names: { branch: string; base: string | undefined },
	into: string,
	which: PatchPart,
) {
	const base = names.base ?? repo.base_branch ?? (await currentBranch(context.git, repo.path));
	const from = base === null ? null : await headOf(context.git, repo.path, base);
	const to = await headOf(context.git, repo.path, names.branch);
	if (from === null || to === null) return null;
	await context.git.ask(repo.path, ["diff", ...patchOptions(into), `${from}...${to}`, "--"]);
	return { ...(readPatch(context, into, which) ?? NOTHING), from: "branch" as const };
}

function readPatch(context: WorkspaceContext, path: string, which: PatchPart): Patch | null {
	const size = context.disk.size(path);
	if (size === null) return null;
	if (size <= MAX_PATCH_BYTES) {
		const patch = context.disk.read(path);
		return patch === null ? null : { patch };
	}
	if (which === "whole")
		throw new SluiceError("limit", `the patch has ${size} bytes, at most ${MAX_PATCH_BYTES} can be shown`, { hint: `it is ${path}` });
	const text = new TextDecoder().decode(context.disk.readAt(path, 0, MAX_PATCH_BYTES));
	return { patch: text.slice(0, text.lastIndexOf("\n") + 1), of_bytes: size };
}
