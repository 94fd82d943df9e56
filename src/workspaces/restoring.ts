// The git command with which a person recreates a removed worktree. It uses the same path, because agents find their sessions by the folder they began in.

import { headOf, isCommit, localRef } from "../contracts/git.ts";
import type { Repo, WorkspaceContext } from "./context.ts";
import { worktreeOf } from "./record.ts";

/** What is known of a job whose worktree has no record any more. `branch`: the branch that the job named; `commit`: the commit that has its work. */
export type RemovedWorktree = { job: number; branch?: string | undefined; commit?: string | undefined };
/** `argv` is null when the path exists already. */
export type Restorable = { path: string; argv: string[] | null };

/** Null when the repository has nothing left to make the worktree from. */
export async function restorable(context: WorkspaceContext, repo: Repo, past: RemovedWorktree): Promise<Restorable | null> {
	const path = worktreeOf(context, repo.name, past.job);
	if (context.disk.changedAt(path) !== null) return { path, argv: null };
	const from = await sourceOf(context, repo, past);
	if (from === null) return null;
	const known = await context.git.ask(repo.path, ["worktree", "list", "--porcelain", "-z"]);
	// The folder was deleted without `git worktree remove`: git still lists the path and refuses it without --force.
	const force = known.split("\0").includes(`worktree ${path}`) ? ["--force"] : [];
	const how = [...force, ...("branch" in from ? [] : ["--detach"])];
	return { path, argv: ["git", "-C", repo.path, "worktree", "add", "--quiet", ...how, path, ...Object.values(from)] };
}

type Source = { branch: string } | { commit: string };

/** The job's branch if it still exists, else the commit that has its work, else the base branch. */
async function sourceOf(context: WorkspaceContext, repo: Repo, { job, branch, commit }: RemovedWorktree): Promise<Source | null> {
	const own = branch ?? (await ownBranch(context, repo, job));
	if (own !== null && (await headOf(context.git, repo.path, own)) !== null) return { branch: own };
	if (commit !== undefined && isCommit(commit)) {
		const { code } = await context.git.run(repo.path, ["cat-file", "-e", `${commit}^{commit}`]);
		if (code === 0) return { commit };
	}
	const base = repo.base_branch === null ? null : await headOf(context.git, repo.path, repo.base_branch);
	return base === null ? null : { commit: base };
}

async function ownBranch(context: WorkspaceContext, repo: Repo, job: number): Promise<string | null> {
	const prefix = localRef(`sluice/${context.homeTag}-${job}-`);
	const found = await context.git.ask(repo.path, ["for-each-ref", "--count=1", "--format=%(refname)", `${prefix}*`]);
	return found === "" ? null : found.slice("refs/heads/".length);
}
