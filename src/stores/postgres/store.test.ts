// The contract on a real PostgreSQL, and what only many hosts bring: guesses that fail, connections that break, notices, who leads.

import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Server, startServer } from "../../../test/make/postgres-server.ts";
import { openTcpProxy } from "../../../test/make/tcp-proxy.ts";
import { type Place, storeConformance } from "../../../test/store-conformance.ts";
import { localHost, systemClock } from "../../host/local.ts";
import { type Changes, noChanges, Outrun, type Store } from "../../store.ts";
import { MIGRATIONS } from "../migrations/index.ts";
import type { PostgresOptions } from "./options.ts";
import { openPostgres } from "./store.ts";

let server: Server;
let schemas = 0;
let writers = 0;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server?.end());

const parts = () => ({ writer: `w${++writers}`, monotonic: systemClock.monotonic, after: localHost.after });
const newSchema = () => `s${++schemas}`;
const urlOf = (schema: string, port = server.port, user = "sluice") => `postgres://${user}@127.0.0.1:${port}/postgres?schema=${schema}`;

storeConformance("PostgreSQL", (): Place => {
	const schema = newSchema();
	return { open: () => openPostgres(urlOf(schema), { ...parts(), guess: "never" }), shared: true };
});
storeConformance("PostgreSQL, one statement for each shape", (): Place => {
	const schema = newSchema();
	return { open: () => openPostgres(urlOf(schema), { ...parts(), guess: "never", usual: 0 }), shared: true };
});
storeConformance("PostgreSQL, guessing", (): Place => {
	const schema = newSchema();
	return { open: () => openPostgres(urlOf(schema), { ...parts(), usual: 0 }), shared: false };
});

async function opened(url: string, more: Partial<PostgresOptions> = {}): Promise<Store> {
	const store = await openPostgres(url, { ...parts(), ...more });
	onTestFinished(async () => void (await store.close()));
	return store;
}
const put = (key: string, value: unknown): Changes => ({ ...noChanges(), records: [["name", key, value]] });
async function write(store: Store, key: string, value: unknown): Promise<void> {
	await store.begin();
	await store.write(put(key, value));
	await store.commit();
}
/** As the engine does it: again for as long as it is outrun. */
async function insist<T>(store: Store, body: () => Promise<T>): Promise<T> {
	for (;;) {
		try {
			await store.begin();
			const result = await body();
			await store.commit();
			return result;
		} catch (error) {
			await store.rollback();
			if (!(error instanceof Outrun)) throw error;
		}
	}
}
const recordOf = (store: Store, key: string) =>
	insist(store, async () => (await store.read({ read: "records", kind: "name", keys: [key] }))[0]?.[1]);
async function admin(sql: string, values: unknown[] = []): Promise<unknown[][]> {
	const client = new pg.Client({ connectionString: server.url() });
	await client.connect();
	try {
		return (await client.query({ text: sql, values, rowMode: "array" })).rows as unknown[][];
	} finally {
		await client.end();
	}
}
const until = async (holds: () => boolean | Promise<boolean>) => {
	while (!(await holds())) await localHost.turn();
};

describe("a guess", () => {
	async function pair(guess: PostgresOptions["guess"] = "always", usual = 0): Promise<[Store, Store]> {
		const schema = newSchema();
		const [one, other] = [await opened(urlOf(schema), { guess, usual }), await opened(urlOf(schema), { guess, usual })];
		for (const store of [one, other]) await recordOf(store, "k");
		return [one, other];
	}

	test.each([0, Number.POSITIVE_INFINITY])("that somebody has proved wrong is outrun, and nothing of it is left (%d)", async (usual) => {
		const [one, other] = await pair("always", usual);
		await one.begin();
		await write(other, "k", "theirs");
		await one.write(put("mine", 1));
		await expect(one.commit()).rejects.toThrow(Outrun);
		await one.rollback();
		expect(await one.begin()).toMatchObject({ fresh: false });
		expect(await one.read({ read: "records", kind: "name", keys: ["k", "mine"] })).toEqual([["k", "theirs"]]);
		await one.commit();
	});

	test("is outrun at its first read, too, and where nothing is written", async () => {
		const [one, other] = await pair();
		await one.begin();
		await write(other, "k", 1);
		await expect(one.read({ read: "next_due" })).rejects.toThrow(Outrun);
		await one.rollback();
		await recordOf(one, "k");
		await one.begin();
		await write(other, "k", 2);
		await expect(one.commit()).rejects.toThrow(Outrun);
		await one.rollback();
		expect(await recordOf(one, "k")).toBe(2);
	});

	test("that holds is written whole, also in several pieces and behind a read", async () => {
		const [one, other] = await pair();
		await one.begin();
		await one.write(put("a", 1));
		await one.write(put("b", 2));
		await one.commit();
		await one.begin();
		await one.write(put("c", 3));
		expect(await one.read({ read: "records", kind: "name", keys: ["a", "c"] })).toHaveLength(2);
		await one.write(put("d", 4));
		await one.commit();
		for (const [key, value] of [
			["a", 1],
			["b", 2],
			["c", 3],
			["d", 4],
		] as const)
			expect(await recordOf(other, key)).toBe(value);
	});

	test("two that take turns in a hurry lose no step", async () => {
		const [one, other] = await pair("alone");
		const count = async (store: Store) => {
			for (let step = 0; step < 100; step++)
				await insist(store, async () => {
					const now = (await store.read({ read: "records", kind: "name", keys: ["n"] }))[0]?.[1] as number | undefined;
					await store.write(put("n", (now ?? 0) + 1));
				});
		};
		await Promise.all([count(one), count(other)]);
		expect(await recordOf(one, "n")).toBe(200);
	});
});

describe("a look", () => {
	async function pair(): Promise<[Store, Store]> {
		const schema = newSchema();
		const [one, other] = [await opened(urlOf(schema), { guess: "never" }), await opened(urlOf(schema), { guess: "never" })];
		await write(other, "k", 1);
		return [one, other];
	}
	const seen = async (store: Store) => (await store.read({ read: "records", kind: "name", keys: ["k"] }))[0]?.[1];

	test("waits for nobody, and sees one moment", async () => {
		const [one, other] = await pair();
		// The other one has the lock all the while.
		await other.begin();
		await other.write(put("k", 2));
		expect(await one.begin("look")).toMatchObject({ fresh: false });
		expect(await seen(one)).toBe(1);
		await other.commit();
		expect(await seen(one)).toBe(1);
		await one.commit();
		await one.begin("look");
		expect(await seen(one)).toBe(2);
		await one.commit();
	});

	test("that writes after all counts only if nobody has committed since", async () => {
		const [one, other] = await pair();
		await one.begin("look");
		expect(await seen(one)).toBe(1);
		await one.write(put("k", 5));
		await one.commit();
		expect(await recordOf(other, "k")).toBe(5);

		await write(other, "k", 6);
		await one.begin("look");
		await seen(one);
		await write(other, "k", 7);
		await one.write(put("k", 8));
		await expect(one.commit()).rejects.toThrow(Outrun);
		await one.rollback();
		expect(await recordOf(one, "k")).toBe(7);
	});

	test("that would read what it has written begins again with the lock", async () => {
		const [one] = await pair();
		await one.begin("look");
		await one.write(put("k", 9));
		await expect(seen(one)).rejects.toThrow(Outrun);
		await one.rollback();
		await write(one, "k", 10);
		expect(await recordOf(one, "k")).toBe(10);
	});
});

describe("questions that went out before they were asked", () => {
	const asks = async (store: Store) => {
		const rows = await store.read({ read: "standing", kinds: ["meta"] });
		return [rows, await store.read({ read: "next_due" }), await store.read({ read: "events", since: 0, limit: 10 })] as const;
	};
	/** Both have asked before; one has just heard of the other's commit, and nobody is in its way. */
	async function surprised(): Promise<[Store, Store]> {
		const schema = newSchema();
		const [one, other] = [await opened(urlOf(schema)), await opened(urlOf(schema), { guess: "never" })];
		await insist(one, () => asks(one));
		let heard = false;
		one.listen?.(() => {
			heard = true;
		});
		await write(other, "k", 1);
		await until(() => heard);
		return [one, other];
	}
	const locks = async () => Number((await admin("SELECT count(*) FROM pg_locks WHERE mode = 'RowShareLock'"))[0]?.[0]);

	test("are answered as of one moment, without the lock; what is written counts if nobody has come in between", async () => {
		const [one, other] = await surprised();
		const before = await locks();
		expect(await one.begin()).toMatchObject({ fresh: false });
		expect(await asks(one)).toEqual([[], null, []]);
		expect(await locks()).toBe(before);
		await one.write(put("k", 2));
		await one.commit();
		expect(await recordOf(other, "k")).toBe(2);
	});

	test("somebody has come in between: begin again, with the lock", async () => {
		const [one, other] = await surprised();
		await one.begin();
		await asks(one);
		await write(other, "k", 5);
		await one.write(put("k", 6));
		await expect(one.commit()).rejects.toThrow(Outrun);
		await one.rollback();
		await one.begin();
		const late = write(other, "k", 7);
		expect(await one.read({ read: "records", kind: "name", keys: ["k"] })).toEqual([["k", 5]]);
		await one.write(put("k", 6));
		await one.commit();
		await late;
		expect(await recordOf(one, "k")).toBe(7);
	});

	test("one that was not foreseen takes the lock, and is outrun if somebody has come in between", async () => {
		const [one, other] = await surprised();
		await one.begin();
		await asks(one);
		expect(await one.read({ read: "records", kind: "name", keys: ["k"] })).toEqual([["k", 1]]);
		await one.commit();
		const [two, another] = await surprised();
		await two.begin();
		await asks(two);
		await write(another, "k", 2);
		await expect(two.read({ read: "records", kind: "name", keys: ["k"] })).rejects.toThrow(Outrun);
		await two.rollback();
		expect(await recordOf(two, "k")).toBe(2);
		expect(await recordOf(other, "k")).toBe(1);
	});

	test("do not answer for what has been written since", async () => {
		const [one] = await surprised();
		await one.begin();
		await asks(one);
		await one.write({ ...noChanges(), records: [["meta", "m", 1]] });
		expect(await one.read({ read: "standing", kinds: ["meta"] })).toEqual([["meta", "m", 1]]);
		await one.commit();
	});
});

describe("a connection that breaks", () => {
	test("before the commit: begin again", async () => {
		for (const guess of ["never", "alone"] as const) {
			const store = await opened(urlOf(newSchema()), { guess });
			await write(store, "k", 1);
			await store.begin();
			await store.write(put("k", 2));
			await admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [`sluice w${writers}`]);
			await expect(
				(async () => {
					await store.read({ read: "next_due" });
					await store.commit();
				})(),
			).rejects.toThrow(Outrun);
			await store.rollback();
			expect(await recordOf(store, "k")).toBe(1);
			await write(store, "k", 3);
			expect(await recordOf(store, "k")).toBe(3);
		}
	});

	test("in the commit: done if it was done, once, whoever lost the answer", async () => {
		for (const guess of ["never", "alone"] as const) {
			const proxy = await openTcpProxy(server.port);
			onTestFinished(() => proxy.close());
			const schema = newSchema();
			const store = await opened(urlOf(schema, proxy.port), { guess });
			await recordOf(store, "k");
			await store.begin();
			await store.write(put("k", "committed"));
			proxy.loseAnswers();
			await store.commit();
			expect(await recordOf(store, "k")).toBe("committed");
			await store.begin();
			await store.write(put("k", "never sent"));
			proxy.loseRequests();
			await expect(store.commit()).rejects.toThrow(Outrun);
			await store.rollback();
			expect(await recordOf(store, "k")).toBe("committed");
		}
	});

	test("in the commit: done if it was done, though others have committed since", async () => {
		for (const usual of [0, Number.POSITIVE_INFINITY]) {
			const proxy = await openTcpProxy(server.port);
			onTestFinished(() => proxy.close());
			const schema = newSchema();
			const other = await opened(urlOf(schema), { guess: "never", usual });
			const store = await opened(urlOf(schema, proxy.port), { guess: "always", usual });
			await write(store, "k", 1);
			await store.begin();
			await store.write(put("k", 2));
			proxy.loseAnswers();
			const committing = store.commit();
			// Time for the others.
			proxy.slow(50);
			await until(async () => (await recordOf(other, "k")) === 2);
			for (const value of [3, 4]) await write(other, "k", value);
			await committing;
			proxy.slow(0);
			expect(await recordOf(store, "k")).toBe(4);
		}
	});

	test("for longer than the patience: an error that names the address without the password, and later all is well", async () => {
		const proxy = await openTcpProxy(server.port);
		onTestFinished(() => proxy.close());
		const url = urlOf(newSchema(), proxy.port).replace("sluice@", "sluice:secret@");
		// The tables are there before: making them may take longer than that patience.
		await opened(url);
		const store = await opened(url, { patienceMs: 300 });
		await write(store, "k", 1);
		proxy.cut();
		const error = await recordOf(store, "k").then(
			() => null,
			(error: Error) => error,
		);
		expect(error?.message).toMatch(/^postgres:\/\/sluice:\*\*\*@.* cannot be reached/);
		proxy.mend();
		expect(await recordOf(store, "k")).toBe(1);
	});

	test("that is silent without a word counts as broken, too", async () => {
		const proxy = await openTcpProxy(server.port);
		onTestFinished(() => proxy.close());
		const store = await opened(urlOf(newSchema(), proxy.port), { patienceMs: 1500 });
		await write(store, "k", 1);
		proxy.freeze();
		localHost.after(800, () => proxy.mend());
		expect(await recordOf(store, "k")).toBe(1);
	});

	test("a writer that is stopped with the lock holds up the others for a while only, and is outrun", async () => {
		const schema = newSchema();
		const stuck = await opened(urlOf(schema), { guess: "never", idleMs: 200 });
		const other = await opened(urlOf(schema));
		await stuck.begin();
		await stuck.write(put("k", "late"));
		await write(other, "k", "in time");
		await expect(stuck.commit()).rejects.toThrow(Outrun);
		await stuck.rollback();
		expect(await recordOf(stuck, "k")).toBe("in time");
	});
});

describe("others", () => {
	test("hear of what is written, the writer does not; many writes soon become few notices, and the last is told", async () => {
		const schema = newSchema();
		const [one, other] = [await opened(urlOf(schema)), await opened(urlOf(schema))];
		await Promise.all([one.lead?.(), other.lead?.()]);
		const heard = { one: 0, other: 0 };
		one.listen?.(() => heard.one++);
		other.listen?.(() => heard.other++);
		for (let step = 1; step <= 50; step++) await write(one, "k", step);
		await until(() => heard.other > 0);
		expect(heard.other).toBeLessThanOrEqual(50);
		expect(heard.one).toBe(0);
		const before = heard.other;
		await write(one, "k", "last");
		await until(() => heard.other > before);
		expect(await recordOf(other, "k")).toBe("last");
	});

	test("where a pooler stands between, the listener goes past it", async () => {
		const pooler = await openTcpProxy(server.port);
		onTestFinished(() => pooler.close());
		const schema = newSchema();
		const one = await opened(`${urlOf(schema, pooler.port)}&direct=127.0.0.1:${server.port}`);
		const other = await opened(urlOf(schema));
		expect(await one.lead?.()).toBe(true);
		pooler.cut();
		let heard = 0;
		one.listen?.(() => heard++);
		await write(other, "k", 1);
		await until(() => heard > 0);
		pooler.mend();
		expect(await recordOf(one, "k")).toBe(1);
	});

	test("one leads at a time; when it goes another does", async () => {
		const schema = newSchema();
		const one = await openPostgres(urlOf(schema), parts());
		const other = await opened(urlOf(schema));
		expect(await one.lead?.()).toBe(true);
		expect(await other.lead?.()).toBe(false);
		expect(await one.lead?.()).toBe(true);
		const elsewhere = await opened(urlOf(newSchema()));
		expect(await elsewhere.lead?.()).toBe(true);
		await one.close();
		await until(async () => (await other.lead?.()) === true);
	});

	test("the time is that of the lock, not that of waiting for it", async () => {
		const schema = newSchema();
		const [one, other] = [await opened(urlOf(schema), { guess: "never" }), await opened(urlOf(schema), { guess: "never" })];
		for (const store of [one, other]) await write(store, "k", 1);
		await one.begin();
		const waiting = other.begin() as Promise<{ now: number }>;
		const locked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
		await until(async () => Number((await admin(locked))[0]?.[0]) > 0);
		const [[held]] = (await admin("SELECT extract(epoch FROM clock_timestamp()) * 1000")) as [[string]];
		await one.commit();
		expect((await waiting).now).toBeGreaterThanOrEqual(Math.floor(Number(held)));
		await other.commit();
	});

	test("the clock is the database's", async () => {
		const store = await opened(urlOf(newSchema()));
		const [[before]] = (await admin("SELECT extract(epoch FROM clock_timestamp()) * 1000")) as [[string]];
		const { now } = (await store.begin()) as { now: number };
		await store.commit();
		const [[after]] = (await admin("SELECT extract(epoch FROM clock_timestamp()) * 1000")) as [[string]];
		expect(now).toBeGreaterThanOrEqual(Math.floor(Number(before)));
		expect(now).toBeLessThanOrEqual(Number(after));
	});
});

describe("opening", () => {
	test("several at once make the schema once", async () => {
		const schema = newSchema();
		const stores = await Promise.all(Array.from({ length: 5 }, () => opened(urlOf(schema))));
		await write(stores[0] as Store, "k", 1);
		expect(await recordOf(stores[4] as Store, "k")).toBe(1);
	});

	test("needs no more than reading and writing once it is there", async () => {
		const schema = newSchema();
		await (await openPostgres(urlOf(schema), parts())).close();
		const role = `host_${schema}`;
		await expect(admin(`CREATE ROLE ${role} LOGIN`)).resolves.toEqual([]);
		await expect(openPostgres(urlOf(schema, server.port, role), parts())).rejects.toMatchObject({
			code: "store",
			hint: expect.stringContaining("docs/fleet.md"),
		});
		await admin(`GRANT USAGE ON SCHEMA "${schema}" TO ${role}`);
		await admin(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO ${role}`);
		const store = await opened(urlOf(schema, server.port, role));
		await write(store, "k", 1);
		expect(await recordOf(store, "k")).toBe(1);
		expect(await store.lead?.()).toBe(true);
	});

	test("refuses what a newer Sluice or another program has made, and what is no address", async () => {
		const newer = newSchema();
		await (await openPostgres(urlOf(newer), parts())).close();
		await admin(`UPDATE "${newer}".head SET schema = ${MIGRATIONS.length + 1}`);
		await expect(openPostgres(urlOf(newer), parts())).rejects.toThrow(/written by a newer Sluice/);
		const foreign = newSchema();
		await admin(`CREATE SCHEMA "${foreign}"`);
		await admin(`CREATE TABLE "${foreign}".job (id int)`);
		await expect(openPostgres(urlOf(foreign), parts())).rejects.toThrow(/belongs to another program/);
		await expect(openPostgres(`${server.url()}?schema=a"b`, parts())).rejects.toThrow(/no plain name/);
		await expect(openPostgres(`${server.url()}?direct=a/b`, parts())).rejects.toThrow(/no address/);
		await expect(openPostgres(server.url("nowhere"), parts())).rejects.toThrow(/no such database/);
	});
});
