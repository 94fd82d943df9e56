// Moving a store: everything arrives byte by byte, or nothing has changed.

import { existsSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { mountSmallDisk } from "../../../test/make/daemons/mounted.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { dumpDatabase, dumpFile } from "../../../test/make/stores/dumped.ts";
import { openPostgres } from "../../../test/make/stores/postgres-alone.ts";
import { type Server, startServer } from "../../../test/make/stores/postgres-server.ts";
import { makeUnreadable, withDatabase } from "../../../test/make/stores/store-file.ts";
import { openTcpProxy } from "../../../test/make/stores/tcp-proxy.ts";
import type { RunEnd, Scheduler } from "../../contracts/scheduler.ts";
import type { JobInput } from "../../core/job.ts";
import { moveStore } from "../../daemon/service/move-store.ts";
import { systemClock } from "../../host/local.ts";
import { openScheduler } from "../../open.ts";
import { MIGRATIONS } from "../migrations/index.ts";
import { openSqlite } from "../sqlite/store.ts";
import { openDatabaseEnd } from "./database-end.ts";
import { openFileEnd } from "./file-end.ts";
import { move, type Side } from "./move.ts";
import { TABLES } from "./tables.ts";

let server: Server;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server?.end());

const WISH = { check: false, replace: false, again: false };
const file = (name = "a.db") => join(makeFolder(), name);

async function opened(place: { path: string } | { url: string }): Promise<Scheduler> {
	const scheduler = await openScheduler({ ...place, by: "test", join: { name: "here" } });
	onTestFinished(() => scheduler.close());
	return scheduler;
}

async function add(scheduler: Scheduler, input: JobInput): Promise<number> {
	const added = await scheduler.add(input);
	if (added.outcome !== "queued") throw new Error(`not queued: ${added.outcome}`);
	return added.job.id;
}

/** Claims the next job and ends its run. */
async function work(scheduler: Scheduler, exit: Pick<RunEnd, "exit_kind" | "exit_code" | "message">): Promise<void> {
	const [claimed] = await scheduler.claim({ worker: "w", max: 1 });
	if (!claimed) throw new Error("nothing to claim");
	await scheduler.complete({ job: claimed.job.id, token: claimed.run.token, ...exit });
}
const WELL = { exit_kind: "completed", exit_code: 0 } as const;

/** Adds one of everything that a store can hold; no job is left running. */
async function fill(scheduler: Scheduler): Promise<void> {
	await scheduler.configure({ lanes: { slow: { max: 1 } }, resources: { gpu: 2 } });
	await add(scheduler, { command: ["true"], name: "first", lane: "slow" });
	await work(scheduler, WELL);
	await add(scheduler, { command: ["false"], name: "again", retry: { max: 3, base_ms: 3_600_000 } });
	await work(scheduler, { exit_kind: "failed", exit_code: 1, message: 'it said "no" \\ ünïcödé 🦀 \u2028 {}' });
	const odd = await add(scheduler, {
		command: ["echo", "'", '"', "\\", "\n", "🦀", "NULL", "{a,b}"],
		name: "odd",
		batch: "night",
		priority: 3,
	});
	await add(scheduler, { command: ["true"], after: [odd, "first"], locks: ["build"], batch: "night" });
	await add(scheduler, { command: ["true"], needs: ["custom:review:A-12"], produces: ["custom:plan:A-12"] });
	await add(scheduler, { command: ["true"], prompt: "x".repeat(50_000), payload: { deep: [1, 2.5, null, { "": "" }] } });
	await scheduler.mark("custom:other:B-1");
	await scheduler.pause();
}

describe("a move", () => {
	test("knows every column of the schema", () => {
		const path = file();
		void openSqlite(path).close();
		const found = withDatabase(path, (database) =>
			TABLES.map(({ name }) => {
				const statement = database.prepare(`PRAGMA table_info(${name})`);
				return [name, (statement.all() as { name: string }[]).map((column) => column.name)];
			}),
		);
		expect(found).toEqual(TABLES.map(({ name, columns }) => [name, Object.keys(columns)]));
		const tables = MIGRATIONS.flatMap(({ sql }) => [...sql.matchAll(/CREATE TABLE (\w+)/g)].map((match) => match[1]));
		expect(tables.sort()).toEqual(TABLES.map(({ name }) => name).sort());
	});

	test("to PostgreSQL and back keeps every byte, and the work goes on", async () => {
		const path = file();
		const one = await opened({ path });
		await fill(one);
		await one.close();
		await makeUnreadable(path, 3);
		const before = dumpFile(path);
		for (const { name } of TABLES) expect(before[name]?.length, name).toBeGreaterThan(0);
		const url = await server.makeDatabase();
		expect(await moveStore({ ...WISH, from: path, to: url })).toMatchObject({
			moved: true,
			marked: true,
			jobs: { waiting: before.job?.length, ended: before.done?.length },
		});
		expect(await dumpDatabase(url)).toEqual(before);
		expect(dumpFile(path)).toEqual(before);

		const shared = await opened({ url });
		await shared.resume();
		const added = await add(shared, { command: ["true"], after: ["first"] });
		expect(added).toBe(1 + Math.max(...[...(before.job ?? []), ...(before.done ?? [])].map(([id]) => Number(id))));
		const events = await dumpDatabase(url);
		expect(events.event?.slice(0, before.event?.length)).toEqual(before.event);
		await work(shared, WELL);
		await shared.close();

		const later = await dumpDatabase(url);
		await expect(moveStore({ ...WISH, from: url, to: path })).rejects.toMatchObject({
			code: "conflict",
			hint: expect.stringContaining("--replace"),
		});
		expect(await moveStore({ ...WISH, from: url, to: path, replace: true })).toMatchObject({ replaced: true, marked: true });
		expect(dumpFile(path)).toEqual(later);
		const back = await opened({ path });
		expect(await add(back, { command: ["true"] })).toBe(added + 1);
		expect((await back.show(1)).status).toBe("succeeded");
	});

	test("makes the source refuse work, also from a process that has it open", async () => {
		const path = file();
		const holder = await opened({ path });
		await holder.add({ command: ["true"] });
		const url = await server.makeDatabase();
		await moveStore({ ...WISH, from: path, to: url });
		const gone = { code: "store", message: expect.stringMatching(/^this store was moved to postgres:/) };
		await expect(holder.add({ command: ["true"] })).rejects.toMatchObject(gone);
		await expect(openScheduler({ path, join: { name: "x" } }).then((one) => one.list())).rejects.toMatchObject(gone);
		await expect(moveStore({ ...WISH, from: path, to: file() })).rejects.toMatchObject({
			code: "conflict",
			hint: expect.stringContaining("--again"),
		});
		const other = file();
		await moveStore({ ...WISH, from: path, to: other, again: true });
		expect(await (await opened({ path: other })).list()).toHaveLength(1);
	});
});

describe("refused, and nothing is changed", () => {
	const refuses = async (from: string, to: string, what: string, more: RegExp) => {
		const checked = await moveStore({ ...WISH, from, to, check: true });
		expect(checked.objections.map((one) => one.what)).toContain(what);
		const error = await moveStore({ ...WISH, from, to }).then(
			() => null,
			(error: Error) => error,
		);
		expect(error).toMatchObject({ code: "conflict", message: expect.stringMatching(more), hint: expect.stringMatching(/./) });
	};

	test("while a job runs, which the message names", async () => {
		const path = file();
		const scheduler = await opened({ path });
		await scheduler.add({ command: ["true"], name: "build" });
		await scheduler.claim({ worker: "w", max: 1, host: "here" });
		const url = await server.makeDatabase();
		await refuses(path, url, "running", /a job is running in .*: 1 \(build\) on here/);
		const client = new pg.Client({ connectionString: url });
		await client.connect();
		expect((await client.query("SELECT 1 FROM pg_namespace WHERE nspname = 'sluice'")).rows).toEqual([]);
		await client.end();
		const target = file("b.db");
		await refuses(path, target, "running", /running/);
		expect(existsSync(target)).toBe(false);
		await scheduler.add({ command: ["true"] });
	});

	test("while a host's lease is valid, on either side, by the database's clock", async () => {
		const url = await server.makeDatabase();
		await (await opened({ url })).close();
		const client = new pg.Client({ connectionString: url });
		await client.connect();
		onTestFinished(() => client.end());
		const lease = (ms: number) =>
			client.query(
				`INSERT INTO sluice.record SELECT 'host', 'mill', json_build_object('name', 'mill', 'state', 'live', 'home', 'x', 'lease_until',
				floor(extract(epoch FROM clock_timestamp()) * 1000) + ${ms})::text ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body`,
			);
		await lease(60_000);
		await refuses(url, file(), "live_host", /host mill works with/);
		const path = file();
		await (await opened({ path })).close();
		await refuses(path, url, "live_host", /host mill works with/);
		await lease(-1);
		await moveStore({ ...WISH, from: url, to: file() });
	});

	test("while a process leads there, which is named", async () => {
		const url = await server.makeDatabase();
		const leader = await openPostgres(url, { writer: "mill", monotonic: systemClock.monotonic });
		onTestFinished(async () => void (await leader.close()));
		await expect(moveStore({ ...WISH, from: url, to: file() })).rejects.toMatchObject({
			code: "conflict",
			message: expect.stringMatching(/^mill leads the queue in postgres:/),
		});
	});

	test.each([
		["nothing there", () => [file(), file("b.db")], { code: "not_found" }],
		["no schema there", async () => [await server.makeDatabase(), file()], { code: "not_found" }],
		["no such database", () => [server.url("nowhere"), file()], { code: "store", message: /no such database/ }],
		[
			"nobody answers",
			() => ["postgres://sluice:secret@127.0.0.1:1/x", file()],
			{ code: "store", message: /^postgres:\/\/sluice:\*\*\*@.* cannot be reached/ },
		],
		["another kind", () => ["mysql://u:p@h/d", file()], { code: "invalid", message: /"mysql:\/\/…" is no kind of store/ }],
		["the same", () => ["/tmp/x.db", "/tmp/x.db"], { code: "invalid" }],
	])("%s", async (_, places, error) => {
		const [from = "", to = ""] = await places();
		const { message, ...rest } = error as { code: string; message?: RegExp };
		await expect(moveStore({ ...WISH, from, to })).rejects.toMatchObject({
			...rest,
			...(message ? { message: expect.stringMatching(message) } : {}),
		});
		if (!to.includes("://")) expect(existsSync(to)).toBe(false);
	});

	test("a newer schema, another program's file, a folder that cannot be written", async () => {
		const path = file();
		await (await opened({ path })).close();
		const newer = file("b.db");
		await (await opened({ path: newer })).close();
		withDatabase(newer, (database) => database.exec("PRAGMA user_version = 99"));
		await expect(moveStore({ ...WISH, from: newer, to: file() })).rejects.toThrow(/newer Sluice/);
		await expect(moveStore({ ...WISH, from: path, to: newer })).rejects.toThrow(/newer Sluice/);
		const foreign = file("c.db");
		withDatabase(foreign, (database) => database.exec("CREATE TABLE job (id int)"));
		await expect(moveStore({ ...WISH, from: path, to: foreign, replace: true })).rejects.toThrow(/another program/);
		await expect(moveStore({ ...WISH, from: path, to: "/proc/nowhere/x.db" })).rejects.toMatchObject({ code: "store" });
	});
});

describe("broken off", () => {
	async function sides(url: string): Promise<{ path: string; from: Side; to: Side }> {
		const path = file();
		const scheduler = await opened({ path });
		await fill(scheduler);
		await scheduler.close();
		const from = openFileEnd(path, "use", () => 1_700_000_000_000);
		const to = await openDatabaseEnd(url, "make", "move test");
		if (!from || !to) throw new Error("both are there");
		onTestFinished(async () => {
			await from.close();
			await to.close();
		});
		return { path, from: { end: from, held: null }, to: { end: to, held: null } };
	}
	const PLAIN = { target: "empty", source: "once" } as const;

	test("in the middle: nothing is moved, and it can be begun again", async () => {
		const url = await server.makeDatabase();
		const proxy = await openTcpProxy(server.port);
		onTestFinished(() => proxy.close());
		const { path, from, to } = await sides(url.replace(String(server.port), String(proxy.port)));
		const progress = ({ table }: { table: string }) => {
			if (table === "event") proxy.cut();
		};
		await expect(move(from, to, { ...PLAIN, progress })).rejects.toMatchObject({ code: "store", message: /cannot be reached/ });
		for (const { end } of [from, to]) await end.close();
		const empty = await dumpDatabase(url);
		expect(Object.values(empty).flat()).toEqual([]);
		await moveStore({ ...WISH, from: path, to: url });
		expect(await dumpDatabase(url)).toEqual(dumpFile(path));
	});

	test.each(["loseAnswers", "loseRequests"] as const)("in the commit (%s): its outcome is read afterwards", async (how) => {
		const url = await server.makeDatabase();
		const proxy = await openTcpProxy(server.port);
		onTestFinished(() => proxy.close());
		const { path, from, to } = await sides(url.replace(String(server.port), String(proxy.port)));
		const end = { ...to.end };
		// The proxy breaks the connection right before COMMIT.
		const { commit } = to.end;
		end.commit = async () => {
			proxy.beforeCommit(how);
			return commit();
		};
		const moving = move(from, { end, held: null }, PLAIN);
		if (how === "loseAnswers") {
			expect(await moving).toMatchObject({ marked: true });
			expect(await dumpDatabase(url)).toEqual(dumpFile(path));
		} else {
			await expect(moving).rejects.toMatchObject({ code: "store", message: /broke while it was writing/ });
			expect(Object.values(await dumpDatabase(url)).flat()).toEqual([]);
			await from.end.close();
			await (await opened({ path })).list();
		}
	});

	test("on a full disk: nothing is moved, no file is left, and the source goes on working", async (context) => {
		const small = makeFolder();
		const disk = mountSmallDisk(small, "1m");
		if (!disk) return context.skip("mounting a disk takes root");
		const path = file();
		const scheduler = await opened({ path });
		for (let count = 0; count < 40; count++) await add(scheduler, { command: ["true"], prompt: "x".repeat(50_000) });
		const target = join(small, "b.db");
		await expect(moveStore({ ...WISH, from: path, to: target })).rejects.toMatchObject({ code: "store", message: /disk is full/ });
		expect(existsSync(target)).toBe(false);
		await add(scheduler, { command: ["true"] });
	});
});
