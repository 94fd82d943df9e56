// Stores that an earlier Sluice has written, with their rows: what a migration changes in them, and that work goes on.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { withDatabase } from "../../../test/make/stores/store-file.ts";
import { openScheduler } from "../../index.ts";
import { openSqlite } from "../sqlite/store.ts";
import { MIGRATIONS } from "./index.ts";

/** The rows of a store with schema 3, as INSERT statements; see the head of the file. */
const SCHEMA_3 = readFileSync(new URL("../../../test/fixtures/stores/schema-3.sql", import.meta.url), "utf8");

/** A SQLite file with schema 3. PostgreSQL has its own test: postgres/migration.test.ts. */
function oldFile(): string {
	const path = join(makeFolder(), "old.db");
	withDatabase(path, (database) => {
		for (const step of MIGRATIONS.slice(0, 3)) database.exec(step.sql);
		database.exec(`${SCHEMA_3} PRAGMA user_version = 3;`);
	});
	return path;
}

const LOCKS = [
	{ key: "db", holders: [{ job: 1, mode: "exclusive" }] },
	{ key: "docs", holders: [{ job: 2, mode: "shared" }] },
	{ key: "port", holders: [{ job: 4, mode: "exclusive" }] },
	{ key: "tests:5", holders: [{ job: 1, mode: "exclusive" }] },
];

test("schema 3: a lock that was held without a record gets one, and its holder's end frees it", async () => {
	const sluice = await openScheduler({ path: oldFile(), drive: "manual", config: { max_concurrent: 10 } });
	onTestFinished(() => sluice.close());
	expect(await sluice.locks()).toMatchObject(LOCKS);

	const added = await sluice.add({ command: ["true"], locks: ["tests:5"] });
	expect(added).toMatchObject({ job: { id: 7, status: "waiting_on_locks" } });
	expect((await sluice.why(7)).reasons[0]).toMatchObject({ gate: "locks", holder: ["job:1"] });
	expect((await sluice.claim({ worker: "w", max: 10 })).map(({ job }) => job.id)).toEqual([6]);

	await sluice.complete({ job: 1, token: 1, exit_kind: "completed", exit_code: 0 });
	expect((await sluice.claim({ worker: "w", max: 10 })).map(({ job }) => job.id)).toEqual([3, 7]);
	await sluice.complete({ job: 4, token: 3, exit_kind: "completed", exit_code: 0 });
	expect((await sluice.claim({ worker: "w", max: 10 })).map(({ job }) => job.id)).toEqual([5]);
});

test("schema 3: records are written as the engine writes them, and those that were there stay", async () => {
	const store = openSqlite(oldFile());
	await store.begin();
	const records = await store.read({ read: "standing", kinds: ["lock"] });
	await store.rollback();
	await store.close();
	expect(records).toEqual(LOCKS.map(({ key, holders }) => ["lock", key, { holders: holders.map(({ job, mode }) => [job, mode]) }]));
});
