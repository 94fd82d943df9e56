// The kernel's methods at the daemon's doors: payloads that come back as they were sent, parameters that may be null, who acted.

import { describe, expect, test } from "vitest";
import { answerText } from "../../src/api/dispatch.ts";
import { type Desk, openDesk } from "../make/daemons/served.ts";
import { NOON } from "../make/fakes.ts";

/** The answer's text, as it goes over the wire. */
async function send(desk: Desk, method: string, params: string): Promise<string> {
	const answer = await answerText(desk.door, { caller: desk.owner }, `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
	return answer as string;
}

const open = async () => {
	const desk = await openDesk({ preset: "kernel" });
	const { pid } = await desk.call("kernel.agent.create", { name: "researcher" });
	return { desk, pid };
};

const WHOLE = [
	'{"message_id":1234567890123456789}',
	'{"10":"x","9":"y","share":1.0}',
	'{"nul":"\\u0000","half":"\\ud800"}',
	`{"deep":${"[".repeat(900)}${"]".repeat(900)}}`,
	`{"long":"${"x".repeat(900_000)}"}`,
];

describe("a payload is opaque", () => {
	for (const payload of WHOLE)
		test(`an entry with ${payload.slice(0, 40)}`, async () => {
			const { desk, pid } = await open();
			await send(desk, "kernel.sched.enqueue", `{"pid":${pid},"payload":${payload}}`);
			for (const [method, params] of [
				["kernel.sched.get", '{"sched_id":1}'],
				["kernel.sched.list", "{}"],
				["kernel.sched.claim", '{"worker_id":"w"}'],
			] as const)
				expect((await send(desk, method, params)).includes(`"payload":${payload},"state"`), method).toBe(true);
		});

	for (const payload of [...WHOLE, "12345678901234567890", "[1.0]"])
		test(`a job with ${payload.slice(0, 40)}`, async () => {
			const desk = await openDesk();
			const added = await send(desk, "job.add", `{"payload":${payload}}`);
			expect(added.includes(`"payload":${payload},"repo"`)).toBe(true);
			for (const [method, params] of [
				["job.show", '{"id":1}'],
				["job.list", "{}"],
				["job.why", '{"id":1}'],
				["job.claim", '{"worker":"w"}'],
			] as const)
				expect((await send(desk, method, params)).includes(`"payload":${payload},"repo"`), method).toBe(true);
		});

	test("more than a million characters, or than a thousand levels, is refused and named", async () => {
		const { desk, pid } = await open();
		const long = await desk.refused("kernel.sched.enqueue", { pid, payload: { long: "x".repeat(1_000_001) } });
		expect([long.code, long.data?.field]).toEqual([-32133, "payload"]);
		const deep = await send(desk, "kernel.sched.enqueue", `{"pid":${pid},"payload":{"a":${"[".repeat(1001)}${"]".repeat(1001)}}}`);
		expect(deep).toContain("-32133");
		expect(deep).toContain("payload: nested more than 1000 deep");
	});

	test("an entry has the contract's thirteen fields and no more", async () => {
		const { desk, pid } = await open();
		await send(desk, "kernel.sched.enqueue", `{"pid":${pid},"payload":{"id":12345678901234567890}}`);
		const entry = await desk.call("kernel.sched.get", { sched_id: 1 });
		expect(Object.keys(entry)).toEqual([
			"sched_id",
			"pid",
			"priority",
			"runnable_at",
			"deadline",
			"trigger",
			"payload",
			"state",
			"worker_id",
			"created_at",
			"dispatched_at",
			"completed_at",
			"exit_kind",
		]);
	});
});

describe("parameters", () => {
	test("an optional one may be null, and is then as if it were not there", async () => {
		const { desk, pid } = await open();
		const call = async (method: string, params: unknown) => JSON.parse(await send(desk, method, JSON.stringify(params))).result;
		const nothing = { priority: null, runnable_at: null, deadline: null, trigger: null, payload: null };
		expect(await call("kernel.sched.enqueue", { pid, ...nothing })).toEqual({ sched_id: 1 });
		expect(await call("kernel.sched.enqueue_unique", { pid, ...nothing, dedupe_by: null })).toEqual({ sched_id: 1, created: false });
		expect(await call("kernel.sched.list", { state: null, pid: null, limit: null, offset: null })).toMatchObject({ total: 1 });
		expect(await call("kernel.sched.claim", { worker_id: "w", max_n: null, now: null, admission_check: null })).toMatchObject({
			entries: [{ trigger: "manual", priority: 0, payload: {} }],
		});
		expect(await call("kernel.sched.complete", { sched_id: 1, exit_kind: "completed", worker_id: null })).toMatchObject({
			state: "completed",
		});
		expect(await call("kernel.sched.gc_expired", { now: null })).toEqual({ swept: 0 });
		expect(await call("kernel.ledger.grant", { pid, dim: "tokens", limit: 5, warn_at: null, window: null })).toMatchObject({ limit: 5 });
	});

	test("one that is needed may not", async () => {
		const { desk } = await open();
		expect((await desk.refused("kernel.sched.enqueue", { pid: null })).code).toBe(-32133);
	});

	test("enqueue_unique compares pid and trigger unless told otherwise", async () => {
		const { desk, pid } = await open();
		const add = (more: Record<string, unknown>) => desk.call("kernel.sched.enqueue_unique", { pid, ...more } as never);
		expect(await add({ trigger: "cron" })).toEqual({ sched_id: 1, created: true });
		expect(await add({ trigger: "cron", priority: 5 })).toEqual({ sched_id: 1, created: false });
		expect(await add({ trigger: "event" })).toEqual({ sched_id: 2, created: true });
	});

	test("`by` is who the history names; without it, the caller", async () => {
		const { desk, pid } = await open();
		await desk.call("kernel.sched.enqueue", { pid, by: "sup-7" } as never);
		await desk.call("kernel.sched.cancel", { sched_id: 1 });
		const { events } = await desk.call("job.history", { id: 1 });
		expect(events.map(({ kind, by }) => [kind, by])).toEqual([
			["added", "sup-7"],
			["ended", "ann"],
		]);
	});

	test("claim with a clock of its own: dispatched_at is that time", async () => {
		const { desk, pid } = await open();
		await desk.call("kernel.sched.enqueue", { pid });
		const { entries } = await desk.call("kernel.sched.claim", { worker_id: "w", now: 2_000_000_000.25 });
		expect(entries[0]?.dispatched_at).toBe(2_000_000_000.25);
		await desk.call("kernel.sched.complete", { sched_id: 1, exit_kind: "failed" });
		expect(await desk.call("kernel.sched.get", { sched_id: 1 })).toMatchObject({
			dispatched_at: 2_000_000_000.25,
			completed_at: NOON / 1000,
			exit_kind: "failed",
		});
	});

	test("claim without one: the server's", async () => {
		const { desk, pid } = await open();
		await desk.call("kernel.sched.enqueue", { pid });
		const { entries } = await desk.call("kernel.sched.claim", { worker_id: "w" });
		expect(entries[0]?.dispatched_at).toBe(NOON / 1000);
	});
});
