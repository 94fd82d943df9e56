// What the next attempt learns about the last one and about a person's answer: in its prompt, in its session, in prior.json.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { capture } from "../../test/make/agents/capture.ts";
import { HOUR, MINUTE } from "../../test/make/fakes.ts";
import { type Supervised, supervise } from "../../test/make/supervised.ts";

const promptOf = (on: Supervised, run: string) => readFileSync(on.path(run, "prompt.md"), "utf8");
const argvOf = (on: Supervised, run: string) => on.processes.machine.launched.findLast((one) => one.run === run)?.argv ?? [];

async function play(on: Supervised, run: string, name: string): Promise<void> {
	const { stdout, stderr, code } = capture(name);
	on.processes.log(run, "stdout", stdout.toString());
	on.processes.log(run, "stderr", stderr);
	on.processes.exit(run, code);
	await on.settle();
}

const MINE = { mine: { command: ["/opt/mine", "{prompt}"] } };

test("the prompt of a script as agent says how its last attempt ended", async () => {
	const on = await supervise({ settings: { agents: MINE } });
	await on.add({ agent: "mine", prompt: "do it", retry: { max: 3, on: ["failed"] } });
	expect(promptOf(on, "1.1")).toBe("do it");
	on.processes.log("1.1", "stdout", "compiling\n");
	on.processes.log("1.1", "stderr", "error: no such file: a.c\n");
	on.processes.exit("1.1", 2);
	await on.settle();
	await on.pass(HOUR);
	expect(promptOf(on, "1.2")).toBe(`do it

This is attempt 2 at this task. Attempt 1 failed: error: no such file: a.c.

The end of what it wrote:
    compiling
    error: no such file: a.c`);
	expect(argvOf(on, "1.2")).toEqual(["/opt/mine", promptOf(on, "1.2")]);
});

test("a recipe's prompt says where the context of the last attempt goes", async () => {
	const on = await supervise({ settings: { agents: MINE } });
	const prompt = "{{answer}}do it, try {{attempt}}. Last time: <{{last_error}}> on <{{prior_branch}}>. \\{{prior}}";
	await on.add({ agent: "mine", prompt, recipe: "own", retry: { max: 3, on: ["failed"] } });
	expect(promptOf(on, "1.1")).toBe("do it, try 1. Last time: <> on <>. {{prior}}");
	on.processes.log("1.1", "stderr", "broken\n");
	on.processes.exit("1.1", 2);
	await on.settle();
	await on.pass(HOUR);
	expect(promptOf(on, "1.2")).toBe("do it, try 2. Last time: <broken> on <>. {{prior}}");
});

test("an answer resumes the session; where it cannot, it comes with the question", async () => {
	const on = await supervise();
	const job = await on.add({ agent: "claude", prompt: "do it" });
	const fresh = await on.add({ agent: "claude", prompt: "do it", mode: "ralph" });
	await play(on, "1.1", "claude-tool-denied");
	await play(on, "2.1", "claude-tool-denied");
	const asked = (await on.show(job)).question as string;
	expect(asked).toMatch(/^it was not allowed to:/);
	for (const id of [job, fresh]) await on.sluice.answer(id, "yes, do", { by: "ann" });
	await on.settle();
	await on.pass(MINUTE);
	expect(argvOf(on, "1.2")).toContain("--resume");
	expect(promptOf(on, "1.2")).toBe("yes, do");
	expect(argvOf(on, "2.2")).not.toContain("--resume");
	expect(promptOf(on, "2.2")).toBe(
		`do it\n\nThis is attempt 2 at this task. Attempt 1 asked for a person.\n\nIt asked a person:\n${asked}\nThe answer:\nyes, do`,
	);
	expect(on.file("2.2", "prior.json")).toMatchObject({ exit_kind: "needs_human", asked, answer: "yes, do" });
	// The run that got the answer fails.
	on.processes.exit("2.2", 1, null);
	await on.settle();
});
