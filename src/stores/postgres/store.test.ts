// The contract on a real PostgreSQL, and what only many hosts bring: connections that break, notices, who leads.

import { describe, expect, onTestFinished, test } from "vitest";
import { isLong } from "../../../test/make/long.ts";
import {
	admin,
	lastWriter,
	newSchema,
	opened,
	parts,
	put,
	recordOf,
	theServer,
	urlOf,
	withServer,
	write,
} from "../../../test/make/stores/postgres-stores.ts";
import { openTcpProxy } from "../../../test/make/stores/tcp-proxy.ts";
import { until } from "../../../test/make/until.ts";
import { type Place, storeConformance } from "../../../test/store-conformance.ts";
import { noChanges, StaleTransaction, type Store } from "../../contracts/store.ts";
import { localHost } from "../../host/local.ts";
import { MIGRATIONS } from "../migrations/index.ts";
import { WRITER } from "./schema.ts";
import { settle } from "./settle.ts";
import { openPostgres } from "./store.ts";

withServer();

storeConformance("PostgreSQL", (): Place => {
	const schema = newSchema();
	return { open: () => openPostgres(urlOf(schema), { ...parts(), guess: "never", page: 2 }), shared: true };
});
if (isLong)
	storeConformance("PostgreSQL, with the lock, one statement for each shape", (): Place => {
		const schema = newSchema();
		return { open: () => openPostgres(urlOf(schema), { ...parts(), guess: "never", usual: 0 }), shared: true };
	});
storeConformance("PostgreSQL, guessing", (): Place => {
	const schema = newSchema();
	return { open: () => openPostgres(urlOf(schema), { ...parts(), usual: 0, page: 1 }), shared: false };
});

describe("a connection that breaks", () => {
	/** The one that listens does not go through the proxy, which would take its notices for answers. */
	const past = (url: string) => `${url}&direct=127.0.0.1:${theServer().port}`;

	test("before the commit: begin again", async () => {
		for (const guess of ["never", "alone"] as const) {
			const store = await opened(urlOf(newSchema()), { guess });
			await write(store, "k", 1);
			await store.begin();
			await store.write(put("k", 2));
			await admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [`sluice ${lastWriter()}`]);
			await expect(
				(async () => {
					await store.read({ read: "next_due" });
					await store.commit();
				})(),
			).rejects.toThrow(StaleTransaction);
			await store.rollback();
			expect(await recordOf(store, "k")).toBe(1);
			await write(store, "k", 3);
			expect(await recordOf(store, "k")).toBe(3);
		}
	});

	test("in the commit: done if it was done, once, whichever side lost the answer", async () => {
		for (const guess of ["never", "alone"] as const) {
			const proxy = await openTcpProxy(theServer().port);
			onTestFinished(() => proxy.close());
			const schema = newSchema();
			const store = await opened(past(urlOf(schema, proxy.port)), { guess });
			// All that was asked is answered then: the next answer is that of the commit.
			await write(store, "k", "before");
			await store.begin();
			await store.write(put("k", "committed"));
			proxy.loseAnswers();
			await store.commit();
			expect(await recordOf(store, "k")).toBe("committed");
			await store.begin();
			await store.write(put("k", "never sent"));
			proxy.loseRequests();
			await expect(store.commit()).rejects.toThrow(StaleTransaction);
			await store.rollback();
			expect(await recordOf(store, "k")).toBe("committed");
		}
	});

	test("without a word: after a while no caller waits for the answer any more, whatever was asked before", async () => {
		const proxy = await openTcpProxy(theServer().port);
		onTestFinished(() => proxy.close());
		const store = await opened(past(urlOf(newSchema(), proxy.port)), { guess: "never", patienceMs: 400, idleMs: 120_000 });
		await write(store, "k", 1);
		await store.begin();
		proxy.freeze();
		await expect(store.read({ read: "next_due" })).rejects.toThrow(StaleTransaction);
		proxy.mend();
		await store.rollback();
		expect(await recordOf(store, "k")).toBe(1);
	});

	test("in the commit: done if it was done, though others have committed since", async () => {
		for (const usual of [0, Number.POSITIVE_INFINITY]) {
			const proxy = await openTcpProxy(theServer().port);
			onTestFinished(() => proxy.close());
			const schema = newSchema();
			const other = await opened(urlOf(schema), { guess: "never", usual });
			const store = await opened(past(urlOf(schema, proxy.port)), { guess: "always", usual });
			await write(store, "k", 1);
			await store.begin();
			await store.write(put("k", 2));
			proxy.loseAnswers();
			const committing = store.commit();
			// Time for the others.
			proxy.slow(50);
			await until(async () => (await recordOf(other, "k")) === 2);
			proxy.cut();
			for (const value of [3, 4]) await write(other, "k", value);
			// More than `head` keeps.
			for (let more = 0; more < 30; more++) {
				const writer = `one-of-many-hosts-${more}`;
				const one = await openPostgres(urlOf(schema), { ...parts(), writer, guess: "never", usual });
				await write(one, "k", 4);
				await one.close();
			}
			expect(Number((await admin(`SELECT count(*) FROM "${schema}".writer`))[0]?.[0])).toBeGreaterThan(10);
			proxy.mend();
			await committing;
			proxy.slow(0);
			expect(await recordOf(store, "k")).toBe(4);
		}
	});

	test("for longer than the patience: an error that names the address without the password, and later all is well", async () => {
		const proxy = await openTcpProxy(theServer().port);
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
		const proxy = await openTcpProxy(theServer().port);
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
		await expect(stuck.commit()).rejects.toThrow(StaleTransaction);
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

	test("come by the connection of the transactions where nothing stands between, and again after it broke", async () => {
		const schema = newSchema();
		const one = await opened(urlOf(schema));
		const mine = `sluice ${lastWriter()}`;
		const other = await opened(urlOf(schema));
		await Promise.all([one.lead?.(), other.lead?.()]);
		let heard = 0;
		// As a scheduler does: who hears that something may be new looks.
		one.listen?.(() => {
			heard++;
			void recordOf(one, "k");
		});
		// Without the connection that leads: that one is not needed for it.
		await admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [`${mine} listener`]);
		await write(other, "k", 1);
		await until(() => heard > 0);
		await admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [mine]);
		const broken = heard;
		await until(() => heard > broken);
		await until(async () => {
			const before = heard;
			await write(other, "k", 2);
			return heard > before;
		});
	});

	test("where a pooler stands between, the listener goes past it", async () => {
		const pooler = await openTcpProxy(theServer().port);
		onTestFinished(() => pooler.close());
		const schema = newSchema();
		const one = await opened(`${urlOf(schema, pooler.port)}&direct=127.0.0.1:${theServer().port}`);
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
		await expect(openPostgres(urlOf(schema, theServer().port, role), parts())).rejects.toMatchObject({
			code: "store",
			hint: expect.stringContaining("docs/fleet.md"),
		});
		await admin(`GRANT USAGE ON SCHEMA "${schema}" TO ${role}`);
		await admin(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO ${role}`);
		const store = await opened(urlOf(schema, theServer().port, role));
		await write(store, "k", 1);
		expect(await recordOf(store, "k")).toBe(1);
		expect(await store.lead?.()).toBe(true);
	});

	test.each(["version", "commits"])(
		"one from before, whose `head` counts in `%s`, is brought up to date, and hosts from before are kept out",
		async (before) => {
			const schema = newSchema();
			const first = await openPostgres(urlOf(schema), parts());
			await first.begin();
			await first.write({ ...noChanges(), records: [["depth", "default", 3]] });
			await first.commit();
			await first.close();
			await admin(settle(schema));
			await admin(`ALTER TABLE "${schema}".head DROP COLUMN counters`);
			await admin(`ALTER TABLE "${schema}".head RENAME COLUMN turn TO ${before}`);
			await admin(`UPDATE "${schema}".head SET schema = 1`);
			await admin(`DROP FUNCTION "${schema}".${WRITER}`);
			await admin(`DROP TABLE "${schema}".page CASCADE`);
			const store = await opened(urlOf(schema));
			await store.begin();
			expect(await store.read({ read: "records", kind: "depth", keys: ["default"] })).toEqual([["default", 3]]);
			await store.write({ ...noChanges(), records: [["depth", "default", 4]] });
			await store.commit();
			await store.begin();
			expect(await store.read({ read: "standing", kinds: ["depth"] })).toEqual([["depth", "default", 4]]);
			await store.commit();
			await expect(admin(`UPDATE "${schema}".head SET ${before} = ${before} + 1`)).rejects.toThrow(`"${before}" does not exist`);
		},
	);

	test("refuses what a newer Sluice or another program has made, and what is no address", async () => {
		const newer = newSchema();
		await (await openPostgres(urlOf(newer), parts())).close();
		await admin(`UPDATE "${newer}".head SET schema = ${MIGRATIONS.length + 1}`);
		await expect(openPostgres(urlOf(newer), parts())).rejects.toThrow(/written by a newer Sluice/);
		const foreign = newSchema();
		await admin(`CREATE SCHEMA "${foreign}"`);
		await admin(`CREATE TABLE "${foreign}".job (id int)`);
		await expect(openPostgres(urlOf(foreign), parts())).rejects.toThrow(/belongs to another program/);
		await expect(openPostgres(`${theServer().url()}?schema=a"b`, parts())).rejects.toThrow(/no plain name/);
		await expect(openPostgres(`${theServer().url()}?direct=a/b`, parts())).rejects.toThrow(/no address/);
		await expect(openPostgres(theServer().url("nowhere"), parts())).rejects.toThrow(/no such database/);
	});
});
