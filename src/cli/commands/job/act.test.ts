// Commands that act: what they send, print and exit with; and how errors look.

import { describe, expect, test } from "vitest";
import { type Answers, Gone, job, openCommandLine, Refusal } from "../../../../test/make/daemons/command-line.ts";

describe("acting", () => {
	const ACTS: Answers = Object.fromEntries(
		["merge", "promote", "demote", "priority", "run_now", "approve", "reject", "answer"].map((verb) => [
			`job.${verb}`,
			{ job: job(7, { name: "n", priority: 50 }) },
		]),
	);
	test.each([
		["merge 7", "job.merge", { id: 7 }, "job 7 (n) is in line to be merged; sluice why 7 tells how it goes"],
		["promote 7", "job.promote", { id: 7 }, "job 7 (n) is first in lane default"],
		["demote n", "job.demote", { id: "n" }, "job 7 (n) is last in lane default"],
		["priority 7 -50", "job.priority", { id: 7, priority: -50 }, "job 7 (n) has priority 50"],
		["run-now 7 --force", "job.run_now", { id: 7, force: true }, "job 7 (n) goes before all others"],
		["approve 7", "job.approve", { id: 7 }, "job 7 (n) is approved"],
		["reject 7 --reason no", "job.reject", { id: 7, reason: "no" }, "job 7 (n) is rejected"],
		["answer 7 yes", "job.answer", { id: 7, text: "yes" }, "job 7 (n) has its answer and goes on"],
	])("%s", async (text, method, params, said) => {
		const line = await openCommandLine(ACTS);
		expect(await line.run(text)).toEqual({ code: 0, out: "", err: `${said}\n` });
		expect(line.asked).toEqual([{ method, params }]);
		expect(JSON.parse((await line.run(`${text} --json`)).out)).toMatchObject({ schema_version: 1, job: { id: 7 } });
	});

	test("tell says when the agent gets the text; - reads it from stdin", async () => {
		const line = await openCommandLine({ "job.tell": { job: job(7, { name: "n" }), how: "turn", detail: "its run is stopped\u001b[2J" } });
		expect(await line.run("tell 7 be-brief")).toEqual({ code: 0, out: "", err: "job 7 (n) is told: its run is stopped\n" });
		expect(line.asked.at(-1)).toEqual({ method: "job.tell", params: { id: 7, text: "be-brief" } });
		expect(await line.run("tell 7")).toMatchObject({ code: 2 });
		expect(await line.run(["tell", "7", " "])).toMatchObject({ code: 2, err: expect.stringContaining("the text is empty") });
	});

	test("answer with a permission, with or without words", async () => {
		const granted = { permission: null, allow: ["Bash: npm test", "Write: /etc/passwd"] };
		const line = await openCommandLine({ "job.answer": { job: job(7, { granted }) } });
		expect((await line.run("answer 7 --permission asked")).err).toBe("job 7 goes on, and may now run: npm test; use Write, for any file\n");
		expect(line.asked.at(-1)?.params).toEqual({ id: 7, permission: "asked" });
		await line.run("answer 7 yes --permission full");
		expect(line.asked.at(-1)?.params).toEqual({ id: 7, text: "yes", permission: "full" });
		expect(await line.run("answer 7")).toMatchObject({ code: 2, err: expect.stringContaining("an answer is missing") });
		expect(await line.run("answer 7 --permission root")).toMatchObject({ code: 2 });
	});

	test("merge --drop, with why", async () => {
		const line = await openCommandLine({ "job.merge": { job: job(7, { name: "n", merge_status: "kept" }) } });
		expect((await line.run("merge 7 --drop --reason otherwise")).err).toBe("job 7 (n) is not merged; its branch stays\n");
		expect(line.asked.at(-1)?.params).toEqual({ id: 7, drop: true, reason: "otherwise" });
		expect(await line.run("merge 7 --reason no")).toMatchObject({ code: 2, err: expect.stringContaining("--reason goes with --drop") });
		expect(line.asked).toHaveLength(1);
	});

	test("hold and release, of several", async () => {
		const refused = [{ job: 8, code: "illegal_transition", message: "job 8 is running: only a waiting \u001b[31mjob" }];
		const line = await openCommandLine({ "job.hold": { done: [7], refused }, "job.release": { done: [7, 9], refused: [] } });
		const held = await line.run("hold 7 eight --reason demo");
		expect(held).toEqual({
			code: 4,
			out: "",
			err: "job 7 is held until: sluice release 7\nsluice: job 8 is running: only a waiting job\n",
		});
		expect(line.asked.at(-1)).toEqual({ method: "job.hold", params: { ids: [7, "eight"], reason: "demo" } });
		expect(await line.run("release 7 9")).toEqual({ code: 0, out: "", err: "jobs 7, 9 are released\n" });
		expect(await line.run("hold")).toMatchObject({ code: 2 });
	});

	describe("several at once", () => {
		const found = { ids: [3, 5], total: 2 };
		const answers: Answers = {
			"job.select": found,
			"job.cancel": { cancelled: [3, 5], requested: [], ended: [], refused: [] },
			"job.retry": { reset: [3, 5], restarted: [], last_successful: [], left_blocked: [], skipped: [{ job: 9, reason: "it runs" }] },
			"job.hold": { done: [3, 5], refused: [] },
			"job.release": { done: [3, 5], refused: [] },
			"job.promote": { job: job(3), done: [3, 5], refused: [] },
			"job.approve": { job: job(3), done: [3], refused: [{ job: 5, code: "illegal_transition", message: "job 5 is queued" }] },
		};
		const WAITS = ["queued", "waiting_on_deps", "waiting_on_locks"];
		test.each([
			["cancel --lane slow --yes", { lane: "slow" }, "job.cancel", { ids: [3, 5] }, "cancelled: 3, 5\n"],
			[
				"cancel --all --status queued --yes --reason x",
				{ status: ["queued"] },
				"job.cancel",
				{ ids: [3, 5], reason: "x" },
				"cancelled: 3, 5\n",
			],
			[
				"hold --owner ann --agent claude --yes",
				{ owner: "ann", agent: "claude", status: WAITS },
				"job.hold",
				{ ids: [3, 5] },
				"jobs 3, 5 are held until: sluice release 3 5\n",
			],
			["release --batch b --yes", { batch: "b", held: true, status: WAITS }, "job.release", { ids: [3, 5] }, "jobs 3, 5 are released\n"],
			["promote --repo r --yes", { repo: "r", status: WAITS }, "job.promote", { ids: [3, 5] }, "jobs 3, 5 are first in their lanes\n"],
			[
				"approve --all --yes",
				{ asks: true, status: WAITS },
				"job.approve",
				{ ids: [3, 5] },
				"job 3 is approved\nsluice: job 5 is queued\n",
			],
			[
				"retry --failed --since 1d --yes",
				{ status: ["failed"], since: "2030-01-30T12:00:00.000Z" },
				"job.retry",
				{ ids: [3, 5] },
				"reset: 3, 5\nleft job 9: it runs\n",
			],
			[
				"retry --lane slow --yes",
				{ lane: "slow", status: ["failed", "expired", "blocked_by_dependency"] },
				"job.retry",
				{ ids: [3, 5] },
				"reset: 3, 5\nleft job 9: it runs\n",
			],
		])("%s", async (text, filter, method, params, said) => {
			const line = await openCommandLine(answers);
			expect((await line.run(text)).err).toBe(said);
			expect(line.asked).toEqual([
				{ method: "job.select", params: { filter } },
				{ method, params },
			]);
		});

		test("named ones are not asked about", async () => {
			const line = await openCommandLine(answers);
			expect(await line.run("promote 3 five")).toMatchObject({ code: 0, err: "jobs 3, 5 are first in their lanes\n" });
			expect(line.asked).toEqual([{ method: "job.promote", params: { ids: [3, "five"] } }]);
		});

		test("a filter that finds several is asked about; without a terminal it needs --yes", async () => {
			const line = await openCommandLine(answers);
			const typed = (text: string) => ({
				stdin: Object.assign(
					(async function* () {
						yield text;
					})(),
					{ isTTY: true },
				),
			});
			expect((await line.run("cancel --lane slow", typed("n\n"))).err).toBe("End 2 jobs (3, 5)? [y/N] nothing was done\n");
			expect((await line.run("cancel --lane slow", typed("y\n"))).err).toBe("End 2 jobs (3, 5)? [y/N] cancelled: 3, 5\n");
			expect(await line.run("cancel --lane slow")).toMatchObject({ code: 2, err: expect.stringContaining("add --yes") });
			expect(line.asked.filter(({ method }) => method === "job.cancel")).toHaveLength(1);
		});

		test("one job by a filter is not asked about; none is said", async () => {
			const one = await openCommandLine({
				...answers,
				"job.select": { ids: [3], total: 1 },
				"job.approve": { job: job(3), done: [3], refused: [] },
			});
			expect((await one.run("approve --lane slow")).err).toBe("job 3 is approved\n");
			const none = await openCommandLine({ ...answers, "job.select": { ids: [], total: 0 } });
			expect(await none.run("cancel --lane slow")).toMatchObject({ code: 0, err: "no job matches\n" });
			expect(none.asked).toHaveLength(1);
		});

		test("more than one call takes", async () => {
			const ids = Array.from({ length: 2001 }, (_, index) => index + 1);
			const line = await openCommandLine({
				"job.select": { ids, total: 2001 },
				"job.hold": (params) => ({ done: params.ids, refused: [] }),
			});
			expect((await line.run("hold --all --yes")).err).toContain("and 1981 more are held until: sluice release ID");
			expect(line.asked.slice(1).map(({ params }) => (params.ids as number[]).length)).toEqual([1000, 1000, 1]);
		});

		test("mistakes", async () => {
			const line = await openCommandLine(answers);
			const bad = async (text: string) => (await line.run(text)).err;
			expect(await bad("cancel")).toContain("cancel: which job?");
			expect(await bad("cancel 3 --lane slow")).toContain("give jobs or a filter, not both");
			expect(await bad("cancel 3 --yes")).toContain("--yes goes with a filter");
			expect(await bad("retry --failed --status expired")).toContain("contradict");
			expect(await bad("retry --since soon --yes")).toContain("is not a duration");
			expect(line.asked).toEqual([]);
		});
	});

	test("freeze, thaw and signal", async () => {
		const line = await openCommandLine({
			"job.freeze": { done: [7, 8], refused: [] },
			"job.thaw": { done: [7], refused: [{ job: 8, code: "illegal_transition", message: "job 8 was not frozen" }] },
			"job.signal": { job: 7, run: "7.2", host: "b\u001b[31m", signal: "HUP", frozen: true },
		});
		expect((await line.run("freeze 7 8 --reason hot")).err).toBe("jobs 7, 8 are frozen until: sluice thaw 7 8\n");
		expect(line.asked.at(-1)?.params).toEqual({ ids: [7, 8], reason: "hot" });
		expect(await line.run("thaw 7 8")).toMatchObject({ code: 4, err: "job 7 goes on\nsluice: job 8 was not frozen\n" });
		expect((await line.run("signal 7 HUP")).err).toBe(
			"sent HUP to run 7.2 on host b; it is frozen, and gets it when it goes on: sluice thaw 7\n",
		);
		expect(line.asked.at(-1)).toEqual({ method: "job.signal", params: { id: 7, signal: "HUP" } });
		expect(await line.run("signal 7")).toMatchObject({ code: 2 });
	});

	test("cancel, retry, rerun", async () => {
		const line = await openCommandLine({
			"job.cancel": { cancelled: [7], requested: [8] },
			"job.retry": { reset: [7, 9], restarted: [7], last_successful: [3] },
			"job.rerun": { reset: [7], restarted: [7], last_successful: [], left_blocked: [8, 9] },
		});
		expect((await line.run("cancel 7 eight --subtree --reason wrong")).err).toBe("cancelled: 7\nasked to stop: 8\n");
		expect(line.asked.at(-1)?.params).toEqual({ ids: [7, "eight"], subtree: true, reason: "wrong" });
		expect((await line.run("retry 7")).err).toBe("reset: 7, 9\ngoes on from: 7\nlast successful point: 3\n");
		expect((await line.run("rerun 7")).err).toBe(
			"reset: 7\nstill blocked: 8, 9\n        sluice retry 7 brings back what comes after it; sluice why 8 says what else blocks it\n",
		);
	});

	test("cancel of several continues after a job that has ended, and reports each", async () => {
		const refused = [{ job: 1, code: "illegal_transition", message: "job 1 has ended: succeeded" }];
		const line = await openCommandLine({ "job.cancel": { cancelled: [2], requested: [3], ended: [4], refused } });
		expect(await line.run("cancel 1 2 3 4")).toEqual({
			code: 4,
			out: "",
			err: "cancelled: 2\nasked to stop: 3\nended with them: 4\nsluice: job 1 has ended: succeeded\n",
		});
		const json = await line.run("cancel 1 2 3 4 --json");
		expect([json.code, json.err, JSON.parse(json.out).refused]).toEqual([4, "", refused]);
	});

	test.each([
		["not_found", 3],
		["illegal_transition", 4],
		["conflict", 4],
		["invalid", 2],
		["cycle", 2],
		["store", 1],
		["internal", 1],
	])("an error %s exits with %i, as words and as JSON", async (code, exit) => {
		const line = await openCommandLine({
			"job.promote": () => {
				throw new Refusal("job 7 is no good", { code, hint: "near it: 8" });
			},
		});
		expect(await line.run("promote 7")).toEqual({ code: exit, out: "", err: "sluice: job 7 is no good\n        near it: 8\n" });
		const { out, err } = await line.run("promote 7 --json");
		expect([out, JSON.parse(err)]).toEqual(["", { schema_version: 1, error: { code, message: "job 7 is no good", hint: "near it: 8" } }]);
	});

	test("help is data on request, and a message if no command was given", async () => {
		const line = await openCommandLine(undefined);
		const asked = await line.run("--help");
		expect(asked).toMatchObject({ code: 0, err: "" });
		expect(await line.run("")).toEqual({ code: 2, out: "", err: asked.out });
		expect((await line.run("wait --help")).out).toContain("sluice wait [options] [ID…]");
		expect((await line.run("budget --help")).out).toContain("sluice budget list|grant|report");
	});

	test("usage errors are JSON with --json", async () => {
		const line = await openCommandLine(undefined);
		const { code, out, err } = await line.run("lst --json");
		expect([code, out, JSON.parse(err)]).toEqual([
			2,
			"",
			{ schema_version: 1, error: { code: "usage", message: 'there is no command "lst"', hint: "did you mean: sluice list" } },
		]);
	});

	test("a command that acts is not repeated when the daemon dies: it may have been done", async () => {
		const line = await openCommandLine({
			"job.promote": () => {
				throw new Gone();
			},
		});
		expect(await line.run("promote 7")).toMatchObject({ code: 1, out: "", err: expect.stringContaining("the daemon has gone away") });
		expect(line.asked).toHaveLength(1);
	});

	test("a daemon that cannot be started", async () => {
		const line = await openCommandLine(undefined);
		expect(await line.run("list")).toEqual({ code: 1, out: "", err: "sluice: the daemon cannot be started\n        see daemon.log\n" });
	});
});
