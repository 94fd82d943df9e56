// Clones of repos by URL: which branches follow origin, and that concurrent callers share a fetch.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { makeRepository, Repository, realGit } from "../../test/make/repository.ts";
import type { Git } from "../contracts/git.ts";
import { SILENT } from "../contracts/log.ts";
import { localDisk } from "../host/disk.ts";
import { systemClock } from "../host/local.ts";
import { createClones, follow } from "./clones.ts";
import type { Repo } from "./context.ts";

const branch = (commit: string, worktree = "") => ({ commit, worktree });
const asked = { base: "main", own: "/clone" };

describe("a branch", () => {
	test.each([
		["new at origin", {}, { x: "2" }, {}, ["create refs/heads/x 2"]],
		["of another host's job", {}, { "sluice/t-1-x": "2" }, {}, []],
		["where origin's was follows, also backwards", { x: "1" }, { x: "2" }, { x: branch("1") }, ["update refs/heads/x 2 1"]],
		["the base follows in any case", { main: "2" }, { main: "3" }, { main: branch("1", "/clone") }, ["update refs/heads/main 3 1"]],
		["that is worked on stays", { x: "1" }, { x: "2" }, { x: branch("1", "/worktrees/r/7") }, []],
		["gone at origin goes", { x: "1" }, {}, { x: branch("1") }, ["delete refs/heads/x 1"]],
		["gone at origin, with work of its own, stays", { x: "1" }, {}, { x: branch("2") }, []],
		["of ours alone stays", {}, {}, { x: branch("2") }, []],
	])("%s", (_, before, origin, here, orders) => {
		const map = <V>(from: object) => new Map(Object.entries(from)) as Map<string, V>;
		expect(follow({ before: map(before), origin: map(origin), here: map(here) }, asked)).toEqual({ orders, apart: [] });
	});

	test("that has moved locally follows only if it is behind", () => {
		const branches = { before: new Map([["x", "1"]]), origin: new Map([["x", "3"]]), here: new Map([["x", branch("2")]]) };
		expect(follow(branches, asked)).toEqual({ orders: [], apart: [{ name: "x", from: "2", to: "3" }] });
	});
});

function clone(git: Git = realGit()) {
	const origin = makeRepository();
	const path = join(makeFolder(), "r");
	const repo = { name: "r", path, url: origin.path, base_branch: null } as Repo;
	return { origin, here: new Repository(path), repo, ...createClones({ git, disk: localDisk, clock: systemClock, log: SILENT }) };
}

describe("a clone", () => {
	test("has origin's branches and its default, and follows them when they are rewritten", async () => {
		const { origin, here, repo, freshen } = clone();
		origin.git("branch", "side");
		await freshen(repo);
		expect([here.branches(), here.git("symbolic-ref", "HEAD")]).toEqual([["main", "side"], "refs/heads/main"]);
		origin.git("branch", "--quiet", "-D", "side");
		origin.git("commit", "--quiet", "--amend", "-m", "rewritten");
		await freshen(repo);
		expect([here.branches(), here.head("main")]).toEqual([["main"], origin.head("main")]);
	});

	test("that was left half made is made anew", async () => {
		const { here, repo, freshen } = clone();
		mkdirSync(`${repo.path}.making/objects`, { recursive: true });
		writeFileSync(`${repo.path}.making/HEAD`, "nonsense");
		await freshen(repo);
		expect(here.branches()).toEqual(["main"]);
	});

	test("is fetched at most twice for many concurrent callers, and each sees what origin had when it called", async () => {
		const real = realGit();
		let fetches = 0;
		const run: Git["run"] = (folder, args, options) => {
			if (args[0] === "fetch") fetches++;
			return real.run(folder, args, options);
		};
		const { origin, here, repo, freshen } = clone({ ...real, run });
		await freshen(repo);
		fetches = 0;
		const first = freshen(repo);
		const rest = Array.from({ length: 20 }, () => freshen(repo));
		const tip = origin.commit({ "later.txt": "" });
		await Promise.all([first, ...rest, freshen(repo)]);
		expect(fetches).toBe(2);
		expect(here.head("main")).toBe(tip);
	});

	test("whose origin has moved to another address is fetched from there", async () => {
		const { repo, here, freshen } = clone();
		await freshen(repo);
		const other = makeRepository({ "other.txt": "" });
		await freshen({ ...repo, url: other.path });
		expect(here.head("main")).toBe(other.head("main"));
	});
});
