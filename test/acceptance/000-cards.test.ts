// 000, the global agent scheduler, on the preset `cards`: caps, backpressure, card and phase locks, retry and back-off, recovery.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JobInput } from "../../src/index.ts";
import { DAY, MINUTE, SECOND, signal } from "../make/fakes.ts";
import { makeFolder } from "../make/folder.ts";
import { openStand, type Stand } from "../make/stand.ts";

/** A card's run: its path is the item, and like every card it is not parallelizable unless it says so. */
const card = (path: string, more: JobInput = {}): JobInput => ({
	lane: "implement",
	source: "cards",
	phase: "5",
	item: path,
	parallelizable: false,
	...more,
});

const many = { max_concurrent: 10, lanes: { implement: { max: 10 }, review: { max: 10 }, research: { max: 10 } } };

async function addCards(t: Stand, count: number, more: JobInput = {}): Promise<number[]> {
	const jobs: number[] = [];
	for (let n = 1; n <= count; n++) jobs.push(await t.add(card(`card-${n}`, { parallelizable: true, ...more })));
	return jobs;
}

describe("caps", () => {
	test("one run at a time, over all flows", async () => {
		const t = await openStand({ preset: "cards" });
		const jobs = [
			await t.add(card("a", { lane: "implement" })),
			await t.add(card("b", { lane: "review" })),
			await t.add(card("c", { lane: "research" })),
		];
		for (const job of jobs) {
			expect(await t.start()).toEqual([job]);
			expect(await t.start()).toEqual([]);
			await t.succeed(job);
		}
	});

	test("one run per flow, however much room there is", async () => {
		const t = await openStand({ preset: "cards", config: { max_concurrent: 10 } });
		const [first, second] = await addCards(t, 2);
		const review = await t.add(card("r", { lane: "review", parallelizable: true }));
		expect(await t.start()).toEqual([first, review]);
		expect(await t.reasons(second!)).toMatchObject([
			{ gate: "capacity", code: "capacity", subject: "lane:implement", detail: "lane implement is full: 1 of 1 running" },
		]);
		await t.succeed(first!);
		expect(await t.start()).toEqual([second]);
	});

	test.each(["implement", "review", "research"])("%s has one slot unless told otherwise", async (lane) => {
		const t = await openStand({ preset: "cards", config: { max_concurrent: 10 } });
		const [first, second] = (await addCards(t, 2, { lane })) as [number, number];
		expect(await t.start()).toEqual([first]);
		expect(await t.reasons(second)).toMatchObject([{ detail: `lane ${lane} is full: 1 of 1 running` }]);
		await t.sluice.configure({ lanes: { [lane]: { max: 2 } } });
		expect(await t.start()).toEqual([second]);
	});

	test("within a flow the oldest goes first", async () => {
		const t = await openStand({ preset: "cards", config: many });
		const jobs = await addCards(t, 5);
		expect(await t.start()).toEqual(jobs);
	});

	test("raised caps drain the queue at once", async () => {
		const t = await openStand({ preset: "cards" });
		const jobs = await addCards(t, 4);
		expect(await t.start()).toEqual([jobs[0]]);
		await t.sluice.configure({ max_concurrent: 3, lanes: { implement: { max: 3 } } });
		expect(await t.start()).toEqual([jobs[1], jobs[2]]);
	});

	test("and workers hear of it without polling", async () => {
		const t = await openStand({ preset: "cards" });
		await addCards(t, 3);
		const [one, three, end] = [signal(), signal(), signal()];
		let started = 0;
		const worker = t.sluice.work(
			"implement",
			async () => {
				started++;
				if (started === 1) one.give();
				if (started === 3) three.give();
				await end.given;
			},
			{ concurrency: 3 },
		);
		await one.given;
		expect((await t.sluice.status()).running).toBe(1);
		await t.sluice.configure({ max_concurrent: 3, lanes: { implement: { max: 3 } } });
		await three.given;
		expect((await t.sluice.status()).running).toBe(3);
		end.give();
		await worker.stop();
		expect(await t.sluice.list({ status: ["succeeded"] })).toHaveLength(3);
	});

	test("lowered caps end nothing that runs", async () => {
		const t = await openStand({ preset: "cards", config: many });
		const jobs = await addCards(t, 3);
		await t.start(2);
		await t.sluice.configure({ max_concurrent: 1 });
		expect(await t.status(jobs[1]!)).toBe("running");
		await t.succeed(jobs[0]!);
		expect(await t.start()).toEqual([]);
		await t.succeed(jobs[1]!);
		expect(await t.start()).toEqual([jobs[2]]);
	});
});

describe("backpressure", () => {
	const WARNING = /^Queue delayed; respecting caps/;
	const warningOf = async (t: Stand, input: JobInput) => {
		const result = await t.tryAdd(input);
		return result.outcome === "queued" ? result.warning : result.outcome;
	};

	test("over eight ready cards each further one comes with a warning and the depth of each flow", async () => {
		const t = await openStand({ preset: "cards" });
		for (let n = 1; n <= 6; n++) expect(await warningOf(t, card(`i-${n}`, { parallelizable: true }))).toBeUndefined();
		for (let n = 1; n <= 2; n++) expect(await warningOf(t, card(`r-${n}`, { lane: "review", parallelizable: true }))).toBeUndefined();
		expect((await t.sluice.status()).backpressure).toBeNull();
		const warning = await warningOf(t, card("i-7", { parallelizable: true }));
		expect(warning).toMatch(WARNING);
		expect(warning).toContain("implement: 7");
		expect(warning).toContain("review: 2");
		expect((await t.sluice.status()).backpressure).toMatch(WARNING);
	});

	test("at sixteen a card is deferred, and nothing of it is stored", async () => {
		const t = await openStand({ preset: "cards" });
		const jobs = await addCards(t, 16);
		const before = await t.events();
		const result = await t.tryAdd(card("late", { parallelizable: true }));
		expect(result).toEqual({
			outcome: "deferred",
			limit: 16,
			depths: { implement: 16 },
			hint: expect.stringMatching(/retry later.*raise/),
		});
		expect((await t.sluice.list()).map((job) => job.id)).toEqual(jobs);
		expect((await t.events()).filter((event) => event.kind !== "marked")).toEqual(before);

		// The card is not locked: as soon as there is room it goes in.
		await t.start(1);
		expect((await t.tryAdd(card("late", { parallelizable: true }))).outcome).toBe("queued");
	});

	test.each([
		[1, 8, 16],
		[2, 8, 16],
		[3, 12, 24],
		[5, 20, 40],
	])("max_concurrent %i: a warning over %i ready cards, deferred at %i", async (max_concurrent, soft, hard) => {
		const t = await openStand({ preset: "cards", config: { max_concurrent } });
		for (let n = 1; n <= soft; n++) expect(await warningOf(t, card(`${n}`, { parallelizable: true }))).toBeUndefined();
		for (let n = soft + 1; n <= hard; n++) expect(await warningOf(t, card(`${n}`, { parallelizable: true }))).toMatch(WARNING);
		expect(await warningOf(t, card("late", { parallelizable: true }))).toBe("deferred");
	});

	test("raised caps move both limits: 4 × max_concurrent, and twice that", async () => {
		const t = await openStand({ preset: "cards" });
		await addCards(t, 16);
		await t.sluice.configure({ max_concurrent: 4 });
		expect(await warningOf(t, card("17", { parallelizable: true }))).toMatch(WARNING);
		for (let n = 18; n <= 32; n++) expect(await warningOf(t, card(`${n}`, { parallelizable: true }))).toMatch(WARNING);
		expect(await warningOf(t, card("33", { parallelizable: true }))).toBe("deferred");
	});

	test("it counts what is ready, not what waits for something else", async () => {
		const t = await openStand({ preset: "cards" });
		for (let n = 1; n <= 20; n++) await t.add(card(`later-${n}`, { runnable_at: t.clock.now() + MINUTE }));
		expect(await warningOf(t, card("now"))).toBeUndefined();
	});

	test("cards that wait for the lock of their phase count: they stand in the queue as the others do", async () => {
		const t = await openStand({ preset: "cards" });
		const first = await t.add(card("first"));
		await t.start();
		for (let n = 1; n <= 8; n++) expect(await warningOf(t, card(`c-${n}`))).toBeUndefined();
		expect(await t.sluice.status()).toMatchObject({ queued_total: 8, queued_ready: 0, backpressure: null });
		expect(await warningOf(t, card("c-9"))).toBe("Queue delayed; respecting caps (implement: 9)");
		expect((await t.sluice.status()).backpressure).toBe("Queue delayed; respecting caps (implement: 9)");
		for (let n = 10; n <= 16; n++) expect(await warningOf(t, card(`c-${n}`))).toMatch(WARNING);
		expect(await t.tryAdd(card("c-17"))).toMatchObject({ outcome: "deferred", limit: 16, depths: { implement: 16 } });
		expect((await t.sluice.status()).backpressure).toContain("; new jobs are deferred");
		// One that starts, one that is cancelled: there is room for two.
		await t.succeed(first);
		await t.start();
		await t.sluice.cancel(first + 5);
		expect([await warningOf(t, card("c-18")), await warningOf(t, card("c-19"))]).toEqual([
			expect.stringMatching(WARNING),
			expect.stringMatching(WARNING),
		]);
		expect(await warningOf(t, card("c-20"))).toBe("deferred");
	});

	test("without the preset they do not, and other locks never do", async () => {
		const t = await openStand({ config: { max_concurrent: 1, lanes: { implement: {} }, queue: { hard_limit: 2 } } });
		await t.add(card("1"));
		await t.start();
		for (let n = 2; n <= 9; n++) expect(await warningOf(t, card(`${n}`))).toBeUndefined();
		await t.sluice.configure({ queue: { count_serial: true } });
		expect(await warningOf(t, card("10"))).toBe("deferred");
		const other = await openStand({ preset: "cards", config: { queue: { hard_limit: 2 } } });
		for (let n = 1; n <= 5; n++) {
			await other.add({ locks: ["mine"] });
			await other.start();
		}
		expect((await other.sluice.status()).queued_total).toBe(4);
		expect(await warningOf(other, card("1"))).toBeUndefined();
	});

	test("a retry and a restart keep the count", async () => {
		const path = join(makeFolder(), "s.db");
		const t = await openStand({ preset: "cards", path, config: { retry: { base_ms: 1000, jitter: 0 } } });
		const first = await t.add(card("first"));
		await t.start();
		for (let n = 1; n <= 15; n++) await t.add(card(`c-${n}`));
		// Out of its back-off, it waits for the lock that another card has taken.
		await t.fail(first);
		await t.start();
		await t.wait(MINUTE);
		expect((await t.sluice.show(first)).status).toBe("waiting_on_locks");
		expect((await t.tryAdd(card("16"))).outcome).toBe("queued");
		await t.sluice.close();
		const again = await openStand({ preset: "cards", path, clock: t.clock });
		expect((await again.tryAdd(card("17"))).outcome).toBe("deferred");
	});

	test("it does not push back on apply", async () => {
		const t = await openStand({ preset: "cards" });
		const jobs = Array.from({ length: 40 }, (_, n) => ({ command: ["true"], lane: "implement", name: `job-${n}` }));
		expect((await t.sluice.apply({ jobs })).jobs).toHaveLength(40);
		expect((await t.tryAdd(card("one"))).outcome).toBe("deferred");
	});

	test("there is none in direct mode", async () => {
		const t = await openStand({ preset: "cards", config: { max_concurrent: -1 } });
		for (let n = 1; n <= 40; n++) expect(await warningOf(t, card(`${n}`))).toBeUndefined();
	});
});

describe("card lock", () => {
	test("a card that is queued, running or in back-off answers already_running", async () => {
		const t = await openStand({ preset: "cards" });
		const job = await t.add(card("a"));
		const refused = { outcome: "already_running", job, holder: job };
		expect(await t.tryAdd(card("a"))).toEqual(refused);
		await t.start();
		expect(await t.tryAdd(card("a"))).toEqual(refused);
		await t.fail(job);
		expect(await t.gates(job)).toEqual(["time/backoff"]);
		expect(await t.tryAdd(card("a"))).toEqual(refused);
		expect(await t.tryAdd(card("a", { lane: "review" }))).toEqual(refused);
	});

	test.each(["succeeded", "failed", "cancelled"] as const)("it is free again when the run has %s for good", async (how) => {
		const t = await openStand({ preset: "cards" });
		const job = await t.add(card("a", { retry: 0 }));
		await t.start();
		await t.end(job, how === "succeeded" ? "completed" : how);
		expect(await t.status(job)).toBe(how);
		expect((await t.tryAdd(card("a"))).outcome).toBe("queued");
	});

	test("cards of the same name in another source are other cards", async () => {
		const t = await openStand({ preset: "cards" });
		await t.add(card("a"));
		expect((await t.tryAdd(card("a", { source: "elsewhere" }))).outcome).toBe("queued");
	});

	test("it lasts as long as its run, for days", async () => {
		const t = await openStand({ preset: "cards" });
		const job = await t.add(card("a"));
		await t.start();
		await t.wait(3 * DAY);
		expect(await t.status(job)).toBe("running");
		expect((await t.tryAdd(card("a"))).outcome).toBe("already_running");
	});
});

describe("phase serial lock", () => {
	test("one card of a phase and flow at a time, even with room for ten", async () => {
		const t = await openStand({ preset: "cards", config: many });
		const [a, b, c] = [await t.add(card("a")), await t.add(card("b")), await t.add(card("c"))];
		expect(await t.start()).toEqual([a]);
		expect(await t.show(b)).toMatchObject({ status: "waiting_on_locks", wait_reason: { kind: "locks", detail: "waiting on locks" } });
		expect(await t.reasons(b)).toMatchObject([{ gate: "locks", subject: "lock:serial:cards:5:implement", holder: [`job:${a}`] }]);
		await t.succeed(a);
		expect(await t.start()).toEqual([b]);
		await t.succeed(b);
		expect(await t.start()).toEqual([c]);
	});

	test("another phase, another flow and parallelizable cards are free of it", async () => {
		const t = await openStand({ preset: "cards", config: many });
		const jobs = [
			await t.add(card("a")),
			await t.add(card("b", { phase: "6" })),
			await t.add(card("c", { lane: "review" })),
			await t.add(card("d", { parallelizable: true })),
		];
		expect(await t.start()).toEqual(jobs);
	});

	test("it is checked before the caps: a card that waits for both waits for its lock", async () => {
		const t = await openStand({ preset: "cards" });
		const [a, b] = [await t.add(card("a")), await t.add(card("b"))];
		const free = await t.add(card("c", { parallelizable: true }));
		expect(await t.start()).toEqual([a]);
		expect(await t.show(b)).toMatchObject({ status: "waiting_on_locks", wait_reason: { kind: "locks" } });
		expect(await t.gates(b)).toEqual(["locks/locks", "capacity/capacity", "capacity/capacity"]);
		expect(await t.show(free)).toMatchObject({ status: "queued" });
		expect(await t.gates(free)).toEqual(["capacity/capacity", "capacity/capacity"]);
	});

	test("a card behind its lock does not hold up those behind it", async () => {
		const t = await openStand({ preset: "cards", config: many });
		const [a, b] = [await t.add(card("a")), await t.add(card("b"))];
		const later = await t.add(card("c", { parallelizable: true }));
		expect(await t.start()).toEqual([a, later]);
		expect(await t.status(b)).toBe("waiting_on_locks");
	});

	test("back-off releases it while the card stays locked", async () => {
		const t = await openStand({ preset: "cards", config: many });
		const [a, b] = [await t.add(card("a")), await t.add(card("b"))];
		await t.start();
		const { retry_at } = await t.fail(a);
		expect(await t.tryAdd(card("a"))).toMatchObject({ outcome: "already_running", job: a });
		expect(await t.start()).toEqual([b]);

		// Its time has come, but now the other one has the phase.
		await t.wait(retry_at! - t.clock.now());
		expect(await t.status(a)).toBe("waiting_on_locks");
		await t.succeed(b);
		expect(await t.start()).toEqual([a]);
	});
});

describe("retry and back-off", () => {
	const PLAIN = [30, 60, 120, 240, 300];

	/** Fails a card until it fails for good; the delay before each retry, in milliseconds. */
	async function delays(t: Stand, job: number): Promise<number[]> {
		const found: number[] = [];
		for (;;) {
			expect(await t.start()).toEqual([job]);
			const { status, retry_at } = await t.fail(job);
			if (status === "failed") return found;
			const delay = retry_at! - t.clock.now();
			found.push(delay);
			await t.wait(delay - 1);
			expect(await t.start()).toEqual([]);
			await t.wait(1);
		}
	}

	test("retries come after 30, 60, 120, 240 and 300 seconds; the sixth failure is final", async () => {
		const t = await openStand({ preset: "cards" });
		const job = await t.add(card("a"));
		expect(await delays(t, job)).toEqual(PLAIN.map((s) => s * SECOND));
		expect(await t.show(job)).toMatchObject({ status: "failed", attempt: 6, failures: 6, exit_code: 1, exit_kind: "failed" });
		expect((await t.tryAdd(card("a"))).outcome).toBe("queued");
	});

	test("within ten per cent either way, whatever the dice say, and never over five minutes", async () => {
		let dice = 0;
		const t = await openStand({ preset: "cards", chance: () => dice });
		const seen: number[][] = [];
		for (const chance of [0, ...Array.from({ length: 24 }, (_, n) => (n + 0.5) / 24), 1 - Number.EPSILON]) {
			dice = chance;
			const found = await delays(t, await t.add(card("a")));
			expect(found).toHaveLength(5);
			found.forEach((delay, index) => {
				const plain = PLAIN[index]! * SECOND;
				expect(delay).toBeGreaterThanOrEqual(plain * 0.9);
				expect(delay).toBeLessThanOrEqual(Math.min(plain * 1.1, 5 * MINUTE));
			});
			seen.push(found);
		}
		expect(seen[0]).toEqual([27, 54, 108, 216, 300].map((s) => s * SECOND));
		expect(seen.at(-1)).toEqual([33, 66, 132, 264, 300].map((s) => s * SECOND));
	});

	test("a back-off survives a restart", async () => {
		const t = await openStand({ preset: "cards", path: join(makeFolder(), "sluice.db") });
		const job = await t.add(card("a"));
		await t.start();
		await t.fail(job, { message: "exit 1" });
		const later = await t.reopen();
		expect(await later.reasons(job)).toMatchObject([
			{ gate: "time", code: "backoff", clears_at: later.clock.now() + 30 * SECOND, detail: expect.stringContaining("attempt 2") },
		]);
		await later.wait(30 * SECOND);
		expect(await later.start()).toEqual([job]);
		expect((await later.fail(job)).retry_at).toBe(later.clock.now() + 60 * SECOND);
	});

	test("a rerun in back-off clears counter and timer and starts at once", async () => {
		const t = await openStand({ preset: "cards" });
		const job = await t.add(card("a"));
		for (const delay of [30, 60]) {
			await t.start();
			await t.fail(job);
			await t.wait(delay * SECOND);
		}
		await t.start();
		await t.fail(job);
		expect(await t.gates(job)).toEqual(["time/backoff"]);
		await t.sluice.rerun(job);
		const { failures, backoff_until, wait_reason } = await t.show(job);
		expect({ failures, backoff_until, wait_reason }).toEqual({});
		const [claimed] = await t.sluice.claim({ worker: "w" });
		// A fresh run: attempts are never used twice.
		expect(claimed?.run.attempt).toBe(4);
		const again = await t.sluice.complete({ job, token: claimed!.run.token, exit_kind: "failed" });
		expect(again.retry_at).toBe(t.clock.now() + 30 * SECOND);
	});

	test("a rerun of a card that failed for good gives it five retries again, and locks it again", async () => {
		const t = await openStand({ preset: "cards" });
		const job = await t.add(card("a"));
		await delays(t, job);
		await t.sluice.rerun(job);
		expect(await t.status(job)).toBe("queued");
		expect(await t.tryAdd(card("a"))).toMatchObject({ outcome: "already_running", job });
		expect(await delays(t, job)).toEqual(PLAIN.map((s) => s * SECOND));
	});

	test("a rerun is refused while somebody else has the card, and names who", async () => {
		const t = await openStand({ preset: "cards" });
		const old = await t.done(card("a"));
		const now = await t.add(card("a"));
		await expect(t.sluice.rerun(old)).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining(`job ${now}`) });
	});

	test("all gates still apply to a rerun", async () => {
		const t = await openStand({ preset: "cards", config: many });
		const old = await t.done(card("a"));
		const other = await t.add(card("b"));
		await t.start();
		await t.sluice.rerun(old);
		expect(await t.status(old)).toBe("waiting_on_locks");
		await t.succeed(other);
		expect(await t.start()).toEqual([old]);
	});

	test("a launch that fails counts as a failed run and releases the phase", async () => {
		const t = await openStand({ preset: "cards", config: many });
		const [a, b] = [await t.add(card("a")), await t.add(card("b"))];
		await t.start();
		const { retry_at } = await t.end(a, "launch_failed", { message: "worker did not come up" });
		expect(retry_at).toBe(t.clock.now() + 30 * SECOND);
		expect(await t.show(a)).toMatchObject({ status: "queued", failures: 1, last_failure: "worker did not come up" });
		expect(await t.start()).toEqual([b]);
	});
});

describe("finish", () => {
	test("a slot that frees goes to the next one at once", async () => {
		const t = await openStand({ preset: "cards" });
		const [first, second] = await addCards(t, 2);
		await t.start();
		await t.succeed(first!);
		expect(await t.start()).toEqual([second]);
	});

	test("a card that is cancelled in its back-off is free at once, and its time starts nothing", async () => {
		const t = await openStand({ preset: "cards" });
		const job = await t.add(card("a"));
		await t.start();
		const { retry_at } = await t.fail(job);
		await t.sluice.cancel(job);
		expect((await t.sluice.status()).running).toBe(0);
		const again = await t.add(card("a"));
		await t.wait(retry_at! - t.clock.now());
		expect(await t.start()).toEqual([again]);
		expect(await t.show(job)).toMatchObject({ status: "cancelled", attempt: 1 });
	});

	test("a cancelled run is cancelled, whatever code its program exits with", async () => {
		const t = await openStand({ preset: "cards" });
		const job = await t.add(card("a"));
		await t.start();
		expect(await t.sluice.cancel(job)).toEqual({ cancelled: [], requested: [job] });
		expect(await t.sluice.extend(t.run(job))).toMatchObject({ cancel_requested: true });
		await t.succeed(job);
		expect(await t.show(job)).toMatchObject({ status: "cancelled", exit_code: 143, raw_exit_code: 0 });
	});
});

describe("recovery", () => {
	const file = () => join(makeFolder(), "sluice.db");

	test("a run without a live worker fails with `scheduler recovery` and its locks are released", async () => {
		const t = await openStand({ preset: "cards", config: many, path: file() });
		const [a, b] = [await t.add(card("a", { retry: 0 })), await t.add(card("b"))];
		expect(await t.start(10, { host: "local" })).toEqual([a]);
		const later = await t.reopen();
		expect(await later.status(a)).toBe("running");
		expect(await later.sluice.recover([])).toEqual({ adopted: [], ended: [], lost: [`${a}.1`], start: [] });
		expect(await later.show(a)).toMatchObject({ status: "failed", exit_kind: "lost", end_reason: "scheduler recovery" });
		expect((await later.tryAdd(card("a"))).outcome).toBe("queued");
		expect(await later.start()).toEqual([b]);
	});

	test("with retries left it is retried; until then all but the card's own lock is released", async () => {
		const t = await openStand({ preset: "cards", config: many, path: file() });
		const [a, b] = [await t.add(card("a")), await t.add(card("b"))];
		await t.start(10, { host: "local" });
		const later = await t.reopen();
		await later.sluice.recover([]);
		expect(await later.show(a)).toMatchObject({ status: "queued", failures: 1, last_failure: "scheduler recovery" });
		expect(await later.tryAdd(card("a"))).toMatchObject({ outcome: "already_running", job: a });
		expect(await later.start()).toEqual([b]);
		await later.succeed(b);
		await later.wait(30 * SECOND);
		expect(await later.start()).toEqual([a]);
	});

	test("live workers go on, finished ones are read, those never started are started as the same attempt", async () => {
		const t = await openStand({ preset: "cards", config: many, path: file() });
		const [alive, good, bad, unstarted, gone] = await addCards(t, 5, { retry: 0 });
		await t.start(10, { host: "local" });
		const later = await t.reopen();
		const report = await later.sluice.recover([
			{ run: `${alive}.1`, state: "alive" },
			{ run: `${good}.1`, state: "exited", exit_code: 0 },
			{ run: `${bad}.1`, state: "exited", exit_code: 7 },
			{ run: `${unstarted}.1`, state: "unstarted" },
			{ run: `${gone}.1`, state: "gone" },
		]);
		expect(report).toEqual({ adopted: [`${alive}.1`], ended: [`${good}.1`, `${bad}.1`], lost: [`${gone}.1`], start: [`${unstarted}.1`] });
		const ends = await Promise.all([alive, good, bad, unstarted, gone].map((id) => later.show(id!)));
		expect(ends.map(({ status, exit_code }) => [status, exit_code ?? null])).toEqual([
			["running", null],
			["succeeded", 0],
			["failed", 7],
			["running", null],
			["failed", 1],
		]);
		expect((await later.sluice.status()).running).toBe(2);
	});

	test("a reboot burns no retry", async () => {
		const t = await openStand({ preset: "cards", config: many, path: file() });
		const a = await t.add(card("a", { retry: 0 }));
		await t.start(10, { host: "local" });
		const later = await t.reopen();
		await later.sluice.recover([], { reboot: true });
		expect((await later.show(a)).failures ?? 0).toBe(0);
		expect(await later.start()).toEqual([a]);
	});

	test("who comes back from the dead cannot end a run that has moved on", async () => {
		const t = await openStand({ preset: "cards", path: file() });
		const a = await t.add(card("a"));
		await t.start(10, { host: "local" });
		const stale = t.run(a);
		const later = await t.reopen();
		await later.sluice.recover([], { reboot: true });
		await later.start();
		await expect(later.sluice.complete({ ...stale, exit_kind: "completed" })).rejects.toMatchObject({ code: "fenced" });
		await expect(later.sluice.extend(stale)).rejects.toMatchObject({ code: "fenced" });
		expect(await later.status(a)).toBe("running");
	});
});
