// Lines that a job has changed in its worktree: committed or not, new files included, what git ignores left out.

import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { makeRepository, Repository, realGit } from "../../test/make/repository.ts";
import { localDisk } from "../host/disk.ts";
import type { WorkspaceContext } from "./context.ts";
import { changedLines, sumOf } from "./lines.ts";
import { type WorktreeRecord, writeRecord } from "./record.ts";

test("counts commits, changes and new files against where the worktree began", async () => {
	const repo = makeRepository({ "a.txt": "one\ntwo\nthree\n", ".gitignore": "built/\n" });
	const context = { git: realGit(), disk: localDisk, worktrees: join(makeFolder(), "worktrees") } as WorkspaceContext;
	const tree = new Repository(join(context.worktrees, "r", "7"));
	repo.git("worktree", "add", "--quiet", "-b", "work", tree.path);
	const record = { version: 1, job: 7, repo: "r", root: repo.path, branch: "work", state: "ready", base_commit: repo.head() };
	writeRecord(context, record as WorktreeRecord);
	expect(await changedLines(context, 7)).toEqual({ added: 0, removed: 0 });
	tree.write("a.txt", "one\n2\nthree\nfour\n");
	tree.git("commit", "--quiet", "-a", "-m", "x");
	tree.write("new.txt", "n\nn\nno line end");
	tree.write("picture.bin", "\u0000\n\n\n");
	tree.write("built/out.txt", "x\n".repeat(1000));
	expect(await changedLines(context, 7)).toEqual({ added: 5, removed: 1 });
	expect(await changedLines(context, 8)).toBeNull();
});

test("a binary file has no lines", () => {
	expect(sumOf("3\t1\ta.txt\0-\t-\tb.png\0")).toEqual({ added: 3, removed: 1 });
});
