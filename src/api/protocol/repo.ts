// Methods of repos and of what their jobs leave behind.

import type { PruneReport } from "../../contracts/workspace.ts";
import type { RepoDocument } from "../context.ts";
import { choice, flag, id, maybe, method, orNull, text, whole, word } from "../fields.ts";

type Doc<T> = { schema_version: number } & T;
export type OpenDocument = Doc<{
	job: number;
	/** The host of the folder, if several hosts share the store. */
	host: string | null;
	repo: string | null;
	path: string;
	branch: string | null;
	base_branch: string | null;
	/** Null: its host does not answer. */
	there: boolean | null;
	/** For a removed worktree: the command that recreates it at its path, where the agent finds its session. */
	restore: string[] | null;
	session: string | null;
	/** How a person resumes it in that folder: argv, and variables that it needs. */
	resume: { argv: string[]; env: Record<string, string> } | null;
}>;

const name = word("the repo");

export const REPO_METHODS = {
	"repo.list": method<Doc<{ repos: RepoDocument[] }>>()({
		role: "viewer",
		about: "Repos: where they are, how they merge, whether anything can be done there now.",
		params: {},
		result:
			"{repos: [{name, path, url, hosts, base, head, merge, problem, busy, file, recipes, changes: [{file, change, commands}], trust_problem, digest, worktrees, …}]}",
	}),
	"repo.show": method<Doc<{ repo: RepoDocument }>>()({
		role: "viewer",
		about: "One repo with its settings in force, its worktrees, and whether its own sluice.yml and recipes count.",
		params: { name },
		result: "{repo}",
	}),
	"repo.add": method<Doc<{ repo: RepoDocument }>>()({
		role: "operator",
		about: "Registers a git repository, by its folder or by a URL, or changes one: kept in the configuration file, in force at once.",
		params: {
			path: maybe(text("its folder: absolute", 4096)),
			url: maybe(text("instead of a folder: where each host that needs it clones it from", 2000)),
			name: maybe(word("how it is called; else by its folder")),
			prefix: maybe(word("prefix of the ids of its items")),
			base_branch: maybe(word("jobs begin and merge here; else the branch that is checked out now. It is written down")),
			merge: maybe(choice("what becomes of branches (direct)", ["direct", "mr", "local"])),
			max: maybe(orNull(whole("live runs at most; null = no cap", 0, 1_000_000))),
		},
		result: "{repo}",
	}),
	"repo.trust": method<Doc<{ repo: RepoDocument }>>()({
		role: "operator",
		about: "From now on the repo's own sluice.yml and recipes count, as they stand; any change of them has to be trusted again.",
		params: {
			name,
			off: maybe(flag("no longer")),
			digest: maybe(word("`digest` of `repo.show`: refused when the files are no longer those")),
		},
		result: "{repo}",
	}),
	"repo.remove": method<Doc<{ removed: string }>>()({
		role: "operator",
		about: "Takes a repo out of the configuration. Its folder, branches and worktrees stay.",
		params: { name },
		result: "{removed}",
	}),
	"job.diff": method<Doc<{ job: number; patch: string; from: "worktree" | "run" | "branch"; host?: string }>>()({
		role: "viewer",
		about:
			"What a job has changed, as a patch: in its worktree, or in its last run when that is gone. Of one that has not started and writes on a branch that is there: what the branch has by now.",
		params: { id: id() },
		result: "{job, patch, from}",
	}),
	"job.open": method<OpenDocument>()({
		role: "viewer",
		about: "Where a job works: its worktree and branch, or its folder; its agent's session, and how to go on with it by hand.",
		params: { id: id() },
		result: "{job, host, repo, path, branch, base_branch, there, restore, session, resume: {argv, env}}",
	}),
	"scheduler.prune": method<Doc<PruneReport>>()({
		role: "operator",
		about:
			"Removes worktrees of ended jobs. What is not committed is saved on a rescue ref first; what must stay is named with the reason.",
		params: { dry_run: maybe(flag("only say what would be done")) },
		result: "{removed: [{job, path, branch, rescued}], kept: [{job, path, why}]}",
	}),
} as const;
