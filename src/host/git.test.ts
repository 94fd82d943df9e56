// Which repository the daemon's git uses: it recognises a worktree of Sluice however its path is written.

import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { limited, shared } from "../contracts/git.ts";
import { openGit } from "./git.ts";
import { runProgram } from "./program.ts";

test("a repository planted in a worktree is not used, by whichever path it is reached", async () => {
	const folder = realpathSync(makeFolder());
	const worktree = join(folder, "worktrees/r/1");
	mkdirSync(join(worktree, "evil"), { recursive: true });
	execFileSync("git", ["init", "--quiet", join(worktree, "evil")]);
	symlinkSync(worktree, join(folder, "link"));
	const treeOf = (path: string) => (path.startsWith(`${folder}/worktrees/`) ? { path: worktree, root: null } : undefined);
	const git = openGit({ run: runProgram, env: () => ({ PATH: process.env.PATH ?? "" }), mark: "test", treeOf });
	for (const path of [`${worktree}/evil`, `${folder}/./worktrees/r/1/evil`, `${folder}/link/evil`])
		expect([path, await git.run(path, ["rev-parse", "--absolute-git-dir"])]).toMatchObject([path, { code: 128, stdout: "" }]);
});

test("at most so many tasks run at a time, in order, and one that fails gives its place away", async () => {
	const turns = limited(3);
	const [begun, ends]: [number[], (() => void)[]] = [[], []];
	const all = Array.from({ length: 10 }, (_, n) =>
		turns(async () => {
			begun.push(n);
			await new Promise<void>((resolve) => ends.push(resolve));
			if (n % 2 === 0) throw new Error("broken");
		}).catch(() => {}),
	);
	for (let ended = 0; ended < 10; ended++) {
		await new Promise(setImmediate);
		expect(begun).toEqual(Array.from({ length: Math.min(10, ended + 3) }, (_, n) => n));
		ends[ended]?.();
	}
	await Promise.all(all);
});

test("callers that ask while a look runs share the next one, and each sees what was so when it asked", async () => {
	let [looks, world] = [0, "old"];
	const ends: (() => void)[] = [];
	const look = shared(async () => {
		looks++;
		const seen = world;
		await new Promise<void>((resolve) => ends.push(resolve));
		return seen;
	});
	const first = look("a");
	world = "new";
	const others = Array.from({ length: 100 }, () => look("a"));
	expect(looks).toBe(1);
	ends[0]?.();
	expect(await first).toBe("old");
	await new Promise(setImmediate);
	ends[1]?.();
	expect(new Set(await Promise.all(others))).toEqual(new Set(["new"]));
	expect(looks).toBe(2);
	const later = look("a");
	expect(looks).toBe(3);
	ends[2]?.();
	await later;
});
