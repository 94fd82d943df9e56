// sluice attach: waits, opens the session at the terminal, gives it back, whatever happens in between.

import { expect, test } from "vitest";
import { openCommandLine } from "../../../../test/make/daemons/command-line.ts";

const OPEN = { path: "/w/7", session: "s", argv: ["claude", "--resume", "s"], env: { CLAUDE_CONFIG_DIR: "/c" } };

async function line(states: ("waiting" | "ready")[], released = true) {
	const ran: unknown[] = [];
	const cli = await openCommandLine({
		"job.attach": () => {
			const state = states.shift() ?? "ready";
			return { job: 7, key: "k", state, open: state === "ready" ? OPEN : null };
		},
		"job.detach": { job: 7, released },
	});
	const atTerminal = async (argv: readonly string[], at: object) => {
		ran.push([argv, at]);
		return 0;
	};
	return { cli, ran, atTerminal };
}

test("waits for the end of the turn, runs the agent's program in the job's folder, and lets the run go on", async () => {
	const { cli, ran, atTerminal } = await line(["waiting", "waiting", "ready"]);
	const { code, err } = await cli.run("attach 7", { atTerminal });
	expect(code).toBe(0);
	expect(err).toContain("waits until the agent of job 7 has ended its present turn");
	expect(err).toContain("job 7: claude --resume s in /w/7\njob 7 goes on\n");
	expect(ran).toEqual([[["claude", "--resume", "s"], { cwd: "/w/7", env: { CLAUDE_CONFIG_DIR: "/c" } }]]);
	expect(cli.asked.map(({ method, params }) => [method, params])).toEqual([
		["job.attach", { id: 7 }],
		["job.attach", { id: 7, key: "k" }],
		["job.attach", { id: 7, key: "k" }],
		["job.detach", { id: 7, key: "k" }],
	]);
});

test("--done ends the job as it stands; a run that went on before is told", async () => {
	const done = await line(["ready"]);
	expect((await done.cli.run("attach 7 --done", { atTerminal: done.atTerminal })).err).toContain("job 7 is judged as it stands");
	expect(done.cli.asked.at(-1)).toEqual({ method: "job.detach", params: { id: 7, key: "k", done: true } });
	const late = await line(["ready"], false);
	expect((await late.cli.run("attach 7", { atTerminal: late.atTerminal })).err).toContain("job 7 has gone on already");
});

test("a program that cannot be started gives the session back, and never counts as done", async () => {
	const { cli } = await line(["ready"]);
	const atTerminal = async () => {
		throw new Error("spawn claude ENOENT");
	};
	const { code, err } = await cli.run("attach 7 --done", { atTerminal });
	expect([code, err]).toEqual([1, expect.stringContaining("claude could not be started: spawn claude ENOENT")]);
	expect(cli.asked.at(-1)).toEqual({ method: "job.detach", params: { id: 7, key: "k" } });
});

test("without a terminal it is refused, and says what to do", async () => {
	const { cli } = await line([]);
	expect(await cli.run("attach 7")).toMatchObject({ code: 2, err: expect.stringContaining("attach needs a terminal") });
	expect(cli.asked).toEqual([]);
});
