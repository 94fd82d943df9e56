// What is written to an item as its jobs progress: single jobs, several steps, retries, and after a restart.

import { describe, expect, test } from "vitest";
import { makeSourceSettings } from "../../test/make/agents/source.ts";
import { MINUTE } from "../../test/make/fakes.ts";
import { openStand, type StandOptions } from "../../test/make/stand.ts";
import { SILENT } from "../contracts/log.ts";
import type { Change, Source, SourceSettings } from "../contracts/source.ts";
import { createWriteBack } from "./write-back.ts";

/** A source that records what is written. `refuses`: what it answers instead. */
function makeSource(settings: Partial<SourceSettings> = {}, refuses: () => string | Error | null = () => null) {
	const written: string[] = [];
	const source: Source = {
		name: "board",
		settings: makeSourceSettings({ kind: "cards", root: "/cards", write_back: "agent_status", ...settings }),
		scan: async () => ({ items: [], faults: [] }),
		read: async () => null,
		async write(id: string, { status, line }: Change) {
			const answer = refuses();
			if (answer instanceof Error) throw answer;
			written.push(`${id} ${status}${line ? ` | ${line.text.slice(21)}` : ""}`);
			return { changed: answer === null, left: answer };
		},
		close() {},
	};
	return { source, written };
}

async function follow(options: StandOptions, made = makeSource()) {
	const t = await openStand({ config: { lanes: { default: {}, code: {} } }, ...options });
	const cursor = { seq: null as number | null };
	const open = () =>
		createWriteBack({
			scheduler: t.sluice,
			source: (name) => (name === "board" ? made.source : undefined),
			log: SILENT,
			cursor: {
				read: () => cursor.seq,
				write(seq) {
					cursor.seq = seq;
				},
			},
		});
	const back = open();
	await back.start();
	/** What was written since the last call. */
	const sinceLast = async (one = back) => {
		await one.caughtUp();
		return made.written.splice(0);
	};
	return { t, back, sinceLast, open };
}
const card = (item: string, more = {}) => ({ item, source: "board", lane: "code", ...more });

describe("one job", () => {
	test("queued, running, succeeded; jobs without an item, or of other sources, are ignored", async () => {
		const { t, sinceLast, back } = await follow({});
		await t.add();
		await t.add({ item: "x" });
		const id = await t.add(card("1.1"));
		expect([await sinceLast(), back.openJobs("board:1.1")]).toEqual([["1.1 queued"], [id]]);
		await t.start();
		expect(await sinceLast()).toEqual(["1.1 running"]);
		await t.succeed(id);
		expect(await sinceLast()).toEqual([`1.1 succeeded | run ${id}.1 code: succeeded`]);
		expect(back.openJobs("board:1.1")).toEqual([]);
	});

	test("a failure that is retried, a limit that uses no retry, a final end", async () => {
		const { t, sinceLast } = await follow({ config: { lanes: { code: {} }, accounts: { a: {} }, retry: { max: 1, base_ms: 1000 } } });
		const id = await t.add(card("1", { account: "a" }));
		await t.start();
		await sinceLast();
		await t.end(id, "rate_limited", { retry_after_ms: 1000 });
		expect(await sinceLast()).toEqual(["1 queued"]);
		await t.wait(MINUTE);
		await t.start();
		await t.fail(id, { message: "tests\nfail" });
		expect(await sinceLast()).toEqual(["1 running", `1 failed | run ${id}.2 code: failed: tests fail; is tried again`]);
		await t.wait(MINUTE);
		await t.start();
		await t.fail(id);
		expect(await sinceLast()).toEqual(["1 queued", "1 running", `1 failed | run ${id}.3 code: failed: exit code 1`]);
		await t.sluice.retry(id);
		expect(await sinceLast()).toEqual(["1 queued"]);
		await t.sluice.cancel(id, { reason: "not now" });
		expect(await sinceLast()).toEqual([`1 canceled | job ${id} code: canceled: not now`]);
	});

	test("a launch that fails: failed, with the error", async () => {
		const { t, sinceLast } = await follow({ preset: "cards", config: { lanes: { default: {}, code: {} } } });
		const id = await t.add(card("1"));
		await t.start();
		await sinceLast();
		await t.end(id, "launch_failed", { fault: "job", message: "no such program in PATH: nosuchprog" });
		expect(await sinceLast()).toEqual([`1 failed | run ${id}.1 code: failed: no such program in PATH: nosuchprog; is tried again`]);
	});

	test("when its back-off is over it is queued again, also when it then waits for a slot, for a lock or for a person's rerun", async () => {
		const { t, sinceLast } = await follow({
			config: { max_concurrent: 1, lanes: { default: {}, code: {} }, retry: { max: 5, base_ms: 30_000, jitter: 0 } },
		});
		const id = await t.add(card("1", { locks: ["l"] }));
		await t.start();
		const other = await t.add({ locks: ["l"] });
		await sinceLast();
		await t.fail(id);
		expect(await sinceLast()).toEqual([`1 failed | run ${id}.1 code: failed: failed; is tried again`]);
		await t.start();
		// The other job has the only slot and the lock.
		expect((await t.sluice.show(other)).status).toBe("running");
		await t.wait(MINUTE);
		expect(await t.sluice.show(id)).toMatchObject({ status: "waiting_on_locks" });
		expect(await sinceLast()).toEqual(["1 queued"]);
		await t.succeed(other);
		await t.start();
		await t.fail(id);
		expect((await sinceLast()).at(-1)).toBe(`1 failed | run ${id}.2 code: failed: failed; is tried again`);
		await t.sluice.rerun(id);
		expect(await sinceLast()).toEqual(["1 queued"]);
		expect((await t.sluice.show(id)).failures).toBeUndefined();
		await t.start();
		await t.fail(id);
		const slot = await t.add();
		await t.start();
		await sinceLast();
		await t.wait(MINUTE);
		expect([(await t.sluice.show(slot)).status, (await t.sluice.show(id)).status]).toEqual(["running", "queued"]);
		expect(await sinceLast()).toEqual(["1 queued"]);
	});
	test("with history_on_queue also a line when it is queued", async () => {
		const { t, sinceLast } = await follow({}, makeSource({ history_on_queue: true }));
		const id = await t.add(card("1"));
		expect(await sinceLast()).toEqual([`1 queued | job ${id} code: queued`]);
	});
});

describe("several steps are one item", () => {
	const pipe = [card("1", { name: "a", command: ["x"] }), card("1", { name: "b", command: ["x"], after: ["a"] })];

	test("it is done when the last step is", async () => {
		const { t, sinceLast } = await follow({});
		const { jobs } = await t.sluice.apply({ jobs: pipe });
		const [a = 0, b = 0] = jobs;
		await t.start();
		await t.succeed(a);
		await t.start();
		await t.succeed(b);
		expect(await sinceLast()).toEqual([
			"1 queued",
			"1 queued",
			"1 running",
			`1 queued | run ${a}.1 code: succeeded`,
			"1 running",
			`1 succeeded | run ${b}.1 code: succeeded`,
		]);
	});

	test("a failure is its end; blocked steps add nothing", async () => {
		const { t, sinceLast } = await follow({});
		const { jobs } = await t.sluice.apply({ jobs: pipe });
		await t.start();
		await t.fail(jobs[0] as number);
		expect((await sinceLast()).slice(3)).toEqual([`1 queued | run ${jobs[0]}.1 code: failed: exit code 1`, "1 failed"]);
	});

	test("a manifest of hundreds, which has one event", async () => {
		const { t, sinceLast } = await follow({});
		await t.sluice.apply({ jobs: Array.from({ length: 400 }, (_, n) => card(`c${n}`, { command: ["x"] })) });
		expect(await sinceLast()).toEqual(Array.from({ length: 400 }, (_, n) => `c${n} queued`));
	});
});

describe("restarts and refusals", () => {
	test("events meanwhile are written by the next write-back, from where the last one stopped", async () => {
		const { t, back, sinceLast, open } = await follow({});
		const id = await t.add(card("1"));
		await t.start();
		await sinceLast();
		await back.stop();
		await t.succeed(id);
		await t.add(card("2"));
		const next = open();
		await next.start();
		expect(await sinceLast(next)).toEqual([`1 succeeded | run ${id}.1 code: succeeded`, "2 queued"]);
	});

	test("a run that is found lost after a restart is named as a run", async () => {
		const { t, back, sinceLast, open } = await follow({ config: { lanes: { default: {}, code: {} }, retry: { max: 0 } } });
		const id = await t.add(card("1"));
		await t.start();
		await sinceLast();
		await back.stop();
		await t.end(id, "lost", { message: "scheduler recovery" });
		const next = open();
		await next.start();
		expect(await sinceLast(next)).toEqual([`1 failed | run ${id}.1 code: failed: scheduler recovery`]);
	});
	test("a status that is left alone or cannot be written is reported for that item, until a write succeeds", async () => {
		let answer: string | Error | null = "a person wrote idle";
		const { t, back, sinceLast } = await follow(
			{},
			makeSource({}, () => answer),
		);
		await t.add(card("1"));
		await sinceLast();
		expect([...back.troubles()]).toEqual([["board:1", "a person wrote idle"]]);
		answer = new Error("read-only file system");
		await t.start();
		await sinceLast();
		expect([...back.troubles()]).toEqual([["board:1", "running could not be written: read-only file system"]]);
		answer = null;
		await t.succeed(1);
		await sinceLast();
		expect([...back.troubles()]).toEqual([]);
	});

	test("nothing is written if write_back is off", async () => {
		const { t, back, sinceLast } = await follow({}, makeSource({ write_back: null }));
		await t.add(card("1"));
		expect([await sinceLast(), back.openJobs("board:1")]).toEqual([[], [1]]);
	});
});
