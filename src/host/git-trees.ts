// Where a repository keeps the administrative folder of a worktree: `<common>/worktrees/<name>`, whose file `gitdir` names the worktree. It is read from the
// repository, never from the worktree, because a run can change what is in there.

import { readdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import type { GitAnswer } from "../contracts/git.ts";
import { orElse } from "../core/errors.ts";
import { localDisk } from "./disk.ts";

export function createTrees() {
	const commons = new Map<string, string>();
	const found = new Map<string, string>();
	return {
		/** The repository's common git folder; null when git finds none there. git is asked once for each root. */
		async common(root: string, ask: (root: string) => Promise<GitAnswer>): Promise<string | null> {
			const known = commons.get(root);
			if (known !== undefined) return known;
			const { code, stdout } = await ask(root);
			if (code !== 0) return null;
			commons.set(root, stdout.trim());
			return stdout.trim();
		},
		/** The worktree's administrative folder, or null. */
		find(common: string, worktree: string): string | null {
			const key = `${common}\n${worktree}`;
			const known = found.get(key);
			if (known !== undefined && isOf(known, worktree)) return known;
			found.delete(key);
			const own = namesIn(join(common, "worktrees"))
				.map((name) => join(common, "worktrees", name))
				.find((folder) => isOf(folder, worktree));
			if (own !== undefined) found.set(key, own);
			return own ?? null;
		},
	};
}

function isOf(folder: string, worktree: string): boolean {
	try {
		const named = resolve(folder, (localDisk.read(join(folder, "gitdir")) ?? "").trim());
		return named === join(worktree, ".git") || named === join(realpathSync(worktree), ".git");
	} catch {
		return false;
	}
}

const namesIn = (folder: string): string[] => orElse(() => readdirSync(folder), []);
