// sluice migrate-store at the command line: a home's queue to PostgreSQL and back, refused while it is in use, killed in the middle.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openScheduler } from "../../src/open.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { dumpDatabase, dumpFile } from "../make/stores/dumped.ts";
import { type Server, startServer } from "../make/stores/postgres-server.ts";
import { withDatabase } from "../make/stores/store-file.ts";

let server: Server;
beforeAll(async () => {
	server = await startServer({ durability: "full" });
});
afterAll(() => server?.end());

const QUICK = "stop: {grace_int: 100ms, grace_term: 300ms}\n";

/** As docs/fleet.md says, and nothing more. */
async function grant(url: string): Promise<void> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	await client.query("CREATE ROLE host LOGIN");
	await client.query("GRANT USAGE ON SCHEMA sluice TO host");
	await client.query("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA sluice TO host");
	await client.end();
}

test("a home: refused while its daemon or a job of it runs; then moved, and back, and the daemon goes on", async () => {
	const home = new TestHome();
	home.make(QUICK);
	const { child, client } = await home.up();
	await client.call("job.add", { command: ["true"], name: "done" });
	await client.call("job.wait", { ids: [1], timeout_ms: 20_000 });
	await client.call("job.add", { command: ["sleep", "600"], name: "long" });
	await client.call("job.add", { command: ["true"], name: "later", after: ["long"] });
	await until(async () => (await client.call("job.show", { id: 2 })).job.status === "running");
	const url = await server.makeDatabase();
	const move = (...more: string[]) => home.run(["migrate-store", home.path, url, ...more]);

	expect(await move()).toMatchObject({ code: 4, out: "", err: expect.stringContaining("a daemon is running in this home already") });
	await home.kill(child);
	expect(await move()).toMatchObject({
		code: 4,
		err: expect.stringMatching(/a job is running in .*: 2 \(long\) on local.*\n.*sluice down --stop-runs/s),
	});
	const checked = await move("--check", "--json");
	expect(checked.code).toBe(4);
	expect(JSON.parse(checked.out)).toMatchObject({
		moved: false,
		jobs: { waiting: 1, running: 1, ended: 1 },
		objections: [{ what: "running" }],
	});

	await home.up();
	expect(await home.run(["down", "--stop-runs"])).toMatchObject({ code: 0 });
	const before = dumpFile(join(home.path, "sluice.db"));
	expect(await move("--check")).toMatchObject({ code: 0, out: expect.stringContaining("would be moved: 2 jobs that wait, 1 that ended") });
	const moved = await move("--json");
	expect(JSON.parse(moved.out)).toMatchObject({ schema_version: 1, moved: true, marked: true, jobs: { waiting: 2, running: 0, ended: 1 } });
	expect(await dumpDatabase(url)).toEqual(before);

	const refused = home.spawn();
	await home.gone(refused);
	expect(refused.exitCode).toBe(1);
	expect(refused.said()).toContain("this store was moved to postgres://");

	// The same home goes on with it, as a role that may only read and write.
	await grant(url);
	const shared = await home.up({ SLUICE_STORE: url.replace("sluice@", "host@") });
	expect(((await shared.client.call("job.add", { command: ["echo", "from there"] })) as { job: { id: number } }).job.id).toBe(4);
	await shared.client.call("job.cancel", { id: 2 });
	expect((await shared.client.call("job.wait", { ids: [4], timeout_ms: 25_000 })).jobs[0]).toMatchObject({ status: "succeeded" });
	expect((await home.run(["logs", "4"])).out).toBe("from there\n");
	const { checks } = (await shared.client.call("doctor.run", {})) as { checks: { name: string; ok: boolean }[] };
	const database = checks.filter(({ name }) => name.startsWith("database"));
	expect(database.map(({ name }) => name.slice(9))).toEqual(["", "transport", "durability", "clock", "schema", "leader"]);
	expect(database.filter(({ ok }) => !ok)).toEqual([]);
	expect(await home.run(["migrate-store", url, home.path, "--replace"])).toMatchObject({ code: 4 });
	expect(await home.run(["down", "--stop-runs"])).toMatchObject({ code: 0 });
	await home.gone(shared.child);

	const after = await dumpDatabase(url);
	expect(await home.run(["migrate-store", url, home.path, "--replace"])).toMatchObject({
		code: 0,
		err: expect.stringMatching(/^moved: /),
	});
	expect(dumpFile(join(home.path, "sluice.db"))).toEqual(after);
	const again = await home.up();
	expect((await again.client.call("job.add", { command: ["true"] })) as unknown).toMatchObject({ job: { id: 5 } });
	const waited = await again.client.call("job.wait", { ids: [5], timeout_ms: 20_000 });
	expect(waited.jobs[0]).toMatchObject({ status: "succeeded" });
});

/** The commands of a block of docs/fleet.md, with this server and this home in the place of the page's. */
function commandsOf(page: string, word: RegExp, home: TestHome, url: string): string[][] {
	const blocks = [...page.matchAll(/```sh[^\n]*\n(.*?)```/gs)].map(([, text]) => text as string);
	const block = blocks.find((text) => text.includes("migrate-store") && word.test(text)) as string;
	const lines = block.trim().split("\n");
	return lines.map((line) =>
		line
			.replaceAll("~/.sluice", home.path)
			.replaceAll(/postgres:\/\/\S+/g, url)
			.split(" ")
			.slice(1),
	);
}

test("the page's commands move a home to PostgreSQL, back, and there again, each as it is written", async () => {
	const page = readFileSync(new URL("../../docs/fleet.md", import.meta.url), "utf8");
	const home = new TestHome();
	home.make(QUICK);
	const url = await server.makeDatabase();
	const there = commandsOf(page, /config set store/, home, url);
	const back = commandsOf(page, /config unset store/, home, url);
	expect([there.length, back.length]).toEqual([4, 3]);
	const play = async (commands: string[][]) => {
		for (const words of commands) expect({ words, ...(await home.run(words)) }).toMatchObject({ words, code: 0 });
	};
	const added = async () => Number((await home.run(["add", "--wait", "--", "true"])).out.trim().split("\n")[0]);
	const storeOf = async () =>
		(JSON.parse((await home.run(["doctor", "--json"])).out) as { checks: { name: string; detail: string }[] }).checks.find(
			({ name }) => name === "store",
		)?.detail;

	expect(await added()).toBe(1);
	await play(there);
	// The same queue goes on, with its numbers, and the next command has started a daemon on it.
	expect(await added()).toBe(2);
	expect(await storeOf()).toMatch(/^postgres:/);
	await play(back);
	expect(await added()).toBe(3);
	expect(await storeOf()).toBe(join(home.path, "sluice.db"));
	// The database was moved away from; the page says what it asks for then.
	await play(there.map((words) => (words[0] === "migrate-store" ? [...words, "--replace"] : words)));
	expect(await added()).toBe(4);
	expect(JSON.parse((await home.run(["list", "--all", "--json"])).out).jobs).toHaveLength(4);
	expect(await home.run(["down"])).toMatchObject({ code: 0 });
});

test("usage: both stores are named, and are stores", async () => {
	const home = new TestHome();
	expect(await home.run(["migrate-store", home.path])).toMatchObject({ code: 2 });
	expect(await home.run(["migrate-store", home.path, "mysql://x/y"])).toMatchObject({
		code: 2,
		err: expect.stringContaining("no kind of store"),
	});
	expect(await home.run(["migrate-store", home.path, server.url()])).toMatchObject({
		code: 3,
		err: expect.stringContaining("there is no store at"),
	});
	expect(existsSync(home.path)).toBe(false);
});

/** Many jobs in little time: the documents of one, again and again. */
async function manyJobs(path: string, count: number): Promise<void> {
	const scheduler = await openScheduler({ path, join: { name: "here" } });
	await scheduler.add({ command: ["true"] });
	await scheduler.close();
	withDatabase(path, (database) => {
		const numbers = `WITH RECURSIVE n (id) AS (SELECT 2 UNION ALL SELECT id + 1 FROM n WHERE id < ${count})`;
		database.exec(`INSERT INTO job SELECT n.id, line, bucket, rank, level, age_at, ready_at, due_at, status, lane, batch, json_set(doc, '$.id', n.id)
			FROM job, (${numbers} SELECT id FROM n) AS n WHERE job.id = 1`);
		database.exec(`INSERT INTO spec SELECT n.id, body FROM spec, (${numbers} SELECT id FROM n) AS n WHERE spec.id = 1`);
	});
}

test("killed in the middle, in either direction: nothing is there, and it can be begun again", async () => {
	const home = new TestHome();
	home.make();
	const path = join(home.path, "sluice.db");
	await manyJobs(path, 12_000);
	// Compared as texts: of so many rows nobody reads the difference.
	const before = JSON.stringify(dumpFile(path));
	const url = await server.makeDatabase();
	const kill = (...words: string[]) =>
		new Promise<string>((resolve) => {
			let said = "";
			const child = spawn(process.execPath, [TestHome.command(), "migrate-store", ...words], { stdio: ["ignore", "ignore", "pipe"] });
			child.stderr.on("data", (chunk) => {
				said += chunk;
				// It has told of its first rows, and has more before it.
				if (said.includes("copied")) child.kill("SIGKILL");
			});
			child.once("close", (_, signal) => resolve(signal ?? said));
		});
	expect(await kill(path, url)).toBe("SIGKILL");
	await until(async () => (await dumpDatabase(url)).job?.length === 0);
	expect(await home.run(["migrate-store", path, url])).toMatchObject({ code: 0, err: expect.stringContaining("compared") });
	expect(JSON.stringify(await dumpDatabase(url)) === before).toBe(true);

	rmSync(home.path, { recursive: true });
	expect(await kill(url, home.path)).toBe("SIGKILL");
	expect(Object.values(dumpFile(path)).flat()).toEqual([]);
	// The server may not have noticed yet that its client is gone.
	await until(async () => {
		const client = new pg.Client({ connectionString: url });
		await client.connect();
		const { rows } = await client.query("SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'sluice move%'");
		await client.end();
		return rows.length === 0;
	});
	expect(await home.run(["migrate-store", url, home.path])).toMatchObject({ code: 0 });
	expect(JSON.stringify(dumpFile(path)) === before).toBe(true);
});
