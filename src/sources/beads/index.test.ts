// Beads from their file and through `bd`: what blocks an issue, what a convoy or an epic stands for, and lines that are not issues.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeSourceSettings } from "../../../test/make/agents/source.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import type { SourceSettings } from "../../contracts/source.ts";
import { localHost, systemClock } from "../../host/local.ts";
import { openSources } from "../index.ts";

type Given = Record<string, unknown>;
const issue = (id: string, more: Given = {}): Given => ({
	id,
	title: `Title of ${id}`,
	status: "open",
	priority: 2,
	issue_type: "task",
	...more,
});
const on = (type: string, ...ids: string[]) => ids.map((id) => ({ depends_on_id: id, type }));

function makeBeads(lines: (Given | string)[]): SourceSettings {
	const root = makeFolder();
	mkdirSync(join(root, ".beads"));
	writeFileSync(
		join(root, ".beads/issues.jsonl"),
		lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
	);
	return makeSourceSettings({ kind: "beads", root });
}

function open(sources: Record<string, SourceSettings>, path = "/nowhere") {
	const all = openSources({ host: localHost, clock: systemClock, env: () => ({ PATH: path }) });
	all.configure(sources);
	return all;
}

describe("from the file", () => {
	test("what blocks an issue", async () => {
		const sources = open({
			gt: makeBeads([
				issue("gt-a"),
				issue("gt-b", { dependencies: on("blocks", "gt-a") }),
				issue("gt-c", { dependencies: [...on("related", "gt-a"), ...on("discovered-from", "gt-b")] }),
				issue("gt-done", { status: "closed" }),
				issue("gt-d", { dependencies: on("conditional-blocks", "gt-done") }),
				issue("gt-e", { dependencies: on("waits-for", "gt-f") }),
				issue("gt-f", { status: "closed", issue_type: "epic" }),
				issue("gt-f1", { dependencies: on("parent-child", "gt-f") }),
				issue("gt-epic", { issue_type: "epic", dependencies: on("blocks", "gt-a") }),
				issue("gt-epic.1", { dependencies: on("parent-child", "gt-epic") }),
				issue("gt-free", { issue_type: "epic" }),
				issue("gt-free.1", { parent: "gt-free" }),
				issue("gt-m", { dependencies: on("merge-blocks", "gt-done") }),
				issue("gt-n", { dependencies: on("merge-blocks", "gt-merged") }),
				issue("gt-merged", { status: "closed", close_reason: "Merged in abc123" }),
				issue("gt-x", { dependencies: on("blocks", "be-1", "zz-9", "external:be:be-2") }),
				issue("gt-p", { dependencies: on("parent-child", "gt-q") }),
				issue("gt-q", { dependencies: on("parent-child", "gt-p") }),
			]),
			be: makeBeads([issue("be-1"), issue("be-2", { status: "closed" })]),
		});
		const blocked = async (id: string) => (await sources.find(id))?.blocked_by;
		expect({
			a: await blocked("gt-a"),
			b: await blocked("gt-b"),
			c: await blocked("gt-c"),
			d: await blocked("gt-d"),
			e: await blocked("gt-e"),
			child: await blocked("gt-epic.1"),
			free: await blocked("gt-free.1"),
			m: await blocked("gt-m"),
			n: await blocked("gt-n"),
			x: await blocked("gt-x"),
			circle: await blocked("gt-p"),
		}).toEqual({
			a: [],
			b: ["gt-a"],
			c: [],
			d: [],
			e: ["gt-f1"],
			child: ["gt-a"],
			free: [],
			m: ["gt-done (not merged)"],
			n: [],
			x: ["be-1", "zz-9 (no source knows it)"],
			circle: [],
		});
		expect(await sources.probe(["item:gt:gt-b", "item:gt:gt-done", "item:gt:gone", "item:other:x", "artifact:file:a"])).toEqual({
			"item:gt:gt-b": { open: true, blocked_by: ["gt-a"] },
			"item:gt:gt-done": { open: false },
			"item:gt:gone": { error: "there is no item gone in source gt" },
		});
	});

	test("convoys, epics, priorities, texts", async () => {
		const sources = open({
			hq: makeBeads([
				issue("hq-cv-1", { issue_type: "convoy", dependencies: on("tracks", "gt-a", "hq-x", "external:be:be-1") }),
				issue("hq-x"),
			]),
			gt: makeBeads([
				issue("gt-a", { priority: 0, description: "Do\nit", acceptance_criteria: "Done", status: "in_progress", assignee: "ann" }),
				issue("gt-e", { issue_type: "epic" }),
				issue("gt-e.1", { dependencies: on("parent-child", "gt-e") }),
				issue("gt-e.2", { parent: "gt-e", dependencies: on("parent-child", "gt-e") }),
				issue("gt-cv", { labels: ["gt:convoy"], dependencies: on("tracks", "gt-e.1") }),
			]),
		});
		expect(await sources.find("hq-cv-1")).toMatchObject({ kind: "batch", members: ["gt-a", "hq-x", "be-1"] });
		expect(await sources.find("gt-e")).toMatchObject({ kind: "epic", members: ["gt-e.1", "gt-e.2"], eligible: false });
		expect(await sources.find("gt-a")).toMatchObject({
			in_progress: true,
			priority: 20,
			text: "Do\nit\n\n## Acceptance criteria\n\nDone",
			owner: "ann",
		});
		expect((await sources.find("gt-e.1"))?.batch).toBe("gt-cv");
		expect((await sources.get("gt").scan()).items.filter(({ eligible }) => eligible).map(({ id }) => id)).toEqual(["gt-e.1", "gt-e.2"]);
	});

	test("lines that are not issues are reported; all other lines are read", async () => {
		const sources = open({
			gt: makeBeads([
				issue("gt-a"),
				"{not json",
				"[]",
				issue("gt-b", { title: "x".repeat(1_000_000) }),
				issue("gt-c"),
				issue("gt-c"),
				issue("../up"),
			]),
		});
		const { items, faults } = await sources.get("gt").scan();
		expect(items.map(({ id }) => id)).toEqual(["gt-a"]);
		expect(faults.map(({ id, message }) => `${id} ${message.replace(/^.*issues.jsonl/, "")}`)).toEqual([
			"null :2: is not JSON",
			expect.stringContaining("must be an object"),
			expect.stringContaining("gt-b gt-b: title: is 1000000 characters long"),
			expect.stringContaining("looks like a path out of its folder"),
			"gt-c gt-c: stands there twice",
		]);
		await expect(sources.find("gt-c")).rejects.toThrow("stands there twice");
	});

	test("an id that two sources know must be written in full", async () => {
		const sources = open({ a: makeBeads([issue("x-1")]), b: makeBeads([issue("x-1")]) });
		await expect(sources.find("x-1")).rejects.toThrow("x-1 is an item of a and of b");
		expect(await sources.find("b:x-1")).toMatchObject({ source: "b" });
		expect(() => sources.get("c")).toThrow('there is no source "c"');
	});
});

/** A `bd` that answers from files and records its calls. */
function makeBd(answers: Record<string, unknown>): { path: string; calls: () => string[] } {
	const dir = makeFolder();
	for (const [name, answer] of Object.entries(answers)) writeFileSync(join(dir, `${name}.json`), JSON.stringify(answer));
	const script = [
		"#!/bin/sh",
		`echo "$* envelope=$BD_JSON_ENVELOPE commit=$BD_DOLT_AUTO_COMMIT" >> ${dir}/calls`,
		`if [ -e ${dir}/$1.json ]; then /bin/cat ${dir}/$1.json; else echo "no such issue"; exit 1; fi`,
	].join("\n");
	writeFileSync(join(dir, "bd"), script);
	chmodSync(join(dir, "bd"), 0o755);
	return { path: dir, calls: () => readFileSync(join(dir, "calls"), "utf8").trim().split("\n") };
}

describe("through bd", () => {
	test("bd ready decides what is ready; the blocker is named", async () => {
		const bd = makeBd({
			list: { schema_version: 1, data: [issue("gt-a"), issue("gt-b", { dependency_count: 1 }), issue("gt-c", { dependency_count: 0 })] },
			dep: { schema_version: 1, data: [{ issue_id: "gt-b", depends_on_id: "gt-a", type: "blocks" }] },
			ready: { schema_version: 1, data: [issue("gt-a")] },
		});
		const sources = open({ gt: makeBeads([]) }, bd.path);
		expect(await sources.probe(["item:gt:gt-a", "item:gt:gt-b", "item:gt:gt-c"])).toEqual({
			"item:gt:gt-a": { open: true, blocked_by: [] },
			"item:gt:gt-b": { open: true, blocked_by: ["gt-a"] },
			"item:gt:gt-c": { open: true, blocked_by: [], held: "bd ready does not list it" },
		});
		expect(bd.calls()).toEqual([
			"list --json --all --limit 0 envelope=1 commit=off",
			"ready --json --limit 0 envelope=1 commit=off",
			"dep list gt-a gt-b gt-c --json envelope=1 commit=off",
		]);
	});

	test("a refusal of bd is the error of those items", async () => {
		const bd = makeBd({});
		const sources = open({ gt: makeBeads([]) }, bd.path);
		expect(await sources.probe(["item:gt:gt-a"])).toEqual({ "item:gt:gt-a": { error: "bd list: no such issue" } });
	});

	test("write_back: status changes it, through bd and never behind its back", async () => {
		const bd = makeBd({ list: [issue("gt-a")], ready: [], dep: [], update: {}, close: {} });
		const sources = open({ gt: { ...makeBeads([]), write_back: "status" } }, bd.path);
		const source = sources.get("gt");
		await source.write?.("gt-a", { status: "queued" });
		await source.write?.("gt-a", { status: "running" });
		await source.write?.("gt-a", { status: "succeeded" });
		expect(bd.calls().filter((call) => /^(?:update|close)/.test(call))).toEqual([
			"update gt-a --status in_progress --json envelope=1 commit=off",
			"close gt-a --reason done by sluice --json envelope=1 commit=off",
		]);
	});
});

describe("a folder of prompts", () => {
	test("one item each, errors named", async () => {
		const root = makeFolder();
		writeFileSync(join(root, "fix-login.md"), "# Fix the login\n\nIt fails.\n");
		writeFileSync(join(root, "empty.txt"), " \n");
		writeFileSync(join(root, "a.md"), "x");
		writeFileSync(join(root, "a.txt"), "y");
		writeFileSync(join(root, "bytes.md"), new Uint8Array([0xff]));
		const sources = open({ todo: makeSourceSettings({ kind: "folder", root }) });
		const { items, faults } = await sources.get("todo").scan();
		expect(items).toMatchObject([{ id: "fix-login", title: "Fix the login", text: "# Fix the login\n\nIt fails.", eligible: true }]);
		expect(faults.map(({ id, message }) => `${id}: ${message.replace(`${root}/`, "")}`)).toEqual([
			"a: two files are the item a: a.md, a.txt",
			"bytes: bytes.md: is not UTF-8",
			"empty: empty.txt: is empty",
		]);
	});
});
