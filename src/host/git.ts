// git as a program: found on the PATH, given an environment in which it can ask nobody anything.

import { statSync } from "node:fs";
import { type Git, type GitAnswer, GitError, type GitOptions } from "../git.ts";
import { lastLineOf, type RunProgram } from "../program.ts";
import { createTrees } from "./git-trees.ts";

const USUAL_MS = 120_000;

/** No prompts, no editors, no pagers; looking takes no locks; words that can be read by a program. */
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
	LC_ALL: "C",
} as const;

/** What a repository's own configuration must not change about what we do in it. */
const SETTINGS = [
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"commit.gpgSign=false",
	"rebase.autoStash=false",
	"rebase.autoSquash=false",
	"rebase.updateRefs=false",
	"merge.autoStash=false",
	"submodule.recurse=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"advice.detachedHead=false",
	"core.quotePath=false",
	// As many as there are cores: big repositories are checked out faster.
	"checkout.workers=0",
].flatMap((setting) => ["-c", setting]);

export function openGit(parts: {
	run: RunProgram;
	/** The daemon's own environment, as far as it may be passed on. */
	env: () => Record<string, string>;
	/** What tells our processes from others, as SLUICE_MARK. */
	mark: string;
	/**
	 * The worktree of ours that a folder lies in, and the repository that it belongs to (null when that is not known); undefined for any other folder. A run
	 * may write whatever it likes into its worktree, also another `.git`, so git is told where the worktree's own folder in the repository is.
	 */
	treeOf?: (folder: string) => { path: string; root: string | null } | undefined;
}): Git {
	const trees = createTrees();

	/** What makes git use the repository's own configuration in a worktree of ours, whatever lies in there; or why there is no such worktree. */
	async function pinned(folder: string): Promise<Record<string, string> | string> {
		const tree = parts.treeOf?.(folder);
		if (tree === undefined) return {};
		const common =
			tree.root === null
				? null
				: await trees.common(tree.root, (root) => plain(root, ["rev-parse", "--path-format=absolute", "--git-common-dir"]));
		const own = common === null ? null : trees.find(common, tree.path);
		if (own === null) return `${tree.path} is not a worktree of ${tree.root ?? "a known repo"}`;
		return { GIT_DIR: own, GIT_WORK_TREE: tree.path };
	}

	async function tell(folder: string, args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
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
		const end = await parts.run(["git", ...SETTINGS, ...args], {
			cwd: folder,
			env: { ...env, ...QUIET, ...options.env, SLUICE_MARK: parts.mark },
			timeoutMs,
			...(input === undefined ? {} : { input }),
		});
		if (end.code === null) throw new GitError(`git ${args[0]}: ${end.trouble}`, null, end.stderr);
		return { code: end.code, stdout: end.stdout, stderr: end.stderr };
	}

	return {
		tell,
		async ask(folder, args, options) {
			const { code, stdout, stderr } = await tell(folder, args, options);
			if (code === 0) return stdout.replace(/\n$/, "");
			throw new GitError(`git ${args[0]}: ${complaintIn(stderr) || `exit code ${code}`}`, code, stderr);
		},
	};
}

/** git's first fatal or error line says most. */
function complaintIn(stderr: string): string {
	const line = stderr.split("\n").find((one) => /^(?:fatal|error): /.test(one));
	return (line ?? lastLineOf(stderr)).replace(/^(?:fatal|error): /, "").slice(0, 500);
}

function isFolder(path: string): boolean {
	try {
		return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
	} catch {
		return false;
	}
}
