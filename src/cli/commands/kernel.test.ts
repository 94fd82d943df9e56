// sluice kernel …, and the kernel's queue in list, status, why and pause: with a real scheduler behind the daemon's methods.

import { describe, expect, test } from "vitest";
import { openCommandLine } from "../../../test/make/daemons/command-line.ts";
import { openDesk, openDoors } from "../../../test/make/daemons/served.ts";
import { NOON } from "../../../test/make/fakes.ts";
import { makeKernelFile } from "../../../test/make/stores/kernel-file.ts";
import { connect } from "../../api/client.ts";
import type { DaemonConnection } from "../io.ts";

/** Runs command lines against the real methods. */
async function open() {
	const desk = await openDesk({ preset: "kernel" });
	const { socket } = await openDoors(desk, { port: null });
	const line = await openCommandLine(undefined);
	const run = async (words: string | string[]) => {
		const connection = (await connect(socket)) as DaemonConnection;
		try {
			return await line.run(words, { connect: async () => connection, now: () => NOON });
		} finally {
			connection.close();
		}
	};
	/** Everything that the command prints; it must succeed. */
	const say = async (words: string | string[]) => {
		const { code, out, err } = await run(words);
		expect([words, code, code === 0 ? "" : err]).toEqual([words, 0, ""]);
		return `${err}${out}`;
	};
	return { desk, run, say };
}

describe("sluice kernel", () => {
	test("an entry's life by hand: create, enqueue, list, claim, get, complete", async () => {
		const { say, run } = await open();
		expect(await say("kernel create researcher")).toBe("made agent 1 (researcher), READY\n");
		expect(await say("kernel agents")).toContain("  1  researcher  READY");
		expect(await say(["kernel", "enqueue", "1", "--priority", "5", "--payload", '{"id": 12345678901234567890}'])).toBe(
			"enqueued entry 1\n",
		);
		expect(await say("kernel enqueue 1 --trigger cron --unique")).toBe("enqueued entry 2\n");
		expect(await say("kernel enqueue 1 --trigger cron --unique")).toBe("entry 2 is queued already\n");
		expect(await say("kernel enqueue 1 --at 2h --deadline 3h")).toBe("enqueued entry 3\n");
		expect(await say("kernel list --state queued")).toBe(`ENTRY  PID  STATE   PRIORITY  TRIGGER  ADDED  REMARK
    1    1  queued         5  manual   now
    2    1  queued         0  cron     now
    3    1  queued         0  manual   now    claimable in 2h, deadline in 3h
`);
		expect(await say("kernel claim me")).toContain("    1    1  dispatched         5  manual   now    me has it since now");
		expect(await say("kernel get 1")).toMatch(
			/Entry 1 is dispatched\n(.*\n)* {2}payload {5}\{"id":12345678901234567890\}\n {2}worker {6}me\n/,
		);
		expect(JSON.parse((await run("kernel get 2 --json")).out)).toMatchObject({ sched_id: 2, state: "queued", trigger: "cron" });
		expect(await say("kernel complete 1 failed")).toBe("entry 1 has ended: failed\n");
		expect(await say("kernel cancel 2")).toBe("cancelled entry 2\n");
		expect(await say("kernel gc --stale 10m")).toBe("0 expired, 0 back in the queue\n");
		expect(await say("kernel list --limit 1")).toContain("1 of 3; --limit N and --offset N show others");
	});

	test("ledgers: grant, charge, take back", async () => {
		const { say } = await open();
		await say("kernel create writer");
		expect(await say("kernel ledger")).toBe("no agent is over a limit\n");
		expect(await say("kernel ledger 1")).toContain("sluice kernel grant 1 tokens LIMIT makes one");
		await say("kernel grant 1 tokens 5 --window day");
		expect(await say("kernel charge 1 tokens 9")).toBe("agent 1 has used 9 of 5 tokens: over its limit\n");
		expect(await say("kernel ledger")).toContain("  1  tokens        9      5  day   over its limit: claims pass it over");
		expect(await say("kernel charge 1 tokens -8")).toBe("agent 1 has used 1 of 5 tokens\n");
	});

	test("import prints what was imported, and that the file is unchanged", async () => {
		const { say, run } = await open();
		const file = makeKernelFile(3);
		expect(await say(["kernel", "import", file])).toBe(
			`imported 3 agents, 3 ledgers and 7 entries (3 queued, 1 dispatched, 1 completed, 1 expired, 1 cancelled); ${file} is as it was
agent 2, cost: used 2.5 of 2 became 3 of 2, since ledgers count in whole units
`,
		);
		const again = await run(["kernel", "import", file]);
		expect([again.code, again.err]).toEqual([4, expect.stringContaining("--renumber")]);
	});

	test("mistakes are named", async () => {
		const { run } = await open();
		for (const [words, message, code] of [
			["kernel get 7", "there is no entry 7", 3],
			["kernel get seven", 'ID must be a whole number above 0, not "seven"', 2],
			["kernel enqueue 7", "there is no agent with pid 7", 3],
			["kernel complete 7 well", "EXIT_KIND must be one of completed, cancelled, failed, crashed", 2],
			["kernel grant 7 tokens many", "LIMIT must be a whole number", 2],
			["kernel import /nowhere/kernel.db", "there is no file /nowhere/kernel.db", 3],
		] as const) {
			const { code: found, err } = await run(words);
			expect([words, found, err]).toEqual([words, code, expect.stringContaining(message)]);
		}
	});
});

describe("the kernel's queue is visible", () => {
	const filled = async () => {
		const all = await open();
		for (const words of [
			"kernel create a",
			"kernel create b",
			"kernel enqueue 1",
			"kernel enqueue 2 --priority 3",
			"kernel enqueue 1 --at 2h",
		])
			await all.say(words);
		await all.say("kernel claim sup-7");
		return all;
	};

	test("in list, beside the jobs; with --all also ended entries", async () => {
		const { desk, say, run } = await filled();
		expect(await say("list")).toBe(`kernel
ENTRY  PID  STATE       PRIORITY  TRIGGER  ADDED  REMARK
    1    1  queued             0  manual   now
    2    2  dispatched         3  manual   now    sup-7 has it since now
    3    1  queued             0  manual   now    claimable in 2h
`);
		await desk.t.add({ command: ["true"] });
		await say("kernel complete 2 completed");
		expect(await say("list")).toMatch(/^ID .*\n 4 .*\n\nkernel\nENTRY/);
		expect(await say("list")).not.toContain("completed");
		expect(await say("list --all")).toMatch(/\n {4}2 {4}2 {2}completed .*completed\n/);
		const { jobs, kernel } = JSON.parse((await run("list --json")).out);
		expect([jobs.length, kernel.total, kernel.entries.map((one: { sched_id: number }) => one.sched_id)]).toEqual([1, 2, [1, 3]]);
		expect(await say("list --lane default")).not.toContain("kernel");
	});

	test("in status, also while everything is paused, and in what pause says", async () => {
		const { say, run } = await filled();
		expect(await say("status")).toContain("\nKernel: 2 queued, 1 dispatched; sluice kernel list\n");
		expect(JSON.parse((await run("status --json")).out).kernel).toEqual({ queued: 2, dispatched: 1 });
		expect(await say("pause")).toBe(
			"paused: everything; what runs goes on\nnot paused: the kernel's queue; workers can still claim its 2 queued entries\n",
		);
		expect(await say("status")).toContain("; entries of the kernel's queue can still be claimed\n");
		expect(await say("pause --lane default")).not.toContain("kernel");
	});

	test("why explains an entry, with commands that work", async () => {
		const { say } = await filled();
		expect(await say("why 1")).toContain("Entry 1 is queued, and goes to a worker that claims it.");
		expect(await say("why 2")).toContain("Entry 2 is dispatched: sup-7 has it since now.");
		expect(await say("why 3")).toContain("Entry 3 is queued, but no claim takes it now.");
		await say("kernel grant 1 tokens 5");
		await say("kernel charge 1 tokens 9");
		const budget = await say("why 1");
		expect(budget).toContain("pid:1 has used 9 of 5 tokens");
		const hint = /grant more: sluice (kernel grant 1 tokens) LIMIT/.exec(budget)?.[1];
		await say(`${hint} 100`);
		expect(await say("why 1")).toContain("goes to a worker that claims it");
		await say("kernel complete 2 failed");
		expect(await say("why 2")).toContain("Entry 2 is completed: its worker sup-7 said failed.");
		expect(await say("why 2")).toContain("another like it: sluice kernel enqueue 2");
		expect(await say("why 2")).not.toContain("retry");
		await say("kernel cancel 1");
		expect(await say("why 1")).toContain("Entry 1 is cancelled: it ended before a worker claimed it.");
	});

	test("a command that does not apply names the one that does", async () => {
		const { run } = await filled();
		expect(await run("kernel cancel 2")).toMatchObject({
			code: 4,
			err: expect.stringContaining("sluice cancel 2 asks its worker to stop"),
		});
		expect(await run("retry 2")).toMatchObject({ code: 4, err: expect.stringContaining("sluice kernel enqueue PID") });
	});
});
