// What is told of live runs: at most once a second for each, only changes, the last state always, and nothing of a run that is over.

import { describe, expect, test } from "vitest";
import { type Supervised, supervise } from "../../../test/make/supervised.ts";
import type { ProgressOfRun } from "./progress.ts";

const said = (text: string, id = "m") =>
	`${JSON.stringify({ type: "assistant", session_id: "s", message: { id, usage: { input_tokens: 10 }, content: [{ type: "text", text }] } })}\n`;
const tool = (id: string, command: string) =>
	`${JSON.stringify({ type: "assistant", session_id: "s", message: { id: "m2", content: [{ type: "tool_use", id, name: "Bash", input: { command } }] } })}\n`;

async function listening(on: Supervised) {
	const told: (ProgressOfRun & { second: number })[] = [];
	const stop = on.supervisor.onProgress((changed) => {
		for (const one of changed) told.push({ ...one, second: on.clock.monotonic() });
	});
	return { told, stop };
}

describe("an agent's progress", () => {
	test("is told at most once a second however fast it prints, and the last state always arrives", async () => {
		const on = await supervise();
		const job = await on.add({ agent: "claude", prompt: "x" });
		await on.pass(1000);
		const { told } = await listening(on);
		for (let n = 1; n <= 400; n++) {
			on.processes.log("1.1", "stdout", said(`message ${n}`, `m${n}`));
			if (n % 20 === 0) await on.pass(100);
		}
		on.processes.log("1.1", "stdout", tool("t", "make \u001b[31mtest\u202e"));
		await on.pass(3000);
		expect(told.length).toBeGreaterThan(1);
		expect(told.length).toBeLessThanOrEqual(4);
		const gaps = told.slice(1).map((one, at) => one.second - (told[at]?.second ?? 0));
		expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1000);
		expect(told.at(-1)).toMatchObject({
			job,
			attempt: 1,
			progress: { message: "message 400", tool: "Bash make test", tool_calls: 1, last_line: null, lines_added: null },
		});
	});

	test("is not told again while nothing changes, nor once the run is over", async () => {
		const on = await supervise();
		await on.add({ agent: "claude", prompt: "x" });
		await on.pass(1000);
		const { told } = await listening(on);
		on.processes.log("1.1", "stdout", said("hello"));
		await on.pass(10_000);
		expect(told.filter(({ progress }) => progress.message === "hello")).toHaveLength(1);
		const before = told.length;
		on.processes.log("1.1", "stdout", said("last words"));
		on.processes.exit("1.1", 0);
		await on.settle();
		await on.pass(5000);
		expect(told).toHaveLength(before);
		expect(on.supervisor.progress()).toEqual([]);
	});

	test("a caller that asks gets what was printed up to a second ago; without listeners nothing is watched", async () => {
		const on = await supervise();
		const job = await on.add({ agent: "claude", prompt: "x" });
		await on.pass(1000);
		on.processes.log("1.1", "stdout", said("hello"));
		expect(on.supervisor.progress(job)).toMatchObject([{ job, progress: { message: "hello" } }]);
		expect(on.supervisor.live()).toMatchObject([{ job, progress: { message: "hello" } }]);
		const waiting = on.host.waiting;
		const { told, stop } = await listening(on);
		expect(on.host.waiting).toBe(waiting + 1);
		stop();
		expect(on.host.waiting).toBe(waiting);
		on.processes.log("1.1", "stdout", said("more"));
		await on.pass(3000);
		expect(told).toEqual([]);
	});
});

test("a command's progress is its last line, of the stream that it wrote to last", async () => {
	const on = await supervise();
	await on.add({ command: ["make", "test"] });
	await on.pass(1000);
	const { told } = await listening(on);
	on.processes.log("1.1", "stdout", "compiling\n\u001b[32m412 passed\u001b[0m\n");
	await on.pass(2000);
	expect(told.at(-1)).toMatchObject({ progress: { turns: null, message: null, last_line: "412 passed" } });
});
