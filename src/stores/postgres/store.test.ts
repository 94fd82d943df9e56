// The contract on a real PostgreSQL, and what only a term brings: a fence, statements that go with a commit, outcomes that are not known, and opening.

import { describe, expect, onTestFinished, test } from "vitest";
import { openPostgres } from "../../../test/make/stores/postgres-alone.ts";
import {
	admin,
	connected,
	lastConnection,
	newSchema,
	opened,
	openTerm,
	put,
	recordOf,
	theServer,
	urlOf,
	withServer,
	write,
} from "../../../test/make/stores/postgres-stores.ts";
import { openTcpProxy } from "../../../test/make/stores/tcp-proxy.ts";
import { type Place, storeConformance } from "../../../test/store-conformance.ts";
import { noChanges, RefusedValue, StaleTransaction, type Store, TermOver } from "../../contracts/store.ts";
import { localHost, systemClock } from "../../host/local.ts";
import { addressOf } from "../address.ts";
import { MIGRATIONS } from "../migrations/index.ts";
import { DatabaseClock } from "./clock.ts";
import { openSnapshots } from "./snapshots.ts";

withServer();

storeConformance("PostgreSQL", (): Place => {
	const schema = newSchema();
	return { open: () => openTerm(urlOf(schema)), shared: "in turn", failure: "ends it" };
});

const parts = { writer: "w", monotonic: systemClock.monotonic };
const failureOf = async (call: () => unknown): Promise<unknown> => {
	try {
		await call();
	} catch (error) {
		return error;
	}
	return undefined;
};
const cutBy = (name: string) => admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [name]);
const headOf = async (schema: string) => (await admin(`SELECT epoch, txn FROM "${schema}".head`))[0]?.map(Number);

describe("a term", () => {
	test("counts its commits; one that writes nothing is none", async () => {
		const schema = newSchema();
		const store = await opened(urlOf(schema));
		expect(await headOf(schema)).toEqual([1, 0]);
		await recordOf(store, "k");
		expect(await headOf(schema)).toEqual([1, 0]);
		await write(store, "k", 1);
		await write(store, "k", 2);
		expect(await headOf(schema)).toEqual([1, 2]);
		await store.begin();
		await store.write(put("k", 3));
		await store.rollback();
		await write(store, "k", 4);
		expect(await headOf(schema)).toEqual([1, 3]);
		await opened(urlOf(schema));
		expect(await admin(`SELECT epoch::int, first_txn::int FROM "${schema}".term ORDER BY epoch`)).toEqual([
			[1, 0],
			[2, 3],
		]);
	});

	test("ends when another begins: what the leader before sends changes nothing, and it knows so", async () => {
		const schema = newSchema();
		const before = await opened(urlOf(schema));
		await write(before, "k", 1);
		await before.begin();
		await before.write(put("k", "half"));
		await before.rollback();
		const after = await opened(urlOf(schema));
		const error = await failureOf(() => write(before, "k", "late"));
		expect(error).toBeInstanceOf(TermOver);
		expect(error).toMatchObject({ doubt: false, txn: 2, message: expect.stringContaining("another process leads") });
		expect(await failureOf(() => before.begin())).toBe(error);
		expect(await recordOf(after, "k")).toBe(1);
		await write(after, "k", 2);
		expect(await headOf(schema)).toEqual([2, 2]);
	});

	test("a successor waits for the open transaction of the leader before, and counts it", async () => {
		const schema = newSchema();
		const before = await opened(urlOf(schema));
		await before.begin();
		await before.write(put("k", 1));
		await before.read({ read: "next_due" });
		const coming = opened(urlOf(schema));
		await expect
			.poll(async () => Number((await admin("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))[0]?.[0]))
			.toBe(1);
		await before.commit();
		const after = await coming;
		expect(await recordOf(after, "k")).toBe(1);
		expect(await admin(`SELECT first_txn::int FROM "${schema}".term WHERE epoch = 2`)).toEqual([[1]]);
	});

	test("a change that PostgreSQL refuses ends it without doubt; data that it does not take fails alone", async () => {
		const schema = newSchema();
		const store = await opened(urlOf(schema));
		await write(store, "k", 1);
		await store.begin();
		await store.write({ ...noChanges(), records: [["name", "nul\0", 1]] });
		const refused = await failureOf(() => store.commit());
		expect(refused).toBeInstanceOf(RefusedValue);
		expect(refused).toMatchObject({ code: "store", cause: { code: "22021" } });
		await store.rollback();
		await write(store, "k", 2);
		await store.begin();
		await store.write({ ...noChanges(), fresh: [["name", "k", 3]] });
		expect(await failureOf(() => store.read({ read: "next_due" }))).toMatchObject({ doubt: false, txn: 3 });
		await store.rollback();
		expect(await recordOf(await opened(urlOf(schema)), "k")).toBe(2);
	});

	test("the clock is the database's", async () => {
		const store = await opened(urlOf(newSchema()));
		const before = Number((await admin("SELECT extract(epoch FROM clock_timestamp()) * 1000"))[0]?.[0]);
		await write(store, "k", 1);
		const { now } = store.begin();
		await store.commit();
		const after = Number((await admin("SELECT extract(epoch FROM clock_timestamp()) * 1000"))[0]?.[0]);
		expect(now).toBeGreaterThanOrEqual(Math.floor(before) - 5);
		expect(now).toBeLessThanOrEqual(after);
	});
});

describe("statements with a commit", () => {
	const insert = (schema: string, n: number, rows?: number) => ({
		text: `INSERT INTO "${schema}".reply (member, n, at, error, body) VALUES ($1, $2, 0, false, '')`,
		values: ["m", n],
		...(rows === undefined ? {} : { rows }),
	});
	const replies = (schema: string) => admin(`SELECT n::int FROM "${schema}".reply ORDER BY n`);

	test("are carried out in its transaction, also if it writes nothing else", async () => {
		const schema = newSchema();
		const store = await opened(urlOf(schema));
		await store.begin();
		await store.write(put("k", 1));
		await store.commitWith([insert(schema, 1), insert(schema, 2, 1)]);
		await store.begin();
		await store.commit();
		await store.begin();
		await store.commitWith([insert(schema, 4)]);
		expect(await replies(schema)).toEqual([[1], [2], [4]]);
		expect(await headOf(schema)).toEqual([1, 2]);
	});

	test("one that touches another number of rows undoes the transaction, which can be done again", async () => {
		const schema = newSchema();
		const store = await opened(urlOf(schema));
		await store.begin();
		await store.write(put("k", 1));
		const none = { text: `DELETE FROM "${schema}".request WHERE member = $1`, values: ["m"], rows: 1 };
		await expect(store.commitWith([insert(schema, 1), none])).rejects.toThrow(StaleTransaction);
		await store.rollback();
		expect(await recordOf(store, "k")).toBe(undefined);
		expect(await replies(schema)).toEqual([]);
		await write(store, "k", 2);
		expect(await recordOf(store, "k")).toBe(2);
	});
});

describe("a connection that breaks", () => {
	test("before the commit: the term is over, without doubt", async () => {
		const schema = newSchema();
		const store = await opened(urlOf(schema));
		await write(store, "k", 1);
		await store.begin();
		await store.write(put("k", 2));
		await cutBy(lastConnection());
		expect(await failureOf(() => store.read({ read: "next_due" }))).toMatchObject({ doubt: false, txn: 2 });
		expect(await failureOf(() => store.commit())).toBeInstanceOf(TermOver);
		await store.rollback();
		expect(await recordOf(await opened(urlOf(schema)), "k")).toBe(1);
	});

	test("in the commit: doubt, and the next term says whether it was done", async () => {
		for (const [lose, done] of [
			["loseAnswers", true],
			["loseRequests", false],
		] as const) {
			const proxy = await openTcpProxy(theServer().port);
			onTestFinished(() => proxy.close());
			const schema = newSchema();
			const store = await opened(urlOf(schema, proxy.port));
			await write(store, "k", "before");
			await store.begin();
			await store.write(put("k", "in doubt"));
			// All that was asked before is answered then: the next answer is that of the commit.
			await store.read({ read: "next_due" });
			proxy[lose]();
			const error = await failureOf(() => store.commit());
			expect(error).toMatchObject({ doubt: true, txn: 2 });
			const next = await opened(urlOf(schema));
			const [[first]] = (await admin(`SELECT first_txn FROM "${schema}".term WHERE epoch = 2`)) as [[string]];
			expect(Number(first) >= 2).toBe(done);
			expect(await recordOf(next, "k")).toBe(done ? "in doubt" : "before");
		}
	});

	test("without a word: after its patience the term is over", async () => {
		const proxy = await openTcpProxy(theServer().port);
		onTestFinished(() => proxy.close());
		const schema = newSchema();
		await (await connected(urlOf(schema))).end();
		const store = await opened(urlOf(schema, proxy.port), { patienceMs: 400 });
		await write(store, "k", 1);
		store.begin();
		proxy.freeze();
		expect(await failureOf(() => store.read({ read: "next_due" }))).toMatchObject({ doubt: false });
		proxy.mend();
	});

	test.each(["begin", "flush", "commit", "committed"])("as a fault at `%s`: nothing follows on this connection", async (at) => {
		const schema = newSchema();
		let armed = false;
		const store = await opened(urlOf(schema), {
			fault(point) {
				if (armed && point === at) throw new Error("planted");
			},
		});
		await write(store, "k", 1);
		armed = true;
		expect(await failureOf(() => write(store, "k", 2))).toMatchObject({ message: "planted" });
		await store.rollback();
		armed = false;
		expect(await failureOf(() => store.begin())).toBeInstanceOf(TermOver);
		expect(await recordOf(await opened(urlOf(schema)), "k")).toBe(at === "committed" ? 2 : 1);
	});
});

describe("snapshots", () => {
	const snapshots = (url: string, patienceMs = 20_000): Store => {
		const store = openSnapshots(addressOf(url), {
			name: "snapshots",
			clock: new DatabaseClock(systemClock.monotonic),
			patienceMs,
			monotonic: systemClock.monotonic,
			after: localHost.after,
		});
		onTestFinished(async () => void (await store.close()));
		return store;
	};

	test("see one moment, say whether it is the same as before, and write nothing", async () => {
		const schema = newSchema();
		const store = await opened(urlOf(schema));
		await write(store, "k", 1);
		const member = snapshots(urlOf(schema));
		expect(await member.begin()).toMatchObject({ fresh: false, now: expect.any(Number) });
		await write(store, "k", 2);
		expect(await member.read({ read: "records", kind: "name", keys: ["k"] })).toEqual([["k", 1]]);
		await member.commit();
		expect(await member.begin()).toMatchObject({ fresh: false });
		expect(await member.read({ read: "records", kind: "name", keys: ["k"] })).toEqual([["k", 2]]);
		await member.rollback();
		expect(await member.begin()).toMatchObject({ fresh: true });
		expect(await failureOf(() => member.write(put("k", 3)))).toMatchObject({ message: expect.stringContaining("assertion failed") });
		await member.rollback();
		expect(await recordOf(store, "k")).toBe(2);
	});

	test("come again after the connection broke, and say so when their patience is over", async () => {
		const proxy = await openTcpProxy(theServer().port);
		onTestFinished(() => proxy.close());
		const schema = newSchema();
		await write(await opened(urlOf(schema)), "k", 1);
		const member = snapshots(urlOf(schema, proxy.port).replace("sluice@", "sluice:secret@"), 1500);
		expect(await recordOf(member, "k")).toBe(1);
		await member.begin();
		await cutBy("sluice/4 snapshots");
		expect(await failureOf(() => member.read({ read: "next_due" }))).toBeInstanceOf(StaleTransaction);
		await member.rollback();
		expect(await member.begin()).toMatchObject({ fresh: false });
		await member.commit();
		proxy.cut();
		// As the engine does it: again for as long as the transaction is stale.
		const insist = async (): Promise<unknown> => {
			const error = await failureOf(() => recordOf(member, "k"));
			await member.rollback();
			return error instanceof StaleTransaction ? insist() : error;
		};
		expect(await insist()).toMatchObject({
			message: expect.stringMatching(/^postgres:\/\/sluice:\*\*\*@.* cannot be reached/),
		});
		proxy.mend();
		expect(await recordOf(member, "k")).toBe(1);
	});

	test("need no more than SELECT", async () => {
		const schema = newSchema();
		await write(await opened(urlOf(schema)), "k", 1);
		const role = `reader_${schema}`;
		await admin(`CREATE ROLE ${role} LOGIN`);
		await admin(`GRANT USAGE ON SCHEMA "${schema}" TO ${role}`);
		await admin(`GRANT SELECT ON ALL TABLES IN SCHEMA "${schema}" TO ${role}`);
		expect(await recordOf(snapshots(urlOf(schema, theServer().port, role)), "k")).toBe(1);
	});
});

describe("opening", () => {
	test("several at once make the schema once", async () => {
		const schema = newSchema();
		const connections = await Promise.all(Array.from({ length: 5 }, () => connected(urlOf(schema))));
		for (const connection of connections) await connection.end();
		expect(await headOf(schema)).toEqual([0, 0]);
	});

	test("one process leads; another is told which one, until it has gone", async () => {
		const schema = newSchema();
		const one = await openPostgres(urlOf(schema), { ...parts, writer: "first" });
		await expect(openPostgres(urlOf(schema), parts)).rejects.toThrow(/^first leads the queue in postgres:/);
		await (await openPostgres(urlOf(newSchema()), parts)).close();
		await one.close();
		await (await openPostgres(urlOf(schema), parts)).close();
	});

	test("needs no more than reading and writing once it is there", async () => {
		const schema = newSchema();
		await (await openPostgres(urlOf(schema), parts)).close();
		const role = `leader_${schema}`;
		await admin(`CREATE ROLE ${role} LOGIN`);
		await expect(openPostgres(urlOf(schema, theServer().port, role), parts)).rejects.toMatchObject({
			code: "store",
			hint: expect.stringContaining("docs/fleet.md"),
		});
		await admin(`GRANT USAGE ON SCHEMA "${schema}" TO ${role}`);
		await admin(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO ${role}`);
		const store = await opened(urlOf(schema, theServer().port, role));
		await write(store, "k", 1);
		expect(await recordOf(store, "k")).toBe(1);
	});

	test("refuses what a newer Sluice or another program has made, and what is no address", async () => {
		const newer = newSchema();
		await (await openPostgres(urlOf(newer), parts)).close();
		await admin(`UPDATE "${newer}".head SET schema = ${MIGRATIONS.length + 1}`);
		await expect(openPostgres(urlOf(newer), parts)).rejects.toThrow(/written by a newer Sluice/);
		const foreign = newSchema();
		await admin(`CREATE SCHEMA "${foreign}"`);
		await admin(`CREATE TABLE "${foreign}".job (id int)`);
		await expect(openPostgres(urlOf(foreign), parts)).rejects.toThrow(/belongs to another program/);
		await expect(openPostgres(`${theServer().url()}?schema=a"b`, parts)).rejects.toThrow(/no plain name/);
		await expect(openPostgres(`${theServer().url()}?direct=a/b`, parts)).rejects.toThrow(/no address/);
		await expect(openPostgres(theServer().url("nowhere"), parts)).rejects.toThrow(/no such database/);
	});
});
