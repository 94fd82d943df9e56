// The diff of a worktree in which something changes while git reads it: a file that goes, and the worktree's own removal.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { makeRepository, Repository, realGit } from "../../test/make/repository.ts";
import type { Git } from "../contracts/git.ts";
import { localDisk } from "../host/disk.ts";
import type { WorkspaceContext } from "./context.ts";
import { createDiffs } from "./diffs.ts";
import { type WorktreeRecord, writeRecord } from "./record.ts";

/** A job's worktree at `place/worktrees/r/7`. `before` is called before each of the daemon's calls of git. */
function makeWorktree(before: (command: string | undefined) => void = () => {}) {
	const repo = makeRepository({ "README.md": "hello\n" });
	const place = makeFolder();
	const git = realGit();
	const spied: Git = {
		ask: (folder, args, options) => {
			before(args[0]);
			return git.ask(folder, args, options);
		},
		run: git.run,
	};
	const context = { git: spied, disk: localDisk, worktrees: join(place, "worktrees"), runs: join(place, "runs") } as WorkspaceContext;
	const tree = new Repository(join(context.worktrees, "r", "7"));
	repo.git("worktree", "add", "--quiet", "-b", "work", tree.path);
	const record = {
		version: 1,
		job: 7,
		repo: "r",
		root: repo.path,
		branch: "work",
		state: "ready",
		base_commit: repo.head(),
	} as WorktreeRecord;
	writeRecord(context, record);
	return {
		repo,
		tree,
		runs: new Repository(context.runs),
		setState: (state: WorktreeRecord["state"]) => writeRecord(context, { ...record, state }),
		...createDiffs(context),
	};
}

/** git runs the filter of a.txt after it has listed the files of the worktree, and before it reads b.txt. */
function filterOf(repo: Repository, clean: string): void {
	repo.git("config", "filter.x.clean", clean);
	repo.git("config", "filter.x.required", "true");
	repo.write(".git/info/attributes", "a.txt filter=x\n");
}

describe("the diff of a worktree", () => {
	test("in which a file goes after git has listed it has the files that are left", async () => {
		const { repo, tree, diff } = makeWorktree();
		filterOf(repo, "rm -f b.txt; cat");
		tree.write("a.txt", "a\n");
		tree.write("b.txt", "b\n");
		const { patch, from } = (await diff(7, 1)) ?? {};
		expect([from, patch?.match(/^\+\+\+ .*$/gm)]).toEqual(["worktree", ["+++ b/a.txt"]]);
	});

	test("that git cannot make at any try is an error, and leaves no file", async () => {
		let tries = 0;
		const { repo, tree, diff } = makeWorktree((command) => void (command === "add" && tries++));
		filterOf(repo, "false");
		tree.write("a.txt", "a\n");
		await expect(diff(7, 1)).rejects.toThrow(/^the diff of job 7 cannot be made: git add: .*filter/);
		expect(tries).toBe(4);
		expect(localDisk.list(join(tree.path, "..")).sort()).toEqual(["7", "7.json"]);
	});

	test.each(["read-tree", "add", "diff"])("whose removal begins before git %s is that of the run", async (step) => {
		const { tree, runs, setState, diff } = makeWorktree((command) => {
			if (command !== step) return;
			setState("removing");
			tree.git("clean", "-ffdq");
		});
		tree.write("a.txt", "a\n");
		runs.write("7/1/output.patch", "all of it\n");
		expect(await diff(7, 1)).toEqual({ patch: "all of it\n", from: "run" });
	});

	test("that is too long is refused with its place; its beginning ends with a whole line, and says how long all of it is", async () => {
		const { runs, setState, diff } = makeWorktree(() => {});
		setState("removing");
		runs.write("7/1/output.patch", "+ä line\n".repeat(600_000));
		await expect(diff(7, 1)).rejects.toThrow(/^the patch has 5400000 bytes, at most 5000000 can be shown/);
		const { patch = "", ...rest } = (await diff(7, 1, "beginning")) ?? {};
		expect(rest).toEqual({ from: "run", of_bytes: 5_400_000 });
		expect([patch.length, patch.endsWith("+ä line\n")]).toEqual([Math.floor(5_000_000 / 9) * 8, true]);
	});
});
