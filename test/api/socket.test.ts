// The socket's door on a real socket: lines, limits, modes, tokens, and the client that the CLI uses.

import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { connect, RpcError } from "../../src/api/client.ts";
import { serve } from "../../src/api/server/serve.ts";
import { openDesk, openDoors, TOKENS } from "../make/daemons/served.ts";
import { makeFolder } from "../make/folder.ts";

const VERSION = { jsonrpc: "2.0", id: 1, method: "scheduler.version" };

/** A bare connection: writes bytes, reads lines. */
class Line {
	private text = "";
	private readonly lines: string[] = [];
	private wake = () => {};
	ended = false;
	private constructor(readonly socket: Socket) {
		socket.on("data", (chunk) => {
			this.text += chunk;
			const parts = this.text.split("\n");
			this.text = parts.pop() as string;
			this.lines.push(...parts);
			this.wake();
		});
		socket.on("error", () => {});
		socket.on("close", () => {
			this.ended = true;
			this.wake();
		});
	}

	static open(path: string): Promise<Line> {
		return new Promise((resolve, reject) => {
			const socket = createConnection(path, () => resolve(new Line(socket)));
			socket.once("error", reject);
			onTestFinished(() => void socket.destroy());
		});
	}

	async next(): Promise<{ id: unknown; result?: Record<string, unknown>; error?: { code: number } }> {
		while (this.lines.length === 0) {
			if (this.ended) throw new Error("the connection ended");
			await new Promise<void>((resolve) => {
				this.wake = resolve;
			});
		}
		return JSON.parse(this.lines.shift() as string);
	}

	async end(): Promise<void> {
		while (!this.ended)
			await new Promise<void>((resolve) => {
				this.wake = resolve;
			});
	}
}

describe("the socket", () => {
	test("belongs to its owner alone, and is gone afterwards", async () => {
		const desk = await openDesk();
		const { socket, serving } = await openDoors(desk);
		expect(statSync(socket).mode & 0o777).toBe(0o600);
		await serving.close();
		expect(existsSync(socket)).toBe(false);
	});

	test("takes the place of a leftover, and leaves other files be", async () => {
		const desk = await openDesk();
		const path = join(makeFolder(), "x.sock");
		const options = { context: desk.context, socketPath: path, port: null, tokens: TOKENS };
		const first = await serve(options);
		onTestFinished(() => first.close());
		const second = await serve(options);
		const client = await connect(path);
		expect((await client.call("scheduler.version", {})).pid).toBe(4711);
		client.close();
		await second.close();
		const file = join(makeFolder(), "sluice.sock");
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, "precious");
		await expect(serve({ ...options, socketPath: file })).rejects.toMatchObject({ code: "conflict" });
	});

	test("answers each line, however the bytes are cut, in several languages", async () => {
		const desk = await openDesk();
		const { socket } = await openDoors(desk);
		const line = await Line.open(socket);
		const add = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id: "ä", method: "job.add", params: { payload: "漢字 🚰" } })}\n`);
		for (const byte of add) line.socket.write(Buffer.of(byte));
		expect(await line.next()).toMatchObject({ id: "ä", result: { job: { payload: "漢字 🚰" } } });
		line.socket.write(`\n  \r\n${JSON.stringify(VERSION)}\r\n${JSON.stringify({ ...VERSION, id: 2 })}\n`);
		const ids = [(await line.next()).id, (await line.next()).id];
		expect(ids.sort()).toEqual([1, 2]);
	});

	test("a bad line is one error, and the next line counts again", async () => {
		const desk = await openDesk();
		const { socket } = await openDoors(desk);
		const line = await Line.open(socket);
		line.socket.write("{nonsense\n");
		expect((await line.next()).error?.code).toBe(-32700);
		line.socket.write(Buffer.from([0x22, 0xff, 0xfe, 0x22, 10]));
		expect((await line.next()).error?.code).toBe(-32700);
		line.socket.write(`${JSON.stringify([VERSION, 1])}\n`);
		expect(await line.next()).toMatchObject([{ id: 1 }, { id: null, error: { code: -32600 } }]);
	});

	test("a line that is too long is refused, and the connection ended; one that just fits is not", async () => {
		const desk = await openDesk();
		const { socket } = await openDoors(desk);
		const fits = await Line.open(socket);
		const padding = 10_000_000 - JSON.stringify(VERSION).length;
		fits.socket.write(`${JSON.stringify(VERSION)}${" ".repeat(padding)}\n`);
		expect(await fits.next()).toMatchObject({ id: 1, result: {} });
		const long = await Line.open(socket);
		long.socket.write("x".repeat(10_000_001));
		expect((await long.next()).error?.code).toBe(-32600);
		await long.end();
		expect(desk.pretended.errors).toEqual([]);
	}, 30_000);

	test("whoever does not read its answers is not read either", async () => {
		const desk = await openDesk();
		await desk.t.add({ payload: "x".repeat(200_000) });
		const { socket, connect } = await openDoors(desk);
		const lazy = createConnection(socket);
		onTestFinished(() => void lazy.destroy());
		await new Promise((resolve) => lazy.once("connect", resolve));
		lazy.pause();
		let taken = 0;
		const ask = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "job.show", params: { id: 1 } })}${" ".repeat(20_000)}\n`;
		for (; taken < 2000; taken++) if (!lazy.write(ask)) break;
		// Others are served meanwhile.
		const client = await connect();
		for (let count = 0; count < 20; count++) await client.call("scheduler.status", {});
		expect(taken).toBeLessThan(2000);
	});

	test("whoever has said all and closed its side still gets its answers, the last line without an end too", async () => {
		const desk = await openDesk();
		await desk.t.add();
		const { socket } = await openDoors(desk);
		const line = await Line.open(socket);
		const wait = { jsonrpc: "2.0", id: "waited", method: "job.wait", params: { ids: [1], timeout_ms: 50 } };
		line.socket.end(`${JSON.stringify(wait)}\n${JSON.stringify(VERSION)}`);
		expect([(await line.next()).id, (await line.next()).id]).toEqual([1, "waited"]);
		await line.end();
	});

	test("closing does not wait for those who do not read", async () => {
		const desk = await openDesk();
		await desk.t.add({ payload: "x".repeat(900_000) });
		const { socket, serving } = await openDoors(desk);
		const lazy = createConnection(socket);
		onTestFinished(() => void lazy.destroy());
		await new Promise((resolve) => lazy.once("connect", resolve));
		lazy.pause();
		for (let id = 0; id < 20; id++) lazy.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "job.show", params: { id: 1 } })}\n`);
		const client = await connect(socket);
		await client.call("job.show", { id: 1 });
		await serving.close();
	});

	test("a caller that goes away in the middle harms nobody", async () => {
		const desk = await openDesk();
		const { socket, connect } = await openDoors(desk);
		await desk.t.add();
		for (let count = 0; count < 20; count++) {
			const line = await Line.open(socket);
			line.socket.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "job.wait", params: { ids: [1] } })}\n{"half`);
			line.socket.destroy();
		}
		expect((await (await connect()).call("scheduler.status", {})).queued_total).toBe(1);
		expect(desk.pretended.errors).toEqual([]);
	});
});

describe("tokens on the socket", () => {
	test("lower what a connection may do", async () => {
		const desk = await openDesk();
		await desk.t.add({ name: "parent" });
		desk.pretended.runTokens.set("of-run-1.1", { job: 1, run: "1.1", token: 1 });
		const { connect } = await openDoors(desk);
		const client = await connect();
		expect(await client.call("session.auth", { token: "of-run-1.1" })).toEqual({ schema_version: 1, role: "run", by: "run:1.1", job: 1 });
		expect(await client.call("job.add", { command: ["true"] })).toMatchObject({ job: { parent: 1, depth: 1 } });
		await expect(client.call("job.cancel", { id: 1 })).rejects.toMatchObject({ code: "unauthorised", number: -32003 });
		await expect(client.call("session.auth", { token: "wrong" })).rejects.toMatchObject({ code: "unauthorised" });
		expect(await (await connect()).call("session.auth", { token: TOKENS.viewer })).toMatchObject({ role: "viewer" });
	});
});

describe("a client that sends no token, whose process belongs to a run", () => {
	const inside = async (run: { job: number; run: string; token: number | null }) => {
		const desk = await openDesk();
		await desk.t.add({ name: "parent" });
		desk.pretended.processes.set(process.pid, run);
		return { desk, ...(await openDoors(desk)) };
	};

	test("is that run, from its first call and for all that were sent with it", async () => {
		const { connect } = await inside({ job: 1, run: "1.1", token: 1 });
		const client = await connect();
		const calls = [client.call("scheduler.pause", {}), client.call("job.cancel", { id: 1 }), client.call("scheduler.version", {})];
		const said = await Promise.allSettled(calls);
		expect(said).toMatchObject([
			{ reason: { code: "unauthorised", message: expect.stringContaining("started by run 1.1 of job 1") } },
			{ reason: { code: "unauthorised" } },
			{ value: { role: "run" } },
		]);
		expect(await client.call("job.add", { command: ["true"] })).toMatchObject({ job: { parent: 1, depth: 1 } });
		// A token that is sent counts instead.
		expect(await client.call("session.auth", { token: TOKENS.admin })).toMatchObject({ role: "admin" });
		await client.call("scheduler.pause", {});
	});

	test("may read when the run is over; asks again while a daemon does not know its runs yet", async () => {
		const { desk, connect } = await inside({ job: 1, run: "1.1", token: null });
		desk.pretended.doors.ready = false;
		const client = await connect();
		await expect(client.call("scheduler.status", {})).rejects.toMatchObject({ code: "closed", hint: "try again" });
		desk.pretended.processes.set(process.pid, { job: 1, run: "1.1", token: 1 });
		expect((await client.call("scheduler.version", {})).role).toBe("run");
		desk.pretended.doors.ready = true;
		desk.pretended.processes.set(process.pid, { job: 1, run: "1.1", token: null });
		const late = await connect();
		expect((await late.call("scheduler.version", {})).role).toBe("viewer");
		await expect(late.call("job.add", { command: ["true"] })).rejects.toMatchObject({
			code: "unauthorised",
			message: "job.add is not allowed here: this program was started by run 1.1, which is over",
		});
	});
});

describe("the client", () => {
	test("gets results and errors, many at a time", async () => {
		const desk = await openDesk();
		const { connect } = await openDoors(desk);
		const client = await connect();
		const added = await Promise.all(Array.from({ length: 200 }, (_, n) => client.call("job.add", { payload: n })));
		expect(new Set(added.map((one) => (one.outcome === "queued" ? one.job.payload : "?"))).size).toBe(200);
		const error = await client.call("job.show", { id: "nobody" }).catch((error: unknown) => error);
		expect(error).toBeInstanceOf(RpcError);
		expect(error).toMatchObject({ code: "not_found", number: -32004, field: "id", hint: "sluice list --all shows the jobs that exist" });
	});

	test("is told when there is no daemon, when it goes away, and when it gave up itself", async () => {
		const folder = makeFolder();
		await expect(connect(join(folder, "none.sock"))).rejects.toMatchObject({ code: "no_daemon" });
		const desk = await openDesk();
		await desk.t.add();
		const { connect: open, serving } = await openDoors(desk);
		const client = await open();
		const stop = new AbortController();
		const given = client.call("job.wait", { ids: [1] }, { signal: stop.signal });
		stop.abort();
		await expect(given).rejects.toMatchObject({ code: "aborted" });
		const waiting = client.call("job.wait", { ids: [1] });
		waiting.catch(() => {});
		await client.call("scheduler.version", {});
		await serving.close();
		await expect(waiting).rejects.toMatchObject({ code: "disconnected" });
		await client.closed;
		await expect(client.call("scheduler.version", {})).rejects.toMatchObject({ code: "disconnected" });
	});
});
