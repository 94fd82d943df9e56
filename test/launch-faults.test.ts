// A program or agent that does not exist is the job's own fault: it counts against that job, and no other job waits for it.

import { describe, expect, test } from "vitest";
import type { JobInput } from "../src/index.ts";
import { MINUTE, SECOND } from "./make/fakes.ts";
import { openStand, type Stand, type StandOptions } from "./make/stand.ts";

const NOT_THERE = { fault: "job", message: "no such program in PATH: nosuchprog" } as const;
const repos = { shop: {} };
const inShop = (more: JobInput = {}): JobInput => ({ repo: "shop", ...more });
const breakers = async (t: Stand) => (await t.sluice.status()).holds.filter((hold) => hold.kind === "breaker_open");

async function addTypos(t: Stand, count: number): Promise<number[]> {
	const jobs: number[] = [];
	for (let n = 0; n < count; n++) jobs.push(await t.add(inShop({ command: ["nosuchprog"] })));
	return jobs;
}

/** Starts what can start; those of `bad` cannot be launched, the others are there. What was started. */
async function round(t: Stand, bad: readonly number[]): Promise<number[]> {
	const started = await t.start();
	for (const job of started) {
		if (bad.includes(job)) await t.end(job, "launch_failed", NOT_THERE);
		else await t.sluice.started(t.run(job));
	}
	return started;
}

describe("where dispatch_breaker is a number", () => {
	const options: StandOptions = { config: { repos, max_concurrent: 50 } };

	test("three strikes end each bad job, and healthy ones of the same repo start at once all the while", async () => {
		const t = await openStand(options);
		const bad = await addTypos(t, 3);
		for (const delay of [10 * SECOND, 20 * SECOND, 0]) {
			const good = await t.add(inShop());
			expect(await round(t, bad)).toEqual([...bad, good]);
			expect(await breakers(t)).toEqual([]);
			await t.wait(delay);
		}
		for (const job of bad)
			expect(await t.show(job)).toMatchObject({
				status: "failed",
				end_reason: "circuit-broken",
				dispatch_failures: 3,
				last_failure: NOT_THERE.message,
			});
	});

	test("an agent that is not installed holds no other job of that agent or repo", async () => {
		const t = await openStand(options);
		const bad = await Promise.all([1, 2, 3, 4].map((n) => t.add(inShop({ agent: "codex", prompt: `task ${n}` }))));
		await round(t, bad);
		const good = await t.add(inShop({ agent: "codex", prompt: "with another PATH" }));
		expect(await round(t, bad)).toEqual([good]);
		expect(await breakers(t)).toEqual([]);
	});

	test.each(["completed", "lost", "cancelled", "drained", "preempted"] as const)(
		"a run that was launched before the failures and ends as %s after them does not end their row",
		async (kind) => {
			const t = await openStand(options);
			const [early, ...jobs] = await Promise.all([1, 2, 3, 4].map(() => t.add(inShop())));
			await t.start();
			await t.sluice.started(t.run(early!));
			await t.end(jobs[0]!, "launch_failed", { message: "no worktree" });
			await t.end(jobs[1]!, "launch_failed", { message: "no worktree" });
			await t.end(early!, kind, {});
			await t.end(jobs[2]!, "launch_failed", { message: "no worktree" });
			expect(await breakers(t)).toMatchObject([{ scope: "repo:shop" }]);
		},
	);

	test("it neither fills nor breaks the row of failures that others share", async () => {
		const t = await openStand(options);
		const jobs = await Promise.all([1, 2, 3, 4].map(() => t.add(inShop())));
		await t.start();
		await t.end(jobs[0]!, "launch_failed", { message: "no worktree" });
		await t.end(jobs[1]!, "launch_failed", NOT_THERE);
		await t.end(jobs[2]!, "launch_failed", { message: "no worktree" });
		expect(await breakers(t)).toEqual([]);
		await t.end(jobs[3]!, "launch_failed", { message: "no worktree" });
		expect(await breakers(t)).toMatchObject([{ scope: "repo:shop" }]);
		expect((await t.show(jobs[1]!)).dispatch_failures).toBe(1);
	});

	test("a probe that fails by its own fault tells nothing: the next job probes at once", async () => {
		const t = await openStand(options);
		const jobs = await Promise.all([1, 2, 3].map(() => t.add(inShop())));
		await t.start();
		for (const job of jobs) await t.end(job, "launch_failed", { message: "no worktree" });
		await t.wait(MINUTE);
		const [first] = await t.start();
		await t.end(first!, "launch_failed", NOT_THERE);
		const [second] = await t.start();
		expect(jobs.filter((job) => job !== first)).toContain(second);
		await t.sluice.started(t.run(second!));
		expect(await breakers(t)).toEqual([]);
	});
});

describe("preset cards", () => {
	test("a launch failure is a failed run with its back-off, counted down to the fifth retry; no breaker", async () => {
		const t = await openStand({
			preset: "cards",
			config: { repos, max_concurrent: 10, lanes: { implement: { max: 10 } } },
			chance: () => 0.5,
		});
		const jobs = await addTypos(t, 4);
		for (const delay of [30, 60, 120, 240, 300]) {
			for (const fault of [NOT_THERE, { message: "no worktree" }, NOT_THERE, { message: "no worktree" }].entries()) {
				const [index, more] = fault;
				const job = jobs[index]!;
				const [started] = await t.start(1);
				expect(started).toBe(job);
				expect(await t.end(job, "launch_failed", more)).toMatchObject({ status: "queued", retry_at: t.clock.now() + delay * SECOND });
			}
			await t.wait(delay * SECOND);
		}
		for (const job of jobs) {
			await t.start(1);
			expect(await t.end(job, "launch_failed", NOT_THERE)).toMatchObject({ status: "failed" });
			expect(await t.show(job)).toMatchObject({ failures: 6, end_reason: NOT_THERE.message });
		}
		expect(await breakers(t)).toEqual([]);
	});
});

describe("preset dag", () => {
	test("it stays queued with the reason", async () => {
		const t = await openStand({ preset: "dag", config: { repos } });
		const bad = await addTypos(t, 3);
		for (let n = 0; n < 5; n++) {
			await round(t, bad);
			await t.wait(10 * MINUTE);
		}
		await round(t, bad);
		for (const job of bad) {
			expect(await t.show(job)).toMatchObject({ status: "queued", dispatch_failures: 6 });
			expect((await t.reasons(job)).map(({ detail }) => detail).join("\n")).toContain("nosuchprog");
		}
		expect(await breakers(t)).toEqual([]);
	});
});
