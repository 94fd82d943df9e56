// What every store must do: the contract of src/contracts/store.ts as one suite. Each read is compared with a naive answer from plain arrays.

import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import {
	type Changes,
	type JobRow,
	type LinkRole,
	type ListFilter,
	noChanges,
	type RecordKind,
	type Store,
	type StoreRead,
} from "../src/contracts/store.ts";
import type { EventRow } from "../src/core/event.ts";
import { type Job, POLICIES, type Status, TERMINAL, WAITING } from "../src/core/job.ts";
import type { Parked } from "../src/core/parked.ts";
import type { ReadyJob } from "../src/core/planning/ready-rows.ts";
import { makeJob } from "./make/job.ts";
import { isLong } from "./make/long.ts";

/**
 * Data that several connections can be opened to; `open` gives the next one. `shared`: whether several can be open at once, one after another, or only one ever.
 * `failure`: a transaction that fails ends the store, and the next one opened goes on.
 */
export type Place = { open(): Store | Promise<Store>; shared: boolean | "in turn"; failure?: "ends it" };

// ---- the naive answer ---------------------------------------------------------------------------------------------------------------

type Tables = {
	job: JobRow[];
	done: Job[];
	spec: Changes["specs"];
	edge: Changes["edges"];
	link: Changes["links"];
	run: Changes["runs"];
	event: Changes["events"];
	record: [RecordKind, string, unknown][];
	/** The last event's number: none comes twice, though its event may be forgotten. */
	seq: number;
};
const noTables = (): Tables => ({ job: [], done: [], spec: [], edge: [], link: [], run: [], event: [], record: [], seq: 0 });

/** The tables after a set of changes; the ones before stay as they are. */
function applied(before: Tables, changes: Changes): Tables {
	const without = new Set(changes.forget);
	const gone = new Set(changes.remove);
	const undone = new Set(changes.undone);
	const updated = new Map(changes.update.map((row) => [row.id, row]));
	const same = (a: Changes["links"][number], b: Changes["links"][number]) => a.key === b.key && a.role === b.role && a.job === b.job;
	const links = before.link.filter((link) => !changes.unlinks.some((other) => same(link, other)));
	for (const link of changes.links) if (!links.some((other) => same(link, other))) links.push(link);
	let records = before.record;
	for (const [kind, key, value] of changes.records) {
		records = records.filter((one) => one[0] !== kind || one[1] !== key);
		if (value !== null) records = [...records, [kind, key, value]];
	}
	records = [...records, ...changes.fresh];
	return {
		job: [...before.job, ...changes.insert]
			.map((row) => updated.get(row.id) ?? row)
			.filter((row) => !gone.has(row.id) && !without.has(row.id)),
		done: [...before.done.filter((job) => !undone.has(job.id)), ...changes.done].filter((job) => !without.has(job.id)),
		spec: [...before.spec.filter(([id]) => !changes.specs.some(([other]) => other === id)), ...changes.specs].filter(
			([id]) => !without.has(id),
		),
		edge: [...before.edge.filter((edge) => !changes.unedges.includes(edge.job)), ...changes.edges].filter((edge) => !without.has(edge.job)),
		link: links.filter((link) => !without.has(link.job)),
		run: [...before.run, ...changes.runs].filter((run) => !without.has(run.job)),
		event: [...before.event, ...changes.events].filter((event) => event.job === null || !without.has(event.job)),
		record: records,
		seq: changes.events.at(-1)?.seq ?? before.seq,
	};
}

const byId = (a: { id: number }, b: { id: number }) => a.id - b.id;
const headOf = ({ id, rank, level, age_at, ready_at }: JobRow): ReadyJob => ({ id, rank, level, age_at, ready_at: ready_at ?? age_at });
const inLine = (a: JobRow, b: JobRow) => b.rank - a.rank || b.level - a.level || a.age_at - b.age_at || a.id - b.id;
const earlier = (a: { age_at: number; id: number }, b: { age_at: number; id: number }) =>
	a.age_at < b.age_at || (a.age_at === b.age_at && a.id < b.id);

function fits(job: Job, filter: ListFilter): boolean {
	const { status, ...rest } = filter;
	if (status && !status.includes(job.status)) return false;
	return Object.entries(rest).every(([key, value]) => value === undefined || job[key as keyof Job] === value);
}

/** Those that run are in none. */
const inThe = (line: Parked, tables: Tables) => tables.job.filter((row) => row.line === line && line !== "run");

function naive(tables: Tables, request: StoreRead): unknown {
	switch (request.read) {
		case "jobs":
			return tables.job.filter((row) => request.ids.includes(row.id)).map((row) => row.job);
		case "done":
			return tables.done.filter((job) => request.ids.includes(job.id));
		case "specs":
			return tables.spec.filter(([id]) => request.ids.includes(id));
		case "line": {
			const { line, bucket, below, after, limit } = request;
			let rows = inThe(line, tables)
				.filter((row) => row.bucket === bucket)
				.sort(inLine);
			if (below) rows = rows.filter((row) => row.rank < below.rank || (row.rank === below.rank && row.level < below.level));
			if (after) rows = rows.filter((row) => row.rank === after.rank && row.level === after.level && earlier(after, row));
			return rows.slice(0, limit).map(headOf);
		}
		case "ahead": {
			const { bucket, rank, level, limit } = request;
			const rows = tables.job.filter((row) => row.line === "" && row.bucket === bucket && row.rank === rank && row.level === level);
			return Math.min(limit, rows.filter((row) => earlier(row, request)).length);
		}
		case "oldest": {
			const rows = tables.job.filter((row) => row.bucket === request.bucket && row.ready_at !== null);
			rows.sort((a, b) => (a.ready_at as number) - (b.ready_at as number) || a.id - b.id);
			return rows.slice(0, request.limit).map(headOf);
		}
		case "tally": {
			const all = tables.job.filter((row) => row.lane === request.lane && row.job.kind === request.kind).map((row) => row.status);
			return [...new Set(all)].sort().map((status) => ({ status, count: all.filter((one) => one === status).length }));
		}
		case "statuses": {
			const { from, to } = request;
			const jobs = [...tables.job.map(({ job, status }) => ({ ...job, status })), ...tables.done];
			const all = jobs.filter((job) => job.id >= from && job.id <= to && !(job.lane === "kernel" && job.kind === "kernel"));
			const count = (status: Status) => all.filter((job) => job.status === status).length;
			return [...new Set(all.map(({ status }) => status))].map((status) => ({ status, count: count(status) }));
		}
		case "buckets":
			return [...new Set(inThe(request.line, tables).map((row) => row.bucket))];
		case "waiters":
			return request.lines.flatMap((line) => inThe(line, tables).map((row) => ({ line, bucket: row.bucket, head: headOf(row) })));
		case "due":
			return tables.job
				.filter((row) => row.due_at !== null && row.due_at <= request.now)
				.sort((a, b) => (a.due_at as number) - (b.due_at as number) || a.id - b.id)
				.slice(0, request.limit)
				.map((row) => row.id);
		case "next_due": {
			const times = tables.job.flatMap((row) => row.due_at ?? []);
			return times.length > 0 ? Math.min(...times) : null;
		}
		case "edges":
			return tables.edge
				.filter((edge) => edge.pred === request.pred && edge.job > request.after)
				.sort((a, b) => a.job - b.job)
				.slice(0, request.limit)
				.map(({ job, policy }) => ({ job, policy }));
		case "fan":
			return tables.edge
				.filter((edge) => request.preds.includes(edge.pred))
				.sort((a, b) => a.pred - b.pred || a.job - b.job)
				.slice(0, request.limit)
				.map(({ pred, job, policy }) => ({ pred, job, policy }));
		case "preds":
			return tables.edge
				.filter((edge) => edge.job === request.job && edge.seq >= request.from)
				.sort((a, b) => a.seq - b.seq)
				.slice(0, request.limit)
				.map(({ pred, policy, seq }) => ({ pred, policy, seq }));
		case "preds_of":
			return tables.edge
				.filter((edge) => request.jobs.includes(edge.job))
				.sort((a, b) => a.job - b.job || a.seq - b.seq)
				.map(({ job, pred, policy }) => ({ job, pred, policy }));
		case "links":
			return tables.link
				.filter((link) => link.key === request.key && link.role === request.role && link.job > request.after)
				.map((link) => link.job)
				.sort((a, b) => a - b)
				.slice(0, request.limit);
		case "locks":
			return {
				records: tables.record.filter(([kind, key]) => kind === "lock" && request.keys.includes(key)).map(([, key, value]) => [key, value]),
				wants: tables.link.filter((link) => link.role === "wants" && request.keys.includes(link.key)).map(({ key, job }) => ({ key, job })),
				shared: request.keys.filter((key) => tables.link.some((link) => link.role === "shares" && link.key === key)),
				lines: request.lines.filter((line) => inThe(line, tables).length > 0),
			};
		case "records":
			return tables.record
				.filter(([kind, key]) => kind === request.kind && request.keys.includes(key))
				.map(([, key, value]) => [key, value]);
		case "standing":
			return tables.record.filter(([kind]) => request.kinds.includes(kind));
		case "runs":
			return tables.run.filter((run) => run.job === request.job).sort((a, b) => a.attempt - b.attempt);
		case "events":
			return tables.event.filter((event) => event.seq > request.since).slice(0, request.limit);
		case "history":
			return tables.event.filter((event) => event.job === request.job);
		case "active":
			return [...tables.job]
				.sort(byId)
				.map((row) => row.job)
				.filter((job) => job.id > request.after && fits(job, request.filter))
				.slice(0, request.limit);
		case "running":
			return [...tables.job]
				.sort(byId)
				.filter((row) => row.line === "run" && row.id > request.after && (request.host ?? row.job.run?.host) === row.job.run?.host)
				.map((row) => row.job)
				.slice(0, request.limit);
		case "ended":
			return [...tables.done]
				.sort(byId)
				.filter((job) => job.id > request.after && fits(job, request.filter))
				.slice(0, request.limit);
		case "old": {
			const { before, after, limit } = request;
			const key = (job: Job) => ({ age_at: job.ended_at as number, id: job.id });
			return tables.done
				.filter((job) => (job.ended_at as number) < before && earlier({ age_at: after.ended_at, id: after.id }, key(job)))
				.sort((a, b) => (a.ended_at as number) - (b.ended_at as number) || a.id - b.id)
				.slice(0, limit);
		}
		case "recent": {
			const { before, limit } = request;
			const key = (job: Job) => ({ age_at: job.ended_at as number, id: job.id });
			return tables.done
				.filter((job) => earlier(key(job), { age_at: before.ended_at, id: before.id }))
				.sort((a, b) => (b.ended_at as number) - (a.ended_at as number) || b.id - a.id)
				.slice(0, limit);
		}
		case "range":
			return [...tables.job, ...tables.done].map(({ id }) => id).filter((id) => id >= request.from && id <= request.to);
		case "failures": {
			const count = (status: string) =>
				Math.min(request.limit, tables.done.filter((job) => job.status === status && (job.ended_at as number) >= request.since).length);
			return { failed: count("failed"), blocked_by_dependency: count("blocked_by_dependency") };
		}
		case "ended_in":
			return tables.done.map(({ id }) => id).filter((id) => id >= request.from && id <= request.to);
	}
}

/** Reads whose answer has no order of its own. */
const UNORDERED = new Set<StoreRead["read"]>([
	...(["jobs", "done", "specs", "buckets", "waiters", "records"] as const),
	...(["standing", "range", "ended_in", "statuses"] as const),
]);

async function compare(store: Store, tables: Tables, request: StoreRead): Promise<void> {
	const [found, expected] = [await store.read(request), naive(tables, request)];
	if (request.read === "range") {
		// Any of them, as many as asked for.
		const [some, all] = [found as number[], expected as number[]];
		expect(some.length).toBe(Math.min(request.limit, all.length));
		expect(some.filter((id) => !all.includes(id))).toEqual([]);
	} else if (request.read === "locks") {
		const parts = (of: unknown) => Object.entries(of as object).map(([part, rows]) => [part, sorted(rows)]);
		expect(parts(found)).toEqual(parts(expected));
	} else if (UNORDERED.has(request.read)) {
		expect(sorted(found)).toEqual(sorted(expected));
	} else expect(found).toEqual(expected);
}

const sorted = (list: unknown) => (list as unknown[]).map(inOrder).sort();

/** As a text, its fields by name: their order is nobody's promise. */
const inOrder = (one: unknown): string =>
	JSON.stringify(Array.isArray(one) || typeof one !== "object" || one === null ? one : Object.entries(one).sort());

// ---- makers -------------------------------------------------------------------------------------------------------------------------

const LINES: Parked[] = ["", "time", "after", "lock:shared:ä/🙂", "run"];
const LANES = ["default", "code"];
const KEYS = ["a", "b/ä", "🙂", "'; DROP TABLE job; --", '{"k":1}', "%_", ""];
const KINDS: RecordKind[] = ["meta", "fact", "lock", "name"];
const ROLES: LinkRole[] = ["needs", "makes", "wants", "shares", "named"];

/** Columns say what the document says. */
export const makeRow = (job: Job, more: Partial<Omit<JobRow, "job">> = {}): JobRow => {
	const { id, parked_on: line, bucket, status, lane, batch = null, due_at } = { ...job, ...more };
	const document: Job = { ...job, parked_on: line, bucket, status };
	if (typeof due_at === "number") document.due_at = due_at;
	return {
		id,
		line,
		bucket,
		rank: 0,
		level: 0,
		age_at: 0,
		ready_at: job.parked_on === "" ? 0 : null,
		status,
		lane,
		batch,
		...more,
		due_at: due_at ?? null,
		job: document,
	};
};

type Dice = (max: number) => number;

/** A set of changes that the tables can take: new rows have new keys, old ones are there. */
function someChanges(tables: Tables, dice: Dice): Changes {
	const changes = noChanges();
	const pick = <T>(list: readonly T[]): T => list[dice(list.length)] as T;
	const maybe = <T>(value: T): T | undefined => (dice(2) === 0 ? undefined : value);
	const last = Math.max(0, ...tables.job.map((row) => row.id), ...tables.done.map((job) => job.id));
	const document = (id: number, status: Status): Job => {
		const more = {
			repo: maybe(pick(["web", "ä"])),
			owner: maybe(pick(["ann", "bob"])),
			item: maybe(pick(["cards:1", "cards:🙂"])),
			batch: maybe(pick(["b1", "b2"])),
		};
		return makeJob({
			id,
			status,
			...JSON.parse(JSON.stringify(more)),
			kind: pick(["command", "agent", "kernel"] as const),
			lane: pick(LANES),
			parked_on: pick(LINES),
			bucket: 1 + dice(3),
		});
	};
	const row = (job: Job): JobRow =>
		makeRow(job, {
			rank: pick([0, 0, 0, 1, -1, 2 ** 40]),
			level: dice(5) - 2,
			age_at: dice(6),
			ready_at: job.parked_on === "" ? dice(6) : null,
			due_at: dice(3) === 0 ? dice(100) : null,
		});
	// New ones; more than one statement's worth now and then.
	const count = dice(4) === 0 ? 20 + dice(50) : dice(5);
	for (let n = 1; n <= count; n++) {
		const job = document(last + n, pick(WAITING));
		changes.insert.push(row(job));
		if (dice(2)) changes.specs.push([job.id, { version: 1, enqueued_at: dice(9), payload: pick(KEYS) }]);
		for (let pred = 1; pred < job.id && dice(3); pred += 1 + dice(10))
			changes.edges.push({ pred, job: job.id, policy: pick(POLICIES), seq: changes.edges.filter((edge) => edge.job === job.id).length });
	}
	const free = [...tables.job];
	const take = <T>(list: T[]): T | undefined => (list.length > 0 ? list.splice(dice(list.length), 1)[0] : undefined);
	for (let n = dice(4); n > 0; n--) {
		const one = take(free);
		if (!one) continue;
		changes.update.push(row(document(one.id, pick(WAITING))));
		if (dice(3)) continue;
		// One that is changed: another spec, and other predecessors.
		changes.specs.push([one.id, { version: 1, enqueued_at: dice(9), payload: pick(KEYS) }]);
		changes.unedges.push(one.id);
		for (let pred = 1, seq = 0; pred < one.id && dice(3); pred += 1 + dice(10), seq++)
			changes.edges.push({ pred, job: one.id, policy: pick(POLICIES), seq });
	}
	for (let n = dice(3); n > 0; n--) {
		const one = take(free);
		if (!one) continue;
		changes.remove.push(one.id);
		const job = { ...one.job, status: pick(TERMINAL), ended_at: dice(10) };
		changes.done.push(job);
	}
	const ended = [...tables.done];
	for (let n = dice(2); n > 0; n--) {
		const one = take(ended);
		if (!one) continue;
		changes.undone.push(one.id);
		const { ended_at: _ended, due_at: _due, ...rest } = one;
		changes.insert.push(row({ ...rest, status: "queued" }));
	}
	const linked = new Set<string>();
	for (let n = dice(6); n > 0; n--) {
		const link = { key: pick(KEYS), role: pick(ROLES), job: 1 + dice(last + 1) };
		if (linked.has(JSON.stringify(link))) continue;
		linked.add(JSON.stringify(link));
		if (dice(4)) changes.links.push(link);
		else changes.unlinks.push(link);
	}
	for (let n = dice(3); n > 0; n--) {
		const job = 1 + dice(last + 1);
		const attempt = 1 + [...tables.run, ...changes.runs].filter((run) => run.job === job).length;
		changes.runs.push({
			job,
			attempt,
			host: "h",
			worker: pick(KEYS),
			account: maybe("a") ?? null,
			started_at: 1,
			ended_at: 2,
			exit_kind: "failed",
			exit_code: maybe(3) ?? null,
			message: maybe("ü") ?? null,
		});
	}
	// Some stores keep those that are alike together.
	const [alike, somebody] = [dice(2) === 0, pick(KEYS)];
	for (let n = 1, count = dice(5) === 0 ? 45 : dice(alike ? 9 : 4); n <= count; n++)
		changes.events.push({
			seq: tables.seq + n,
			at: alike ? count : n,
			kind: "moved",
			job: alike && dice(9) > 0 ? 1 + dice(last + 1) : (maybe(1 + dice(last + 1)) ?? null),
			by: alike ? somebody : pick(KEYS),
			data: { n, text: pick(KEYS) },
		} as unknown as EventRow);
	const seen = new Set<string>();
	for (let n = dice(5); n > 0; n--) {
		const [kind, key] = [pick(KINDS), pick(KEYS)];
		if (seen.has(`${kind}/${key}`)) continue;
		seen.add(`${kind}/${key}`);
		const value = dice(3) === 0 ? null : pick<unknown>([0, 1.5, "x", true, [1], { a: { b: null } }]);
		const isThere = tables.record.some((one) => one[0] === kind && one[1] === key);
		if (value !== null && !isThere && kind !== "meta" && dice(2) === 0) changes.fresh.push([kind, key, value]);
		else changes.records.push([kind, key, value]);
	}
	if (dice(4) === 0) {
		const touched = new Set([...changes.insert, ...changes.update, ...changes.done].map((one) => one.id));
		changes.forget = [...tables.done, ...tables.job].map((one) => one.id).filter((id) => !touched.has(id) && dice(6) === 0);
	}
	return changes;
}

const id = fc.integer({ min: 0, max: 120 });
const limit = fc.constantFrom(1, 2, 7, 1000);
const filter = fc.record(
	{
		status: fc.subarray<Status>(["queued", "waiting_on_deps", "succeeded", "failed"]),
		lane: fc.constantFrom(...LANES, "none"),
		batch: fc.constantFrom("b1", "none"),
		repo: fc.constantFrom("web", "ä", "none"),
		kind: fc.constantFrom("command", "kernel"),
		owner: fc.constantFrom("ann", "none"),
		item: fc.constantFrom("cards:🙂", "none"),
	},
	{ requiredKeys: [] },
);
const place = { bucket: fc.integer({ min: 0, max: 4 }), rank: fc.constantFrom(0, 1, -1, 2 ** 40), level: fc.integer({ min: -3, max: 3 }) };
const someRead: fc.Arbitrary<StoreRead> = fc.oneof(
	fc.record({ read: fc.constantFrom("jobs" as const, "done" as const, "specs" as const), ids: fc.array(id) }),
	fc.record({ read: fc.constant("line" as const), line: fc.constantFrom(...LINES, "late"), bucket: place.bucket, limit }),
	fc.record({
		read: fc.constant("line" as const),
		line: fc.constantFrom(...LINES),
		bucket: place.bucket,
		below: fc.record({ rank: place.rank, level: place.level }),
		limit,
	}),
	fc.record({
		read: fc.constant("line" as const),
		line: fc.constant(""),
		bucket: place.bucket,
		after: fc.record({ rank: place.rank, level: place.level, age_at: fc.integer({ min: -1, max: 6 }), id }),
		limit,
	}),
	fc.record({ read: fc.constant("ahead" as const), ...place, age_at: fc.constantFrom(-1, 0, 3, 6, Number.MAX_SAFE_INTEGER), id, limit }),
	fc.record({ read: fc.constant("oldest" as const), bucket: place.bucket, limit }),
	fc.record({ read: fc.constant("tally" as const), lane: fc.constantFrom(...LANES, "none"), kind: fc.constantFrom("command", "kernel") }),
	fc.record({ read: fc.constant("statuses" as const), from: id, to: id }),
	fc.record({ read: fc.constant("buckets" as const), line: fc.constantFrom(...LINES, "late") }),
	fc.record({ read: fc.constant("waiters" as const), lines: fc.subarray<Parked>([...LINES, "late"]), limit: fc.constant(1000) }),
	fc.record({ read: fc.constant("due" as const), now: fc.integer({ min: -1, max: 110 }), limit }),
	fc.constant<StoreRead>({ read: "next_due" }),
	fc.record({ read: fc.constant("edges" as const), pred: id, after: id, limit }),
	fc.record({ read: fc.constant("fan" as const), preds: fc.array(id), limit }),
	fc.record({ read: fc.constant("preds" as const), job: id, from: fc.nat({ max: 4 }), limit }),
	fc.record({ read: fc.constant("preds_of" as const), jobs: fc.array(id) }),
	fc.record({ read: fc.constant("links" as const), key: fc.constantFrom(...KEYS), role: fc.constantFrom(...ROLES), after: id, limit }),
	fc.record({
		read: fc.constant("locks" as const),
		keys: fc.subarray(KEYS),
		lines: fc.subarray<Parked>([...LINES, "late"]),
		limit: fc.constant(1000),
	}),
	fc.record({ read: fc.constant("records" as const), kind: fc.constantFrom(...KINDS), keys: fc.array(fc.constantFrom(...KEYS)) }),
	fc.record({ read: fc.constant("standing" as const), kinds: fc.subarray(KINDS) }),
	fc.record({ read: fc.constantFrom("runs" as const, "history" as const), job: id }),
	fc.record({ read: fc.constant("events" as const), since: fc.integer({ min: 0, max: 60 }), limit }),
	fc.record({ read: fc.constantFrom("active" as const, "ended" as const), filter, after: id, limit }),
	fc.record({ read: fc.constant("running" as const), after: id, limit }),
	fc.record({ read: fc.constant("running" as const), host: fc.constantFrom("h1", "h2"), after: id, limit }),
	fc.record({
		read: fc.constant("old" as const),
		before: fc.integer({ min: 0, max: 11 }),
		after: fc.record({ ended_at: fc.integer({ min: -1, max: 10 }), id }),
		limit,
	}),
	fc.record({
		read: fc.constant("recent" as const),
		before: fc.record({ ended_at: fc.integer({ min: -1, max: 11 }), id }),
		limit,
	}),
	fc.record({ read: fc.constant("range" as const), from: id, to: id, limit }),
	fc.record({ read: fc.constant("ended_in" as const), from: id, to: id }),
	fc.record({ read: fc.constant("failures" as const), since: fc.integer({ min: -1, max: 11 }), limit }),
);

/** Everything that a store holds, read through its contract. */
const EVERYTHING: StoreRead[] = [
	{ read: "active", filter: {}, after: 0, limit: 1_000_000 },
	{ read: "ended", filter: {}, after: 0, limit: 1_000_000 },
	{ read: "events", since: 0, limit: 1_000_000 },
	{ read: "standing", kinds: KINDS },
];

// ---- the suite ----------------------------------------------------------------------------------------------------------------------

export function storeConformance(name: string, make: () => Place): void {
	async function opened(where: Place): Promise<Store> {
		const store = await where.open();
		onTestFinished(async () => {
			await store.close();
		});
		return store;
	}
	const inside = async <T>(store: Store, body: () => Promise<T>): Promise<T> => {
		await store.begin();
		const result = await body();
		await store.commit();
		return result;
	};
	const write = (store: Store, changes: Partial<Changes>) => inside(store, async () => store.write({ ...noChanges(), ...changes }));
	const read = <R extends StoreRead>(store: Store, request: R) => inside(store, async () => store.read(request));
	const jobs = async (store: Store, ids: number[]) => (await read(store, { read: "jobs", ids })).map((job) => job.id).sort((a, b) => a - b);
	const queued = (...ids: number[]) => ids.map((one) => makeRow(makeJob({ id: one })));

	describe(`the store contract: ${name}`, () => {
		test("an empty store has empty answers", async () => {
			const store = await opened(make());
			const requests = fc.sample(someRead, { numRuns: 300, seed: 1 });
			await inside(store, async () => {
				for (const request of requests) await compare(store, noTables(), request);
			});
		});

		test("every read answers as a search through plain arrays would, after any changes", async () => {
			const steps = fc.array(
				fc.record({ seed: fc.nat(), reads: fc.array(someRead, { maxLength: 12 }), end: fc.constantFrom("commit", "commit", "rollback") }),
				{
					minLength: 1,
					maxLength: 8,
				},
			);
			await fc.assert(
				fc.asyncProperty(steps, async (steps) => {
					const store = await make().open();
					try {
						let kept = noTables();
						for (const { seed, reads, end } of steps) {
							let state = seed + 1;
							const dice: Dice = (max) => {
								state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
								return Math.floor((state / 2 ** 32) * max);
							};
							await store.begin();
							const changes = someChanges(kept, dice);
							await store.write(structuredClone(changes));
							const now = applied(kept, changes);
							for (const request of [...reads, ...EVERYTHING]) await compare(store, now, request);
							if (end === "commit") {
								await store.commit();
								kept = now;
							} else await store.rollback();
							await store.begin();
							for (const request of EVERYTHING) await compare(store, kept, request);
							await store.rollback();
						}
					} finally {
						await store.close();
					}
				}),
				{ numRuns: isLong ? 80 : 20 },
			);
		});

		test("line: rank down, level down, then the oldest, then the lowest id", async () => {
			const store = await opened(make());
			const rows: [number, Partial<JobRow>][] = [
				[1, { level: 5, age_at: 9 }],
				[2, { level: 5, age_at: 3 }],
				[3, { level: 5, age_at: 3 }],
				[4, { level: -5, age_at: 0 }],
				[5, { rank: 1, level: -9 }],
				[6, { rank: -1, level: 99 }],
				[7, { rank: 2 ** 40 + 1, level: 0 }],
				[8, { level: 6, age_at: 100 }],
				[9, { bucket: 2, level: 999 }],
				[10, { line: "time", level: 999, ready_at: null }],
			];
			await write(store, { insert: rows.map(([one, more]) => makeRow(makeJob({ id: one }), more)) });
			const line = async (more: object) =>
				(await read(store, { read: "line", line: "", bucket: 1, limit: 100, ...more })).map((head) => head.id);
			expect(await line({})).toEqual([7, 5, 8, 2, 3, 1, 4, 6]);
			expect(await line({ limit: 3 })).toEqual([7, 5, 8]);
			expect(await line({ below: { rank: 0, level: 6 } })).toEqual([2, 3, 1, 4, 6]);
			expect(await line({ below: { rank: 0, level: -5 } })).toEqual([6]);
			expect(await line({ after: { rank: 0, level: 5, age_at: 3, id: 2 } })).toEqual([3, 1]);
			expect(await line({ after: { rank: 0, level: 5, age_at: -1, id: 0 }, limit: 2 })).toEqual([2, 3]);
			expect(await read(store, { read: "line", line: "", bucket: 1, limit: 1 })).toEqual([
				{ id: 7, rank: 2 ** 40 + 1, level: 0, age_at: 0, ready_at: 0 },
			]);
		});

		test("a read inside a transaction sees what was written in it", async () => {
			const store = await opened(make());
			await store.begin();
			await store.write({ ...noChanges(), insert: queued(1), records: [["meta", "k", 1]] });
			expect(await store.read({ read: "jobs", ids: [1] })).toEqual([makeJob({ id: 1 })]);
			await store.write({ ...noChanges(), update: [makeRow(makeJob({ id: 1, priority: 5 }))], records: [["meta", "k", 2]] });
			expect(await store.read({ read: "jobs", ids: [1] })).toMatchObject([{ priority: 5 }]);
			expect(await store.read({ read: "records", kind: "meta", keys: ["k"] })).toEqual([["k", 2]]);
			await store.commit();
		});

		test("rollback leaves nothing, and the next transaction is as good as any", async () => {
			const store = await opened(make());
			await write(store, { insert: queued(1) });
			await store.begin();
			await store.write({ ...noChanges(), insert: queued(2), forget: [1], records: [["meta", "k", 1]] });
			await store.rollback();
			expect(await jobs(store, [1, 2])).toEqual([1]);
			await write(store, { insert: queued(2) });
			expect(await jobs(store, [1, 2])).toEqual([1, 2]);
		});

		test("changes that cannot be made fail, and nothing of their transaction is left", async () => {
			const where = make();
			let store = await opened(where);
			await write(store, { insert: queued(1), records: [["meta", "k", 1]] });
			await store.begin();
			await store.write({ ...noChanges(), insert: queued(2) });
			const failing = async () => {
				await store.write({ ...noChanges(), records: [["meta", "k", 2]], insert: queued(1) });
				await store.commit();
			};
			await expect(failing()).rejects.toThrow();
			await store.rollback();
			if (where.failure === "ends it") store = await opened(where);
			expect(await jobs(store, [1, 2])).toEqual([1]);
			expect(await read(store, { read: "records", kind: "meta", keys: ["k"] })).toEqual([["k", 1]]);
		});

		test("forget takes every trace of a job but the edges that others still tell of", async () => {
			const store = await opened(make());
			await write(store, {
				insert: queued(1, 2, 3),
				done: [makeJob({ id: 4, status: "succeeded", ended_at: 1 })],
				specs: [1, 2, 3, 4].map((one) => [one, { version: 1, enqueued_at: 0 }]),
				edges: [
					{ pred: 1, job: 2, policy: "success", seq: 0 },
					{ pred: 2, job: 3, policy: "success", seq: 0 },
				],
				links: [2, 3].map((job) => ({ key: "k", role: "needs" as const, job })),
				runs: [2, 3].map((job) => ({
					job,
					attempt: 1,
					host: "",
					worker: "",
					account: null,
					started_at: 0,
					ended_at: 0,
					exit_kind: "failed" as const,
					exit_code: null,
					message: null,
				})),
				events: [2, 3].map((job) => ({ seq: job, at: 0, kind: "updated" as const, job, by: "", data: {} })),
			});
			await write(store, { forget: [2, 4] });
			expect(await jobs(store, [1, 2, 3, 4])).toEqual([1, 3]);
			expect(await read(store, { read: "done", ids: [4] })).toEqual([]);
			expect((await read(store, { read: "specs", ids: [1, 2, 3, 4] })).map(([one]) => one).sort()).toEqual([1, 3]);
			expect(await read(store, { read: "preds", job: 2, from: 0, limit: 9 })).toEqual([]);
			expect(await read(store, { read: "edges", pred: 1, after: 0, limit: 9 })).toEqual([]);
			expect(await read(store, { read: "preds", job: 3, from: 0, limit: 9 })).toEqual([{ pred: 2, policy: "success", seq: 0 }]);
			expect(await read(store, { read: "links", key: "k", role: "needs", after: 0, limit: 9 })).toEqual([3]);
			expect(await read(store, { read: "runs", job: 2 })).toEqual([]);
			expect(await read(store, { read: "history", job: 2 })).toEqual([]);
			expect((await read(store, { read: "events", since: 0, limit: 9 })).map((event) => event.seq)).toEqual([3]);
		});

		test("a job ends and comes back", async () => {
			const store = await opened(make());
			await write(store, { insert: queued(1) });
			await write(store, { remove: [1], done: [makeJob({ id: 1, status: "failed", ended_at: 7 })] });
			expect([await jobs(store, [1]), (await read(store, { read: "done", ids: [1] })).length]).toEqual([[], 1]);
			await write(store, { undone: [1], done: [makeJob({ id: 1, status: "succeeded", ended_at: 8 })] });
			expect(await read(store, { read: "done", ids: [1] })).toMatchObject([{ status: "succeeded" }]);
			await write(store, { undone: [1], insert: queued(1) });
			expect([await jobs(store, [1]), (await read(store, { read: "done", ids: [1] })).length]).toEqual([[1], 0]);
		});

		test("links and records twice are one, and going twice is gone", async () => {
			const store = await opened(make());
			const link = { key: "k", role: "wants" as const, job: 1 };
			await write(store, { links: [link, link] });
			await write(store, { links: [link] });
			expect(await read(store, { read: "links", key: "k", role: "wants", after: 0, limit: 9 })).toEqual([1]);
			await write(store, { unlinks: [link, link] });
			await write(store, { unlinks: [link] });
			expect(await read(store, { read: "links", key: "k", role: "wants", after: 0, limit: 9 })).toEqual([]);
			await write(store, { records: [["meta", "k", null]] });
			await write(store, { records: [["meta", "k", { a: 1 }]] });
			await write(store, { records: [["meta", "k", { b: 2 }]] });
			expect(await read(store, { read: "records", kind: "meta", keys: ["k"] })).toEqual([["k", { b: 2 }]]);
		});

		test("large numbers, long texts and any script come back as they went in", async () => {
			const store = await opened(make());
			const text = `${"ä🙂\u0001\u2028\u{10ffff}".repeat(100_000)}'"\\\n`;
			const most = Number.MAX_SAFE_INTEGER;
			const job = makeJob({
				id: most - 5,
				name: "名前",
				created_at: 8.64e15,
				due_at: 8.64e15,
				priority: -1_000_000,
				wait_reason: { kind: "x", detail: text },
			});
			await write(store, {
				insert: [makeRow(job, { rank: 2 ** 41, level: -2_000_000, age_at: 8.64e15, ready_at: 8.64e15 })],
				specs: [[job.id, { version: 1, enqueued_at: most, payload: { text } }]],
				records: [["fact", text.slice(0, 3000), text]],
				events: [{ seq: most, at: 8.64e15, kind: "marked", job: job.id, by: "🙂", data: { artifact: text, state: "present" } }],
			});
			expect(await read(store, { read: "jobs", ids: [job.id] })).toEqual([job]);
			expect(await read(store, { read: "specs", ids: [job.id] })).toEqual([[job.id, { version: 1, enqueued_at: most, payload: { text } }]]);
			expect(await read(store, { read: "records", kind: "fact", keys: [text.slice(0, 3000)] })).toEqual([[text.slice(0, 3000), text]]);
			expect(await read(store, { read: "history", job: job.id })).toMatchObject([
				{ seq: most, at: 8.64e15, by: "🙂", data: { artifact: text } },
			]);
			expect(await read(store, { read: "line", line: "", bucket: 1, limit: 1 })).toEqual([
				{ id: job.id, rank: 2 ** 41, level: -2_000_000, age_at: 8.64e15, ready_at: 8.64e15 },
			]);
			expect(await read(store, { read: "next_due" })).toBe(8.64e15);
		});

		test("many in one go", async () => {
			const store = await opened(make());
			const ids = Array.from({ length: 5000 }, (_, index) => index + 1);
			await write(store, {
				insert: queued(...ids),
				specs: ids.map((one) => [one, { version: 1, enqueued_at: one }]),
				edges: ids.slice(1).map((one) => ({ pred: one - 1, job: one, policy: "success" as const, seq: 0 })),
				records: ids.map((one) => ["name", `n${one}`, one]),
			});
			expect((await jobs(store, ids)).length).toBe(5000);
			expect((await read(store, { read: "records", kind: "name", keys: ids.map((one) => `n${one}`) })).length).toBe(5000);
			await write(store, { forget: ids });
			expect(await jobs(store, ids)).toEqual([]);
		});

		test("fresh only when nobody else has written since", async () => {
			const store = await opened(make());
			await store.begin();
			await store.commit();
			await write(store, { insert: queued(1) });
			expect(await store.begin()).toMatchObject({ fresh: true });
			await store.commit();
		});

		const { shared } = make();
		describe.skipIf(shared !== true)("two connections", () => {
			async function pair(): Promise<[Store, Store]> {
				const where = make();
				return [await opened(where), await opened(where)];
			}

			test("each sees what the other has committed, and is told that it is not fresh", async () => {
				const [one, other] = await pair();
				for (const store of [one, other]) await read(store, { read: "next_due" });
				await write(one, { insert: queued(1) });
				expect(await other.begin()).toMatchObject({ fresh: false });
				expect(await other.read({ read: "jobs", ids: [1] })).toHaveLength(1);
				await other.commit();
				expect(await other.begin()).toMatchObject({ fresh: true });
				await other.commit();
			});

			test("what the other rolled back never was", async () => {
				const [one, other] = await pair();
				for (const store of [one, other]) await read(store, { read: "next_due" });
				await one.begin();
				await one.write({ ...noChanges(), insert: queued(1) });
				await one.rollback();
				await other.begin();
				expect(await other.read({ read: "jobs", ids: [1] })).toEqual([]);
				await other.commit();
			});

			test("after its own rollback a store does not call itself fresh over what others wrote before it", async () => {
				const [one, other] = await pair();
				for (const store of [one, other]) await read(store, { read: "next_due" });
				await write(one, { insert: queued(1) });
				await other.begin();
				await other.rollback();
				expect(await other.begin()).toMatchObject({ fresh: false });
				await other.commit();
			});

			test("turn by turn, both keep up", async () => {
				const [one, other] = await pair();
				for (let at = 1; at <= 20; at++) await write(at % 2 ? one : other, { insert: queued(at) });
				for (const store of [one, other])
					expect(
						(
							await jobs(
								store,
								Array.from({ length: 25 }, (_, index) => index),
							)
						).length,
					).toBe(20);
			});
		});

		describe.skipIf(shared === false)("closed and opened again", () => {
			test("what was committed is there, what was not is not", async () => {
				const where = make();
				const first = await where.open();
				await write(first, { insert: queued(1), records: [["meta", "k", "ä🙂"]] });
				await first.begin();
				await first.write({ ...noChanges(), insert: queued(2) });
				await first.close();
				const again = await opened(where);
				expect(await again.begin()).toMatchObject({ fresh: false });
				expect((await again.read({ read: "active", filter: {}, after: 0, limit: 9 })).map((job) => job.id)).toEqual([1]);
				expect(await again.read({ read: "records", kind: "meta", keys: ["k"] })).toEqual([["k", "ä🙂"]]);
				await again.commit();
			});
		});
	});
}
