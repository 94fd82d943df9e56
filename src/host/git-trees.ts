// Where a repository keeps the folder of one of its worktrees: `<common>/worktrees/<name>`, whose file `gitdir` names the worktree. Read from the repository,
// never from the worktree.

import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import type { GitAnswer } from "../git.ts";

export type Trees = {
	/** The repository's own folder; null when git finds none there. Asked once for each. */
	common(root: string, ask: (root: string) => Promise<GitAnswer>): Promise<string | null>;
	/** The worktree's folder in it, or null. */
	find(common: string, worktree: string): string | null;
};

export function createTrees(): Trees {
	const commons = new Map<string, string>();
	const found = new Map<string, string>();
	return {
		async common(root, ask) {
			const known = commons.get(root);
			if (known !== undefined) return known;
			const { code, stdout } = await ask(root);
			if (code !== 0) return null;
			commons.set(root, stdout.trim());
			return stdout.trim();
		},
		find(common, worktree) {
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
		const named = resolve(folder, readFileSync(join(folder, "gitdir"), "utf8").trim());
		return named === join(worktree, ".git") || named === join(realpathSync(worktree), ".git");
	} catch {
		return false;
	}
}

function namesIn(folder: string): string[] {
	try {
		return readdirSync(folder);
	} catch {
		return [];
	}
}
