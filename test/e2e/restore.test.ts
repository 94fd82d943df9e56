// An older state of the queue is put back, on a machine with runs of both times: those that it knows go on, those that it does not know are ended.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { orElse } from "../../src/core/errors.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { TestHost } from "../make/daemons/host.ts";
import { makeFolder } from "../make/folder.ts";
import { isLong } from "../make/long.ts";
import { startServer } from "../make/stores/postgres-server.ts";
import { pragma, withDatabase } from "../make/stores/store-file.ts";

const CONFIG = "stop: {grace_int: 100ms, grace_term: 300ms}\n";
const add = async (client: Client, job: Record<string, unknown>): Promise<number> =>
	((await client.call("job.add", job)) as { job: { id: number } }).job.id;
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const isAlive = (pid: number) => orElse(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"), "") !== "";

/** A run that tells its pid and goes on until it is let go. */
function patient(folder: string, name: string) {
	const [pid, gate] = [join(folder, `${name}.pid`), join(folder, `${name}.go`)];
	return {
		job: {
			command: [
				"/bin/sh",
				"-c",
				`echo $$ > ${pid}.new; mv ${pid}.new ${pid}; while [ ! -e ${gate} ]; do sleep 0.05; done; echo ${name} is done`,
			],
		},
		pid: () => until(() => (existsSync(pid) ? Number(readFileSync(pid, "utf8")) : undefined)),
		letGo: () => writeFileSync(gate, ""),
	};
}
async function ended(client: Client, id: number) {
	await client.call("job.wait", { ids: [id], timeout_ms: 25_000 });
	return show(client, id);
}
const logOf = async (home: TestHome, id: number) => (await home.run(["logs", String(id)])).out;

test("SQLite: a back-up that was made while the daemon worked", async () => {
	const home = new TestHome();
	home.make(CONFIG);
	const folder = makeFolder();
	const file = join(folder, "monday.db");
	const first = await home.up();
	const [known, later] = [patient(folder, "known"), patient(folder, "later")];
	expect(await add(first.client, known.job)).toBe(1);
	const pid = await known.pid();
	const waits = await add(first.client, { command: ["true"], after: [1] });
	expect(await home.run(["backup", file])).toMatchObject({
		code: 0,
		out: "",
		err: expect.stringMatching(/is kept in .*monday\.db, \d+ bytes\n$/),
	});
	expect(statSync(file).mode & 0o777).toBe(0o600);
	expect(pragma(file, "integrity_check")).toBe("ok");
	expect(readdirSync(folder).filter((name) => name.includes("part"))).toEqual([]);
	const stranger = await add(first.client, later.job);
	const laterPid = await later.pid();
	expect((await home.run(["down"])).code).toBe(0);
	expect([isAlive(pid), isAlive(laterPid)]).toEqual([true, true]);

	for (const end of ["-wal", "-shm"]) rmSync(join(home.path, `sluice.db${end}`), { force: true });
	copyFileSync(file, join(home.path, "sluice.db"));
	const { client } = await home.up();
	await until(() => !isAlive(laterPid));
	expect(await show(client, 1)).toMatchObject({ status: "running", attempt: 1 });
	expect(isAlive(pid)).toBe(true);
	await expect(client.call("job.show", { id: stranger })).rejects.toMatchObject({ code: "not_found" });
	// Its number is given again; what the other one left is not taken for its own.
	expect(await add(client, { command: ["echo", "another"] })).toBe(stranger);
	expect(await ended(client, stranger)).toMatchObject({ status: "succeeded" });
	expect(await logOf(home, stranger)).toBe("another\n");
	known.letGo();
	expect(await ended(client, 1)).toMatchObject({ status: "succeeded", attempt: 1 });
	expect(await ended(client, waits)).toMatchObject({ status: "succeeded" });
	expect(await logOf(home, 1)).toBe("known is done\n");
});

test("backup: what is refused, and leaves nothing", async () => {
	const home = new TestHome();
	home.make();
	const folder = makeFolder();
	const file = join(folder, "a.db");
	expect(await home.run(["backup"])).toMatchObject({ code: 2 });
	expect(await home.run(["backup", file])).toMatchObject({ code: 3, err: expect.stringContaining("there is no store at") });
	withDatabase(join(home.path, "sluice.db"), (database) => database.exec("CREATE TABLE x (y)"));
	expect(await home.run(["backup", file])).toMatchObject({ code: 1, err: expect.stringContaining("another program") });
	rmSync(join(home.path, "sluice.db"));
	await home.kill((await home.up()).child);
	writeFileSync(file, "mine");
	expect(await home.run(["backup", file])).toMatchObject({ code: 4, err: expect.stringContaining("is there already") });
	expect(readFileSync(file, "utf8")).toBe("mine");
	expect(await home.run(["backup", join(folder, "no/where.db")])).toMatchObject({
		code: 1,
		err: expect.stringContaining("cannot be written"),
	});
	mkdirSync(join(folder, "sub"));
	expect(JSON.parse((await home.run(["backup", "sub/b.db", "--json"], { cwd: folder })).out)).toMatchObject({
		file: join(folder, "sub/b.db"),
	});
	expect(await home.run(["backup", join(folder, "c.db")], { env: { SLUICE_STORE: "postgres://h/d" } })).toMatchObject({
		code: 2,
		err: expect.stringContaining("pg_dump"),
	});
	expect(readdirSync(folder).sort()).toEqual(["a.db", "sub"]);
});

test.runIf(isLong)("PostgreSQL: under a daemon that goes on, though nobody should", { timeout: 120_000 }, async () => {
	const server = await startServer({ durability: "full" });
	onTestFinished(() => server.end());
	const host = new TestHost("mill", server.url());
	host.make(CONFIG);
	const folder = makeFolder();
	const { client } = await host.up();
	const [known, over, later] = [patient(folder, "known"), patient(folder, "over"), patient(folder, "later")];
	const one = await add(client, known.job);
	const two = await add(client, over.job);
	const [pid] = [await known.pid(), await over.pid()];
	const restore = server.keep();

	over.letGo();
	expect(await ended(client, two)).toMatchObject({ status: "succeeded" });
	const stranger = await add(client, later.job);
	const laterPid = await later.pid();
	restore();

	// What has ended since is found in its folder once more; what the store does not know is ended.
	expect(await ended(client, two)).toMatchObject({ status: "succeeded", attempt: 1 });
	const next = await add(client, { command: ["true"] });
	expect(next).toBeGreaterThan(stranger);
	await until(() => !isAlive(laterPid));
	expect(isAlive(pid)).toBe(true);
	known.letGo();
	expect(await ended(client, one)).toMatchObject({ status: "succeeded", attempt: 1 });
	expect(await ended(client, next)).toMatchObject({ status: "succeeded" });
	await expect(client.call("job.show", { id: stranger })).rejects.toMatchObject({ code: "not_found" });
});
