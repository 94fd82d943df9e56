// git as a program: found on the PATH, and given an environment in which it cannot prompt.

import { realpathSync, statSync } from "node:fs";
import { type Git, type GitAnswer, GitError, type GitOptions } from "../contracts/git.ts";
import { lastLineOf, type RunProgram } from "../contracts/program.ts";
import { orElse } from "../core/errors.ts";
import { createTrees } from "./git-trees.ts";

const USUAL_MS = 120_000;

/** No prompts, editors or pagers; reading takes no locks; messages are untranslated. */
const QUIET = {
	GIT_TERMINAL_PROMPT: "0",
	GIT_ASKPASS: "true",
	SSH_ASKPASS: "true",
	SSH_ASKPASS_REQUIRE: "never",
	GIT_EDITOR: "true",
	GIT_SEQUENCE_EDITOR: "true",
	GIT_MERGE_AUTOEDIT: "no",
	GIT_PAGER: "cat",
	GIT_OPTIONAL_LOCKS: "0",
	GIT_ADVICE: "0",
	// A job can write refs/replace/…, which would make git verify other content than it merges.
	GIT_NO_REPLACE_OBJECTS: "1",
	LC_ALL: "C",
} as const;

/** Overrides settings of a repository's own configuration that would change what the daemon does in it. */
const SETTINGS = [
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"commit.gpgSign=false",
	"rebase.autoStash=false",
	"rebase.autoSquash=false",
	"rebase.updateRefs=false",
	"merge.autoStash=false",
	// git would start itself inside a submodule, under a configuration that a run may have written.
	"submodule.recurse=false",
	"fetch.recurseSubmodules=false",
	"diff.submodule=short",
	"gc.auto=0",
	"maintenance.auto=false",
	"advice.detachedHead=false",
	"core.quotePath=false",
	// One checkout worker for each core: big repositories are checked out faster.
	"checkout.workers=0",
].flatMap((setting) => ["-c", setting]);

export function openGit(parts: {
	run: RunProgram;
	/** The part of the daemon's environment that git may see. */
	env: () => Record<string, string>;
	/** SLUICE_MARK of the daemon's git processes. */
	mark: string;
	/**
	 * The worktree of Sluice that contains a folder, with its repository (null when unknown); undefined for any other folder. A run may write anything into
	 * its worktree, even another `.git`, so git is given the worktree's administrative folder explicitly.
	 */
	treeOf?: (folder: string) => { path: string; root: string | null } | undefined;
}): Git {
	const trees = createTrees();

	/**
	 * Environment that makes git use the repository's own configuration in a worktree of Sluice, whatever `.git` is in there; or a message when there is no
	 * such worktree.
	 */
	async function pinned(folder: string): Promise<Record<string, string> | string> {
		// A symbolic link or "/./" may lead into a worktree, too.
		const tree = parts.treeOf?.(folder) ?? parts.treeOf?.(realpathSync(folder));
		if (tree === undefined) return {};
		const common =
			tree.root === null
				? null
				: await trees.common(tree.root, (root) => plain(root, ["rev-parse", "--path-format=absolute", "--git-common-dir"]));
		const own = common === null ? null : trees.find(common, tree.path);
		if (own === null) return `${tree.path} is not a worktree of ${tree.root ?? "a known repo"}`;
		return { GIT_DIR: own, GIT_WORK_TREE: tree.path };
	}

	async function run(folder: string, args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
		if (!isFolder(folder)) throw new GitError(`${folder} is not there`, null, "");
		const env = await pinned(folder);
		if (typeof env === "string") return { code: 128, stdout: "", stderr: `fatal: ${env}\n` };
		return plain(folder, args, { ...options, env: { ...options.env, ...env } });
	}

	async function plain(folder: string, args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
		const env = Object.fromEntries(
			Object.entries(parts.env()).filter(([name]) => !name.startsWith("GIT_") || name.startsWith("GIT_CONFIG_")),
		);
		const { timeoutMs = USUAL_MS, input } = options;
		const end = await parts.run(["git", ...SETTINGS, ...withoutModules(args)], {
			cwd: folder,
			env: { ...env, ...QUIET, ...options.env, SLUICE_MARK: parts.mark },
			timeoutMs,
			...(input === undefined ? {} : { input }),
		});
		if (end.code === null) throw new GitError(`git ${args[0]}: ${end.trouble}`, null, end.stderr);
		return { code: end.code, stdout: end.stdout, stderr: end.stderr };
	}

	return {
		run,
		async ask(folder, args, options) {
			const { code, stdout, stderr } = await run(folder, args, options);
			if (code === 0) return stdout.replace(/\n$/, "");
			throw new GitError(`git ${args[0]}: ${complaintIn(stderr) || `exit code ${code}`}`, code, stderr);
		},
	};
}

/**
 * With this option `diff` and `status` do not read .gitmodules, which a run can write: git would fail on a value that it refuses, or leave out a submodule that
 * .gitmodules says to ignore. A submodule counts as changed when its commit is another one. An option that the caller gives comes later and prevails.
 */
function withoutModules([command = "", ...rest]: readonly string[]): string[] {
	return command === "diff" || command === "status" ? [command, "--ignore-submodules=dirty", ...rest] : [command, ...rest];
}

/** git's first fatal or error line is the most useful one. */
function complaintIn(stderr: string): string {
	const line = stderr.split("\n").find((one) => /^(?:fatal|error): /.test(one));
	return (line ?? lastLineOf(stderr)).replace(/^(?:fatal|error): /, "").slice(0, 500);
}

const isFolder = (path: string): boolean => orElse(() => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true, false);
