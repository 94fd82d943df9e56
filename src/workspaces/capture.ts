// The diff of a caller's working tree as it is now: staged and unstaged changes and new files, but not ignored ones. The working tree and its index are not
// changed.

import { copyFileSync, existsSync, realpathSync } from "node:fs";
import { messageOf, orElse, SluiceError } from "../core/errors.ts";
import { isInside } from "../core/trust/path.ts";
import type { WorkspaceContext } from "./context.ts";
import { patchOptions, stageAll } from "./merging/staging.ts";

/** The same limit as for a job's other texts. */
const MAX_DIFF_BYTES = 1_000_000;
const SLOW_MS = 120_000;
let count = 0;

type CaptureParts = Pick<WorkspaceContext, "git" | "disk" | "runs" | "clock" | "worktrees" | "repo" | "repos">;

/**
 * git runs the filters that a repository configures, and a run may have made such a repository itself. A run may therefore name only repositories whose
 * configuration is the owner's (`registered`); an operator may name any checkout, as with git itself.
 */
export async function captureDiff(context: CaptureParts, folder: string, whose: "any" | "registered"): Promise<string> {
	const { git, disk } = context;
	const refuse = (why: string, hint: string) => new SluiceError("invalid", `capture_diff: ${why}`, { field: "capture_diff", hint });
	if (whose === "registered" && !isRegistered(context, folder))
		throw new SluiceError("forbidden", `capture_diff: a run can name its worktree or the folder of a registered repo, not ${folder}`, {
			field: "capture_diff",
			hint: "make the diff yourself and give it as input_patch",
		});
	const [top, own] = await git
		.ask(folder, ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-path", "index"])
		.then((said) => said.split("\n"))
		.catch((error) => {
			throw refuse(`${folder} has no working tree of git: ${messageOf(error)}`, "go to a checkout, or name one with --cwd");
		});
	const name = `${context.runs}/capture-${context.clock.now()}-${++count}`;
	const [index, into] = [`${name}.index`, `${name}.patch`];
	const env = { GIT_INDEX_FILE: index };
	try {
		// Start from a copy of the checkout's index: it says which files have not changed, so git need not read a big tree whole.
		if (own !== undefined && existsSync(own)) copyFileSync(own, index);
		await stageAll(git, top as string, { env, timeoutMs: SLOW_MS });
		await git.ask(top as string, ["diff", "--cached", ...patchOptions(into), "HEAD", "--"], { env, timeoutMs: SLOW_MS });
		const size = disk.size(into) ?? 0;
		if (size > MAX_DIFF_BYTES)
			throw refuse(`the diff of ${top} has ${size} bytes, at most ${MAX_DIFF_BYTES} are kept`, "commit it to a branch instead");
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(disk.readAt(into, 0, size));
	} catch (error) {
		if (error instanceof SluiceError) throw error;
		if (error instanceof TypeError) throw refuse(`the diff of ${top} has text that is not UTF-8`, "commit it to a branch instead");
		throw refuse(`the diff of ${top} cannot be made: ${messageOf(error)}`, "does it have a commit?");
	} finally {
		for (const path of [index, `${index}.lock`, into]) disk.remove(path);
	}
}

/**
 * Whether the folder is in one of Sluice's worktrees, or is the top of a registered repo. A folder below a repo's top does not count: it may hold another
 * repository.
 */
function isRegistered({ worktrees, repo, repos }: CaptureParts, folder: string): boolean {
	const real = realOf(folder);
	if (real === null) return false;
	return (
		(real !== worktrees && isInside({ path: real, folder: worktrees })) || repos().some((name) => realOf(repo(name)?.path ?? "") === real)
	);
}

const realOf = (path: string): string | null => orElse(() => (path === "" ? null : realpathSync(path)), null);
