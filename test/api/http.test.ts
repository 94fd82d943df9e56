// The HTTP door on a real port: who is let in, what is answered, what is too much.

import { request } from "node:http";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { serve } from "../../src/api/server/serve.ts";
import { systemClock } from "../../src/host/local.ts";
import { until } from "../make/daemons/daemon.ts";
import { openDesk, openDoors, TOKENS } from "../make/daemons/served.ts";
import { makeFolder } from "../make/folder.ts";

type Reply = { status: number; headers: Record<string, string | string[] | undefined>; body: string };
type Ask = { method?: string; path?: string; headers?: Record<string, string>; body?: string | Buffer; localAddress?: string };

/** Bare, since fetch does not let one choose Host and Origin. */
function ask(url: string, { method = "GET", path = "/", headers = {}, body, localAddress }: Ask = {}): Promise<Reply> {
	const { port } = new URL(url);
	return new Promise((resolve, reject) => {
		const out = request(
			{ host: "127.0.0.1", port, method, path, headers, agent: false, ...(localAddress ? { localAddress } : {}) },
			(response) => {
				let text = "";
				response.on("data", (chunk) => {
					text += chunk;
				});
				response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
				response.on("error", reject);
			},
		);
		out.on("error", reject);
		out.end(body);
	});
}

const VERSION = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "scheduler.version" });
const as = (token: string) => ({ Authorization: `Bearer ${token}` });
const rpc = (url: string, token: string, body: string, headers = {}) =>
	ask(url, { method: "POST", path: "/rpc", headers: { ...as(token), ...headers }, body });

describe("who is let in", () => {
	test("no token: 401; a wrong one: 401; the right one: in", async () => {
		const { url } = await openDoors(await openDesk());
		for (const path of ["/rpc", "/events", "/metrics", "/", "/nothing"]) {
			const method = path === "/rpc" ? "POST" : "GET";
			const reply = await ask(url, { path, method });
			expect([path, reply.status, reply.headers["www-authenticate"]]).toEqual([path, 401, 'Bearer realm="sluice"']);
		}
		for (const Authorization of ["Bearer", "Bearer ", `Basic ${TOKENS.admin}`, TOKENS.admin, "Bearer wrong"])
			expect((await ask(url, { method: "POST", path: "/rpc", headers: { Authorization }, body: VERSION })).status).toBe(401);
		expect(JSON.parse((await rpc(url, TOKENS.admin, VERSION)).body)).toMatchObject({ id: 1, result: { role: "admin", by: "token" } });
		expect(JSON.parse((await rpc(url, TOKENS.viewer, VERSION)).body)).toMatchObject({ id: 1, result: { role: "viewer", by: "viewer" } });
	});

	test("a viewer's token cannot act, a run's token adds its children", async () => {
		const desk = await openDesk();
		const { url } = await openDoors(desk);
		const add = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "job.add", params: { command: ["true"] } });
		expect(JSON.parse((await rpc(url, TOKENS.viewer, add)).body)).toMatchObject({ error: { code: -32003 } });
		await desk.t.add();
		desk.pretended.runTokens.set("of-1.1", { job: 1, run: "1.1", token: 1 });
		expect(JSON.parse((await rpc(url, "of-1.1", add)).body)).toMatchObject({ result: { job: { parent: 1 } } });
		desk.pretended.runTokens.clear();
		expect((await rpc(url, "of-1.1", add)).status).toBe(401);
	});

	test("another Host or Origin: 403, token or not", async () => {
		const { url, serving } = await openDoors(await openDesk(), { names: () => ["box.example:7420"] });
		const { port } = serving;
		for (const Host of ["evil.example", `evil.example:${port}`, "127.0.0.1", "localhost:1", `127.0.0.1.evil.example:${port}`])
			expect([Host, (await rpc(url, TOKENS.admin, VERSION, { Host })).status]).toEqual([Host, 403]);
		for (const Host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, "box.example:7420"])
			expect([Host, (await rpc(url, TOKENS.admin, VERSION, { Host })).status]).toEqual([Host, 200]);
		for (const Origin of ["https://evil.example", "null", `http://localhost:${Number(port) + 1}`, "file://", "http://", "x"])
			expect([Origin, (await rpc(url, TOKENS.admin, VERSION, { Origin })).status]).toEqual([Origin, 403]);
		for (const Origin of [`http://localhost:${port}`, `http://127.0.0.1:${port}`])
			expect([Origin, (await rpc(url, TOKENS.admin, VERSION, { Origin })).status]).toEqual([Origin, 200]);
		expect((await ask(url, { path: "/health", headers: { Host: "evil.example" } })).status).toBe(403);
		expect((await ask(url, { method: "OPTIONS", path: "/rpc", headers: { Origin: "https://evil.example" } })).status).toBe(403);
	});

	test("many wrong tokens: 429 for further wrong ones, from whatever loopback address; the right one is taken, and the log has one line", async () => {
		const desk = await openDesk();
		const lines: string[] = [];
		desk.context.log.warn = (message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`);
		const { url, serving } = await openDoors(desk);
		const from = (localAddress: string, token: string) =>
			ask(url, { method: "POST", path: "/rpc", headers: as(token), body: VERSION, localAddress });
		for (let count = 0; count < 10; count++) expect((await from(`127.0.${count}.1`, `guess-${count}`)).status).toBe(401);
		const locked = await from("127.3.3.3", "guess-11");
		expect([locked.status, Number(locked.headers["retry-after"]) > 0]).toEqual([429, true]);
		const code = await ask(url, { method: "POST", path: "/sign-in", headers: as("no-such-code") });
		expect(code.status).toBe(429);
		for (const token of [TOKENS.admin, TOKENS.viewer]) expect((await rpc(url, token, VERSION)).status).toBe(200);
		expect((await ask(url, { path: "/health" })).status).toBe(200);
		expect(lines).toEqual([]);
		await serving.close();
		expect(lines).toEqual([expect.stringMatching(/^requests with a wrong token were refused .*"count":12,/)]);
	});
});

describe("signing a page in", () => {
	const code = async (url: string, token: string, role?: string) =>
		JSON.parse(
			(await rpc(url, token, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session.code", params: role ? { role } : {} }))).body,
		);
	const signIn = async (url: string, presented: string) => {
		const reply = await ask(url, { method: "POST", path: "/sign-in", headers: as(presented) });
		return { status: reply.status, ...JSON.parse(reply.body) };
	};

	test("a code is exchanged once for a page token of its role; a token of the home is no code, and a code no token", async () => {
		const { url } = await openDoors(await openDesk());
		for (const role of ["admin", "operator", "viewer"] as const) {
			const made = (await code(url, TOKENS.admin, role)).result;
			expect(made).toMatchObject({ role, port: 7420, expires_at: expect.stringMatching(/Z$/) });
			expect((await rpc(url, made.code, VERSION)).status).toBe(401);
			const signed = await signIn(url, made.code);
			expect(signed).toMatchObject({ status: 200, role });
			expect(await signIn(url, made.code)).toMatchObject({ status: 401, error: { message: expect.stringContaining("sluice open") } });
			const by = role === "viewer" ? "viewer" : "page";
			expect(JSON.parse((await rpc(url, signed.token, VERSION)).body).result).toMatchObject({ role, by });
		}
		for (const wrong of [TOKENS.admin, TOKENS.viewer]) expect((await signIn(url, wrong)).status).toBe(401);
		expect((await ask(url, { path: "/sign-in" })).status).toBe(405);
		expect((await ask(url, { method: "POST", path: "/sign-in" })).status).toBe(401);
		expect((await ask(url, { method: "POST", path: "/sign-in", headers: { Origin: "https://evil.example" } })).status).toBe(403);
	});

	test("a code that is older than ten minutes: 401; a page that was not used for 12 hours: 401 that says so", async () => {
		const desk = await openDesk();
		let aheadMs = 0;
		const monotonic = () => systemClock.monotonic() + aheadMs;
		Object.assign(desk.context, { clock: { ...systemClock, monotonic } });
		const { url } = await openDoors(desk);
		const [first, second] = [(await code(url, TOKENS.admin)).result.code, (await code(url, TOKENS.admin)).result.code];
		const { token } = await signIn(url, first);
		aheadMs = 10 * 60_000;
		expect((await signIn(url, second)).status).toBe(401);
		expect((await rpc(url, token, VERSION)).status).toBe(200);
		aheadMs += 12 * 3_600_000 + 60_000;
		const idle = await rpc(url, token, VERSION);
		expect([idle.status, JSON.parse(idle.body).error.code]).toEqual([401, "signed_out"]);
	});

	test("viewers and runs get no code; a page token is none on the socket", async () => {
		const desk = await openDesk();
		const { url, connect } = await openDoors(desk);
		await desk.t.add();
		desk.pretended.runTokens.set("of-1.1", { job: 1, run: "1.1", token: 1 });
		const page = (await signIn(url, (await code(url, TOKENS.admin, "viewer")).result.code)).token;
		for (const token of [TOKENS.viewer, "of-1.1", page])
			for (const role of ["admin", "viewer"])
				expect(await code(url, token, role)).toMatchObject({ error: { data: { code: "unauthorised" } } });
		const client = await connect();
		await expect(client.call("session.auth", { token: page })).rejects.toMatchObject({ code: "unauthorised" });
	});

	test("the page token of an earlier daemon: 401 that says so, however many come, and no word in the log", async () => {
		const desk = await openDesk();
		const before = await openDoors(desk);
		const { token } = await signIn(before.url, (await code(before.url, TOKENS.admin)).result.code);
		const { url } = await openDoors(desk);
		for (let count = 0; count < 12; count++) {
			const reply = await rpc(url, token, VERSION);
			expect([reply.status, JSON.parse(reply.body).error.code]).toEqual([401, "restarted"]);
		}
		expect((await rpc(url, "guess", VERSION)).status).toBe(401);
	});
});

describe("connections without a token", () => {
	/** A connection that says something and never closes its side; `heard` is what came back, `closed` whether the server has closed its side. */
	async function half(url: string, text: string) {
		const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
		const one = { socket, heard: "", closed: false };
		socket.on("data", (chunk) => {
			one.heard += chunk;
		});
		for (const event of ["error", "end"])
			socket.on(event, () => {
				one.closed = true;
			});
		await new Promise<void>((resolve) => void socket.once("connect", resolve));
		onTestFinished(() => void socket.destroy());
		socket.write(text);
		return one;
	}
	const stream = (url: string, token: string) =>
		half(url, `GET /events?since=0 HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);

	test("beyond the cap the oldest is closed; one that has shown a token is not", async () => {
		// An eighth of 40 files is five connections without a token.
		const { url } = await openDoors(await openDesk(), { files: 40 });
		const page = await stream(url, TOKENS.viewer);
		await until(() => page.heard.includes(": here"));
		const halves: Awaited<ReturnType<typeof half>>[] = [];
		for (let count = 0; count < 7; count++) halves.push(await half(url, "POST /rpc HTTP/1.1\r\n"));
		await until(() => halves.filter(({ closed }) => closed).length === 2);
		expect(halves.map(({ closed }) => closed)).toEqual([true, true, false, false, false, false, false]);
		expect((await rpc(url, TOKENS.admin, VERSION)).status).toBe(200);
		expect(page.closed).toBe(false);
	});

	test("all connections together take at most half of the files; the socket has the rest", async () => {
		const desk = await openDesk();
		const doors = await openDoors(desk, { files: 16 });
		const pages = [];
		for (let count = 0; count < 8; count++) {
			const page = await stream(doors.url, TOKENS.viewer);
			await until(() => page.heard.includes(": here"));
			pages.push(page);
		}
		const ninth = await stream(doors.url, TOKENS.viewer);
		await until(() => ninth.closed);
		expect(pages.some(({ closed }) => closed)).toBe(false);
		expect((await (await doors.connect()).call("scheduler.version", {})).role).toBe("admin");
	});

	test("half a request is closed after a few seconds; what is no HTTP at once, although the client keeps its side open", async () => {
		const { url } = await openDoors(await openDesk());
		const [silent, slow] = [await half(url, ""), await half(url, "POST /rpc HTTP/1.1\r\nHost:")];
		const wrong = await half(url, "nonsense\r\n\r\n");
		await until(() => wrong.closed);
		expect(wrong.heard).toMatch(/^HTTP\/1\.1 400 /);
		// The server has let go of it: writing more is refused.
		await until(() => {
			if (!wrong.socket.destroyed) wrong.socket.write("x");
			return wrong.socket.destroyed;
		});
		await until(() => silent.closed && slow.closed);
	});
});

describe("what is answered", () => {
	test("a notification: 204; a batch: its answers; what is no JSON: a JSON-RPC error", async () => {
		const { url } = await openDoors(await openDesk());
		const notification = JSON.stringify({ jsonrpc: "2.0", method: "scheduler.status" });
		expect(await rpc(url, TOKENS.admin, notification)).toMatchObject({ status: 204, body: "" });
		expect(JSON.parse((await rpc(url, TOKENS.admin, `[${VERSION},${notification}]`)).body)).toHaveLength(1);
		for (const body of ["", "{", "\xff"])
			expect(JSON.parse((await rpc(url, TOKENS.admin, body)).body)).toMatchObject({ id: null, error: { code: -32700 } });
		const bytes = await ask(url, { method: "POST", path: "/rpc", headers: as(TOKENS.admin), body: Buffer.from([0x22, 0xff, 0x22]) });
		expect(JSON.parse(bytes.body).error.code).toBe(-32700);
	});

	test("a body that is too long: 413, said or not", async () => {
		const { url } = await openDoors(await openDesk());
		const long = "x".repeat(10_000_001);
		const said = await rpc(url, TOKENS.admin, long, { "Content-Length": String(long.length) }).catch(
			(error: NodeJS.ErrnoException) => error.code,
		);
		// The server may hang up before everything is sent: then there is nothing to read.
		expect([413, "EPIPE", "ECONNRESET"]).toContain(typeof said === "object" ? said.status : said);
		const unsaid = await rpc(url, TOKENS.admin, long, { "Transfer-Encoding": "chunked" }).catch(
			(error: NodeJS.ErrnoException) => error.code,
		);
		expect([413, "EPIPE", "ECONNRESET"]).toContain(typeof unsaid === "object" ? unsaid.status : unsaid);
		expect((await rpc(url, TOKENS.admin, VERSION)).status).toBe(200);
	});

	test("other paths and other methods", async () => {
		const { url } = await openDoors(await openDesk());
		expect((await ask(url, { path: "/nothing", headers: as(TOKENS.viewer) })).status).toBe(404);
		expect(await ask(url, { path: "/rpc", headers: as(TOKENS.viewer) })).toMatchObject({ status: 405, headers: { allow: "POST" } });
		for (const path of ["/metrics", "/events", "/health"])
			expect([path, (await ask(url, { method: "POST", path, headers: as(TOKENS.viewer) })).status]).toEqual([path, 405]);
		expect((await ask(url, { path: "//", headers: as(TOKENS.viewer) })).status).toBeGreaterThanOrEqual(400);
		const health = await ask(url, { path: "/health" });
		expect([health.status, JSON.parse(health.body), health.headers["cache-control"]]).toEqual([
			200,
			{ ok: true, version: "0.0.0-test" },
			"no-store",
		]);
	});

	test("a port that is taken: the next free one, and why; or a refusal, where it was asked for by name", async () => {
		const desk = await openDesk();
		const first = await openDoors(desk);
		const second = await openDoors(desk, { port: first.serving.port });
		const { port, problem } = second.serving;
		expect(port).not.toBe(first.serving.port);
		expect(problem).toBe(`port ${first.serving.port} is taken by another program: ${port} is used instead`);
		const exact = {
			context: desk.context,
			socketPath: `${makeFolder()}/s`,
			port: first.serving.port,
			taken: "refuse",
			tokens: TOKENS,
		} as const;
		await expect(serve(exact)).rejects.toMatchObject({
			code: "conflict",
			message: `port ${first.serving.port} is taken by another program`,
		});
		expect((await (await second.connect()).call("scheduler.version", {})).pid).toBe(4711);
		const none = await serve({ context: desk.context, socketPath: `${makeFolder()}/s`, port: null, tokens: TOKENS });
		expect(none).toMatchObject({ port: null, problem: null });
		await none.close();
	});
});

describe("/metrics", () => {
	const value = (text: string, name: string) =>
		Number(
			text
				.split("\n")
				.find((line) => line.startsWith(`${name} `))
				?.slice(name.length + 1),
		);

	test("tells the queue, runs, caps, holds and cost", async () => {
		const desk = await openDesk({ config: { lanes: { default: {}, code: { max: 2 } } } });
		const { url } = await openDoors(desk);
		const metrics = async () => (await ask(url, { path: "/metrics", headers: as(TOKENS.viewer) })).body;
		for (const lane of ["default", "code", "code"]) await desk.t.add({ lane });
		await desk.t.sluice.grant("owner:ann", "cost_micro", { limit: 5_000_000 });
		await desk.t.sluice.charge("owner:ann", "cost_micro", 2_500_000);
		await desk.t.sluice.pause({ lane: "code" });
		desk.t.clock.pass(2000);
		await desk.t.start(1);
		let text = await metrics();
		expect(value(text, 'sluice_queue_depth{lane="code"}')).toBe(2);
		expect(value(text, 'sluice_queue_depth{lane="default"}')).toBe(0);
		expect(value(text, 'sluice_running{lane="default"}')).toBe(1);
		expect(value(text, 'sluice_lane_cap{lane="code"}')).toBe(2);
		expect(value(text, 'sluice_holds{kind="paused"}')).toBe(1);
		expect(value(text, 'sluice_budget_limit{subject="owner:ann",dim="cost_micro"}')).toBe(5_000_000);
		expect(value(text, 'sluice_cost_dollars{subject="owner:ann"}')).toBe(2.5);
		expect(value(text, "sluice_jobs_added_total")).toBe(3);
		expect(value(text, 'sluice_start_latency_seconds_bucket{le="1"}')).toBe(0);
		expect(value(text, 'sluice_start_latency_seconds_bucket{le="2.5"}')).toBe(1);
		desk.t.clock.pass(3000);
		await desk.t.end(1, "failed");
		await desk.t.sluice.cancel(2);
		text = await metrics();
		expect(value(text, 'sluice_runs_total{exit_kind="failed"}')).toBe(1);
		expect(value(text, 'sluice_jobs_ended_total{status="failed"}')).toBe(1);
		expect(value(text, 'sluice_jobs_ended_total{status="cancelled"}')).toBe(1);
		expect(value(text, "sluice_run_duration_seconds_sum")).toBe(3);
		expect(value(text, "sluice_run_duration_seconds_count")).toBe(1);
	});

	test("runs that were live before count when they end; many jobs added at once are counted", async () => {
		const desk = await openDesk();
		await desk.t.add();
		await desk.t.start();
		const { url } = await openDoors(desk);
		await desk.t.succeed(1);
		await desk.t.sluice.apply({ jobs: Array.from({ length: 400 }, () => ({ payload: 1 })) });
		await desk.t.sluice.apply({ jobs: Array.from({ length: 3 }, () => ({ payload: 1 })) });
		const { body } = await ask(url, { path: "/metrics", headers: as(TOKENS.viewer) });
		expect(value(body, 'sluice_runs_total{exit_kind="completed"}')).toBe(1);
		expect(value(body, "sluice_jobs_added_total")).toBe(403);
	});
});
