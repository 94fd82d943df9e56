// SQLite against the store's contract, on disk and in memory; its schema; and what only SQLite does: refusals, durability, faults.

import { chmodSync, copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makeJob } from "../../../test/make/job.ts";
import { makeRow, storeConformance } from "../../../test/store-conformance.ts";
import { noChanges } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "../migrations/index.ts";
import { type Database, newEnough, OLDEST_SQLITE, openDatabase, versionOf } from "./driver.ts";
import { bringUpToDate, openSqlite } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-store-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = () => join(folder, `${++files}.db`);

storeConformance("SQLite on disk", () => {
	const path = newFile();
	return { open: () => openSqlite(path), shared: true };
});
storeConformance("SQLite in memory", () => ({ open: () => openSqlite(":memory:"), shared: false }));

function rows(database: Database, sql: string): unknown[][] {
	const statement = database.prepare(sql);
	statement.setReturnArrays(true);
	return statement.all() as unknown[][];
}
const pragma = (database: Database, name: string) => rows(database, `PRAGMA ${name}`)[0]?.[0];
function withFile<T>(path: string, use: (database: Database) => T): T {
	const database = openDatabase(path);
	try {
		return use(database);
	} finally {
		database.close();
	}
}

function refusal(call: () => unknown): SluiceError {
	try {
		call();
	} catch (error) {
		if (error instanceof SluiceError) return error;
		throw error;
	}
	throw new Error("nothing was refused");
}

/** Tables with their columns, then indexes, so that a change of the schema shows in a diff. */
const SCHEMA = `
done: id INTEGER pk, status TEXT, lane TEXT, batch TEXT?, ended_at INTEGER, doc TEXT
edge: pred INTEGER pk, job INTEGER pk, policy TEXT, seq INTEGER
event: seq INTEGER pk, at INTEGER, kind TEXT, job INTEGER?, by TEXT, data TEXT
job: id INTEGER pk, line TEXT, bucket INTEGER, rank INTEGER, level INTEGER, age_at INTEGER, ready_at INTEGER?, due_at INTEGER?, status TEXT, lane TEXT, batch TEXT?, doc TEXT
link: key TEXT pk, role TEXT pk, job INTEGER pk
record: kind TEXT pk, key TEXT pk, body TEXT
run: job INTEGER pk, attempt INTEGER pk, doc TEXT
spec: id INTEGER pk, body TEXT

done_batch: done (batch, id) partial
done_ended: done (ended_at, id)
done_failed: done (status, ended_at) partial
edge_job: edge (job, seq)
event_job: event (job, seq) partial
job_batch: job (batch, id) partial
job_due: job (due_at, id) partial
job_line: job (line, bucket, rank DESC, level DESC, age_at, id)
job_oldest: job (bucket, ready_at, id) partial
link_job: link (job)
`.trim();

function schemaOf(path: string): string {
	return withFile(path, (database) => {
		const names = (type: string) =>
			rows(database, `SELECT name, tbl_name FROM sqlite_master WHERE type = '${type}' AND name NOT LIKE 'sqlite_%' ORDER BY name`);
		const tables = names("table").map(([name]) => {
			const columns = rows(database, `SELECT name, type, "notnull", pk FROM pragma_table_info('${name}')`);
			return `${name}: ${columns.map(([column, type, notnull, pk]) => `${column} ${type}${pk ? " pk" : notnull ? "" : "?"}`).join(", ")}`;
		});
		const partial = new Map(
			names("table").flatMap(([table]) => rows(database, `SELECT name, partial FROM pragma_index_list('${table}')`)) as [string, number][],
		);
		const indexes = names("index").map(([name, table]) => {
			const columns = rows(database, `SELECT name, "desc" FROM pragma_index_xinfo('${name}') WHERE key = 1 ORDER BY seqno`);
			const list = columns.map(([column, down]) => `${column}${down ? " DESC" : ""}`).join(", ");
			return `${name}: ${table} (${list})${partial.get(name as string) ? " partial" : ""}`;
		});
		return [...tables, "", ...indexes].join("\n");
	});
}

describe("the schema", () => {
	test("of a new file", () => {
		const path = newFile();
		void openSqlite(path).close();
		expect(schemaOf(path)).toBe(SCHEMA);
		expect(withFile(path, (database) => pragma(database, "user_version"))).toBe(SCHEMA_VERSION);
	});

	test.each(MIGRATIONS.map((step) => step.version))("of a file that was made at version %i and migrated", (version) => {
		const path = newFile();
		withFile(path, (database) => {
			for (const step of MIGRATIONS.slice(0, version)) database.exec(step.sql);
			database.exec(`PRAGMA user_version = ${version}`);
		});
		void openSqlite(path).close();
		expect(schemaOf(path)).toBe(SCHEMA);
	});

	test("opening it again changes nothing", () => {
		const path = newFile();
		for (let times = 0; times < 3; times++) void openSqlite(path).close();
		expect(schemaOf(path)).toBe(SCHEMA);
	});
});

test("its files are their owner's alone, also those that were made open to others", () => {
	const path = newFile();
	const modes = () => ["", "-wal", "-shm"].map((end) => (statSync(`${path}${end}`).mode & 0o777).toString(8));
	const before = process.umask(0o022);
	try {
		const store = openSqlite(path);
		expect(modes()).toEqual(["600", "600", "600"]);
		for (const end of ["", "-wal", "-shm"]) chmodSync(`${path}${end}`, 0o644);
		const other = openSqlite(path);
		expect(modes()).toEqual(["600", "600", "600"]);
		void other.close();
		void store.close();
	} finally {
		process.umask(before);
	}
});

describe("refused, and left as it was", () => {
	test("a schema from the future", () => {
		const path = newFile();
		void openSqlite(path).close();
		withFile(path, (database) => database.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`));
		const error = refusal(() => openSqlite(path));
		expect(error).toMatchObject({ code: "store", hint: "upgrade this Sluice, or use another file" });
		expect(error.message).toContain("was written by a newer Sluice");
		expect(withFile(path, (database) => pragma(database, "user_version"))).toBe(SCHEMA_VERSION + 1);
	});

	test("a database of another program", () => {
		const path = newFile();
		withFile(path, (database) => database.exec("CREATE TABLE theirs (x)"));
		expect(refusal(() => openSqlite(path)).code).toBe("store");
		expect(withFile(path, (database) => rows(database, "SELECT name FROM sqlite_master"))).toEqual([["theirs"]]);
	});

	test.each([
		["a version of ours and no tables", 1, "", /another program/],
		["the newest version and no tables", SCHEMA_VERSION, "", /another program/],
		["a version from the future and no tables", 99, "", /another program/],
		["a version of ours and other tables", SCHEMA_VERSION, "CREATE TABLE job (x);", /another program/],
		["no version and only a view", 0, "CREATE VIEW theirs AS SELECT 1;", /another program/],
		["no version and other tables", 0, "CREATE TABLE theirs (x);", /another program/],
		["a version of ours and other tables, as a WAL", 1, "PRAGMA journal_mode = WAL; CREATE TABLE theirs (x);", /another program/],
		["a kernel.db before its queue", 2, "CREATE TABLE agent_processes (pid INTEGER PRIMARY KEY);", /kernel\.db \(schema 2\)/],
		["a kernel.db with its queue", 3, "CREATE TABLE agent_processes (pid INTEGER PRIMARY KEY);", /kernel\.db \(schema 3\)/],
	])("%s: not a byte of it changes, and nothing is left beside it", (_name, version, sql, message) => {
		const path = newFile();
		withFile(path, (database) => database.exec(`${sql} PRAGMA user_version = ${version};`));
		const before = readFileSync(path);
		const beside = readdirSync(dirname(path)).sort();
		const error = refusal(() => openSqlite(path));
		expect(error.code).toBe("store");
		expect(error.message).toMatch(message);
		expect(error.message).not.toContain("\n");
		expect(error.hint).toBeTruthy();
		expect(readFileSync(path).equals(before)).toBe(true);
		expect(readdirSync(dirname(path)).sort()).toEqual(beside);
	});

	test("not: a store that was not closed, whose WAL is read with it", () => {
		const path = newFile();
		const left = openDatabase(path);
		left.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;");
		bringUpToDate(left, path);
		const copy = newFile();
		for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${copy}${end}`);
		left.close();
		void openSqlite(copy).close();
		expect(schemaOf(copy)).toBe(SCHEMA);
	});

	test.each([
		["no database at all", () => writeFileSync(join(folder, "text.db"), "hello ".repeat(1000)), () => join(folder, "text.db")],
		["a folder that is not there", () => {}, () => join(folder, "nowhere", "x.db")],
		["a folder itself", () => {}, () => folder],
	])("%s", (_name, prepare, path) => {
		prepare();
		const error = refusal(() => openSqlite(path()));
		expect(error).toMatchObject({ code: "store" });
		expect(error.hint).toBeTruthy();
	});

	test("an old SQLite", () => {
		expect([
			newEnough("3.51.3"),
			newEnough("3.51.2"),
			newEnough("3.52.0"),
			newEnough("4.0.0"),
			newEnough("3.9.99"),
			newEnough("3.51.10"),
		]).toEqual([true, false, true, true, false, true]);
		expect(newEnough(withFile(":memory:", versionOf), OLDEST_SQLITE)).toBe(true);
	});
});

describe("durability", () => {
	const job = (id: number) => makeRow(makeJob({ id }));

	test("WAL, and every commit synced", () => {
		const path = newFile();
		const store = openSqlite(path);
		expect(withFile(path, (database) => pragma(database, "journal_mode"))).toBe("wal");
		expect(existsSync(`${path}-wal`)).toBe(true);
		void store.close();
	});

	test("a commit is in the files, even if the store is never closed", async () => {
		const path = newFile();
		const store = openSqlite(path);
		await store.begin();
		await store.write({ ...noChanges(), insert: [job(1)] });
		await store.commit();
		await store.begin();
		await store.write({ ...noChanges(), insert: [job(2)] });
		// Copy the files as they would be found after a power failure.
		const copy = newFile();
		for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${copy}${end}`);
		await store.rollback();
		await store.close();
		expect(withFile(copy, (database) => rows(database, "SELECT id FROM job"))).toEqual([[1]]);
	});

	test("a second writer waits for the lock, and fails with `busy` when that takes too long", async () => {
		const path = newFile();
		const [one, other] = [openSqlite(path), openSqlite(path, { busyMs: 1 })];
		await one.begin();
		const error = refusal(() => other.begin());
		expect(error).toMatchObject({ code: "store" });
		expect(error.message).toContain("busy");
		await one.commit();
		await other.begin();
		await other.commit();
		await one.close();
		await other.close();
	});
});

describe("faults", () => {
	test.each(["begin", "flush", "commit"])("at %s: the caller gets the error, and nothing was written", async (point) => {
		const path = newFile();
		let broken = "";
		const store = openSqlite(path, {
			fault: (at) => {
				if (at === broken) throw new Error(`struck at ${at}`);
			},
		});
		broken = point;
		expect(() => {
			void store.begin();
			void store.write({ ...noChanges(), insert: [makeRow(makeJob({ id: 1 }))] });
			void store.commit();
		}).toThrow(`struck at ${point}`);
		await store.rollback();
		broken = "";
		await store.begin();
		expect(await store.read({ read: "jobs", ids: [1] })).toEqual([]);
		await store.commit();
		await store.close();
	});

	test("after the commit: the caller gets the error, and the transaction was written", async () => {
		const path = newFile();
		let broken = "";
		const store = openSqlite(path, {
			fault: (at) => {
				if (at === broken) throw new Error("struck");
			},
		});
		await store.begin();
		await store.write({ ...noChanges(), insert: [makeRow(makeJob({ id: 1 }))] });
		broken = "committed";
		expect(() => store.commit()).toThrow("struck");
		await store.rollback();
		broken = "";
		await store.begin();
		expect(await store.read({ read: "jobs", ids: [1] })).toHaveLength(1);
		await store.commit();
		await store.close();
	});
});

test("one document that cannot be parsed does not fail the read of the others", async () => {
	const path = newFile();
	const store = openSqlite(path);
	await store.begin();
	await store.write({ ...noChanges(), insert: [1, 2].map((id) => makeRow(makeJob({ id, lane: "code", bucket: 3 }))) });
	await store.commit();
	withFile(path, (database) => database.exec("UPDATE job SET doc = '{\"id\": bro' WHERE id = 1"));
	await store.begin();
	const found = await store.read({ read: "jobs", ids: [1, 2] });
	expect(found.find((job) => job.id === 2)).toEqual(makeJob({ id: 2, lane: "code", bucket: 3 }));
	expect(found.find((job) => job.id === 1)).toMatchObject({ id: 1, status: "queued", lane: "code", bucket: 3, broken: expect.any(String) });
	await store.commit();
	await store.close();
});
