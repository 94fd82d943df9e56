// .worktreeinclude: files that git ignores but a run needs (.env and the like), copied from the repo's folder into a new worktree. Patterns as in .gitignore.

import { constants, copyFileSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../core/errors.ts";
import { isInside } from "../core/trust/path.ts";
import type { Repo, WorkspaceDeps } from "./context.ts";

const FILE = ".worktreeinclude";
const MAX_PATHS = 10_000;

/** Returns how many files were copied. Copies only files that git ignores: all others would be committed as the job's work. */
export async function includeFiles(parts: WorkspaceDeps, repo: Repo, worktree: string): Promise<number> {
	if (lstatSync(join(repo.path, FILE), { throwIfNoEntry: false })?.isFile() !== true) return 0;
	const wanted = await parts.git.ask(repo.path, ["ls-files", "-z", "--others", "--ignored", `--exclude-from=${FILE}`]);
	if (wanted === "") return 0;
	const ignored = await parts.git.run(repo.path, ["check-ignore", "-z", "--stdin"], { input: wanted });
	const paths = ignored.stdout.split("\0").filter((path) => path !== "");
	if (paths.length > MAX_PATHS)
		parts.log.warn(`${FILE} names too many files; the first ones are copied`, { repo: repo.name, files: paths.length });
	let copied = 0;
	for (const path of paths.slice(0, MAX_PATHS)) {
		try {
			if (copyInside(repo.path, worktree, path)) copied++;
		} catch (error) {
			parts.log.warn("a file could not be copied into a worktree", { repo: repo.name, path, error: messageOf(error) });
		}
	}
	return copied;
}

/**
 * Copies plain files only; neither source nor target may lead out of its root. A path that exists in the worktree stays as it is, even a symbolic link:
 * writing through it could reach any file.
 */
function copyInside(from: string, to: string, path: string): boolean {
	const source = join(from, path);
	if (lstatSync(source, { throwIfNoEntry: false })?.isFile() !== true) return false;
	const target = join(to, path);
	if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return false;
	let above = dirname(target);
	while (lstatSync(above, { throwIfNoEntry: false }) === undefined) above = dirname(above);
	if (!within(from, dirname(source)) || !within(to, above)) return false;
	mkdirSync(dirname(target), { recursive: true });
	copyFileSync(source, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
	return true;
}

const within = (root: string, path: string): boolean => isInside({ path: realpathSync(path), folder: realpathSync(root) });
