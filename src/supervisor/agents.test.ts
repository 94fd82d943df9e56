// Agents under the supervisor: how their output becomes the end of a run, and how a session is resumed.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { capture } from "../../test/make/agents/capture.ts";
import { argvOf, held, play, promptOf, resetsAt, stand } from "../../test/make/agents/played.ts";
import { HOUR, MINUTE, NOON, SECOND } from "../../test/make/fakes.ts";
import { makeFolder } from "../../test/make/folder.ts";
import { supervise } from "../../test/make/supervised.ts";
import { usualCommands } from "../core/agents/permissions/allowing.ts";

describe("ends", () => {
	test("well, with its usage charged and recorded in outcome.json", async () => {
		const on = await stand();
		await on.sluice.grant("owner:ann", "tokens", { limit: 1_000_000 });
		await on.sluice.grant("owner:ann", "cost_micro", { limit: 1_000_000 });
		const job = await on.add({ agent: "claude", prompt: "x", owner: "ann" });
		await play(on, "1.1", "claude-tool");
		expect(await on.show(job)).toMatchObject({
			status: "succeeded",
			exit_kind: "completed",
			session: "71f8750c-7fdf-49fd-b9f5-c4230759226c",
		});
		const used = Object.fromEntries((await on.sluice.ledgers("owner:ann")).map((one) => [one.dim, one.used]));
		expect(used).toEqual({ tokens: 8449, cost_micro: 16725 });
		expect(on.file("1.1", "outcome.json")).toMatchObject({
			exit_kind: "completed",
			outcome: "ok",
			agent: "claude",
			account: "work",
			last_message: "done",
		});
	});

	test.each([
		["not logged in closes the account", "codex", "codex-401", "account_closed"],
		["no money closes the account", "claude", "claude-credit", "account_closed"],
		["a limit holds the account", "claude", "claude-unirej", "rate_limited"],
		["too many requests hold the account", "opencode", "opencode-429", "rate_limited"],
	])("%s, and costs no retry", async (_name, agent, name, kind) => {
		const on = await stand();
		const job = await on.add({ agent, prompt: "x" });
		await play(on, "1.1", name);
		const view = await on.show(job);
		expect([view.status, view.exit_kind, view.failures, await held(on, job)]).toEqual(["queued", "rate_limited", undefined, kind]);
		expect((await on.sluice.status()).holds).toMatchObject([{ scope: "account:work", kind }]);
		expect(on.supervisor.idle()).toBe(true);
	});

	test("a reset time in the past still holds the account", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "x" });
		await play(on, "1.1", "claude-unirej", resetsAt(NOON - HOUR));
		expect(await held(on, job)).toBe("rate_limited");
		expect(on.supervisor.idle()).toBe(true);
	});

	test("an agent's own budget cancels the job, with that reason", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "x" });
		await play(on, "1.1", "claude-budget");
		expect(await on.show(job)).toMatchObject({ status: "cancelled", end_reason: "budget: Reached maximum budget ($0.02)" });
	});

	test("a full context fails, an overloaded server is tried again", async () => {
		const on = await stand();
		const full = await on.add({ agent: "claude", prompt: "x" });
		const busy = await on.add({ agent: "claude", prompt: "x" });
		await play(on, "1.1", "claude-toolong");
		await play(on, "2.1", "claude-529");
		expect(await on.show(full)).toMatchObject({ status: "failed", exit_kind: "failed" });
		expect(await on.show(busy)).toMatchObject({ status: "queued", exit_kind: "crashed" });
		expect((await on.sluice.status()).holds).toMatchObject([{ kind: "outage" }]);
	});

	test("exit code 0 is not enough", async () => {
		const on = await stand();
		const job = await on.add({ agent: "codex", prompt: "x" });
		on.processes.exit("1.1", 0);
		await on.settle();
		expect(await on.show(job)).toMatchObject({
			status: "queued",
			exit_kind: "crashed",
			last_failure: "crashed: it exited with 0 and said nothing",
		});
	});

	test("the exit code decides for agents whose output is not read", async () => {
		const on = await supervise({ settings: { agents: { plain: { command: ["plain"] } } } });
		const good = await on.add({ agent: "plain", prompt: "x" });
		const bad = await on.add({ agent: "plain", prompt: "x" });
		on.processes.exit("1.1", 0);
		on.processes.log("2.1", "stderr", "no luck\n");
		on.processes.exit("2.1", 1);
		await on.settle();
		expect((await on.show(good)).status).toBe("succeeded");
		expect(await on.show(bad)).toMatchObject({ status: "failed", exit_kind: "failed", end_reason: "no luck" });
	});

	test("a limit of Codex lasts as long as its own record says", async () => {
		const home = makeFolder();
		const on = await stand({ settings: { accounts: { work: { home } } } });
		const job = await on.add({ agent: "codex", prompt: "x" });
		const folder = join(home, "sessions/2026/01/05");
		mkdirSync(folder, { recursive: true });
		const reset = NOON + 2 * HOUR;
		const limits = { primary: { used_percent: 100, window_minutes: 300, resets_at: reset / 1000 }, secondary: null };
		const line = { type: "event_msg", payload: { type: "token_count", info: null, rate_limits: limits } };
		writeFileSync(join(folder, "rollout-2026-01-05T12-00-00-01a1e099-6041-7513-9d4c-3a45c29d04d0.jsonl"), `${JSON.stringify(line)}\n`);
		await play(on, "1.1", "codex-usagelimit");
		expect(await held(on, job)).toBe("rate_limited");
		expect((await on.sluice.status()).holds).toMatchObject([{ until: reset + 5 * SECOND }]);
	});

	test("a log that was cut still shows how the run ended", async () => {
		const on = await stand({ settings: { max_log_bytes: 100_000 } });
		const job = await on.add({ agent: "claude", prompt: "x" });
		const lines = capture("claude-tool").stdout.toString().trimEnd().split("\n");
		on.processes.log("1.1", "stdout", `${lines.slice(0, -1).join("\n")}\n`);
		await on.pass(6 * SECOND);
		on.processes.log("1.1", "stdout", "noise ".repeat(100_000));
		await on.pass(6 * SECOND);
		on.processes.log("1.1", "stdout", `\n${lines.at(-1)}\n`);
		on.processes.exit("1.1", 0);
		await on.settle();
		expect(await on.show(job)).toMatchObject({ status: "succeeded" });
		expect(on.file("1.1", "outcome.json")).toMatchObject({ outcome: "ok", logs_cut: ["stdout"], usage: { tokens: 8449 } });
	});
});

describe("a job goes on", () => {
	test("automatically when the limit is over: same session, with a note in the prompt, and no retry used", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "the task" });
		const reset = NOON + HOUR;
		await play(on, "1.1", "claude325-limit1", resetsAt(reset));
		await on.pass(HOUR);
		expect(on.supervisor.idle()).toBe(true);
		await on.pass(10 * SECOND);
		const argv = argvOf(on, "1.2");
		expect(argv.slice(5, 7)).toEqual(["--resume", "e33a9a84-e14e-4c13-bf2e-f46e5a3d3916"]);
		expect(promptOf(on, "1.2")).toMatch(/usage limit/);
		expect(promptOf(on, "1.2")).not.toMatch(/^the task/);
		await play(on, "1.2", "claude325-ok", (text) =>
			text.replaceAll("f11f37fc-9856-4ab9-98d3-120ab3662d0e", "e33a9a84-e14e-4c13-bf2e-f46e5a3d3916"),
		);
		expect(await on.show(job)).toMatchObject({ status: "succeeded", attempt: 2 });
		expect((await on.show(job)).failures).toBe(undefined);
	});

	test("with the answer to its question", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "the task" });
		await play(on, "1.1", "claude-tool-denied");
		const view = await on.show(job);
		expect([view.status, view.wait_reason?.kind]).toEqual(["queued", "needs_human"]);
		expect(view.question).toMatch(/^it was not allowed to:\n- Bash: echo hi-from-tool/);
		expect(on.supervisor.idle()).toBe(true);
		await on.sluice.answer(job, "you may");
		await on.settle();
		expect(argvOf(on, "1.2").slice(5)).toEqual([
			"--resume",
			"a46c1682-db6b-4112-a746-a09dcd5b4627",
			"--permission-mode",
			"acceptEdits",
			...usualCommands("claude").map((command) => `--allowedTools=Bash(${command}:*)`),
		]);
		expect(promptOf(on, "1.2")).toBe("you may");
		// After a later limit, the prompt is not the old answer again.
		await play(on, "1.2", "claude325-429", (text) =>
			text.replaceAll("589f39f3-5935-4e6e-bea2-84dbd45317fa", "a46c1682-db6b-4112-a746-a09dcd5b4627"),
		);
		await on.pass(MINUTE);
		expect(promptOf(on, "1.3")).toMatch(/usage limit/);
	});

	test("and is charged only for what is new", async () => {
		const on = await stand();
		await on.sluice.grant("owner:ann", "tokens", { limit: 1_000_000 });
		const job = await on.add({ agent: "codex", prompt: "x", owner: "ann" });
		const used = async () => (await on.sluice.ledgers("owner:ann"))[0]?.used;
		// The run worked, then hit the limit; the next run reports the sum of both.
		await play(
			on,
			"1.1",
			"codex-ok",
			(text) => `${text}{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}\n`,
		);
		expect([(await on.show(job)).exit_kind, await used()]).toEqual(["rate_limited", 1255]);
		await on.pass(MINUTE);
		expect(argvOf(on, "1.2").slice(0, 3)).toEqual(["codex", "exec", "resume"]);
		await play(on, "1.2", "codex-resume");
		expect([(await on.show(job)).status, await used()]).toEqual(["succeeded", 2510]);
		expect(on.file("1.2", "outcome.json")).toMatchObject({ usage: { tokens: 1255 }, session_total: { tokens: 2510 } });
	});

	test("after a run that was lost or drained", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "x" });
		const { stdout } = capture("claude-sig-term");
		on.processes.log("1.1", "stdout", stdout.toString());
		on.processes.vanish("1.1");
		await on.pass(2 * MINUTE);
		expect(argvOf(on, "1.2").slice(5, 7)).toEqual(["--resume", "ca225196-434b-4b98-973f-124bd334c9c2"]);
		on.processes.log("1.2", "stdout", stdout.toString());
		const drained = on.supervisor.drain({ graceMs: 0, runs: "stop" });
		await on.pass(MINUTE);
		await drained;
		expect(await on.show(job)).toMatchObject({ exit_kind: "drained", session: "ca225196-434b-4b98-973f-124bd334c9c2" });
	});

	test("afresh when the session is gone, and uses no retry", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "the task" });
		await play(on, "1.1", "claude-429-r2");
		await on.pass(MINUTE);
		expect(argvOf(on, "1.2")).toContain("--resume");
		on.processes.log("1.2", "stderr", "No conversation found with session ID: 9b183aab\n");
		on.processes.exit("1.2", 1);
		await on.settle();
		await on.pass(MINUTE);
		expect(argvOf(on, "1.3")).not.toContain("--resume");
		expect(promptOf(on, "1.3")).toMatch(
			/^the task\n\nThis is attempt 3 at this task\. Attempt 2 was cut off\. You do not have its memory \(its session was not found any more\)/,
		);
		expect((await on.show(job)).failures).toBe(undefined);
	});

	test("afresh after a crash, and after a retry by hand", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "the task" });
		await play(on, "1.1", "claude-ok");
		await on.sluice.retry(job);
		await on.settle();
		expect(argvOf(on, "1.2")).not.toContain("--resume");
		expect(promptOf(on, "1.2")).toBe("the task\n\nThis is attempt 2 at this task. Attempt 1 ended well.");
		await play(on, "1.2", "claude-toolong");
		await on.sluice.rerun(job);
		await on.settle();
		expect(promptOf(on, "1.3")).toMatch(
			/^the task\n\nThis is attempt 3 at this task. Attempt 2 failed: context: Prompt is too long .* less context\. You do not have its memory/,
		);
	});

	test("under the next daemon, which reads its output to the end", async () => {
		const before = await stand();
		const job = await before.add({ agent: "claude", prompt: "x" });
		const lines = capture("claude-tool").stdout.toString().split("\n");
		before.processes.log("1.1", "stdout", `${lines.slice(0, 2).join("\n")}\n`);
		const on = await before.crash();
		on.processes.log("1.1", "stdout", lines.slice(2).join("\n"));
		on.processes.exit("1.1", 0);
		await on.settle();
		expect(await on.show(job)).toMatchObject({ status: "succeeded", session: "71f8750c-7fdf-49fd-b9f5-c4230759226c" });
		expect(on.file("1.1", "outcome.json")).toMatchObject({ outcome: "ok", usage: { tokens: 8449 } });
	});
});

describe("while it runs", () => {
	const lines = capture("claude-tool").stdout.toString().trimEnd().split("\n");
	const call = lines.findIndex((line) => line.includes('"tool_use"'));

	test("a tool that is silent for hours is not a stall; silence after it is", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "x", stall_timeout: "1m", retry: 0 });
		on.processes.log("1.1", "stdout", `${lines.slice(0, call + 1).join("\n")}\n`);
		await on.pass(2 * HOUR);
		expect((await on.show(job)).status).toBe("running");
		expect(on.supervisor.live()[0]?.progress).toMatchObject({ tool: "Bash echo hi-from-tool > out.txt && cat out.txt", tool_calls: 1 });
		on.processes.log("1.1", "stdout", `${lines[call + 1]}\n`);
		await on.pass(30 * SECOND);
		expect((await on.show(job)).status).toBe("running");
		await on.pass(2 * MINUTE);
		expect(await on.show(job)).toMatchObject({ exit_kind: "stalled" });
	});

	test("an agent that writes nothing and uses no tool is stalled", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "x", stall_timeout: "1m", retry: 0 });
		on.processes.log("1.1", "stdout", `${lines[0]}\n`);
		await on.pass(3 * MINUTE);
		expect(await on.show(job)).toMatchObject({ exit_kind: "stalled" });
	});

	test("an agent that only says that it will try again is stalled, too", async () => {
		const on = await stand();
		const job = await on.add({ agent: "codex", prompt: "x", stall_timeout: "1m", retry: 0 });
		on.processes.log("1.1", "stdout", '{"type":"turn.started"}\n');
		for (let second = 0; second < 90; second += 3) {
			on.processes.log("1.1", "stdout", '{"type":"error","message":"Reconnecting... waiting for network (Connection failed)"}\n');
			await on.pass(3 * SECOND);
		}
		expect(await on.show(job)).toMatchObject({ exit_kind: "stalled" });
	});

	test("a stop keeps the session and charges the usage so far", async () => {
		const on = await stand();
		const job = await on.add({ agent: "claude", prompt: "x" });
		on.processes.log("1.1", "stdout", `${lines.join("\n")}\n`);
		await on.sluice.cancel(job);
		await on.settle();
		await on.pass(SECOND);
		expect(on.processes.machine.signals[0]).toBe("1.1 SIGINT");
		expect(await on.show(job)).toMatchObject({ status: "cancelled", session: "71f8750c-7fdf-49fd-b9f5-c4230759226c" });
		expect(on.file("1.1", "outcome.json")).toMatchObject({ exit_kind: "cancelled", usage: { tokens: 8449 } });
	});
});

describe("the reason of a hold says where its end comes from", () => {
	const said = async (name: string, change?: (text: string) => string) => {
		const on = await stand();
		const job = await on.add({ agent: capture(name).format, prompt: "x" });
		await play(on, "1.1", name, change);
		const [account] = (await on.sluice.accounts()).filter((one) => one.name === "work");
		expect((await on.sluice.why(job)).reasons[0]?.detail).toContain(account?.reason as string);
		return account?.reason;
	};

	test("the provider", async () => {
		expect(await said("claude-unirej", resetsAt(Date.parse("2040-01-01T00:00:00Z")))).toBe("usage limit; the provider named the reset");
	});

	test("an assumption, for a daily quota of Gemini", async () => {
		const tomorrow = (text: string) => text.replaceAll(/2026-11-\d\dT/g, "2040-01-01T");
		for (const name of ["gemini-429day", "gemini053-429day"])
			expect(await said(name, tomorrow)).toBe("usage limit; the provider named no reset, so midnight in California is assumed");
	});

	test("the provider, which asks for a pause", async () => {
		expect(await said("gemini-429-long")).toBe("rate limit, 1 in a row; the provider asked to wait for 3600 s");
	});

	test("a wait that doubles, if the provider names none", async () => {
		expect(await said("codex-429")).toBe("rate limit, 1 in a row; the wait doubles with each, up to 64 s");
	});
});
