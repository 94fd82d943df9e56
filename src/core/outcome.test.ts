// What becomes of a job when a run ends: every exit kind against every policy.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeRunningJob } from "../../test/make/job.ts";
import { CARD_RETRY, type Config, DEFAULTS, NO_RETRY, PRESETS } from "./config.ts";
import { EXIT_KINDS, type ExitKind, type Job, mayMove } from "./job.ts";
import { afterEntry, afterRun, type EndedRun, exitKindOf } from "./outcome.ts";

const NOW = 1_000_000_000;
const HALF = 0.5;
const RETRIES: Config = { ...DEFAULTS, retry: CARD_RETRY };

const stopped = (kind: NonNullable<NonNullable<Job["run"]>["intent"]>["kind"], reason = "asked"): Partial<Job> => ({
	run: { attempt: 1, token: 1, host: "h1", worker: "w", started_at: 0, intent: { kind, reason, by: "ann", at: 0 } },
});

const ending = (one: Job, ended: EndedRun, config = DEFAULTS, chance = HALF) => afterRun(one, ended, config, NOW, chance);

describe("exit kind × policy", () => {
	const ends = (status: string, exit_code: number | null, more = {}) => ({ to: "end", status, exit_code, ...more });
	const retries = (seconds: number) => ({ to: "wait", burns: "failure", backoff_until: NOW + seconds * 1000 });
	const waits = { to: "wait", burns: "nothing" };

	test.each([
		["completed", ends("succeeded", 0), ends("succeeded", 0)],
		["failed", ends("failed", 1), retries(30)],
		["crashed", ends("failed", 1), retries(30)],
		["timeout", ends("failed", 1), retries(30)],
		["stalled", ends("failed", 1), retries(30)],
		["lost", ends("failed", 1, { end_reason: "scheduler recovery" }), retries(30)],
		["cancelled", ends("cancelled", 143), ends("cancelled", 143)],
		["rate_limited", waits, waits],
		["needs_human", { ...waits, question: "the agent asks for a person" }, { ...waits, question: "the agent asks for a person" }],
		["preempted", waits, waits],
		["drained", waits, waits],
		[
			"launch_failed",
			{ to: "wait", burns: "dispatch", backoff_until: NOW + 10_000 },
			{ to: "wait", burns: "dispatch", backoff_until: NOW + 10_000 },
		],
	] as [ExitKind, object, object][])("%s", (exit_kind, without, withRetries) => {
		expect(ending(makeRunningJob(), { exit_kind }, DEFAULTS)).toEqual({ exit_kind, ...without });
		expect(ending(makeRunningJob(), { exit_kind }, RETRIES)).toEqual({ exit_kind, ...withRetries });
	});

	test.each(EXIT_KINDS)("an agent is retried after %s only if that does not judge its work", (exit_kind) => {
		const next = ending(makeRunningJob({ kind: "agent" }), { exit_kind });
		const retried = next.to === "wait" && next.burns === "failure";
		expect(retried).toBe(exit_kind === "crashed" || exit_kind === "stalled" || exit_kind === "lost");
	});
});

describe("retries", () => {
	test("five of them, each with its delay, then failed", () => {
		const next = [0, 1, 2, 3, 4, 5].map((failures) =>
			ending(makeRunningJob({ failures }), { exit_kind: "failed", exit_code: 3, message: "red" }, RETRIES),
		);
		expect(next.slice(0, 5).map((one) => (one.to === "wait" ? ((one.backoff_until ?? 0) - NOW) / 1000 : one))).toEqual([
			30, 60, 120, 240, 300,
		]);
		expect(next[5]).toEqual({ to: "end", status: "failed", exit_kind: "failed", exit_code: 3, end_reason: "red" });
	});

	test("an exit kind that the policy leaves out is not retried", () => {
		const retry = { ...NO_RETRY, max: 3, on: ["timeout"] as const };
		expect(ending(makeRunningJob({ retry }), { exit_kind: "failed" }).to).toBe("end");
		expect(ending(makeRunningJob({ retry }), { exit_kind: "timeout" }).to).toBe("wait");
	});

	test("a reboot uses no retry, also without any left", () => {
		expect(ending(makeRunningJob(), { exit_kind: "lost", reboot: true })).toEqual({ to: "wait", exit_kind: "lost", burns: "nothing" });
	});

	test("a lost run has no exit code of its own", () => {
		expect(ending(makeRunningJob(), { exit_kind: "lost", exit_code: 9, message: "gone" })).toEqual({
			to: "end",
			status: "failed",
			exit_kind: "lost",
			exit_code: 1,
			end_reason: "scheduler recovery",
		});
	});
});

describe("launch failures", () => {
	const launch = (dispatch_failures: number, config: Config, more: Partial<Job> = {}) =>
		ending(makeRunningJob({ dispatch_failures, ...more }), { exit_kind: "launch_failed", message: "no such program" }, config);

	test("10 s, 20 s, then circuit-broken", () => {
		expect(launch(0, DEFAULTS)).toMatchObject({ to: "wait", burns: "dispatch", backoff_until: NOW + 10_000 });
		expect(launch(1, DEFAULTS)).toMatchObject({ to: "wait", burns: "dispatch", backoff_until: NOW + 20_000 });
		expect(launch(2, DEFAULTS)).toEqual({
			to: "end",
			status: "failed",
			exit_kind: "launch_failed",
			exit_code: 1,
			end_reason: "circuit-broken",
		});
	});

	test("off (dag): it stays queued forever", () => {
		expect(launch(500, PRESETS.dag)).toMatchObject({ to: "wait", burns: "dispatch", backoff_until: NOW + 3_600_000 });
	});

	test("run (cards): it counts as a failed run", () => {
		expect(launch(0, PRESETS.cards, { failures: 1 })).toMatchObject({ to: "wait", burns: "failure", backoff_until: NOW + 60_000 });
		expect(launch(0, PRESETS.cards, { failures: 5 })).toMatchObject({ to: "end", status: "failed", end_reason: "no such program" });
	});
});

describe("a stop request before the end", () => {
	test("decides, whatever the program exits with", () => {
		expect(ending(makeRunningJob(stopped("cancelled")), { exit_kind: "completed", exit_code: 0 })).toEqual({
			to: "end",
			status: "cancelled",
			exit_kind: "cancelled",
			exit_code: 143,
			raw_exit_code: 0,
			end_reason: "asked",
		});
		expect(ending(makeRunningJob(stopped("timeout")), { exit_kind: "completed", exit_code: 0 }, RETRIES)).toMatchObject({
			to: "wait",
			burns: "failure",
		});
		expect(ending(makeRunningJob(stopped("preempted")), { exit_kind: "failed", exit_code: 1 })).toEqual({
			to: "wait",
			exit_kind: "preempted",
			burns: "nothing",
		});
		expect(ending(makeRunningJob(stopped("drained")), { exit_kind: "crashed" })).toMatchObject({ to: "wait", burns: "nothing" });
	});

	test.each(EXIT_KINDS)("a cancelled run that ends %s is cancelled", (exit_kind) => {
		expect(exitKindOf(makeRunningJob(stopped("cancelled")), { exit_kind })).toBe("cancelled");
		expect(ending(makeRunningJob(stopped("cancelled")), { exit_kind }, RETRIES)).toMatchObject({
			to: "end",
			status: "cancelled",
			exit_code: 143,
		});
	});

	test("without a code there is no raw one", () => {
		expect(ending(makeRunningJob(stopped("cancelled", "")), { exit_kind: "lost", exit_code: null })).toEqual({
			to: "end",
			status: "cancelled",
			exit_kind: "cancelled",
			exit_code: 143,
		});
	});
});

test("a question is the agent's own, else its message", () => {
	expect(ending(makeRunningJob(), { exit_kind: "needs_human", question: "which?", message: "m" })).toMatchObject({ question: "which?" });
	expect(ending(makeRunningJob(), { exit_kind: "needs_human", message: "m" })).toMatchObject({ question: "m" });
});

test("an exit code is kept", () => {
	expect(ending(makeRunningJob(), { exit_kind: "completed", exit_code: 0 })).toMatchObject({ status: "succeeded", exit_code: 0 });
	expect(ending(makeRunningJob(), { exit_kind: "failed", exit_code: 127 })).toMatchObject({ status: "failed", exit_code: 127 });
	expect(ending(makeRunningJob(), { exit_kind: "failed", exit_code: null })).toMatchObject({ exit_code: 1 });
});

test("a kernel entry is completed, however it ended", () => {
	const kernel = makeRunningJob({ kind: "kernel" });
	expect(afterEntry(kernel, { exit_kind: "completed" })).toMatchObject({ to: "end", status: "succeeded", exit_code: 0 });
	expect(afterEntry(kernel, { exit_kind: "failed" })).toMatchObject({ to: "end", status: "failed", exit_code: 1 });
	expect(afterEntry(kernel, { exit_kind: "crashed", exit_code: 9 })).toMatchObject({ to: "end", status: "failed", exit_code: 9 });
	expect(afterEntry(kernel, { exit_kind: "cancelled" })).toMatchObject({ to: "end", status: "cancelled", exit_code: 143 });
});

test("for any run, policy and preset: a move that the table knows, a back-off that lies ahead, never more failures than retries", () => {
	const config = fc.constantFrom<Config>(DEFAULTS, RETRIES, ...Object.values(PRESETS));
	const one = fc.record({
		kind: fc.constantFrom<Job["kind"]>("command", "agent", "payload"),
		failures: fc.nat({ max: 8 }),
		dispatch_failures: fc.nat({ max: 8 }),
	});
	fc.assert(
		fc.property(
			one,
			fc.constantFrom(...EXIT_KINDS),
			config,
			fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
			(more, exit_kind, config, chance) => {
				const next = ending(makeRunningJob(more), { exit_kind }, config, chance);
				if (next.to === "end") {
					expect(mayMove("running", next.status)).toBe(true);
					expect(next.exit_code === 0).toBe(next.status === "succeeded");
				} else {
					expect(next.backoff_until ?? NOW).toBeGreaterThanOrEqual(NOW);
					expect(next.backoff_until !== undefined).toBe(next.burns !== "nothing");
					if (next.burns === "failure") expect(more.failures).toBeLessThan(5);
				}
			},
		),
	);
});
