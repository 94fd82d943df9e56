// 000 from end to end: a folder of cards in three phases and a real daemon. What is watched is taken up, status and history are written back, what a
// person writes meanwhile stays, and nothing else in the cards changes.

import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";

const LINE = /^- \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (.*)$/;

/** A board, and agents that are plain commands: each says that it has begun, waits until it is let go, and ends as it is told. */
class Board {
	readonly root = makeFolder();
	readonly stage = makeFolder();
	readonly home = new TestHome();

	constructor(more = "", recipe = "", retry = "{max: 1, base_ms: 20, jitter: 0}") {
		this.home.make(
			[
				"preset: cards",
				"max_concurrent: 4",
				"lanes: {implement: {max: 4}, review: {max: 4}}",
				`retry: ${retry}`,
				`sources: {board: {kind: cards, root: ${this.root}, watch: true, write_back: agent_status${more}}}`,
			].join("\n"),
		);
		const script = 'echo "$1" >> begun; while [ ! -e "go-$1" ]; do sleep 0.01; done; [ ! -e "fail-$1" ]';
		mkdirSync(join(this.home.path, "recipes"));
		for (const flow of ["implement", "review"])
			writeFileSync(
				join(this.home.path, "recipes", `${flow}.yml`),
				`command: ["/bin/sh", "-c", ${JSON.stringify(`cd ${this.stage}; ${script}`)}, sh, "{{item}}"]\n${recipe}`,
			);
	}
	put(path: string, text: string): string {
		const file = join(this.root, path);
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, text);
		return file;
	}
	text = (path: string) => readFileSync(join(this.root, path), "utf8");
	/** The status, and the history lines without their times. */
	state(path: string) {
		const text = this.text(path);
		return {
			status: /^agent_status: *(\S*)/m.exec(text)?.[1] ?? null,
			history: text.split(/\r?\n/).flatMap((line) => LINE.exec(line)?.[1] ?? []),
		};
	}
	begun = () => (existsSync(join(this.stage, "begun")) ? readFileSync(join(this.stage, "begun"), "utf8").trim().split("\n") : []);
	let = (id: string) => writeFileSync(join(this.stage, `go-${id}`), "");
	log = () => (existsSync(join(this.home.path, "daemon.log")) ? readFileSync(join(this.home.path, "daemon.log"), "utf8") : "");
	becomes = (path: string, status: string) => until(() => this.state(path).status === status);
}

const card = (title: string, more: string[] = []) =>
	`---\nowner: ann\nagent_flow: implement\nagent_status: idle\n${more.map((line) => `${line}\n`).join("")}risk: low # keep me\ncustom: {a: [1, 2]}\n---\n# ${title}\n\nDo it.\n`;

/** A card as it must look afterwards, with the history that came to it. */
const aftermath = (before: string, status: string, lines: string[]) =>
	`${before.replace("agent_status: idle", `agent_status: ${status}`)}\n## History\n\n${lines.map((line) => `- ${line}\n`).join("")}`;
const withoutTimes = (text: string) => text.replace(/^- \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /gm, "- ");
const jobs = async (client: Client) => (await client.call("job.list", { all: true })).jobs;

describe("a board of cards", { timeout: 60_000 }, () => {
	test("serial within a phase, phases beside each other, parallelizable cards together; nothing but status and history changes", async () => {
		const board = new Board();
		const paths = {
			"1.1": "phase-1-base/backlog/1.1-first.md",
			"1.2": "phase-1-base/backlog/1.2-second.md",
			"2.1": "phase-2-more/backlog/2.1-other.md",
			"3.1": "phase-3-wide/backlog/3.1-wide.md",
			"3.2": "phase-3-wide/in-progress/3.2-wide-too.md",
		};
		const texts: Record<string, string> = {
			"1.1": card("First").replaceAll("\n", "\r\n"),
			"1.2": card("Second"),
			"2.1": card("Other"),
			"3.1": card("Wide", ["parallelizable: true"]),
			"3.2": card("Wide too", ["parallelizable: true"]),
		};
		const untouched = board.put("phase-1-base/backlog/1.9-idea.md", "---\nowner: bo\n---\n# An idea\n");
		const done = board.put("phase-1-base/done/1.0-done.md", card("Done long ago"));
		const before = [readFileSync(untouched, "utf8"), readFileSync(done, "utf8")];
		const { client } = await board.home.up();
		for (const [id, path] of Object.entries(paths)) board.put(path, texts[id] as string);

		// Four slots: one of phase 1, one of phase 2, both of phase 3.
		await until(() => board.begun().length === 4);
		const first = board.begun().find((id) => id.startsWith("1.")) as "1.1" | "1.2";
		const second = first === "1.1" ? "1.2" : "1.1";
		expect([...board.begun()].sort()).toEqual([first, "2.1", "3.1", "3.2"].sort());
		await board.becomes(paths[first], "running");
		await board.becomes(paths[second], "queued");
		const waiting = (await jobs(client)).find((job) => job.item === second);
		expect(waiting).toMatchObject({
			status: "waiting_on_locks",
			lane: "implement",
			phase: "phase-1-base",
			source: "board",
			trigger: "watch",
		});
		const { reasons } = await client.call("job.why", { id: waiting?.id as number });
		expect(JSON.stringify(reasons)).toContain("serial:board:phase-1-base:implement");

		// A person edits a card while its job runs.
		appendFileSync(join(board.root, paths["2.1"]), "\nA thought of mine.\n");
		for (const id of Object.keys(paths)) board.let(id);
		for (const path of Object.values(paths)) await board.becomes(path, "succeeded");
		await until(() => Object.values(paths).every((path) => board.state(path).history.length === 1));

		const numbers = Object.fromEntries((await jobs(client)).map((job) => [job.item, job.id]));
		const line = (id: string) => [`run ${numbers[id]}.1 implement: succeeded`];
		expect(withoutTimes(board.text(paths["1.1"]))).toBe(aftermath(card("First"), "succeeded", line("1.1")).replaceAll("\n", "\r\n"));
		expect(withoutTimes(board.text(paths["1.2"]))).toBe(aftermath(texts["1.2"] as string, "succeeded", line("1.2")));
		expect(withoutTimes(board.text(paths["2.1"]))).toBe(aftermath(`${texts["2.1"]}\nA thought of mine.\n`, "succeeded", line("2.1")));
		expect(withoutTimes(board.text(paths["3.1"]))).toBe(aftermath(texts["3.1"] as string, "succeeded", line("3.1")));
		expect([readFileSync(untouched, "utf8"), readFileSync(done, "utf8")]).toEqual(before);
		// Nothing is taken up twice.
		expect(board.begun()).toHaveLength(5);
		expect(await client.call("source.scan", {})).toMatchObject({
			added: [],
			sources: [{ name: "board", items: 7, eligible: 0, faults: [] }],
		});
	});

	test("failures: in back-off it is failed with the error, after the last try for good; idle again means again", async () => {
		const board = new Board(", history_on_queue: true");
		const path = "phase-1-a/backlog/A-1-x.md";
		board.put(path, card("X"));
		writeFileSync(join(board.stage, "fail-A-1"), "");
		board.let("A-1");
		const { client } = await board.home.up();
		await until(() => board.state(path).history.length === 3);
		const [job] = await jobs(client);
		expect(board.state(path)).toEqual({
			status: "failed",
			history: [
				`job ${job?.id} implement: queued`,
				expect.stringMatching(`^run ${job?.id}.1 implement: failed: .*; is tried again$`),
				expect.stringMatching(`^run ${job?.id}.2 implement: failed: `),
			],
		});
		// A person has mended it, and says so.
		renameSync(join(board.stage, "fail-A-1"), join(board.stage, "mended"));
		writeFileSync(join(board.root, path), board.text(path).replace("agent_status: failed", "agent_status: idle"));
		await board.becomes(path, "succeeded");
		await until(() => board.state(path).history.length === 5);
		expect((await jobs(client)).map(({ status }) => status)).toEqual(["failed", "succeeded"]);
	});

	test("idle during back-off is a rerun of the same job: at once, with the counter at zero, and no second chain", async () => {
		const board = new Board("", "", "{max: 5, base_ms: 3600000, cap_ms: 3600000, jitter: 0}");
		const path = "phase-1-a/backlog/1-x.md";
		board.put(path, card("X"));
		writeFileSync(join(board.stage, "fail-1"), "");
		board.let("1");
		const { client } = await board.home.up();
		await board.becomes(path, "failed");
		const [before] = await jobs(client);
		expect(before).toMatchObject({ status: "queued", failures: 1, wait_reason: { kind: "backoff" } });
		renameSync(join(board.stage, "fail-1"), join(board.stage, "mended"));
		renameSync(join(board.stage, "go-1"), join(board.stage, "gone"));
		writeFileSync(join(board.root, path), board.text(path).replace("agent_status: failed", "agent_status: idle"));
		await board.becomes(path, "running");
		expect(await jobs(client)).toMatchObject([{ id: before?.id, status: "running", attempt: 2, failures: 0 }]);
		board.let("1");
		await board.becomes(path, "succeeded");
		await until(() => board.state(path).history.length === 2);
		expect(await jobs(client)).toMatchObject([{ id: before?.id, status: "succeeded" }]);
		expect(board.begun()).toEqual(["1", "1"]);
	});

	test("what a person says of a card counts: closed, cancelled, taken back; a contradiction is reported and stays", async () => {
		const board = new Board();
		const { client } = await board.home.up();
		const one = "phase-1-a/backlog/1-one.md";
		const two = "phase-1-a/backlog/2-two.md";
		board.put(one, card("One"));
		await until(() => board.begun().length === 1);
		board.put(two, card("Two"));
		await board.becomes(two, "queued");
		// The one that waits is done by hand: its job is not needed any more.
		mkdirSync(join(board.root, "phase-1-a/done"));
		writeFileSync(join(board.root, two), board.text(two).replace("agent_status: queued", "agent_status: succeeded"));
		renameSync(join(board.root, two), join(board.root, "phase-1-a/done/2-two.md"));
		const job = async (item: string) => (await jobs(client)).find((one) => one.item === item);
		await until(async () => (await job("2"))?.status === "cancelled");
		expect(await job("2")).toMatchObject({ end_reason: "item_closed" });
		// The one that runs is set to a state that does not lead to an end: it is left alone, its history is kept, and it is said.
		await board.becomes(one, "running");
		writeFileSync(join(board.root, one), board.text(one).replace("agent_status: running", "agent_status: canceled"));
		board.let("1");
		await until(() => board.state(one).history.length === 1);
		expect(board.state(one).status).toBe("canceled");
		const { sources } = await client.call("source.scan", {});
		expect(sources[0]?.faults).toMatchObject([
			{ id: "1", message: expect.stringContaining("agent_status is canceled, which does not lead to succeeded") },
		]);
		expect(board.state("phase-1-a/done/2-two.md").status).toBe("succeeded");
	});

	test("bad cards are named, the others run; a daemon that was killed writes what it missed", async () => {
		const board = new Board();
		board.put("phase-1-a/backlog/1-bad.md", "---\nagent_flow: [\n---\n");
		board.put("phase-1-a/backlog/2-lane.md", card("Lane").replace("implement", "pa int"));
		const good = "phase-2-b/backlog/3-good.md";
		board.put(good, card("Good"));
		const first = await board.home.up();
		await board.becomes(good, "running");
		await board.home.kill(first.child);
		board.let("3");
		const { client } = await board.home.up();
		await board.becomes(good, "succeeded");
		await until(() => board.state(good).history.length === 1);
		const { sources } = await client.call("source.scan", { name: "board" });
		expect(sources[0]?.faults.map(({ message }) => message.replace(`${board.root}/`, ""))).toEqual([
			expect.stringContaining("phase-1-a/backlog/1-bad.md: line"),
			expect.stringContaining("phase-1-a/backlog/2-lane.md: agent_flow"),
		]);
		await expect(client.call("job.sling", { ids: ["1"] })).rejects.toThrow(/^1: line \d+: front matter/);
		expect(board.begun()).toEqual(["3"]);
		expect((await jobs(client)).map(({ item, status }) => [item, status])).toEqual([["3", "succeeded"]]);
	});

	test("cards that were left queued or running without a job are failed at the start: scheduler recovery; those with a job are not", async () => {
		const board = new Board();
		const left = "phase-1-a/backlog/1-left.md";
		const waits = "phase-1-a/in-progress/2-waits.md";
		const works = "phase-2-b/backlog/3-works.md";
		const done = "phase-2-b/done/4-done.md";
		board.put(works, card("Works"));
		const first = await board.home.up();
		await board.becomes(works, "running");
		await board.home.kill(first.child);
		board.put(left, card("Left").replace("idle", "running"));
		board.put(waits, card("Waits").replace("idle", "queued"));
		board.put(done, card("Done").replace("idle", "running"));
		const { client } = await board.home.up();
		await board.becomes(left, "failed");
		await board.becomes(waits, "failed");
		expect([board.state(left).history, board.state(waits).history]).toEqual([
			["implement: failed: scheduler recovery"],
			["implement: failed: scheduler recovery"],
		]);
		await until(() => ["board:1", "board:2"].every((item) => new RegExp(`scheduler recovery.*${item}`).test(board.log())));
		expect([board.state(works).status, board.state(done).status]).toEqual(["running", "running"]);
		board.let("3");
		await board.becomes(works, "succeeded");
		// Each can be asked for again.
		board.let("1");
		writeFileSync(join(board.root, left), board.text(left).replace("agent_status: failed", "agent_status: idle"));
		await board.becomes(left, "succeeded");
		expect((await jobs(client)).map(({ item }) => item)).toEqual(["3", "1"]);
	});

	test("a card that another queue may be working on is left as it is, and that is said", async () => {
		const board = new Board();
		const path = "phase-1-a/backlog/1-theirs.md";
		board.put(path, card("Theirs").replace("idle", "running"));
		board.put(".sluice-queues.json", JSON.stringify([{ queue: "q2", home: "/home/bo/.sluice", host: "bo-laptop" }]));
		const { client } = await board.home.up();
		await until(() => /board:1.*bo-laptop/.test(board.log()));
		expect(board.state(path)).toEqual({ status: "running", history: [] });
		const { sources } = await client.call("source.list", {});
		expect(sources[0]?.faults).toMatchObject([{ id: "1", message: expect.stringContaining("no job does") }]);
		expect(JSON.parse(board.text(".sluice-queues.json"))).toMatchObject([{ queue: "q2" }, { home: board.home.path }]);
	});

	test("at the hard limit watched cards and slung ones stay as they are, with the reason, until there is room", async () => {
		const board = new Board("", "", "0");
		writeFileSync(
			join(board.home.path, "config.yml"),
			`${readFileSync(join(board.home.path, "config.yml"), "utf8")}\nqueue: {soft_limit: 1, hard_limit: 2}\n`,
		);
		const path = (n: number) => `phase-1-a/backlog/${n}-card.md`;
		for (const n of [1, 2, 3, 4, 10]) board.put(path(n), card(`Card ${n}`));
		const { client } = await board.home.up();
		await until(() => board.begun().length === 1);
		await until(() => board.state(path(3)).status === "queued");
		// Two wait for the lock of the phase: that is the limit.
		const faults = async () => (await client.call("source.list", {})).sources[0]?.faults ?? [];
		await until(async () => (await faults()).length === 2);
		expect(await faults()).toMatchObject(
			["4", "10"].map((id) => ({
				id,
				code: "deferred",
				message: expect.stringContaining("deferred: the queue is at its hard limit of 2 (implement: 2)"),
				hint: expect.stringContaining("taken up by itself when there is room"),
			})),
		);
		expect([board.state(path(4)).status, board.state(path(10)).status]).toEqual(["idle", "idle"]);
		expect(board.log().match(/an item stays as it is/g)).toHaveLength(2);
		const listed = await board.home.run(["source", "list"]);
		expect(listed.err).toContain("stays: 4, 10: deferred: the queue is at its hard limit of 2 (implement: 2)\n");
		expect(listed.err).not.toContain("fault:");
		const slung = await board.home.run(["sling", "4", "10"]);
		expect([slung.code, slung.out]).toEqual([75, ""]);
		expect(slung.err).toContain("skipped 4: deferred: the queue is at its hard limit of 2 (implement: 2)");
		expect(slung.err).toContain("retry later, or raise max_concurrent or the lane's max");
		expect(await client.call("job.sling", { ids: ["4"] })).toMatchObject({ jobs: [], deferred: { limit: 2, depths: { implement: 2 } } });
		expect(await jobs(client)).toHaveLength(3);
		for (const n of [1, 2, 3, 4, 10]) board.let(String(n));
		for (const n of [1, 2, 3, 4, 10]) await board.becomes(path(n), "succeeded");
		expect(await faults()).toEqual([]);
	});

	test("a flow that has no lane runs one at a time; a lane that a person names must exist", async () => {
		const board = new Board(", recipe: implement");
		const path = (n: number) => `phase-1-a/backlog/${n}-card.md`;
		for (const n of [1, 2])
			board.put(path(n), card(`Card ${n}`, ["parallelizable: true"]).replace("agent_flow: implement", "agent_flow: docs"));
		const { client } = await board.home.up();
		await until(() => board.begun().length === 1);
		await board.becomes(path(2), "queued");
		expect((await client.call("scheduler.status", {})).lanes.docs).toMatchObject({ queued: 1, running: 1, max: 1 });
		const [, second] = await jobs(client);
		expect((await client.call("job.why", { id: second?.id as number })).reasons).toMatchObject([
			{ detail: "lane docs is full: 1 of 1 running" },
		]);
		expect((await board.home.run(["add", "--lane", "nope", "--", "true"])).err).toContain('there is no lane "nope"');
		board.put(path(3), card("Card 3", ["parallelizable: true"]).replace("agent_status: idle", "agent_status: canceled"));
		expect((await board.home.run(["sling", "3", "--lane", "nope"])).err).toContain('3: there is no lane "nope"');
		for (const n of [1, 2]) board.let(String(n));
		for (const n of [1, 2]) await board.becomes(path(n), "succeeded");
	});

	test("add --item means the card: by its code, with its source before it, in a manifest; a busy card is answered in plain words", async () => {
		const board = new Board();
		const path = "phase-1-a/backlog/5.1-x.md";
		board.put(path, card("X"));
		board.put("phase-1-a/backlog/5.2-y.md", card("Y").replace("idle", "canceled"));
		board.put("phase-1-a/backlog/5.3-z.md", card("Z").replace("idle", "running"));
		const { client } = await board.home.up();
		await board.becomes(path, "running");
		for (const item of ["5.1", "board:5.1"])
			for (const more of [
				["--", "true"],
				["--recipe", "implement"],
			]) {
				const said = await board.home.run(["add", "--json", "--item", item, ...more]);
				expect(JSON.parse(said.out)).toMatchObject({ outcome: "already_running", holder: 1 });
			}
		expect(await client.call("job.apply", { manifest: { jobs: [{ item: "5.1", command: ["true"] }] } })).toMatchObject({
			jobs: [],
			skipped: [{ job: 1, reason: "already_running" }],
		});
		// Where it is free it is the card, with all that the card says of it.
		const { job } = (await client.call("job.add", { item: "5.2", command: ["true"] })) as unknown as { job: { id: number } };
		expect(job).toMatchObject({ item: "5.2", source: "board", phase: "phase-1-a", lane: "implement", status: "waiting_on_locks" });
		await board.becomes("phase-1-a/backlog/5.2-y.md", "queued");
		expect(await client.call("scheduler.clear", { item: "5.2" })).toMatchObject({ cleared: [job.id] });
		const missing = await board.home.run(["add", "--item", "board:9.9", "--", "true"]);
		expect([missing.code, missing.err]).toEqual([3, expect.stringContaining('source board has no item "9.9"')]);
		expect(await client.call("job.add", { item: "T-1", command: ["true"] })).toMatchObject({ job: { item: "T-1", source: "inline" } });
		expect((await board.home.run(["sling", "5.1"])).err).toContain("skipped 5.1: job 1 works on it already");
		board.put("phase-2-b/backlog/6.1-theirs.md", card("Theirs").replace("idle", "running"));
		const busy = await board.home.run(["sling", "6.1"]);
		expect(busy.err).toContain("6.1 is in progress elsewhere");
		expect(busy.err).not.toContain("jobs[0]");
	});
});
