// git as a program: found on the PATH, given an environment in which it can ask nobody anything.

import { statSync } from "node:fs";
import { type Git, type GitAnswer, GitError, type GitOptions } from "../git.ts";
import { lastLineOf, type RunProgram } from "../program.ts";

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
	"gc.auto=0",
	"maintenance.auto=false",
	"advice.detachedHead=false",
	"core.quotePath=false",
].flatMap((setting) => ["-c", setting]);

export function openGit(parts: {
	run: RunProgram;
	/** The daemon's own environment, as far as it may be passed on. */
	env: () => Record<string, string>;
	/** What tells our processes from others, as SLUICE_MARK. */
	mark: string;
}): Git {
	async function tell(folder: string, args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
		if (!isFolder(folder)) throw new GitError(`${folder} is not there`, null, "");
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
