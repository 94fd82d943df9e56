// 001 from end to end: a town of three repositories with their beads and a real daemon. Single, batch, convoy and epic slings, deferred and direct, the
// prefix guard, coordination that is skipped, status, list, run, pause, resume and clear, the breaker, batches that close by themselves, priorities.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";

type Given = Record<string, unknown>;
const on = (type: string, ...ids: string[]) => ids.map((id) => ({ depends_on_id: id, type }));

class Town {
	readonly root = makeFolder();
	readonly home = new TestHome();
	readonly beads: Record<string, Given[]> = {
		hq: [
			{ id: "hq-cv-1", issue_type: "convoy", dependencies: on("tracks", "gt-c1", "be-c2", "hq-note", "gt-shut") },
			{ id: "hq-note", title: "A note to all" },
		],
		gastown: [
			{ id: "gt-1" },
			{ id: "gt-2", dependencies: on("blocks", "gt-1") },
			{ id: "gt-3", priority: 0 },
			{ id: "gt-4", priority: 4 },
			{ id: "gt-c1" },
			{ id: "gt-shut", status: "closed" },
			{ id: "gt-taken", status: "in_progress" },
			{ id: "gt-epic", issue_type: "epic" },
			{ id: "gt-epic.1", dependencies: on("parent-child", "gt-epic") },
			{ id: "gt-epic.2", dependencies: [...on("parent-child", "gt-epic"), ...on("blocks", "gt-epic.1")] },
		],
		beads: [{ id: "be-1" }, { id: "be-c2" }],
		wasteland: [{ id: "wl-1" }],
	};

	constructor(config: string[], recipe = 'echo "$1 $2" >> $3/ran; [ ! -e "$3/fail-$1" ]') {
		for (const name of Object.keys(this.beads)) {
			mkdirSync(join(this.root, name, ".beads"), { recursive: true });
			if (name !== "hq")
				execFileSync("git", ["init", "--quiet", "--", join(this.root, name)], {
					env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null" },
				});
			this.save(name);
		}
		this.home.make(
			[
				"preset: town",
				"poll_interval: 50ms",
				...config,
				"repos: {gastown: {prefix: gt-}, beads: {prefix: be-}, wasteland: {prefix: wl-}}",
				"sources:",
				...Object.keys(this.beads).map((name) => `  ${name === "hq" ? "town" : name}: {kind: beads, root: ${join(this.root, name)}}`),
			].join("\n"),
		);
		mkdirSync(join(this.home.path, "recipes"));
		const command = ["/bin/sh", "-c", recipe, "sh", "{{item}}", "{{word}}", this.root];
		writeFileSync(
			join(this.home.path, "recipes/work.yml"),
			JSON.stringify({
				description: "Says what it does.",
				command,
				no_merge: true,
				vars: { word: { default: "done", pattern: "[a-z]+" } },
			}),
		);
	}

	private file = (name: string) => join(this.root, name, ".beads/issues.jsonl");
	private text(name: string): string {
		const lines = (this.beads[name] ?? []).map((one) =>
			JSON.stringify({ title: `Title of ${one.id}`, status: "open", priority: 2, issue_type: "task", ...one }),
		);
		return `${lines.join("\n")}\n`;
	}
	save(name: string): void {
		writeFileSync(this.file(name), this.text(name));
	}
	/** What is on the disk, and what the test itself has put there. */
	beadFiles = () => Object.keys(this.beads).map((name) => readFileSync(this.file(name), "utf8"));
	savedFiles = () => Object.keys(this.beads).map((name) => this.text(name));
	change(name: string, id: string, more: Given): void {
		Object.assign(this.beads[name]?.find((one) => one.id === id) as Given, more);
		this.save(name);
	}
	ran = () => (existsSync(join(this.root, "ran")) ? readFileSync(join(this.root, "ran"), "utf8").trim().split("\n") : []);
	/** A command line that must go well. */
	async sluice(...args: string[]): Promise<{ out: string; err: string }> {
		const said = await this.home.run(args);
		if (said.code !== 0) throw new Error(`sluice ${args.join(" ")}: ${said.code} ${said.err}${said.out}`);
		return said;
	}
	json = async (...args: string[]) => JSON.parse((await this.sluice(...args, "--json")).out);
}

const ended = (client: Client, ids: number[]) =>
	until(async () => {
		const { done, jobs } = await client.call("job.wait", { ids, timeout_ms: 1000 });
		return done ? jobs.map(({ status }) => status) : undefined;
	});

describe("a town", { timeout: 120_000 }, () => {
	test("deferred: slings wait for their turn, are counted, listed, paused, dispatched and cleared", async () => {
		const town = new Town(["max_concurrent: 1", "batch_size: 1", "cycle_interval: 0s"]);
		const { client } = await town.home.up();
		await town.sluice("pause", "--reason", "first look");

		// Single, with the repo named and found by its prefix.
		const one = await town.json("sling", "gt-1", "gastown");
		expect(one).toMatchObject({
			schema_version: 1,
			jobs: [expect.any(Number)],
			skipped: [],
			planned: [{ item: "gt-1", repo: "gastown", recipe: "work" }],
		});
		const batch = one.batches[0] as string;
		expect((await client.call("job.show", { id: one.jobs[0] })).job).toMatchObject({
			version: 1,
			enqueued_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
		});
		expect(await town.json("sling", "gt-1")).toMatchObject({
			jobs: [],
			skipped: [{ item: "gt-1", job: one.jobs[0], reason: `job ${one.jobs[0]} works on it already` }],
		});

		// Several at once, each in its own repo; one of them is blocked, and says by what.
		const many = await town.json("sling", "gt-2", "gt-3", "gt-4", "be-1", "wl-1");
		expect(many.planned.map((job: Given) => job.repo)).toEqual(["gastown", "gastown", "gastown", "beads", "wasteland"]);
		expect(many.batches).toHaveLength(1);
		const blocked = await client.call("job.why", { id: many.jobs[0] });
		expect(blocked.reasons).toMatchObject([
			{ code: "item_blocked", detail: "item gastown:gt-2 is blocked by gt-1", holder: ["gt-1"] },
			{ code: "paused" },
		]);

		// The guard: another repo's prefix is refused with the right command, unless forced.
		const wrong = await town.home.run(["sling", "gt-c1", "beads"]);
		expect([wrong.code, wrong.out]).toEqual([2, ""]);
		expect(wrong.err).toContain("gt-c1 has the prefix of repo gastown, not of beads");
		expect(wrong.err).toContain("sluice sling gt-c1 gastown");
		expect(await town.json("sling", "gt-c1", "beads", "--force", "--dry-run")).toMatchObject({
			jobs: [],
			planned: [{ job: null, repo: "beads" }],
		});
		expect((await town.home.run(["sling", "nobody-1"])).code).toBe(3);
		expect((await town.home.run(["sling", "gt-taken"])).err).toContain("in progress elsewhere");

		// Status and list.
		expect((await town.sluice("status")).out).toMatch(/Queued: 6 total, 5 ready/);
		expect(await town.json("status")).toMatchObject({ paused: true, paused_by: "ann", queued_total: 6, queued_ready: 5, running: 0 });
		const list = await town.sluice("list");
		expect(list.out).toMatch(/beads\n.*\n.*gastown\n(.*\n){4}.*wasteland\n/s);
		expect((await town.json("list")).jobs.filter((job: Given) => job.blocked).map((job: Given) => job.item)).toContain("gt-2");
		expect(await town.json("run", "--dry-run")).toMatchObject({ dispatch: [], reason: "paused" });
		expect(town.ran()).toEqual([]);

		// Cleared: one, then it may be slung again.
		await town.sluice("clear", "--item", "wl-1", "--yes");
		expect(await client.call("job.show", { id: many.jobs[4] })).toMatchObject({ job: { status: "cancelled", end_reason: "cleared" } });
		const again = await town.json("sling", "wl-1", "--var", "word=twice");
		expect(again.jobs).toHaveLength(1);

		// Dispatched one after the other: the urgent first, the rest by age, the one that can wait last.
		await town.sluice("resume");
		const free = [one.jobs[0], ...many.jobs.slice(1, 4), ...again.jobs];
		expect(await ended(client, free)).toEqual(Array(5).fill("succeeded"));
		expect(town.ran()).toEqual(["gt-3 done", "gt-1 done", "be-1 done", "wl-1 twice", "gt-4 done"]);
		expect((await client.call("job.show", { id: many.jobs[0] })).job.status).toBe("waiting_on_deps");
		// The first batch has closed by itself; the other has one job left.
		expect(await town.json("batch", "show", batch)).toMatchObject({
			batch: { state: "closed", total: 1, open: 0, counts: { succeeded: 1 }, progress: 1 },
		});
		expect((await town.json("batch", "list")).batches).toMatchObject([{ name: many.batches[0], open: 1, total: 5 }]);
		town.change("gastown", "gt-1", { status: "closed" });
		expect(await ended(client, [many.jobs[0]])).toEqual(["succeeded"]);
		expect((await town.json("batch", "list")).batches).toEqual([]);
		// Beads are as they were, but for what the test itself has closed: not a byte is ours.
		expect(town.beadFiles()).toEqual(town.savedFiles());
	});

	test("direct: convoys and epics go at once; coordination and closed ones are skipped", async () => {
		const town = new Town(["max_concurrent: -1"]);
		const { client } = await town.home.up();
		const said = await town.sluice("sling", "hq-cv-1");
		expect(said.err).toContain("warning: hq-note is coordination, not work: skipped");
		expect(said.err).toContain("skipped gt-shut: closed");
		expect(said.err).toContain("2 jobs added in batch hq-cv-1");
		const { jobs } = await client.call("job.list", { batch: "hq-cv-1", all: true });
		expect(
			await ended(
				client,
				jobs.map(({ id }) => id),
			),
		).toEqual(["succeeded", "succeeded"]);
		expect(jobs.map(({ item, repo }) => [item, repo])).toEqual([
			["gt-c1", "gastown"],
			["be-c2", "beads"],
		]);
		expect((await town.json("batch", "list", "--all")).batches).toMatchObject([
			{ name: "hq-cv-1", state: "closed", counts: { succeeded: 2 } },
		]);
		expect((await town.home.run(["sling", "hq-note"])).out).toBe("");

		// An epic: its children; the one that is blocked waits for the other to be closed.
		const epic = await town.json("sling", "gt-epic", "--owned");
		expect(epic.batches).toEqual(["gt-epic"]);
		await until(() => town.ran().includes("gt-epic.1 done"));
		expect((await client.call("job.show", { id: epic.jobs[1] })).job).toMatchObject({ status: "waiting_on_deps", blocked: true });
		town.change("gastown", "gt-epic.1", { status: "closed" });
		expect(await ended(client, epic.jobs)).toEqual(["succeeded", "succeeded"]);
		// Owned: it stays open until its owner closes it.
		expect((await town.json("batch", "list")).batches).toMatchObject([{ name: "gt-epic", owned: true, open: 0, state: "open" }]);
		expect((await town.sluice("batch", "close", "gt-epic")).err).toContain("batch gt-epic is closed");
		expect((await town.json("batch", "list")).batches).toEqual([]);
		// Slung again: closed children are skipped, the other is done once more, in the same batch.
		expect(await town.json("sling", "gt-epic", "--dry-run")).toMatchObject({
			planned: [{ item: "gt-epic.2", batch: "gt-epic" }],
			skipped: [{ item: "gt-epic.1", reason: "closed" }],
		});
	});

	test("recipes: strict at once, steps in order, routed by outcome; a failed batch is run again", async () => {
		const town = new Town(["max_concurrent: 4", "batch_size: 0", "cycle_interval: 0s"]);
		const run = (step: string) => ["/bin/sh", "-c", `echo "$1 ${step}" >> $2/ran; [ ! -e "$2/fail-${step}" ]`, "sh", "{{item}}", town.root];
		const steps = {
			build: { command: run("build"), on: { failed: "mend" } },
			mend: { command: run("mend") },
			ship: { command: run("ship") },
		};
		writeFileSync(join(town.home.path, "recipes/pipe.yml"), JSON.stringify({ no_merge: true, steps }));
		writeFileSync(join(town.home.path, "recipes/bad.yml"), "command: [echo, '{{wrod}}']\nvars: {word: {}}\n");
		const { client } = await town.home.up();

		const refused = await town.home.run(["sling", "gt-1", "--var", "wrod=x"]);
		expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('did you mean "word"?')]);
		expect((await town.home.run(["sling", "gt-1", "--var", "word=UP"])).err).toContain("does not fit word's pattern");
		expect((await town.home.run(["sling", "gt-1", "--recipe", "bad"])).err).toContain("did you mean {{word}}?");
		expect((await town.home.run(["recipe", "check", join(town.home.path, "recipes/bad.yml")])).code).toBe(2);
		expect((await town.sluice("recipe", "list")).out).toMatch(/implement-review-merge +implement → review → merge +shipped/);
		expect((await town.json("recipe", "show", "pipe")).recipe.steps).toHaveLength(3);
		expect((await town.json("list", "--all")).jobs).toEqual([]);

		const good = await town.json("sling", "pipe", "--on", "gt-1");
		expect(good.planned.map((job: Given) => job.step)).toEqual(["build", "mend", "ship"]);
		expect(await ended(client, good.jobs)).toEqual(["succeeded", "blocked_by_dependency", "succeeded"]);
		expect(town.ran()).toEqual(["gt-1 build", "gt-1 ship"]);

		writeFileSync(join(town.root, "fail-build"), "");
		const bad = await town.json("sling", "pipe", "--on", "gt-3", "--batch", "night");
		expect(await ended(client, bad.jobs)).toEqual(["failed", "succeeded", "blocked_by_dependency"]);
		expect(town.ran().slice(2)).toEqual(["gt-3 build", "gt-3 mend"]);
		writeFileSync(join(town.root, "fail-build"), "");
		execFileSync("rm", ["--", join(town.root, "fail-build")]);
		expect((await town.json("batch", "retry", "night")).reset).toContain(bad.jobs[0]);
		expect(await ended(client, bad.jobs)).toEqual(["succeeded", "blocked_by_dependency", "succeeded"]);

		// add --recipe: the same, for one.
		const added = await town.json("add", "--recipe", "work", "--var", "word=hello", "--item", "x-1", "--wait");
		expect(added.job).toMatchObject({ status: "succeeded", recipe: "work", vars: { word: "hello" } });
		expect(town.ran().at(-1)).toBe("x-1 hello");
		expect((await town.home.run(["add", "--recipe", "wrok"])).err).toContain('did you mean "work"?');
	});

	test("beads whose program cannot be started end circuit-broken, several of one repo too; notices are given", async () => {
		const notes = join(makeFolder(), "notes");
		const town = new Town([
			"max_concurrent: 4",
			"batch_size: 0",
			"cycle_interval: 0s",
			"dispatch_backoff: 10ms",
			`notify: [{kind: command, command: [/bin/sh, -c, 'echo "$SLUICE_NOTICE $SLUICE_TITLE" >> ${notes}']}]`,
		]);
		writeFileSync(join(town.home.path, "recipes/none.yml"), `command: [${join(town.root, "no-such-program")}]\nno_merge: true\n`);
		const { client } = await town.home.up();
		const { jobs, batches, warnings } = await town.json("sling", "gt-1", "gt-4", "--recipe", "none");
		expect(warnings).toEqual([expect.stringMatching(/^no such program: .*no-such-program$/)]);
		expect(await ended(client, jobs)).toEqual(["failed", "failed"]);
		for (const id of jobs)
			expect((await client.call("job.show", { id })).job).toMatchObject({ end_reason: "circuit-broken", dispatch_failures: 3 });
		expect(town.beadFiles()).toEqual(town.savedFiles());
		await until(() => existsSync(notes) && readFileSync(notes, "utf8").split("\n").length === 4);
		expect(readFileSync(notes, "utf8").trim().split("\n").sort()).toEqual([
			`batch_done Batch ${batches[0]} is done`,
			`job_failed job ${jobs[0]} (gt-1: Title of gt-1) has failed`,
			`job_failed job ${jobs[1]} (gt-4: Title of gt-4) has failed`,
		]);
		const waiting = await town.json("sling", "gt-2", "gt-3", "--batch", "b");
		expect((await town.json("batch", "cancel", "b")).cancelled).toContain(waiting.jobs[0]);
	});
});
