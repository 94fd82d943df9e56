// How a run's own verdict changes its end, for every way a program can end.

import { describe, expect, test } from "vitest";
import { makeRunningJob } from "../../../test/make/job.ts";
import { CARD_RETRY, type Config, DEFAULTS } from "../config.ts";
import { EXIT_KINDS, type ExitKind, type Job } from "../job.ts";
import { afterRun, exitKindOf, spokenEnd } from "../outcome.ts";
import { carriedOver, MAX_RESULT_BYTES, type RunVerdict, readResult, readVerdict, type VerdictWord, withVerdict } from "./verdict.ts";

const said = (verdict: VerdictWord, text = "it deletes all users"): RunVerdict => ({ verdict, text, at: 7 });
const BY_ITSELF: readonly ExitKind[] = ["completed", "failed", "crashed", "needs_human"];

describe("the end of a run with a verdict", () => {
	test.each(EXIT_KINDS.map((kind) => [kind]))("%s", (exit_kind) => {
		const ended = { exit_kind, exit_code: 0, message: "its last words", question: "its guess?" };
		const own = BY_ITSELF.includes(exit_kind);
		expect(withVerdict(ended, undefined)).toBe(ended);
		expect(withVerdict(ended, said("fail"))).toEqual(own ? { exit_kind: "failed", exit_code: 0, message: "it deletes all users" } : ended);
		expect(withVerdict(ended, said("ask", "which\none?"))).toEqual(
			own ? { exit_kind: "needs_human", exit_code: 0, question: "which\none?" } : ended,
		);
		expect(withVerdict(ended, said("ok", ""))).toEqual(exit_kind === "needs_human" ? { exit_kind: "completed", exit_code: 0 } : ended);
	});

	test("ok settles a guessed question only if the program exited with 0", () => {
		const ended = { exit_kind: "needs_human" as const, exit_code: 1, question: "?" };
		expect(withVerdict(ended, said("ok"))).toBe(ended);
	});
});

const job = (more: Partial<Job> = {}, verdict?: RunVerdict, intent?: "cancelled" | "timeout"): Job =>
	makeRunningJob({
		run: {
			attempt: 1,
			token: 1,
			host: "h1",
			worker: "w",
			started_at: 0,
			...(verdict ? { verdict } : {}),
			...(intent ? { intent: { kind: intent, reason: "asked", by: "ann", at: 0 } } : {}),
		},
		...more,
	});
const next = (one: Job, exit_kind: ExitKind, exit_code: number, config: Config = DEFAULTS) =>
	afterRun(one, spokenEnd(one, { exit_kind, exit_code }), config, 1000, 0.5);

describe("what becomes of the job", () => {
	test("fail ends it as failed with the text, and its exit code is not 0", () => {
		expect(next(job({}, said("fail")), "completed", 0)).toEqual({
			to: "end",
			status: "failed",
			exit_kind: "failed",
			exit_code: 1,
			raw_exit_code: 0,
			end_reason: "it deletes all users",
		});
		expect(next(job({}, said("fail")), "failed", 3)).toMatchObject({ to: "end", status: "failed", exit_code: 3 });
	});

	test("ask waits for a person, and uses no retry", () => {
		expect(next(job({}, said("ask", "which?")), "completed", 0)).toEqual({
			to: "wait",
			exit_kind: "needs_human",
			burns: "nothing",
			question: "which?",
		});
	});

	test("no verdict overrides a stop request", () => {
		for (const verdict of ["ok", "fail", "ask"] as const)
			for (const intent of ["cancelled", "timeout"] as const) {
				const one = job({}, said(verdict), intent);
				expect(exitKindOf(one, spokenEnd(one, { exit_kind: "completed" }))).toBe(intent);
			}
	});

	test("ok does not override a failure", () => {
		expect(next(job({}, said("ok")), "failed", 1)).toMatchObject({ to: "end", status: "failed", exit_code: 1 });
		expect(next(job({}, said("ok")), "crashed", 137)).toMatchObject({ to: "end", status: "failed" });
	});

	test("no policy retries a run that reported fail, however its program ended", () => {
		const retry = { ...CARD_RETRY, on: ["failed", "crashed", "timeout", "stalled", "lost"] as const satisfies readonly ExitKind[] };
		const lane = { ...(DEFAULTS.lanes.default as Config["lanes"][string]), retry: { ...retry, on: [...retry.on] } };
		const policies: [string, Partial<Job>, Config][] = [
			["for all", {}, { ...DEFAULTS, retry: lane.retry, agent_retry: lane.retry }],
			["of the lane", {}, { ...DEFAULTS, lanes: { default: lane } }],
			["of the job", { retry: lane.retry }, DEFAULTS],
		];
		for (const [whose, fields, config] of policies)
			for (const kind of ["command", "agent"] as const) {
				expect(next(job({ ...fields, kind }), "failed", 1, config), whose).toMatchObject({ to: "wait", burns: "failure" });
				expect(next(job({ ...fields, kind }, said("ok")), "failed", 1, config), whose).toMatchObject({ to: "wait", burns: "failure" });
				for (const exit of ["completed", ...retry.on] as const)
					expect(next(job({ ...fields, kind }, said("fail")), exit, 0, config), `${whose}, ${exit}`).toMatchObject({
						to: "end",
						status: "failed",
					});
			}
	});
});

describe("what the next attempt keeps", () => {
	const before = { session: "s1", verdict: said("fail"), result: "7" };
	test("verdict and result of an interrupted session; the result after an answer; else nothing", () => {
		for (const exit_kind of ["rate_limited", "drained", "preempted", "lost"] as const)
			expect(carriedOver({ ...before, exit_kind })).toEqual({ verdict: said("fail"), result: "7" });
		expect(carriedOver({ ...before, exit_kind: "needs_human" })).toEqual({ result: "7" });
		for (const exit_kind of ["failed", "crashed", "timeout", "stalled"] as const) expect(carriedOver({ ...before, exit_kind })).toEqual({});
		expect(carriedOver({ ...before, exit_kind: "crashed", goes_on: true })).toEqual({ verdict: said("fail"), result: "7" });
		expect(carriedOver({ ...before, exit_kind: "drained", session: undefined })).toEqual({});
	});
});

describe("what is accepted", () => {
	test("a verdict without control characters; fail and ask count without a text", () => {
		expect(readVerdict("fail", " \u001b[31mred\u001b[0m\nline \n")).toEqual({ verdict: "fail", text: "red\nline" });
		expect(readVerdict("ok", undefined)).toEqual({ verdict: "ok", text: "" });
		expect(readVerdict("fail", "  ")).toEqual({ verdict: "fail", text: "no reason given" });
		expect(readVerdict("ask", undefined)).toEqual({ verdict: "ask", text: "it asks for a person" });
		expect(() => readVerdict("no", "x")).toThrow("verdict");
		expect(readVerdict("fail", "x".repeat(10_000)).text).toBe("x".repeat(10_000));
		expect(readVerdict("fail", "x".repeat(10_001)).text).toBe(`${"x".repeat(9999)}…`);
	});

	test("a result of any JSON, up to 64 KiB of bytes", () => {
		expect(readResult({ b: [1, null], a: "ü" })).toBe('{"b":[1,null],"a":"ü"}');
		expect(readResult(null)).toBe("null");
		expect(readResult("x".repeat(MAX_RESULT_BYTES - 2))).toHaveLength(MAX_RESULT_BYTES);
		expect(() => readResult("ü".repeat(MAX_RESULT_BYTES / 2))).toThrow("result: is 65538 bytes of JSON; the limit is 65536 (64 KiB)");
		expect(() => readResult(undefined)).toThrow("result: is missing");
		expect(() => readResult(JSON.parse("[".repeat(66) + "]".repeat(66)))).toThrow("result: nested more than 64 deep");
	});
});
