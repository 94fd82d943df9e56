// A kernel.db of before: refused as a store and left as it is; imported with its agents, ledgers and queue.

import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { openDesk } from "../make/daemons/served.ts";
import { makeKernelFile } from "../make/stores/kernel-file.ts";

const open = () => openDesk({ preset: "kernel" });

describe("a kernel.db is imported", () => {
	test("schema 2: agents and ledgers, under their pids; the file stays byte for byte", async () => {
		const desk = await open();
		const file = makeKernelFile(2);
		const before = readFileSync(file);
		expect(await desk.call("kernel.import", { file })).toEqual({
			agents: 3,
			ledgers: 3,
			entries: { queued: 0, dispatched: 0, completed: 0, expired: 0, cancelled: 0 },
			renumbered: false,
			notes: ["agent 2, cost: used 2.5 of 2 became 3 of 2, since ledgers count in whole units"],
		});
		expect(readFileSync(file).equals(before)).toBe(true);
		expect(readdirSync(dirname(file))).toEqual(["kernel.db"]);
		expect((await desk.call("kernel.agent.list", {})).agents).toEqual([
			{ pid: 1, name: "researcher", state: "READY" },
			{ pid: 2, name: "writer", state: "RUNNING" },
			{ pid: 5, name: "old one", state: "DEAD" },
		]);
		expect((await desk.call("kernel.ledger.get", { pid: 1 })).ledgers).toMatchObject([{ dim: "tokens", used: 120, limit: 1000 }]);
		expect((await desk.call("kernel.ledger.get", { pid: 2 })).ledgers).toMatchObject([
			{ dim: "cost", used: 3, limit: 2, over_limit: true },
			{ dim: "wall", used: 7, limit: null },
		]);
		// The next one comes after all that there were.
		expect(await desk.call("kernel.agent.create", { name: "new" })).toEqual({ pid: 6, state: "READY" });
		expect((await desk.refused("kernel.sched.enqueue", { pid: 5 })).code).toBe(-32133);
	});

	test("schema 3: the queue too, each entry in its state, with its number, times and payload", async () => {
		const desk = await open();
		expect(await desk.call("kernel.import", { file: makeKernelFile(3) })).toMatchObject({
			entries: { queued: 3, dispatched: 1, completed: 1, expired: 1, cancelled: 1 },
		});
		const { entries, total } = await desk.call("kernel.sched.list", {});
		expect(total).toBe(7);
		const shared = { priority: 0, runnable_at: 0, deadline: null, trigger: "manual", payload: {}, worker_id: null };
		const waiting = { dispatched_at: null, completed_at: null, exit_kind: null };
		expect(entries.slice(1)).toEqual([
			{
				...shared,
				...waiting,
				sched_id: 3,
				pid: 1,
				priority: 9,
				runnable_at: 4102444800,
				deadline: 4102444900.5,
				state: "queued",
				created_at: 1700000001,
			},
			{
				...shared,
				...waiting,
				sched_id: 4,
				pid: 2,
				priority: 7,
				trigger: "event",
				payload: { step: 2 },
				state: "queued",
				created_at: 1700000002,
			},
			{
				...shared,
				...waiting,
				sched_id: 6,
				pid: 2,
				state: "dispatched",
				worker_id: "sup-7",
				created_at: 1700000003,
				dispatched_at: 1700000010.5,
			},
			{
				...shared,
				sched_id: 7,
				pid: 1,
				trigger: "resume",
				state: "completed",
				worker_id: "sup-7",
				created_at: 1700000004,
				dispatched_at: 1700000011.25,
				completed_at: 1700000012.75,
				exit_kind: "crashed",
			},
			{ ...shared, ...waiting, sched_id: 8, pid: 1, deadline: 1700000006, state: "expired", created_at: 1700000005 },
			{ ...shared, ...waiting, sched_id: 9, pid: 1, state: "cancelled", created_at: 1700000006 },
		]);
		expect(entries[0]).toMatchObject({ sched_id: 2, priority: 5, trigger: "cron", state: "queued", created_at: 1700000000.25 });
	});

	test("and goes on from there: claims in order, past an owner over its limit; the worker of before completes its entry", async () => {
		const desk = await open();
		await desk.call("kernel.import", { file: makeKernelFile(3) });
		const claimed = async () =>
			(await desk.call("kernel.sched.claim", { worker_id: "w", max_n: 10 })).entries.map(({ sched_id }) => sched_id);
		expect(await claimed()).toEqual([2]);
		await desk.call("kernel.ledger.update_grant", { pid: 2, dim: "cost", limit: 100 });
		expect(await claimed()).toEqual([4]);
		expect(await desk.call("kernel.sched.complete", { sched_id: 6, exit_kind: "completed", worker_id: "sup-7" })).toMatchObject({
			prev_state: "dispatched",
		});
		expect((await desk.refused("kernel.sched.cancel", { sched_id: 9 })).code).toBe(-32131);
		const { pid } = await desk.call("kernel.agent.create", { name: "new" });
		expect(await desk.call("kernel.sched.enqueue", { pid })).toEqual({ sched_id: 10 });
	});

	test("where a number is taken it is refused as a whole, or numbered anew", async () => {
		const desk = await open();
		await desk.call("kernel.agent.create", { name: "mine" });
		await desk.call("kernel.sched.enqueue", { pid: 1 });
		const file = makeKernelFile(3);
		const refused = await desk.refused("kernel.import", { file });
		expect(refused).toMatchObject({ data: { code: "conflict", hint: expect.stringContaining("--renumber") } });
		expect(refused.message).toBe("there is an agent with pid 1 here already, or there was one; nothing was imported");
		expect((await desk.call("kernel.agent.list", {})).agents).toHaveLength(1);
		expect(await desk.call("kernel.import", { file, renumber: true })).toMatchObject({ agents: 3, renumbered: true });
		expect((await desk.call("kernel.agent.list", {})).agents.map(({ pid, name }) => [pid, name])).toEqual([
			[1, "mine"],
			[2, "researcher"],
			[3, "writer"],
			[4, "old one"],
		]);
		const { entries } = await desk.call("kernel.sched.list", {});
		expect(entries.map(({ sched_id, pid, trigger }) => [sched_id, pid, trigger])).toEqual([
			[1, 1, "manual"],
			[2, 2, "cron"],
			[3, 2, "manual"],
			[4, 3, "event"],
			[5, 3, "manual"],
			[6, 2, "resume"],
			[7, 2, "manual"],
			[8, 2, "manual"],
		]);
	});

	test.each([
		[
			"an entry of an agent that is not there",
			"INSERT INTO agent_schedule_queue (pid, created_at) VALUES (77, 1);",
			/agent 77, which is not in the file/,
		],
		["a payload that is not JSON", "UPDATE agent_schedule_queue SET payload = '{' WHERE sched_id = 3;", /entry 3: its payload is not JSON/],
		["a name that cannot be one", "UPDATE agent_processes SET name = '../x' WHERE pid = 2;", /agent 2: name/],
	])("%s: all of it is refused", async (_name, sql, message) => {
		const desk = await open();
		const refused = await desk.refused("kernel.import", { file: makeKernelFile(3, sql) });
		expect(refused.message).toMatch(message);
		expect((await desk.call("kernel.agent.list", {})).agents).toEqual([]);
		expect((await desk.call("kernel.sched.list", {})).total).toBe(0);
	});

	test("a file that is none, or is not there", async () => {
		const desk = await open();
		expect((await desk.refused("kernel.import", { file: "kernel.db" })).message).toContain("is not a whole path");
		expect((await desk.refused("kernel.import", { file: "/nowhere/kernel.db" })).data?.code).toBe("not_found");
		const other = makeKernelFile(2, "DROP TABLE agent_processes;");
		expect((await desk.refused("kernel.import", { file: other })).message).toContain("is no kernel.db");
	});
});
