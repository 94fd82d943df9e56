// What a scheduler does with the file it is given: makes it, migrates it, refuses it with an error that says what to do; and what survives in it.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openScheduler, SluiceError } from "../../src/index.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "../../src/stores/migrations/index.ts";
import { newEnough, OLDEST_SQLITE, openDatabase, versionOf } from "../../src/stores/sqlite/driver.ts";
import { HOUR, SECOND } from "../make/fakes.ts";
import { makeFolder } from "../make/folder.ts";
import { openStand } from "../make/stand.ts";
import { pragma, withDatabase } from "../make/stores/store-file.ts";

/** The error that opening this file gives. */
async function refusal(path: string): Promise<SluiceError> {
	const error = await openScheduler({ path, drive: "manual" }).then(
		async (sluice) => {
			await sluice.close();
			throw new Error("it was opened");
		},
		(error: unknown) => error,
	);
	if (!(error instanceof SluiceError)) throw new Error(`not a SluiceError: ${String(error)}`);
	return error;
}

const isRoot = process.getuid?.() === 0;

describe("a file that is new", () => {
	test("is made, with the newest schema, in WAL mode", async () => {
		const path = join(makeFolder(), "sluice.db");
		const t = await openStand({ path });
		await t.add();
		await t.sluice.close();
		expect(pragma(path, "user_version")).toBe(SCHEMA_VERSION);
		expect(pragma(path, "journal_mode")).toBe("wal");
		expect(pragma(path, "integrity_check")).toBe("ok");
	});

	test("or empty is migrated from version 0", async () => {
		const path = join(makeFolder(), "sluice.db");
		writeFileSync(path, "");
		const t = await openStand({ path });
		const job = await t.add();
		const later = await t.reopen();
		expect(await later.status(job)).toBe("queued");
		expect(pragma(path, "user_version")).toBe(SCHEMA_VERSION);
	});

	test("migrations are numbered without a gap, and the last one is the schema's version", () => {
		expect(MIGRATIONS.map((step) => step.version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
		expect(SCHEMA_VERSION).toBe(MIGRATIONS.length);
	});

	test.each(MIGRATIONS.map((step) => step.version))("a file of schema %i is brought to the newest one", async (version) => {
		const path = join(makeFolder(), "sluice.db");
		withDatabase(path, (database) => {
			for (const step of MIGRATIONS.slice(0, version)) database.exec(step.sql);
			database.exec(`PRAGMA user_version = ${version}`);
		});
		const t = await openStand({ path });
		expect(await t.start()).toEqual([]);
		const job = await t.add();
		expect(await t.start()).toEqual([job]);
		expect(pragma(path, "user_version")).toBe(SCHEMA_VERSION);
	});

	test("several at once may make it", async () => {
		const path = join(makeFolder(), "sluice.db");
		const stands = await Promise.all(Array.from({ length: 5 }, () => openStand({ path })));
		const jobs = await Promise.all(stands.map((t) => t.add()));
		expect(new Set(jobs).size).toBe(5);
	});
});

describe("a file that cannot be used is refused, and left as it was", () => {
	test("one that a newer Sluice wrote", async () => {
		const path = join(makeFolder(), "sluice.db");
		const t = await openStand({ path });
		const job = await t.add();
		await t.sluice.close();
		withDatabase(path, (database) => database.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`));
		const error = await refusal(path);
		expect(error.code).toBe("store");
		expect(error.message).toContain(`schema ${SCHEMA_VERSION + 1}`);
		expect(error.message).toContain("newer");
		expect(error.hint).toContain("upgrade");
		// The newer one finds it unharmed.
		expect(pragma(path, "user_version")).toBe(SCHEMA_VERSION + 1);
		withDatabase(path, (database) => database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`));
		expect(await (await openStand({ path })).status(job)).toBe("queued");
	});

	test("one that is no database", async () => {
		const path = join(makeFolder(), "notes.txt");
		const text = "Dear diary, today I opened a text file as a database.\n".repeat(100);
		writeFileSync(path, text);
		const error = await refusal(path);
		expect(error).toMatchObject({ code: "store", hint: expect.any(String) });
		expect(error.message).toContain(path);
		expect(error.message).toContain("not a Sluice database");
		expect(readFileSync(path, "utf8")).toBe(text);
	});

	test("another program's database", async () => {
		const path = join(makeFolder(), "other.db");
		withDatabase(path, (database) => {
			database.exec("CREATE TABLE job (number INTEGER, title TEXT)");
			database.exec("INSERT INTO job VALUES (1, 'theirs')");
		});
		const error = await refusal(path);
		expect(error).toMatchObject({ code: "store", hint: expect.any(String) });
		withDatabase(path, (database) => {
			expect(database.prepare("SELECT title FROM job").all()).toHaveLength(1);
			expect(database.prepare("SELECT name FROM sqlite_master").all()).toHaveLength(1);
		});
	});

	test("one in a folder that is not there", async () => {
		const error = await refusal(join(makeFolder(), "nowhere", "sluice.db"));
		expect(error).toMatchObject({ code: "store", hint: expect.stringContaining("folder") });
	});

	test("one that is a folder", async () => {
		const error = await refusal(makeFolder());
		expect(error).toMatchObject({ code: "store", hint: expect.any(String) });
	});

	test.skipIf(!existsSync("/proc/self"))("one in a folder where nothing can be made", async () => {
		const error = await refusal("/proc/sluice.db");
		expect(error).toMatchObject({ code: "store", hint: expect.stringContaining("folder") });
	});

	// Root may write everywhere.
	test.skipIf(isRoot)("one in a read-only folder", async () => {
		const folder = join(makeFolder(), "read-only");
		mkdirSync(folder);
		chmodSync(folder, 0o555);
		expect(await refusal(join(folder, "sluice.db"))).toMatchObject({ code: "store", hint: expect.stringContaining("folder") });
	});

	test.skipIf(isRoot)("one that is read-only itself", async () => {
		const path = join(makeFolder(), "sluice.db");
		const t = await openStand({ path });
		await t.add();
		await t.sluice.close();
		chmodSync(path, 0o444);
		expect(await refusal(path)).toMatchObject({ code: "store", hint: expect.stringContaining("permissions") });
	});
});

describe("SQLite itself", () => {
	test.each([
		["3.51.3", true],
		["3.51.4", true],
		["3.52.0", true],
		["3.100.0", true],
		["4.0.0", true],
		["3.51.2", false],
		["3.51", false],
		["3.50.4", false],
		["3.9.9", false],
		["2.99.99", false],
		["too old an interface", false],
		["", false],
	])("%j is new enough: %s", (version, enough) => {
		expect(newEnough(version)).toBe(enough);
	});

	test("the one in use is", () => {
		const database = openDatabase(":memory:");
		const version = versionOf(database);
		database.close();
		expect(newEnough(version)).toBe(true);
		expect(newEnough(version, OLDEST_SQLITE)).toBe(true);
	});
});

describe("a restart finds everything as it was left", () => {
	test("jobs, runs, locks, back-offs, holds, budgets, markers, numbers", async () => {
		const config = { max_concurrent: 10, accounts: { work: {} }, retry: 5 };
		const t = await openStand({ path: join(makeFolder(), "sluice.db"), config });
		const running = await t.add({ locks: ["db"], name: "migrate" });
		await t.start();
		const locked = await t.add({ locks: ["db"] });
		const failing = await t.add();
		await t.start();
		await t.fail(failing);
		const behind = await t.add({ after: [running] });
		const delayed = await t.add({ runnable_at: t.clock.now() + HOUR });
		const promoted = await t.add({ owner: "ann" });
		await t.sluice.promote(promoted);
		await t.sluice.limit("work", { closed: "login" });
		await t.sluice.grant("owner:ann", "tokens", { limit: 10 });
		await t.sluice.charge("owner:ann", "tokens", 4);
		await t.sluice.mark("custom:doc:x");
		const token = t.run(running).token;
		const ids = [running, locked, failing, behind, delayed, promoted];
		const seen = async (stand: typeof t) => ({
			jobs: await Promise.all(ids.map((id) => stand.show(id))),
			reasons: await Promise.all(ids.map((id) => stand.reasons(id))),
			holds: (await stand.sluice.status()).holds,
			lanes: (await stand.sluice.status()).lanes,
			ledgers: await stand.sluice.ledgers(),
		});
		const before = await seen(t);
		const history = await t.events();

		const later = await t.reopen();
		expect(await seen(later)).toEqual(before);
		expect((await later.events()).slice(0, history.length)).toEqual(history);
		expect((await later.tryAdd({ needs: ["custom:doc:x"] })).outcome).toBe("queued");
		await expect(later.tryAdd({ name: "migrate" })).rejects.toMatchObject({ code: "conflict" });

		// The run goes on with the token it was given before.
		await later.sluice.complete({ job: running, token, exit_kind: "completed" });
		expect((await later.start(1))[0]).toBe(promoted);
		await later.wait(30 * SECOND);
		expect(await later.start()).toEqual(expect.arrayContaining([locked, behind, failing]));
		expect(await later.add()).toBeGreaterThan(Math.max(...ids));
	});

	test("a closed scheduler says so", async () => {
		const t = await openStand();
		await t.sluice.close();
		await expect(t.add()).rejects.toMatchObject({ code: "closed" });
		await t.sluice.close();
	});
});
