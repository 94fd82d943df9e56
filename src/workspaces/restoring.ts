// How a person makes a worktree again that was removed: at the same path, since agents find their sessions by the folder that they were begun in.

import { headOf, isCommit, localRef } from "../git.ts";
import type { Repo, Yard } from "./parts.ts";
import { worktreeOf } from "./record.ts";

/** What is known of a job whose worktree has no record any more. `branch`: one that the job named; `commit`: the one that has its work. */
export type Past = { job: number; branch?: string | undefined; commit?: string | undefined };
/** `argv` null: something is there already. */
export type Restorable = { path: string; argv: string[] | null };

/** Null: the repository has nothing left that it could be made from. */
export async function restorable(yard: Yard, repo: Repo, past: Past): Promise<Restorable | null> {
	const path = worktreeOf(yard, repo.name, past.job);
	if (yard.disk.changedAt(path) !== null) return { path, argv: null };
	const from = await sourceOf(yard, repo, past);
	if (from === null) return null;
	const known = await yard.git.ask(repo.path, ["worktree", "list", "--porcelain", "-z"]);
	// git refuses the path of a worktree whose folder was deleted without its knowledge.
	const force = known.split("\0").includes(`worktree ${path}`) ? ["--force"] : [];
	return {
		path,
		argv: [
			"git",
			"-C",
			repo.path,
			"worktree",
			"add",
			"--quiet",
			...force,
			...("branch" in from ? [] : ["--detach"]),
			path,
			...Object.values(from),
		],
	};
}

type Source = { branch: string } | { commit: string };

/** Its own branch, if it was kept; the commit that has its work; else where its work would have gone. */
async function sourceOf(yard: Yard, repo: Repo, { job, branch, commit }: Past): Promise<Source | null> {
	const own = branch ?? (await ownBranch(yard, repo, job));
	if (own !== null && (await headOf(yard.git, repo.path, own)) !== null) return { branch: own };
	if (commit !== undefined && isCommit(commit)) {
		const { code } = await yard.git.tell(repo.path, ["cat-file", "-e", `${commit}^{commit}`]);
		if (code === 0) return { commit };
	}
	const base = repo.base_branch === null ? null : await headOf(yard.git, repo.path, repo.base_branch);
	return base === null ? null : { commit: base };
}

async function ownBranch(yard: Yard, repo: Repo, job: number): Promise<string | null> {
	const prefix = localRef(`sluice/${yard.homeTag}-${job}-`);
	const found = await yard.git.ask(repo.path, ["for-each-ref", "--count=1", "--format=%(refname)", `${prefix}*`]);
	return found === "" ? null : found.slice("refs/heads/".length);
}
