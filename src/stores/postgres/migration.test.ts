// A database that a build with schema 3 has written, with counters in `head`, a page of events and a running job that holds a lock, becomes one of this version.
// `store.sql` is its dump, `rows.json` what that build found in its tables, all of it in its place.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { dumpDatabase } from "../../../test/make/stores/dumped.ts";
import { openPostgres } from "../../../test/make/stores/postgres-alone.ts";
import { theServer, withServer } from "../../../test/make/stores/postgres-stores.ts";
import { systemClock } from "../../host/local.ts";
import { openScheduler } from "../../open.ts";
import { addressOf } from "../address.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "../migrations/index.ts";
import { migration } from "../migrations/postgres.ts";
import { runHost } from "./schema.ts";

withServer();

const FIXTURE = join(import.meta.dirname, "../../../test/fixtures/postgres-3");
const rows = JSON.parse(readFileSync(join(FIXTURE, "rows.json"), "utf8")) as Record<string, unknown[][]>;

async function client(url: string, name?: string): Promise<pg.Client> {
	const made = new pg.Client({ connectionString: url, ...(name ? { application_name: name } : {}) });
	await made.connect();
	onTestFinished(() => made.end());
	return made;
}

async function restored(): Promise<{ url: string; admin: pg.Client }> {
	const url = await theServer().makeDatabase();
	const admin = await client(url);
	await admin.query(readFileSync(join(FIXTURE, "store.sql"), "utf8"));
	return { url, admin };
}

const leading = { writer: "w", monotonic: systemClock.monotonic };
const columnsOf = async (admin: pg.Client) => {
	const { rows } = await admin.query(
		"SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = 'sluice' ORDER BY 1, 2",
	);
	return rows;
};
const indexesOf = async (admin: pg.Client) =>
	(await admin.query("SELECT indexdef FROM pg_indexes WHERE schemaname = 'sluice' ORDER BY 1")).rows.map(({ indexdef }) => indexdef);

/** What the shared migration adds: the record of the lock that the running job holds. */
const added = MIGRATIONS[3]?.sql === "" ? [] : [["lock", "deploy", expect.stringContaining('"exclusive"')]];

test("every row is where this version looks for it", async () => {
	const { url } = await restored();
	await (await openPostgres(url, leading)).close();
	const found = await dumpDatabase(url);
	const { record, ...others } = rows;
	const byKey = (a: unknown[], b: unknown[]) => (`${a[0]} ${a[1]}` < `${b[0]} ${b[1]}` ? -1 : 1);
	expect({ ...found, record: undefined }).toEqual({ ...others, record: undefined });
	expect(found.record).toEqual([...(record ?? []), ...added].sort(byKey));
});

test("and its tables are those of a new database", async () => {
	const { url, admin } = await restored();
	await (await openPostgres(url, leading)).close();
	const fresh = await theServer().makeDatabase();
	await (await openPostgres(fresh, leading)).close();
	const other = await client(fresh);
	expect(await columnsOf(admin)).toEqual(await columnsOf(other));
	expect(await indexesOf(admin)).toEqual(await indexesOf(other));
	const { rows: functions } = await admin.query("SELECT proname FROM pg_proc WHERE pronamespace = 'sluice'::regnamespace");
	expect(functions).toEqual([{ proname: "run_host" }]);
	expect((await admin.query("SELECT schema::int, epoch::int, txn::int, rank FROM sluice.head")).rows).toEqual([
		{ schema: SCHEMA_VERSION, epoch: 1, txn: 0, rank: 0 },
	]);
});

test("the work goes on", async () => {
	const { url } = await restored();
	// A moment after its last, so that no lease has ended.
	const at = () => 1_700_000_015_000;
	const scheduler = await openScheduler({ url, clock: { now: at, monotonic: at }, join: { name: "here" }, drive: "manual" });
	onTestFinished(() => scheduler.close());
	expect(await scheduler.status()).toMatchObject({ queued_total: 42, running: 2 });
	const added = await scheduler.add({ payload: {} });
	expect(added).toMatchObject({ outcome: "queued", job: { id: 47 } });
});

test.each([1, 2])("from version %i, without what came later", async (version) => {
	const { url, admin } = await restored();
	const counted = Object.fromEntries(
		JSON.parse((await admin.query("SELECT counters FROM sluice.head")).rows[0].counters).map((one: unknown[]) => [one[1], one[2]]),
	);
	expect(counted.ids).toBeDefined();
	await admin.query("ALTER TABLE sluice.head DROP COLUMN counters, DROP COLUMN secret, DROP COLUMN lately");
	await admin.query("ALTER TABLE sluice.head RENAME COLUMN turn TO version");
	await admin.query("DROP TABLE sluice.page CASCADE");
	await admin.query(`UPDATE sluice.head SET schema = ${version}`);
	await (await openPostgres(url, leading)).close();
	expect((await dumpDatabase(url)).job).toEqual(rows.job);
});

test("processes of the older build that are up keep it as it is, with one line", async () => {
	const { url, admin } = await restored();
	const older = await client(url, "sluice 5bQk2cWqLx0d listener");
	await expect(openPostgres(url, leading)).rejects.toMatchObject({
		message: `a process of an older Sluice still works with ${addressOf(url).display}`,
		hint: expect.stringContaining("sluice down"),
	});
	expect((await admin.query("SELECT schema::int FROM sluice.head")).rows).toEqual([{ schema: 3 }]);
	await older.query("SELECT 1");
});

test("a running job whose document is damaged does not stand in the way", async () => {
	const { url, admin } = await restored();
	await admin.query("UPDATE sluice.job SET doc = '{nope' WHERE line = 'run' AND id = 3");
	await (await openPostgres(url, leading)).close();
	const { rows: found } = await admin.query(`SELECT id::int FROM sluice.job WHERE line = 'run' AND ${runHost("sluice")} = 'here'`);
	expect(found).toEqual([{ id: 4 }]);
});

test("what fails in the middle leaves it as it was", async () => {
	const { admin } = await restored();
	await admin.query("BEGIN");
	await expect(admin.query(`${migration("sluice", 3)}; SELECT 1 / 0`)).rejects.toThrow("division by zero");
	await admin.query("ROLLBACK");
	expect((await admin.query("SELECT schema::int, turn::int FROM sluice.head")).rows).toEqual([{ schema: 3, turn: 15 }]);
});
