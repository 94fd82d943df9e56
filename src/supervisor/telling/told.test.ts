// What people tell a run: it is stopped between two turns and goes on with the text, once, with its slot and locks, whatever crashes in between.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MINUTE } from "../../../test/make/fakes.ts";
import { type Supervised, supervise } from "../../../test/make/supervised.ts";

const SESSION = "71f8750c-7fdf-49fd-b9f5-c4230759226c";
const line = (event: object) => `${JSON.stringify({ session_id: SESSION, ...event })}\n`;
const BEGIN = line({ type: "system", subtype: "init" });
const tool = (id: string) =>
	line({ type: "assistant", message: { id: `m${id}`, content: [{ type: "tool_use", id, name: "Bash", input: { command: "make" } }] } });
const toolDone = (id: string) => line({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] } });
const RESULT = line({ type: "result", subtype: "success", is_error: false, result: "done", num_turns: 2, usage: { input_tokens: 5 } });

const promptOf = (on: Supervised, run: string) => readFileSync(on.path(run, "prompt.md"), "utf8");
const argvOf = (on: Supervised, run: string) => on.processes.machine.launched.findLast((one) => one.run === run)?.argv ?? [];
const launches = (on: Supervised) => on.processes.machine.launched.map(({ run }) => run);
const toldOf = async (on: Supervised, job: number) => (await on.show(job)).told?.map(({ text, attempt }) => [text, attempt ?? null]);

async function running(options: Parameters<typeof supervise>[0] = {}) {
	const on = await supervise(options);
	const job = await on.add({ agent: "claude", prompt: "do it", locks: ["db"] });
	on.processes.log("1.1", "stdout", BEGIN + tool("t1"));
	await on.pass(1000);
	return { on, job };
}

/** The program obeys SIGINT: it prints its result and exits. */
async function interrupted(on: Supervised, run: string) {
	on.processes.log(
		run,
		"stdout",
		line({ type: "result", subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_tools" }),
	);
	on.processes.exit(run, 1);
	await on.settle();
}

describe("a run that is told something", () => {
	test("is stopped when its tool is done, not before, and resumed with the text; it keeps slot and lock, and burns no retry", async () => {
		const { on, job } = await running({ config: { max_concurrent: 1 } });
		const other = await on.add({ command: ["other"], locks: ["db"], priority: 1000 });
		await on.sluice.tell(job, "Use the new API.", { by: "ann" });
		await on.settle();
		await on.pass(5000);
		expect(on.processes.machine.signals).toEqual([]);
		on.processes.log("1.1", "stdout", toolDone("t1"));
		await on.pass(1000);
		expect(on.processes.machine.signals).toEqual(["1.1 SIGINT"]);
		await interrupted(on, "1.1");
		expect(launches(on)).toEqual(["1.1", "1.2"]);
		expect(argvOf(on, "1.2")).toEqual(expect.arrayContaining(["--resume", SESSION]));
		expect(promptOf(on, "1.2")).toBe(
			"A person who follows your work says:\n\nUse the new API.\n\nTake it into account, and go on with the task.",
		);
		await on.pass(1000);
		expect(await toldOf(on, job)).toEqual([["Use the new API.", 2]]);
		expect(await on.show(job)).toMatchObject({ status: "running", attempt: 2 });
		expect((await on.show(job)).failures).toBeUndefined();
		expect((await on.show(other)).status).not.toBe("running");
		const kinds = (await on.sluice.history(job)).map(({ kind, by }) => `${kind} ${by}`);
		expect(kinds).toEqual(expect.arrayContaining(["told ann", "told_given library"]));
		// The text is not told again.
		on.processes.log("1.2", "stdout", BEGIN + RESULT);
		on.processes.exit("1.2", 0);
		await on.settle();
		expect((await on.show(job)).status).toBe("succeeded");
	});

	test("that ends well before it could be stopped goes on all the same", async () => {
		const { on, job } = await running();
		await on.sluice.tell(job, "And the docs.");
		await on.settle();
		on.processes.log("1.1", "stdout", toolDone("t1") + RESULT);
		on.processes.exit("1.1", 0);
		await on.settle();
		expect(launches(on)).toEqual(["1.1", "1.2"]);
		expect(argvOf(on, "1.2")).toContain("--resume");
		expect(promptOf(on, "1.2")).toContain("And the docs.");
		on.processes.log("1.2", "stdout", BEGIN + RESULT);
		on.processes.exit("1.2", 0);
		await on.settle();
		expect([(await on.show(job)).status, await toldOf(on, job)]).toEqual(["succeeded", [["And the docs.", 2]]]);
	});

	test("gets the text although the daemon is killed: before the stop, after the signal, after the start", async () => {
		const { on: first, job } = await running();
		await first.sluice.tell(job, "Use the new API.");
		let on = await first.crash();
		on.processes.log("1.1", "stdout", toolDone("t1"));
		await on.pass(1000);
		expect(on.processes.machine.signals).toEqual(["1.1 SIGINT"]);
		const machine = on.processes;
		on = await on.crash({ start: "later" });
		machine.log("1.1", "stdout", line({ type: "result", subtype: "error_during_execution", is_error: true }));
		on.processes.exit("1.1", 1);
		await on.supervisor.start();
		await on.settle();
		expect(launches(on)).toEqual(["1.1", "1.2"]);
		on = await on.crash();
		await on.pass(MINUTE / 2);
		expect(await toldOf(on, job)).toEqual([["Use the new API.", 2]]);
		expect((await on.sluice.history(job)).filter(({ kind }) => kind === "told_given")).toHaveLength(1);
		on.processes.log("1.2", "stdout", BEGIN + RESULT);
		on.processes.exit("1.2", 0);
		await on.settle();
		expect(launches(on)).toEqual(["1.1", "1.2"]);
		expect((await on.show(job)).status).toBe("succeeded");
	});
});

test("a job that waits has the text in its first prompt, and again when it starts afresh", async () => {
	const on = await supervise({ config: { max_concurrent: 1 } });
	await on.add({ command: ["first"] });
	const job = await on.add({ agent: "claude", prompt: "do it", retry: { max: 3, on: ["failed"] } });
	await on.sluice.tell(job, "Be brief.");
	on.processes.exit("1.1", 0);
	await on.settle();
	expect(promptOf(on, "2.1")).toBe("do it\n\nA person added to this task:\n\nBe brief.");
	await on.pass(1000);
	expect(await toldOf(on, job)).toEqual([["Be brief.", 1]]);
	on.processes.log(
		"2.1",
		"stdout",
		line({ type: "result", subtype: "error_during_execution", is_error: true, terminal_reason: "prompt_too_long" }),
	);
	on.processes.exit("2.1", 1);
	await on.settle();
	await on.pass(5 * MINUTE);
	expect(argvOf(on, "2.2")).not.toContain("--resume");
	expect(promptOf(on, "2.2")).toContain("A person added to this task:\n\nBe brief.");
});

test("an agent that cannot be resumed is not stopped: its next attempt has the text", async () => {
	const on = await supervise({ settings: { agents: { mine: { command: ["/opt/mine", "{prompt}"] } } } });
	const job = await on.add({ agent: "mine", prompt: "do it", retry: { max: 3, on: ["failed"] } });
	await on.pass(1000);
	await on.sluice.tell(job, "Be brief.");
	await on.pass(MINUTE);
	expect(on.processes.machine.signals).toEqual([]);
	on.processes.exit("1.1", 2);
	await on.settle();
	await on.pass(5 * MINUTE);
	expect(promptOf(on, "1.2")).toContain("A person added to this task:\n\nBe brief.");
});

test("a command, an ended job, a job that asks, and a job with too many texts are refused", async () => {
	const on = await supervise();
	const command = await on.add({ command: ["x"] });
	await expect(on.sluice.tell(command, "x")).rejects.toMatchObject({
		code: "illegal_transition",
		message: expect.stringContaining("runs no agent"),
	});
	const job = await on.add({ agent: "claude", prompt: "x" });
	for (let n = 0; n < 20; n++) await on.sluice.tell(job, `text ${n}`);
	await expect(on.sluice.tell(job, "x")).rejects.toMatchObject({ code: "limit" });
	await on.sluice.cancel(job);
	await on.settle();
	on.processes.exit("2.1", 143);
	await on.settle();
	await expect(on.sluice.tell(job, "x")).rejects.toMatchObject({ hint: expect.stringContaining(`sluice retry ${job}`) });
});
