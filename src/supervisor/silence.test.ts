// Silence of agents: what counts as silence, how long a run may be silent, and what happens to the job then.

import { describe, expect, test } from "vitest";
import { capture } from "../../test/make/agents/capture.ts";
import { HOUR, MINUTE, SECOND } from "../../test/make/fakes.ts";
import { supervise } from "../../test/make/supervised.ts";

const linesOf = (name: string) => capture(name).stdout.toString().trimEnd().split("\n");

describe("an agent that writes nothing", () => {
	test("is stopped after twenty minutes by default, and retried", async () => {
		const on = await supervise();
		const job = await on.add({ agent: "claude", prompt: "x" });
		on.processes.log("1.1", "stdout", `${linesOf("claude-tool")[0]}\n`);
		await on.pass(19 * MINUTE);
		expect((await on.show(job)).status).toBe("running");
		await on.pass(MINUTE + 10 * SECOND);
		expect(await on.show(job)).toMatchObject({ status: "queued", exit_kind: "stalled", failures: 1 });
	});

	test("is retried as often as its job asks for", async () => {
		const on = await supervise();
		const job = await on.add({ agent: "codex", prompt: "x", stall_timeout: "15s", retry: 1 });
		await on.pass(20 * SECOND);
		expect(await on.show(job)).toMatchObject({ status: "queued", exit_kind: "stalled", failures: 1 });
		await on.pass(MINUTE);
		await on.pass(20 * SECOND);
		expect(await on.show(job)).toMatchObject({ status: "failed", exit_kind: "stalled", attempt: 2, end_reason: "no output for 15s" });
	});

	test.each([
		["the job", { stall_timeout: 0 }, {}],
		["the settings", {}, { agent_stall_timeout_ms: null }],
	])("is left alone if %s says so", async (_who, input, settings) => {
		const on = await supervise({ settings });
		const job = await on.add({ agent: "claude", prompt: "x", ...input });
		await on.pass(45 * MINUTE);
		expect((await on.show(job)).status).toBe("running");
	});

	test("is left alone if its output is not read, and so are commands", async () => {
		const on = await supervise({ settings: { agents: { mine: { command: ["mine", "{prompt}"], output: "command" } } } });
		const jobs = [await on.add({ agent: "mine", prompt: "x" }), await on.add()];
		await on.pass(45 * MINUTE);
		for (const job of jobs) expect((await on.show(job)).status).toBe("running");
	});

	test("is stopped by the setting for all jobs before the one for agents", async () => {
		const on = await supervise({ settings: { stall_timeout_ms: MINUTE } });
		const job = await on.add({ agent: "claude", prompt: "x", retry: 0 });
		await on.pass(2 * MINUTE);
		expect((await on.show(job)).exit_kind).toBe("stalled");
	});
});

describe("a tool that runs for two hours", () => {
	const TOOL: Record<string, (line: string) => boolean> = {
		claude: (line) => line.includes('"tool_use"'),
		codex: (line) => line.includes('"item.started"') && line.includes("command_execution"),
		gemini: (line) => line.includes('"tool_use"'),
	};
	test.each(["claude", "codex", "gemini"])("is no silence: %s", async (agent) => {
		const on = await supervise();
		const job = await on.add({ agent, prompt: "x" });
		const lines = linesOf(`${agent}-tool`);
		const call = lines.findIndex((line) => TOOL[agent]?.(line));
		expect(call).toBeGreaterThan(0);
		on.processes.log("1.1", "stdout", `${lines.slice(0, call + 1).join("\n")}\n`);
		await on.pass(HOUR);
		await on.pass(HOUR);
		expect((await on.show(job)).status).toBe("running");
	});

	test("is no silence: opencode, which reports it only when it is done", async () => {
		const on = await supervise();
		const job = await on.add({ agent: "opencode", prompt: "x", retry: 0 });
		const mark = on.processes.machine.launched[0]!.mark;
		const began = on.clock.now();
		const start = { type: "step_start", timestamp: began, sessionID: "ses_1", part: {} };
		// A server that was started before the model answered is not a tool.
		on.processes.child(mark, [], began - 1000);
		on.processes.log("1.1", "stdout", `${JSON.stringify(start)}\n`);
		on.processes.child(mark, [], began + 500);
		await on.pass(2 * HOUR);
		expect((await on.show(job)).status).toBe("running");
		// The tool is done, and the model does not answer any more.
		on.processes.machine.children.get(mark)!.pop();
		await on.pass(41 * MINUTE);
		expect((await on.show(job)).exit_kind).toBe("stalled");
	});
});

describe("a provider that is down", () => {
	const play = async (on: Awaited<ReturnType<typeof supervise>>, run: string, name: string) => {
		const { stdout, stderr, code } = capture(name);
		on.processes.log(run, "stdout", stdout.toString());
		on.processes.log(run, "stderr", stderr);
		on.processes.exit(run, code);
		await on.settle();
	};

	test.each(["claude-500", "claude-529", "claude325-529", "codex-503", "gemini-500"])("%s: costs no retry", async (name) => {
		const on = await supervise();
		const agent = name.replace(/\d*-.*/, "");
		const job = await on.add({ agent, prompt: "x" });
		await play(on, "1.1", name);
		expect(await on.show(job)).toMatchObject({ status: "queued", exit_kind: "crashed" });
		expect((await on.show(job)).failures).toBeUndefined();
		expect(on.file("1.1", "outcome.json")).toMatchObject({ outcome: "transient", outage: true });
		expect((await on.sluice.status()).holds).toMatchObject([{ kind: "outage", scope: `account:${agent}` }]);
	});

	test("does not delete the result: the next run resumes the session and does not report it again", async () => {
		const on = await supervise();
		const job = await on.add({ agent: "claude", prompt: "x" });
		const { token } = (await on.show(job)).run!;
		await on.sluice.result({ job, token }, { risk: "low" });
		await play(on, "1.1", "claude-529");
		await on.pass(8 * SECOND);
		expect(await on.show(job)).toMatchObject({ status: "running", attempt: 2, result: '{"risk":"low"}' });
		expect(on.processes.machine.launched[1]!.argv).toContain("--resume");
	});

	test("is back as soon as the next run gets an answer, long before that run ends", async () => {
		const on = await supervise();
		const first = await on.add({ agent: "claude", prompt: "x" });
		await play(on, "1.1", "claude-529");
		const others = [await on.add({ agent: "claude", prompt: "y" }), await on.add({ agent: "claude", prompt: "z" })];
		await on.pass(8 * SECOND);
		const running = async () => (await on.sluice.list({ status: ["running"] })).map(({ id }) => id);
		const [trying, ...more] = await running();
		expect(more).toEqual([]);
		// Output before the model's first answer does not count as an answer.
		const lines = linesOf("claude-tool");
		const run = `${trying}.${trying === first ? 2 : 1}`;
		on.processes.log(run, "stdout", `${lines[0]}\n`);
		await on.pass(10 * SECOND);
		expect(await running()).toEqual([trying]);
		on.processes.log(run, "stdout", `${lines[1]}\n`);
		await on.pass(10 * SECOND);
		expect((await on.sluice.status()).holds).toEqual([]);
		expect((await running()).sort()).toEqual([first, ...others].sort());
	});

	test.each([
		["output that breaks off", "claude", linesOf("claude-tool").slice(0, 2).join("\n"), "", 0],
		[
			"a tool's output on stderr, after the model has answered",
			"claude",
			linesOf("claude-tool").slice(0, 2).join("\n"),
			"curl: connection refused\n",
			1,
		],
		["a session that is in use", "claude", "", "Error: Session ID 1b183aab-0000 is already in use.\n", 1],
	])("is not inferred from %s", async (_name, agent, stdout, stderr, code) => {
		const on = await supervise();
		const job = await on.add({ agent, prompt: "x" });
		on.processes.log("1.1", "stdout", `${stdout}\n`);
		on.processes.log("1.1", "stderr", stderr);
		on.processes.exit("1.1", code);
		await on.settle();
		expect(await on.show(job)).toMatchObject({ exit_kind: "crashed", failures: 1 });
		expect((await on.sluice.status()).holds).toEqual([]);
	});
});
