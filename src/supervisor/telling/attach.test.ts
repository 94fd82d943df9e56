// A person takes over the session of a run: the end of the run is held back, with its slot and locks, until the person leaves or the terminal is gone.

import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MINUTE } from "../../../test/make/fakes.ts";
import { type Supervised, supervise } from "../../../test/make/supervised.ts";

const SESSION = "71f8750c-7fdf-49fd-b9f5-c4230759226c";
const line = (event: object) => `${JSON.stringify({ session_id: SESSION, ...event })}\n`;
const tool = (id: string) =>
	line({ type: "assistant", message: { id: `m${id}`, content: [{ type: "tool_use", id, name: "Bash", input: { command: "make" } }] } });
const toolDone = (id: string) => line({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] } });
const ABORTED = line({ type: "result", subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_tools" });

const launches = (on: Supervised) => on.processes.machine.launched.map(({ run }) => run);
const promptOf = (on: Supervised, run: string) => readFileSync(on.path(run, "prompt.md"), "utf8");

/** A run whose session a terminal has, while another job waits for its slot and its lock. */
async function attached() {
	const on = await supervise({ config: { max_concurrent: 1 } });
	const job = await on.add({ agent: "claude", prompt: "do it", locks: ["db"] });
	on.processes.log("1.1", "stdout", line({ type: "system", subtype: "init" }) + tool("t1"));
	await on.pass(1000);
	const other = await on.add({ command: ["other"], locks: ["db"], priority: 1000 });
	const { key, state } = on.supervisor.attach(job, { by: "ann", key: null });
	await on.pass(2000);
	expect([state, on.processes.machine.signals]).toEqual(["waiting", []]);
	on.processes.log("1.1", "stdout", toolDone("t1"));
	await on.pass(1000);
	expect(on.processes.machine.signals).toEqual(["1.1 SIGINT"]);
	on.processes.log("1.1", "stdout", ABORTED);
	on.processes.exit("1.1", 1);
	await on.settle();
	await on.pass(1000);
	expect(on.supervisor.attach(job, { by: "ann", key })).toMatchObject({ key, state: "ready", session: SESSION });
	return { on, job, other, key };
}

/** The terminal keeps its lease for so long. */
async function keep(on: Supervised, job: number, key: string, times: number) {
	for (let n = 0; n < times; n++) {
		await on.pass(10_000);
		expect(on.supervisor.attach(job, { by: "ann", key }).state).toBe("ready");
	}
}

describe("an attached run", () => {
	test("keeps slot and lock for as long as the terminal asks, and goes on when the person leaves", async () => {
		const { on, job, other, key } = await attached();
		await keep(on, job, key, 30);
		expect([(await on.show(job)).status, (await on.show(other)).status]).toEqual(["running", "waiting_on_locks"]);
		expect(on.supervisor.live()).toMatchObject([{ job, attached: { by: "ann", state: "ready" } }]);
		expect(() => on.supervisor.attach(job, { by: "bob", key: null })).toThrow("is attached by ann");
		expect(on.supervisor.detach(job, { key, done: false })).toBe(true);
		await on.settle();
		expect(launches(on)).toEqual(["1.1", "1.2"]);
		expect(promptOf(on, "1.2")).toMatch(/^A person has worked in this session/);
		expect((await on.show(job)).failures).toBeUndefined();
		expect(on.supervisor.detach(job, { key, done: false })).toBe(false);
		expect(existsSync(on.path("1.1", "attached.json"))).toBe(false);
	});

	test("with done is judged as it stands", async () => {
		const { on, job, key } = await attached();
		on.supervisor.detach(job, { key, done: true });
		await on.settle();
		expect(await on.show(job)).toMatchObject({ status: "succeeded", exit_kind: "completed", attempt: 1, session: SESSION });
	});

	test("goes on by itself when the terminal is gone", async () => {
		const { on, job } = await attached();
		await on.pass(MINUTE);
		expect(launches(on)).toEqual(["1.1", "1.2"]);
		expect((await on.show(job)).status).toBe("running");
	});

	test("is cancelled although a person has its session", async () => {
		const { on, job, key } = await attached();
		await on.sluice.cancel(job);
		await on.settle();
		await on.pass(1000);
		expect((await on.show(job)).status).toBe("cancelled");
		expect(() => on.supervisor.attach(job, { by: "ann", key })).toThrow("not attached any more");
	});

	test("stays attached when the daemon is killed, as long as the terminal asks; else it goes on", async () => {
		const { on: first, job, key } = await attached();
		const on = await first.crash({ awayMs: 5000 });
		await on.pass(1000);
		await keep(on, job, key, 6);
		expect(launches(on)).toEqual(["1.1"]);
		on.supervisor.detach(job, { key, done: false });
		await on.settle();
		expect(launches(on)).toEqual(["1.1", "1.2"]);
		const { on: second } = await attached();
		const late = await second.crash({ awayMs: MINUTE });
		await late.pass(1000);
		expect(launches(late)).toEqual(["1.1", "1.2"]);
	});

	test("is let go when the daemon is told to stop all runs", async () => {
		const { on, job } = await attached();
		const drained = on.supervisor.drain({ graceMs: 0, runs: "stop" });
		await on.settle();
		await on.pass(2000);
		await drained;
		expect((await on.show(job)).status).toBe("queued");
	});
});

test("a command, an agent that cannot be resumed and a job without a run here are refused", async () => {
	const on = await supervise({ settings: { agents: { mine: { command: ["/opt/mine", "{prompt}"] } } } });
	const command = await on.add();
	const plain = await on.add({ agent: "mine", prompt: "x" });
	await on.pass(1000);
	expect(() => on.supervisor.attach(command, { by: "ann", key: null })).toThrow("runs a command");
	expect(() => on.supervisor.attach(plain, { by: "ann", key: null })).toThrow("cannot be resumed");
	expect(() => on.supervisor.attach(99, { by: "ann", key: null })).toThrow("has no run on this host");
});
