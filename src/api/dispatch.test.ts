// JSON-RPC's own rules: what is a request, a notification, a batch, an error, and which role may call what.

import { describe, expect, test } from "vitest";
import { openDesk } from "../../test/make/daemons/served.ts";
import type { Caller } from "./context.ts";
import { ROLES } from "./fields.ts";
import { METHODS, type MethodName, type RpcResponse } from "./protocol.ts";

const VIEWER: Caller = { role: "viewer", by: "viewer", channel: "http" };
const RUN: Caller = { role: "run", by: "run:1.1", channel: "http", job: 1 };
const OPERATOR: Caller = { role: "operator", by: "page", channel: "http" };
const VERSION = { jsonrpc: "2.0", id: 1, method: "scheduler.version" };
const errorOf = (answer: unknown) => [(answer as RpcResponse).id, (answer as { error: { code: number } }).error.code];

describe("a request", () => {
	test("is answered with its id, whatever kind of id that is", async () => {
		const desk = await openDesk();
		for (const id of [7, "seven", null, 0, -1, 1.5, ""]) {
			const answer = (await desk.say(JSON.stringify({ ...VERSION, id }))) as RpcResponse;
			expect(answer).toMatchObject({ jsonrpc: "2.0", id, result: { version: "0.0.0-test", role: "admin" } });
			expect(Object.keys(answer).sort()).toEqual(["id", "jsonrpc", "result"]);
		}
	});

	test("that is not JSON is a parse error", async () => {
		const desk = await openDesk();
		for (const text of ["", "{", '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', "nul", "[1,", "\u0000"])
			expect(errorOf(await desk.say(text))).toEqual([null, -32700]);
	});

	test("that is not a request is an invalid request", async () => {
		const desk = await openDesk();
		const wrong = [
			1,
			"x",
			null,
			true,
			{},
			{ jsonrpc: "2.0", method: 1, params: "bar" },
			{ ...VERSION, id: undefined, jsonrpc: "1.0" },
			{ ...VERSION, id: {} },
			{ ...VERSION, id: true },
			{ ...VERSION, id: [] },
		];
		for (const message of wrong) expect([message, ...errorOf(await desk.say(JSON.stringify(message)))]).toEqual([message, null, -32600]);
		expect(errorOf(await desk.say(JSON.stringify({ ...VERSION, id: 5, jsonrpc: 2 })))).toEqual([5, -32600]);
		expect(errorOf(await desk.say(JSON.stringify({ ...VERSION, id: 5, params: "x" })))).toEqual([5, -32600]);
		expect(errorOf(await desk.say(JSON.stringify({ ...VERSION, id: 5, params: null })))).toEqual([5, -32600]);
	});

	test("of another protocol is refused before anything is done, except for version and down", async () => {
		const desk = await openDesk();
		const add = { ...VERSION, protocol: 2, method: "job.add", params: { command: ["true"] } };
		expect(await desk.say(JSON.stringify(add))).toMatchObject({ error: { code: -32009, data: { code: "conflict", field: "protocol" } } });
		expect((await desk.call("job.list", {})).jobs).toEqual([]);
		expect(await desk.say(JSON.stringify({ ...add, protocol: 1 }))).toMatchObject({ result: { outcome: "queued" } });
		expect(await desk.say(JSON.stringify({ ...VERSION, protocol: 2 }))).toMatchObject({ result: { protocol: 1 } });
	});

	test("for an unknown method suggests a known one", async () => {
		const desk = await openDesk();
		expect(await desk.refused("job.lst", {})).toEqual({
			code: -32601,
			message: 'there is no method "job.lst"',
			data: { code: "unknown_method", hint: 'did you mean "job.list"?' },
		});
		for (const name of ["", "__proto__", "constructor", "toString", "job", "job.", "x".repeat(10_000)])
			expect((await desk.refused(name, {})).code).toBe(-32601);
	});

	test("with wrong parameters names the field", async () => {
		const desk = await openDesk();
		const wrong: [string, unknown, string][] = [
			["job.show", {}, "id"],
			["job.show", { id: 0 }, "id"],
			["job.show", { id: true }, "id"],
			["job.show", { id: "../x" }, "id"],
			["job.show", { id: "--help" }, "id"],
			["job.show", [1], "params"],
			["job.show", { id: 1, verbose: true }, "verbose"],
			["job.wait", { ids: [] }, "ids"],
			["job.wait", { ids: [1, {}] }, "ids[1]"],
			["job.wait", { ids: [1], timeout_ms: 25_001 }, "timeout_ms"],
			["job.list", { status: ["nope"] }, "status[0]"],
			["job.logs", { id: 1, stream: "all" }, "stream"],
			["scheduler.pause", { until: "tomorrow" }, "until"],
			["scheduler.down", { grace_ms: "soon" }, "grace_ms"],
			["budget.grant", { subject: "owner:x", dim: "runs" }, "limit"],
			["job.show", { id: 1, by: "-x" }, "by"],
		];
		for (const [method, params, field] of wrong) {
			const { code, data } = await desk.refused(method, params);
			expect([method, code, data?.field]).toEqual([method, -32602, field]);
		}
	});

	test("nested too deeply is refused, not followed", async () => {
		const desk = await openDesk();
		const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
		expect(errorOf(await desk.say(deep))).toEqual([null, -32600]);
		expect(errorOf(await desk.say(`{"jsonrpc":"2.0","id":1,"method":"job.add","params":{"env":${deep}}}`))).toEqual([null, -32600]);
		expect(errorOf(await desk.say(`{"jsonrpc":"2.0","id":1,"method":"job.add","params":{"payload":${deep}}}`))).toEqual([1, -32602]);
	});
});

describe("a notification", () => {
	test("is carried out and not answered, nor is its failure", async () => {
		const desk = await openDesk();
		const add = { jsonrpc: "2.0", method: "job.add", params: { command: ["true"] } };
		expect(await desk.say(JSON.stringify(add))).toBeUndefined();
		expect(await desk.t.sluice.list()).toHaveLength(1);
		expect(await desk.say(JSON.stringify({ ...add, params: {} }))).toBeUndefined();
		expect(await desk.say(JSON.stringify({ ...add, method: "nope" }))).toBeUndefined();
	});
});

describe("a batch", () => {
	test("gets one answer for each request that expects one", async () => {
		const desk = await openDesk();
		const answers = (await desk.say(
			JSON.stringify([
				{ ...VERSION, id: "a" },
				{ jsonrpc: "2.0", method: "scheduler.status" },
				{ foo: "boo" },
				1,
				{ ...VERSION, id: "b", method: "x" },
			]),
		)) as RpcResponse[];
		expect(answers.map((answer) => [answer.id, "error" in answer ? answer.error.code : "ok"])).toEqual([
			["a", "ok"],
			[null, -32600],
			[null, -32600],
			["b", -32601],
		]);
	});

	test("of notifications alone is not answered; an empty batch, and one that is too long, is one error", async () => {
		const desk = await openDesk();
		expect(await desk.say(JSON.stringify([{ jsonrpc: "2.0", method: "scheduler.status" }]))).toBeUndefined();
		expect(errorOf(await desk.say("[]"))).toEqual([null, -32600]);
		expect(errorOf(await desk.say(JSON.stringify(Array(101).fill(VERSION))))).toEqual([null, -32600]);
		expect(await desk.say(JSON.stringify(Array(100).fill(VERSION)))).toHaveLength(100);
	});
});

describe("roles", () => {
	test("each method's role is the least that may call it", async () => {
		const desk = await openDesk();
		const callers = { viewer: VIEWER, run: RUN, operator: OPERATOR, admin: desk.owner };
		for (const name of Object.keys(METHODS) as MethodName[])
			for (const role of ROLES) {
				// Invalid parameters on purpose: a role that may call the method gets an error about them, any other role is refused before.
				const { code } =
					name === "kernel.agent.list" ? { code: 0 } : await desk.refused(name, { nonsense: 1 }, callers[role]).catch(() => ({ code: 0 }));
				const allowed = ROLES.indexOf(role) >= ROLES.indexOf(METHODS[name].role);
				expect([name, role, code === -32003]).toEqual([name, role, !allowed]);
			}
	});

	test("a viewer reads, and cannot act", async () => {
		const desk = await openDesk();
		await desk.t.add({ name: "build" });
		expect((await desk.call("job.list", {}, VIEWER)).jobs).toHaveLength(1);
		expect((await desk.call("scheduler.run", { dry_run: true }, VIEWER)).dispatch).toEqual([1]);
		for (const [method, params] of [
			["job.add", { command: ["true"] }],
			["job.cancel", { id: 1 }],
			["scheduler.run", {}],
			["scheduler.down", {}],
			["config.set", { key: "max_concurrent", value: 9 }],
			["kernel.agent.create", { name: "x" }],
		] as const)
			expect((await desk.refused(method, params, VIEWER)).data).toMatchObject({ code: "unauthorised" });
		expect(await desk.t.status(1)).toBe("queued");
	});

	test("a run adds children of its job, reads and waits, and nothing else", async () => {
		const desk = await openDesk();
		await desk.t.add({ name: "build" });
		const added = await desk.call("job.add", { command: ["true"] }, RUN);
		expect(added).toMatchObject({ outcome: "queued", job: { parent: 1, depth: 1 } });
		await desk.call("job.apply", { manifest: { jobs: [{ name: "x", command: ["true"] }] } }, RUN);
		expect((await desk.call("job.show", { id: "x" }, RUN)).job.parent).toBe(1);
		expect((await desk.call("job.wait", { ids: [1], timeout_ms: 0 }, RUN)).done).toBe(false);
		for (const method of ["job.approve", "job.cancel", "budget.grant", "config.set", "scheduler.pause"])
			expect((await desk.refused(method, {}, RUN)).code).toBe(-32003);
		expect((await desk.t.sluice.history(2)).map(({ by }) => by)).toEqual(["run:1.1"]);
	});

	test("the record names the actor: the name that the socket's owner gives, else the user; over HTTP the token", async () => {
		const desk = await openDesk();
		await desk.call("job.add", { command: ["true"], by: "bo" });
		await desk.call("job.add", { command: ["true"] });
		await desk.call("job.add", { command: ["true"], by: "bo" }, { role: "admin", by: "token", channel: "http" });
		const by = await Promise.all([1, 2, 3].map(async (id) => (await desk.t.sluice.history(id))[0]?.by));
		expect(by).toEqual(["bo", "ann", "token"]);
	});
});

describe("kernel.enabled: false", () => {
	test("hides the kernel's methods", async () => {
		const desk = await openDesk({ config: { kernel: { enabled: false } } });
		for (const name of Object.keys(METHODS).filter((name) => name.startsWith("kernel.")))
			expect([name, (await desk.refused(name, {})).code]).toEqual([name, -32601]);
	});
});

describe("internal errors", () => {
	test("are returned without a stack, and logged with one", async () => {
		const desk = await openDesk();
		desk.context.doctor = async () => {
			throw new Error("a secret detail");
		};
		const error = await desk.refused("doctor.run", {});
		expect(error).toEqual({
			code: -32603,
			message: "something went wrong inside the daemon",
			data: { code: "internal", hint: "see daemon.log" },
		});
		expect(desk.pretended.errors.join()).toContain("a secret detail");
	});

	test("a closed scheduler is an error of the store", async () => {
		const desk = await openDesk();
		await desk.t.sluice.close();
		expect(await desk.refused("scheduler.status", {})).toMatchObject({ code: -32010, data: { code: "closed" } });
	});
});
