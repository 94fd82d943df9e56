// Every read as SQL, shared by the dialects. `?` is a parameter, `{ids}` the dialect's list of numbers, `{keys}` its list of texts, and `{texts}` that list
// as a table `e` with a column `value`.

import type { RecordKind, Replies, StoreRead } from "../../contracts/store.ts";
import { messageOf } from "../../core/errors.ts";
import type { EventKind, EventRow } from "../../core/event.ts";
import type { Job, JobSpec, Policy, Status } from "../../core/job.ts";
import type { Parked } from "../../core/parked.ts";
import type { ReadyJob } from "../../core/planning/ready-rows.ts";
import { STORED, type StoredJob, unpack } from "./document.ts";

export type Query = { sql: string; params: (string | number | null)[] };

const HEAD = "id, rank, level, age_at, coalesce(ready_at, age_at)";
/**
 * PostgreSQL's index of waiting jobs leaves the line `run` out, since no read searches it. Its planner uses the index only for queries that repeat the
 * condition.
 */
const WAITS = "line <> 'run'";
const LINE = `SELECT ${HEAD} FROM job WHERE line = ? AND ${WAITS} AND bucket = ?`;
const IN_LINE = "ORDER BY rank DESC, level DESC, age_at, id LIMIT ?";

/** Jobs that pass a filter, in the order of their ids, from `after` on. Only indexed conditions are fast; the others serve listings for people. */
type Page = Extract<StoreRead, { read: "active" | "ended" }>;

function filtered(table: "job" | "done", { filter, after, before, limit }: Page): Query {
	const where = ["id > ?"];
	const params: (string | number | null)[] = [after];
	if (before !== undefined) {
		where.push("id < ?");
		params.push(before);
	}
	const add = (text: string, value: string | undefined) => {
		if (value === undefined) return;
		where.push(text);
		params.push(value);
	};
	add("lane = ?", filter.lane);
	add("batch = ?", filter.batch);
	add("doc ->> 'repo' = ?", filter.repo);
	add("doc ->> 'kind' = ?", filter.kind);
	add("doc ->> 'owner' = ?", filter.owner);
	add("doc ->> 'item' = ?", filter.item);
	if (filter.status) add("status IN {keys}", JSON.stringify(filter.status));
	return {
		sql: `SELECT ${STORED[table]} FROM ${table} WHERE ${where.join(" AND ")} ORDER BY id${before === undefined ? "" : " DESC"} LIMIT ?`,
		params: [...params, limit],
	};
}

type Row = readonly unknown[];
/** A row of HEAD. */
type Head = readonly [id: number, rank: number, level: number, age_at: number, ready_at: number];
const head = ([id, rank, level, age_at, ready_at]: Head): ReadyJob => ({ id, rank, level, age_at, ready_at });
/** Turns a document that cannot be parsed into a broken job, so that one damaged row does not fail the read of all others. */
function job(row: StoredJob): Job {
	try {
		return unpack(row);
	} catch (error) {
		const [, id, line, bucket, status, lane] = row;
		const broken = messageOf(error);
		return {
			id,
			status,
			kind: "command",
			lane,
			trigger: "manual",
			priority: 0,
			created_at: 0,
			runnable_at: 0,
			attempt: 0,
			parked_on: line,
			bucket,
			broken,
		};
	}
}
/** Turns a spec that cannot be parsed into a broken one: the fault concerns its own job alone. */
function spec([id, body]: readonly [number, string]): [number, JobSpec] {
	try {
		const found = JSON.parse(body);
		if (typeof found === "object" && found !== null && !Array.isArray(found)) return [id, found];
		throw new Error("its spec is not a document");
	} catch (error) {
		return [id, { version: 1, enqueued_at: 0, broken: messageOf(error) }];
	}
}
const first = ([id]: readonly [number]) => id;
type StoredEvent = readonly [seq: number, at: number, kind: EventKind, job: number | null, by: string, data: string];
/** An event that cannot be parsed must not stop the readers of the events that follow it. */
function event([seq, at, kind, job, by, data]: StoredEvent): EventRow {
	let parsed: object;
	try {
		parsed = JSON.parse(data);
	} catch (error) {
		parsed = { unreadable: messageOf(error) };
	}
	return { seq, at, kind, job, by, data: parsed } as EventRow;
}

/**
 * A row has one of four forms: a body is a lock record, a job number is a job with a `wants` link, 0 is a lock with a `shares` link, and no value at all is a
 * line in which a job waits.
 */
type LockRow =
	| readonly [key: string, body: string, job: null]
	| readonly [key: string, body: null, job: number]
	| readonly [line: Parked, body: null, job: null];
function lockRows(rows: LockRow[]): Replies["locks"] {
	const found: Replies["locks"] = { records: [], wants: [], shared: [], lines: [] };
	for (const [name, body, job] of rows) {
		if (body !== null) found.records.push([name, JSON.parse(body)]);
		else if (job === 0) found.shared.push(name);
		else if (job !== null) found.wants.push({ key: name, job });
		else found.lines.push(name);
	}
	return found;
}

/** A read: its SQL, and how its rows become the reply. The function for a row states the columns that its SQL selects; no other place says what a row has. */
type Read<Name extends StoreRead["read"], Reply = Replies[Name]> = {
	query: (request: Extract<StoreRead, { read: Name }>) => Query;
	reply(rows: Row[]): Reply;
};
type Params<Name extends StoreRead["read"]> = (request: Extract<StoreRead, { read: Name }>) => Query["params"];

const rows = <Name extends StoreRead["read"], R extends Row, One>(
	sql: string,
	params: Params<Name>,
	row: (row: R) => One,
): Read<Name, One[]> => ({
	query: (request) => ({ sql, params: params(request) }),
	reply: (found: R[]) => found.map(row),
});

const EVENT = "SELECT seq, at, kind, job, by, data FROM event";

const READS: { [Name in StoreRead["read"]]: Read<Name> } = {
	jobs: rows(`SELECT ${STORED.job} FROM job WHERE id IN {ids}`, ({ ids }) => [JSON.stringify(ids)], job),
	done: rows(`SELECT ${STORED.done} FROM done WHERE id IN {ids}`, ({ ids }) => [JSON.stringify(ids)], job),
	specs: rows("SELECT id, body FROM spec WHERE id IN {ids}", ({ ids }) => [JSON.stringify(ids)], spec),
	line: {
		query: ({ line, bucket, below, after, limit }) => {
			if (below) return { sql: `${LINE} AND (rank, level) < (?, ?) ${IN_LINE}`, params: [line, bucket, below.rank, below.level, limit] };
			if (after)
				return {
					sql: `${LINE} AND rank = ? AND level = ? AND (age_at, id) > (?, ?) ORDER BY age_at, id LIMIT ?`,
					params: [line, bucket, after.rank, after.level, after.age_at, after.id, limit],
				};
			return { sql: `${LINE} ${IN_LINE}`, params: [line, bucket, limit] };
		},
		reply: (found: Head[]) => found.map(head),
	},
	ahead: {
		query: ({ bucket, rank, level, age_at, id, limit }) => ({
			sql: `SELECT count(*) FROM (SELECT 1 FROM job WHERE line = '' AND bucket = ? AND rank = ? AND level = ? AND (age_at, id) < (?, ?) LIMIT ?) AS before_it`,
			params: [bucket, rank, level, age_at, id, limit],
		}),
		reply: (found: [number][]) => found[0]?.[0] ?? 0,
	},
	oldest: rows(
		`SELECT ${HEAD} FROM job WHERE bucket = ? AND ready_at IS NOT NULL ORDER BY ready_at, id LIMIT ?`,
		({ bucket, limit }) => [bucket, limit],
		head,
	),
	tally: rows(
		"SELECT status, count(*) FROM job WHERE lane = ? AND doc ->> 'kind' = ? GROUP BY status ORDER BY status",
		({ lane, kind }) => [lane, kind],
		([status, count]: [Status, number | string]) => ({ status, count: Number(count) }),
	),
	statuses: {
		query: ({ from, to }) => {
			// Only a job of the lane `kernel` can be an entry of the kernel's queue: no other document is read.
			const of = (table: string) =>
				`SELECT status, count(*) FROM ${table} WHERE id BETWEEN ? AND ? AND (lane <> 'kernel' OR doc ->> 'kind' <> 'kernel') GROUP BY status`;
			return { sql: `${of("job")} UNION ALL ${of("done")}`, params: [from, to, from, to] };
		},
		reply: (found: [Status, number | string][]) => found.map(([status, count]) => ({ status, count: Number(count) })),
	},
	buckets: rows(
		`WITH RECURSIVE found (bucket) AS (
	SELECT min(bucket) FROM job WHERE line = ? AND ${WAITS}
	UNION ALL SELECT (SELECT min(bucket) FROM job WHERE line = ? AND ${WAITS} AND bucket > found.bucket) FROM found WHERE found.bucket IS NOT NULL
) SELECT bucket FROM found WHERE bucket IS NOT NULL`,
		({ line }) => [line, line],
		first,
	),
	waiters: rows(
		`SELECT ${HEAD}, line, bucket FROM job WHERE line IN {keys} AND ${WAITS} LIMIT ?`,
		({ lines, limit }) => [JSON.stringify(lines), limit],
		([id, rank, level, age_at, ready_at, line, bucket]: readonly [...Head, Parked, number]) => ({
			line,
			bucket,
			head: { id, rank, level, age_at, ready_at },
		}),
	),
	due: rows("SELECT id FROM job WHERE due_at <= ? ORDER BY due_at, id LIMIT ?", ({ now, limit }) => [now, limit], first),
	next_due: {
		query: () => ({ sql: "SELECT min(due_at) FROM job WHERE due_at IS NOT NULL", params: [] }),
		reply: (found: [number | null][]) => found[0]?.[0] ?? null,
	},
	edges: rows(
		"SELECT job, policy FROM edge WHERE pred = ? AND job > ? ORDER BY job LIMIT ?",
		({ pred, after, limit }) => [pred, after, limit],
		([job, policy]: [number, Policy]) => ({ job, policy }),
	),
	fan: rows(
		"SELECT pred, job, policy FROM edge WHERE pred IN {ids} ORDER BY pred, job LIMIT ?",
		({ preds, limit }) => [JSON.stringify(preds), limit],
		([pred, job, policy]: [number, number, Policy]) => ({ pred, job, policy }),
	),
	preds: rows(
		"SELECT pred, policy, seq FROM edge WHERE job = ? AND seq >= ? ORDER BY seq LIMIT ?",
		({ job, from, limit }) => [job, from, limit],
		([pred, policy, seq]: [number, Policy, number]) => ({ pred, policy, seq }),
	),
	preds_of: rows(
		"SELECT job, pred, policy FROM edge WHERE job IN {ids} ORDER BY job, seq",
		({ jobs }) => [JSON.stringify(jobs)],
		([job, pred, policy]: [number, number, Policy]) => ({ job, pred, policy }),
	),
	links: rows(
		"SELECT job FROM link WHERE key = ? AND role = ? AND job > ? ORDER BY job LIMIT ?",
		({ key, role, after, limit }) => [key, role, after, limit],
		first,
	),
	locks: {
		query: ({ keys: wanted, lines, limit }) => {
			const keys = JSON.stringify(wanted);
			return {
				sql: `SELECT key, body, NULL FROM record WHERE kind = 'lock' AND key IN {keys}
UNION ALL SELECT key, NULL, job FROM (SELECT key, job FROM link WHERE role = 'wants' AND key IN {keys} LIMIT ?) AS wants
UNION ALL SELECT e.value, NULL, 0 FROM {texts} WHERE EXISTS (SELECT 1 FROM link WHERE link.key = e.value AND link.role = 'shares')
UNION ALL SELECT e.value, NULL, NULL FROM {texts} WHERE EXISTS (SELECT 1 FROM job WHERE job.line = e.value AND job.line <> 'run')`,
				params: [keys, keys, limit, keys, JSON.stringify(lines)],
			};
		},
		reply: lockRows,
	},
	records: rows(
		"SELECT key, body FROM record WHERE kind = ? AND key IN {keys}",
		({ kind, keys }) => [kind, JSON.stringify(keys)],
		([key, body]: [string, string]) => [key, JSON.parse(body)],
	),
	standing: rows(
		"SELECT kind, key, body FROM record WHERE kind IN {keys} ORDER BY kind, key",
		({ kinds }) => [JSON.stringify(kinds)],
		([kind, key, body]: [RecordKind, string, string]) => [kind, key, JSON.parse(body)],
	),
	runs: rows(
		"SELECT doc FROM run WHERE job = ? ORDER BY attempt",
		({ job }) => [job],
		([doc]: [string]) => JSON.parse(doc),
	),
	events: rows(`${EVENT} WHERE seq > ? ORDER BY seq LIMIT ?`, ({ since, limit }) => [since, limit], event),
	history: rows(`${EVENT} WHERE job = ? ORDER BY seq`, ({ job }) => [job], event),
	active: { query: (request) => filtered("job", request), reply: (found: StoredJob[]) => found.map(job) },
	running: {
		query: ({ host, after, limit }) => ({
			sql: `SELECT ${STORED.job} FROM job WHERE line = 'run' ${host === undefined ? "" : "AND {run_host} = ? "}AND id > ? ORDER BY id LIMIT ?`,
			params: host === undefined ? [after, limit] : [host, after, limit],
		}),
		reply: (found: StoredJob[]) => found.map(job),
	},
	ended: { query: (request) => filtered("done", request), reply: (found: StoredJob[]) => found.map(job) },
	old: rows(
		`SELECT ${STORED.done} FROM done WHERE ended_at < ? AND (ended_at, id) > (?, ?) ORDER BY ended_at, id LIMIT ?`,
		({ before, after, limit }) => [before, after.ended_at, after.id, limit],
		job,
	),
	recent: rows(
		`SELECT ${STORED.done} FROM done WHERE (ended_at, id) < (?, ?) ORDER BY ended_at DESC, id DESC LIMIT ?`,
		({ before, limit }) => [before.ended_at, before.id, limit],
		job,
	),
	range: rows(
		"SELECT id FROM job WHERE id BETWEEN ? AND ? UNION ALL SELECT id FROM done WHERE id BETWEEN ? AND ? LIMIT ?",
		({ from, to, limit }) => [from, to, from, to, limit],
		first,
	),
	ended_in: rows("SELECT id FROM done WHERE id BETWEEN ? AND ?", ({ from, to }) => [from, to], first),
	failures: {
		query: ({ since, limit }) => {
			const count = (status: string) =>
				`(SELECT count(*) FROM (SELECT 1 FROM done WHERE status = '${status}' AND ended_at >= ? LIMIT ?) AS bad)`;
			return { sql: `SELECT ${count("failed")}, ${count("blocked_by_dependency")}`, params: [since, limit, since, limit] };
		},
		reply: (found) => ({ failed: Number(found[0]?.[0] ?? 0), blocked_by_dependency: Number(found[0]?.[1] ?? 0) }),
	},
};

export const query = (request: StoreRead): Query => (READS[request.read] as Read<StoreRead["read"]>).query(request);

/** Turns rows, as arrays of columns, into the reply to the scheduler's request. */
export const reply = <R extends StoreRead>(request: R, rows: Row[]): Replies[R["read"]] => {
	const read: R["read"] = request.read;
	return READS[read].reply(rows);
};
