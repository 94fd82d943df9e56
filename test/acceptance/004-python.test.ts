// 004, criterion 8, by a client in plain Python 3: the kernel contract over the socket, every method, default and error code; and two workers racing.

import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { METHODS } from "../../src/api/protocol.ts";
import { localHost, systemClock } from "../../src/host/local.ts";
import { openScheduler } from "../../src/open.ts";
import { Desk, openDesk, openDoors } from "../make/daemons/served.ts";
import { makeFolder } from "../make/folder.ts";
import { placeOf } from "../make/stand.ts";

const CLIENT = join(dirname(fileURLToPath(import.meta.url)), "..", "python", "kernel-client.py");
const hasPython = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 6))"]).status === 0;
if (!hasPython) console.warn("python3 is not here: the kernel contract is not tried with a client in Python");

/** The doors over a scheduler on a file, with a real clock and real timers: what a daemon has. */
async function openKernel(config: Record<string, unknown> = {}): Promise<{ desk: Desk; socket: string }> {
	const { t, context, pretended } = await openDesk();
	await t.sluice.close();
	const path = join(makeFolder(), "sluice.db");
	const scheduler = await openScheduler({ ...(await placeOf(path)), preset: "kernel", config, clock: systemClock, host: localHost });
	const desk = new Desk(t, { ...context, scheduler }, pretended);
	const { socket, serving } = await openDoors(desk, { port: null });
	onTestFinished(async () => {
		await serving.close();
		await scheduler.close();
	});
	return { desk, socket };
}

const python = (...args: string[]) =>
	new Promise<{ code: number; out: string }>((resolve) => {
		execFile("python3", [CLIENT, ...args], { maxBuffer: 1 << 24 }, (error, out, err) => {
			resolve({ code: error ? Number(error.code ?? 1) : 0, out: `${out}${err}`.trim() });
		});
	});
const lastLine = (text: string) => text.slice(text.lastIndexOf("\n") + 1);

describe.skipIf(!hasPython)("the kernel contract, from Python", () => {
	test("every method, default, result and error code", async () => {
		const { desk, socket } = await openKernel();
		const { code, out } = await python("check", socket);
		expect([code, lastLine(out)]).toEqual([0, "done"]);
		expect(desk.pretended.errors).toEqual([]);
	});

	test("the client knows every method that there is", async () => {
		const text = readFileSync(CLIENT, "utf8");
		const missing = Object.keys(METHODS).filter(
			(name) => name.startsWith("kernel.") && !text.includes(`"${name.slice("kernel.".length)}"`),
		);
		expect(missing).toEqual([]);
	});

	test("two workers racing get every entry once", async () => {
		const { desk, socket } = await openKernel();
		const { kernel } = desk.context.scheduler;
		const { pid } = await kernel.agent.create({ name: "a" });
		const ids = await Promise.all(Array.from({ length: 400 }, async (_, n) => (await kernel.enqueue({ pid, priority: n % 3 })).sched_id));
		const workers = await Promise.all([python("work", socket, "sup-1"), python("work", socket, "sup-2")]);
		const got = workers.map(({ out }) => JSON.parse(out) as number[]);
		expect(got.flat().sort((a, b) => a - b)).toEqual(ids.sort((a, b) => a - b));
		expect(got.map((mine) => mine.length > 0)).toEqual([true, true]);
		expect((await kernel.list({ state: "completed", limit: 0 })).total).toBe(400);
	});

	test("kernel.enabled: false hides all of it", async () => {
		const { socket } = await openKernel({ kernel: { enabled: false } });
		const { code, out } = await python("hidden", socket);
		expect([code, lastLine(out)]).toEqual([0, "done"]);
	});
});
