// What is done without the lock: guesses, looks, questions that went out before they were asked.

import { describe, expect, test } from "vitest";
import { makeJob } from "../../../test/make/job.ts";
import { dumpDatabase } from "../../../test/make/stores/dumped.ts";
import { admin, insist, newSchema, opened, put, recordOf, urlOf, withServer, write } from "../../../test/make/stores/postgres-stores.ts";
import { until } from "../../../test/make/until.ts";
import { makeRow } from "../../../test/store-conformance.ts";
import { type Changes, noChanges, StaleTransaction, type Store } from "../../contracts/store.ts";
import type { EventRow } from "../../core/event.ts";
import type { PostgresOptions } from "./options.ts";

withServer();

describe("a guess", () => {
	async function pair(guess: PostgresOptions["guess"] = "always", usual = 0): Promise<[Store, Store]> {
		const schema = newSchema();
		const [one, other] = [await opened(urlOf(schema), { guess, usual }), await opened(urlOf(schema), { guess, usual })];
		for (const store of [one, other]) await recordOf(store, "k");
		return [one, other];
	}

	test.each([0, Number.POSITIVE_INFINITY])("that another commit has proved wrong is outrun; nothing of it is left (%d)", async (usual) => {
		const [one, other] = await pair("always", usual);
		await one.begin();
		await write(other, "k", "theirs");
		await one.write(put("mine", 1));
		await expect(one.commit()).rejects.toThrow(StaleTransaction);
		await one.rollback();
		expect(await one.begin()).toMatchObject({ fresh: false });
		expect(await one.read({ read: "records", kind: "name", keys: ["k", "mine"] })).toEqual([["k", "theirs"]]);
		await one.commit();
	});

	test("is outrun at its first read, too, and where nothing is written", async () => {
		const [one, other] = await pair();
		await one.begin();
		await write(other, "k", 1);
		await expect(one.read({ read: "next_due" })).rejects.toThrow(StaleTransaction);
		await one.rollback();
		await recordOf(one, "k");
		await one.begin();
		await write(other, "k", 2);
		await expect(one.commit()).rejects.toThrow(StaleTransaction);
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

	test("waits for no lock, and sees one moment", async () => {
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

	test("that writes after all counts only if no other writer has committed since", async () => {
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
		await expect(one.commit()).rejects.toThrow(StaleTransaction);
		await one.rollback();
		expect(await recordOf(one, "k")).toBe(7);
	});

	test("that would read what it has written begins again with the lock", async () => {
		const [one] = await pair();
		await one.begin("look");
		await one.write(put("k", 9));
		await expect(seen(one)).rejects.toThrow(StaleTransaction);
		await one.rollback();
		await write(one, "k", 10);
		expect(await recordOf(one, "k")).toBe(10);
	});
});

test("many rows at once come out the same, whether their columns are alike or not, by the function and by statements of their own", async () => {
	const dumps = [];
	for (const usual of [0, Number.POSITIVE_INFINITY]) {
		const schema = newSchema();
		const store = await opened(urlOf(schema), { usual });
		const ids = Array.from({ length: 40 }, (_, n) => n + 1);
		for (const alike of [true, false]) {
			const row = (id: number, status: "queued" | "running") =>
				makeRow(makeJob({ id, status, ...(alike ? {} : { lane: `lane ${id % 3}`, ...(id % 2 === 0 ? { batch: 'a "b"' } : {}) }) }), {
					level: alike ? 0 : id,
					...(status === "running" ? { line: "run", ready_at: null, due_at: alike ? 7 : id } : {}),
				});
			const from = alike ? 0 : 100;
			const events = ids.map(
				(id) => ({ seq: from + id, at: 5, kind: "added", job: from + id, by: "me", data: alike ? {} : { id } }) as unknown as EventRow,
			);
			const steps: Changes[] = [
				{
					...noChanges(),
					insert: ids.map((id) => row(from + id, "queued")),
					specs: ids.map((id) => [from + id, { version: 1 } as never]),
					events,
				},
				{
					...noChanges(),
					running: ids.map((id) => row(from + id, "running")),
					update: ids.slice(0, 20).map((id) => row(from + id, "queued")),
				},
				{ ...noChanges(), links: ids.map((id) => ({ key: alike ? "k" : `k${id}`, role: "wants", job: from + id })) },
				{
					...noChanges(),
					remove: ids.slice(20).map((id) => from + id),
					done: ids.slice(20).map((id) => makeJob({ id: from + id, status: "succeeded", ended_at: alike ? 9 : id })),
				},
			];
			for (const changes of steps) await insist(store, async () => store.write(changes));
		}
		dumps.push(await dumpDatabase(urlOf(schema), schema));
	}
	expect(dumps[0]).toEqual(dumps[1]);
	expect(dumps[0]?.job?.length).toBe(40);
	expect(dumps[0]?.done?.length).toBe(40);
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

	test("are answered as of one moment, without the lock; what is written counts if no other writer has committed in between", async () => {
		const [one, other] = await surprised();
		const before = await locks();
		expect(await one.begin()).toMatchObject({ fresh: false });
		expect(await asks(one)).toEqual([[], null, []]);
		expect(await locks()).toBe(before);
		await one.write(put("k", 2));
		await one.commit();
		expect(await recordOf(other, "k")).toBe(2);
	});

	test("another writer has committed in between: begin again, with the lock", async () => {
		const [one, other] = await surprised();
		await one.begin();
		await asks(one);
		await write(other, "k", 5);
		await one.write(put("k", 6));
		await expect(one.commit()).rejects.toThrow(StaleTransaction);
		await one.rollback();
		await one.begin();
		const late = write(other, "k", 7);
		expect(await one.read({ read: "records", kind: "name", keys: ["k"] })).toEqual([["k", 5]]);
		await one.write(put("k", 6));
		await one.commit();
		await late;
		expect(await recordOf(one, "k")).toBe(7);
	});

	test("one that was not foreseen takes the lock, and is outrun if another writer has committed in between", async () => {
		const [one, other] = await surprised();
		await one.begin();
		await asks(one);
		expect(await one.read({ read: "records", kind: "name", keys: ["k"] })).toEqual([["k", 1]]);
		await one.commit();
		const [two, another] = await surprised();
		await two.begin();
		await asks(two);
		await write(another, "k", 2);
		await expect(two.read({ read: "records", kind: "name", keys: ["k"] })).rejects.toThrow(StaleTransaction);
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
