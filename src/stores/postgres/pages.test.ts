// Events by the page. What is read of them is in the contract of stores (store.test.ts has pages of one and of two); here is where they stand.

import { expect, test } from "vitest";
import { admin, insist, newSchema, opened, urlOf, withServer } from "../../../test/make/stores/postgres-stores.ts";
import { noChanges, type Replies, type Store, type StoreRead } from "../../contracts/store.ts";
import type { EventRow } from "../../core/event.ts";
import { paged } from "./pages.ts";
import { settle } from "./settle.ts";

withServer();

type Loose = Partial<Record<keyof EventRow, unknown>>;
/** For the store, kind and data may be anything. */
const event = (seq: number, more: Loose = {}): EventRow =>
	({ seq, at: 5, kind: "added", job: seq, by: "me", data: { seq }, ...more }) as unknown as EventRow;
const several = (from: number, count: number, more: Loose = {}) => Array.from({ length: count }, (_, n) => event(from + n, more));
const ask = <R extends StoreRead>(store: Store, request: R): Promise<Replies[R["read"]]> => insist(store, async () => store.read(request));
const write = (store: Store, changes: Partial<ReturnType<typeof noChanges>>) =>
	insist(store, async () => store.write({ ...noChanges(), ...changes }));
const counted = async (schema: string) =>
	(await admin(`SELECT (SELECT count(*)::int FROM "${schema}".event), (SELECT count(*)::int FROM "${schema}".page)`))[0];

test("what is alike goes to a page, up to 256; what is not, and few, to rows", () => {
	const lengths = (events: EventRow[]) => {
		const { pages, rest } = paged(events, 16);
		const cells = pages?.cells ?? [];
		return {
			pages: Array.from({ length: cells.length / 7 }, (_, n) => String(cells[n * 7 + 4]).split(",").length),
			rest: rest.map(({ seq }) => seq),
		};
	};
	expect(lengths(several(1, 15))).toEqual({ pages: [], rest: several(1, 15).map(({ seq }) => seq) });
	expect(lengths(several(1, 300))).toEqual({ pages: [256, 44], rest: [] });
	expect(lengths(several(1, 258))).toEqual({ pages: [256], rest: [257, 258] });
	for (const other of [{ kind: "ended" }, { at: 6 }, { by: "you" }, { job: null }])
		expect(lengths([...several(1, 20), event(21, other), ...several(22, 16)])).toEqual({ pages: [20, 16], rest: [21] });
	expect(lengths([...several(1, 20), ...several(30, 20)])).toEqual({ pages: [20, 20], rest: [] });
});

test("a hundred in one transaction are one row, and are read as if each were one", async () => {
	const schema = newSchema();
	const store = await opened(urlOf(schema));
	const all = [...several(1, 100), ...several(101, 3, { kind: "ended", job: 7 }), ...several(104, 40, { kind: "started" })];
	await write(store, { events: all.slice(0, 100) });
	await write(store, { events: all.slice(100) });
	expect(await counted(schema)).toEqual([3, 2]);
	expect(await ask(store, { read: "events", since: 0, limit: 1000 })).toEqual(all);
	expect(await ask(store, { read: "events", since: 99, limit: 7 })).toEqual(all.slice(99, 106));
	expect((await ask(store, { read: "history", job: 7 })).map(({ seq }) => seq)).toEqual([7, 101, 102, 103]);
	expect(await ask(store, { read: "history", job: 110 })).toEqual([event(110, { kind: "started" })]);
	const shown = await admin(`SELECT seq::int, at, kind, job::int, by, data::json FROM "${schema}".events ORDER BY seq`);
	expect(shown).toEqual(all.map(({ seq, at, kind, job, by, data }) => [seq, at, kind, job, by, data]));
});

test("as many pages are read as are needed, also where most of them was forgotten", async () => {
	const store = await opened(urlOf(newSchema()), { page: 2 });
	for (let from = 1; from < 200; from += 20) await write(store, { events: several(from, 20) });
	const kept = [1, 39, 45, 46, 60, 81, 100, 140, 141, 181, 200];
	await write(store, { forget: Array.from({ length: 200 }, (_, n) => n + 1).filter((job) => !kept.includes(job)) });
	for (const limit of [1, 2, 3, 5, 11, 100])
		for (const since of [0, 1, 44, 45, 59, 199, 200])
			expect((await ask(store, { read: "events", since, limit })).map(({ seq }) => seq)).toEqual(
				kept.filter((seq) => seq > since).slice(0, limit),
			);
});

test("a job's events are found wherever its number stands", async () => {
	const store = await opened(urlOf(newSchema()), { page: 2 });
	const jobs = [1, 63, 64, 65, 127, 128, 4096, 10_000_000_007, 2, 66];
	for (let round = 0; round < 3; round++)
		await write(store, { events: jobs.map((job, n) => event(round * jobs.length + n + 1, { job, kind: `kind ${round}` })) });
	const history = async (job: number) => (await ask(store, { read: "history", job })).map(({ seq }) => seq);
	for (const [n, job] of jobs.entries()) expect(await history(job)).toEqual([n + 1, n + 11, n + 21]);
	expect(await history(3)).toEqual([]);
	await write(store, { forget: [64, 10_000_000_007, 3] });
	for (const [n, job] of jobs.entries())
		expect(await history(job)).toEqual([64, 10_000_000_007].includes(job) ? [] : [n + 1, n + 11, n + 21]);
});

test("what is told of all of them alike is kept once", async () => {
	const schema = newSchema();
	const store = await opened(urlOf(schema));
	const data = { to: "queued" };
	const all = [...several(1, 20, { data }), ...several(21, 20, { data: { ...data, "": 'a "b"' }, kind: "ended" })];
	await write(store, { events: all });
	const kept = async () => (await admin(`SELECT data FROM "${schema}".page ORDER BY last`)).map(([text]) => text);
	expect(await kept()).toEqual(['{"to":"queued"}', '{"to":"queued","":"a \\"b\\""}']);
	expect(await ask(store, { read: "events", since: 0, limit: 99 })).toEqual(all);
	expect(await ask(store, { read: "history", job: 20 })).toEqual([all[19]]);
	await write(store, { forget: [1, 2, 19] });
	await write(store, { forget: [20, 21, 40] });
	const left = all.filter(({ job }) => ![1, 2, 19, 20, 21, 40].includes(job as number));
	expect(await kept()).toHaveLength(2);
	expect(await ask(store, { read: "events", since: 0, limit: 99 })).toEqual(left);
	await admin(settle(schema));
	expect(await ask(store, { read: "events", since: 0, limit: 99 })).toEqual(left);
});

test("forgetting takes a job's events out of their page, the last ones the page", async () => {
	const schema = newSchema();
	const store = await opened(urlOf(schema));
	await write(store, { events: several(1, 20) });
	await write(store, { forget: [1, 2, 19] });
	await write(store, { forget: [3] });
	expect((await ask(store, { read: "events", since: 0, limit: 99 })).map(({ seq }) => seq)).toEqual([
		...Array.from({ length: 15 }, (_, n) => n + 4),
		20,
	]);
	expect(await ask(store, { read: "history", job: 2 })).toEqual([]);
	expect(await counted(schema)).toEqual([0, 1]);
	expect(String((await admin(`SELECT data FROM "${schema}".page`))[0]?.[0])).not.toContain('{"seq":3}');
	await write(store, { forget: Array.from({ length: 20 }, (_, n) => n + 1) });
	expect(await counted(schema)).toEqual([0, 0]);
});

test("settled, they are rows, and nothing else has changed", async () => {
	const schema = newSchema();
	const store = await opened(urlOf(schema));
	await write(store, { events: several(1, 50) });
	await write(store, { forget: [8] });
	const before = await ask(store, { read: "events", since: 0, limit: 99 });
	await admin(settle(schema));
	expect(await counted(schema)).toEqual([49, 0]);
	expect(await ask(store, { read: "events", since: 0, limit: 99 })).toEqual(before);
});
