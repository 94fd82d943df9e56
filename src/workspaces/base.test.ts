// A base branch that is checked out where a person works: it moves only when no change of that person can be lost, and an interrupted move is repaired.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeRepository, realGit } from "../../test/make/repository.ts";
import { SILENT } from "../contracts/log.ts";
import { localDisk } from "../host/disk.ts";
import { systemClock } from "../host/local.ts";
import { baseBusy, repairCheckout } from "./base.ts";
import type { WorkspaceContext } from "./context.ts";

const git = realGit();
const context = { git, disk: localDisk, clock: systemClock, log: SILENT } as WorkspaceContext;

function half() {
	const repo = makeRepository({ "kept.txt": "kept\n", "changed.txt": "old\n", "gone.txt": "gone\n" });
	const from = repo.head();
	repo.git("rm", "--quiet", "gone.txt");
	const to = repo.commit({ "changed.txt": "new\n", "added.txt": "added\n" });
	repo.git("reset", "--quiet", "--hard", from);
	return { repo, from, to };
}

describe("a checkout", () => {
	test("is busy while it has changes or git is in the middle of something; new files do not count", async () => {
		const { repo } = half();
		repo.write("new.txt", "new\n");
		expect(await baseBusy(git, repo.path, "main")).toEqual({ path: repo.path, why: null });
		repo.write("kept.txt", "mine\n");
		expect((await baseBusy(git, repo.path, "main")).why).toBe(`you have uncommitted changes on main in ${repo.path}`);
		repo.git("checkout", "--quiet", "kept.txt");
		writeFileSync(join(repo.path, ".git", "MERGE_HEAD"), `${repo.head()}\n`);
		expect((await baseBusy(git, repo.path, "main")).why).toMatch(/^git is in the middle of something on main in .* \(MERGE_HEAD\)$/);
		expect(await baseBusy(git, repo.path, "elsewhere")).toEqual({ path: null, why: null });
	});

	test("with some files of a move that was cut short is put back", async () => {
		const { repo, from, to } = half();
		repo.write("changed.txt", "new\n");
		repo.write("added.txt", "added\n");
		rmSync(join(repo.path, "gone.txt"));
		await repairCheckout(context, repo.path, "main", { from, to });
		expect([repo.git("status", "--porcelain"), repo.head()]).toEqual(["", from]);
	});

	test.each([
		["a file of a person's own", { "kept.txt": "mine\n" }],
		["a person's text in a file of the move", { "changed.txt": "mine\n" }],
		["a person's text in a new file of the move", { "added.txt": "mine\n" }],
	])("with %s is left as it is", async (_, files) => {
		const { repo, from, to } = half();
		rmSync(join(repo.path, "gone.txt"));
		for (const [name, text] of Object.entries(files)) repo.write(name, text);
		await repairCheckout(context, repo.path, "main", { from, to });
		for (const [name, text] of Object.entries(files)) expect(repo.read(name)).toBe(text);
		expect(repo.has("gone.txt")).toBe(false);
	});
});
