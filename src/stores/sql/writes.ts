// Every write as SQL, shared by the dialects: one statement for each table, with the rows of a transaction.

import type { Changes } from "../../contracts/store.ts";
import { pack, written } from "./document.ts";

export type Cell = string | number | null;
/**
 * A statement to run once for each row of `width` cells. The cells are one flat list, since an array for each row would cost more than its share of the SQL.
 * `forgets`: one of the deletions that remove the same jobs from every table.
 */
export type Write = { sql: string; width: number; cells: Cell[]; forgets?: true };

const marks = (count: number) => Array.from({ length: count }, () => "?").join(", ");

/** Makes an INSERT of one row an INSERT of several: SQLite takes them in fewer calls, PostgreSQL in fewer round trips. */
export const widen = (sql: string, rows: number): string =>
	sql.replace(/VALUES (\([^)]*\))/, (_, row: string) => `VALUES ${Array.from({ length: rows }, () => row).join(", ")}`);

export const INSERT_JOB = `INSERT INTO job (line, bucket, rank, level, age_at, ready_at, due_at, status, lane, batch, doc, id) VALUES (${marks(12)})`;
export const UPDATE_JOB =
	"UPDATE job SET line = ?, bucket = ?, rank = ?, level = ?, age_at = ?, ready_at = ?, due_at = ?, status = ?, lane = ?, batch = ?, doc = ? WHERE id = ?";

export const INSERT_DONE = `INSERT INTO done (id, status, lane, batch, ended_at, doc) VALUES (${marks(6)})`;
export const INSERT_SPEC = `INSERT INTO spec (id, body) VALUES (${marks(2)}) ON CONFLICT (id) DO UPDATE SET body = excluded.body`;
export const INSERT_EDGE = `INSERT INTO edge (pred, job, policy, seq) VALUES (${marks(4)})`;
export const INSERT_LINK = `INSERT INTO link (key, role, job) VALUES (${marks(3)}) ON CONFLICT DO NOTHING`;
export const INSERT_RUN = `INSERT INTO run (job, attempt, doc) VALUES (${marks(3)})`;
export const INSERT_EVENT = `INSERT INTO event (seq, at, kind, job, by, data) VALUES (${marks(6)})`;
export const INSERT_RECORD = `INSERT INTO record (kind, key, body) VALUES (${marks(3)}) ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body`;

export const INSERT_FRESH = `INSERT INTO record (kind, key, body) VALUES (${marks(3)})`;

export const DELETE_UNDONE = "DELETE FROM done WHERE id IN {ids}";
export const DELETE_EDGES = "DELETE FROM edge WHERE job IN {ids}";
export const DELETE_JOB = "DELETE FROM job WHERE id IN {ids}";
export const DELETE_LINK = "DELETE FROM link WHERE key = ? AND role = ? AND job = ?";
export const DELETE_RECORD = "DELETE FROM record WHERE kind = ? AND key = ?";

/** No query needs the place in the order of a running job, so this UPDATE leaves those columns and their indexes alone. */
export const UPDATE_RUNNING = "UPDATE job SET line = ?, ready_at = ?, due_at = ?, status = ?, doc = ? WHERE id = ?";

/** Deletions come before the inserts that replace them. Each list is empty for most transactions. */
export function* writes(changes: Changes): Generator<Write> {
	const { insert, update, running, remove, done, undone, specs, unedges, edges, links, unlinks, runs, events, records, fresh, forget } =
		changes;
	if (undone.length > 0) yield list(DELETE_UNDONE, undone);
	if (insert.length > 0) yield jobRows(INSERT_JOB, insert);
	if (update.length > 0) yield jobRows(UPDATE_JOB, update);
	if (running.length > 0) {
		const cells: Cell[] = [];
		for (const row of running) cells.push(row.line, row.ready_at, row.due_at, row.status, pack(row.job, "job"), row.id);
		yield { sql: UPDATE_RUNNING, width: 6, cells };
	}
	if (remove.length > 0) yield list(DELETE_JOB, remove);
	if (done.length > 0) {
		const cells: Cell[] = [];
		for (const job of done) cells.push(job.id, job.status, job.lane, job.batch ?? null, job.ended_at ?? 0, pack(job, "done"));
		yield { sql: INSERT_DONE, width: 6, cells };
	}
	if (specs.length > 0) {
		const cells: Cell[] = [];
		for (const [id, spec] of specs) cells.push(id, JSON.stringify(spec));
		yield { sql: INSERT_SPEC, width: 2, cells };
	}
	if (unedges.length > 0) yield list(DELETE_EDGES, unedges);
	if (edges.length > 0) {
		const cells: Cell[] = [];
		for (const edge of edges) cells.push(edge.pred, edge.job, edge.policy, edge.seq);
		yield { sql: INSERT_EDGE, width: 4, cells };
	}
	if (unlinks.length > 0) yield linkRows(DELETE_LINK, unlinks);
	if (links.length > 0) yield linkRows(INSERT_LINK, links);
	if (runs.length > 0) {
		const cells: Cell[] = [];
		for (const run of runs) cells.push(run.job, run.attempt, JSON.stringify(run));
		yield { sql: INSERT_RUN, width: 3, cells };
	}
	if (events.length > 0) {
		const cells: Cell[] = [];
		for (const one of events) cells.push(one.seq, one.at, one.kind, one.job, one.by, written(one.data));
		yield { sql: INSERT_EVENT, width: 6, cells };
	}
	if (records.length > 0) {
		const kept: Cell[] = [];
		const gone: Cell[] = [];
		for (const [kind, key, value] of records) {
			if (value === null) gone.push(kind, key);
			else kept.push(kind, key, JSON.stringify(value));
		}
		if (kept.length > 0) yield { sql: INSERT_RECORD, width: 3, cells: kept };
		if (gone.length > 0) yield { sql: DELETE_RECORD, width: 2, cells: gone };
	}
	if (fresh.length > 0) {
		const cells: Cell[] = [];
		for (const [kind, key, value] of fresh) cells.push(kind, key, JSON.stringify(value));
		yield { sql: INSERT_FRESH, width: 3, cells };
	}
	if (forget.length > 0)
		for (const [table, column] of FORGET) yield { ...list(`DELETE FROM ${table} WHERE ${column} IN {ids}`, forget), forgets: true };
}

const list = (sql: string, ids: readonly number[]): Write => ({ sql, width: 1, cells: [JSON.stringify(ids)] });

function jobRows(sql: string, rows: Changes["insert"]): Write {
	const cells: Cell[] = [];
	for (const { line, bucket, rank, level, age_at, ready_at, due_at, status, lane, batch, job, id } of rows)
		cells.push(line, bucket, rank, level, age_at, ready_at, due_at, status, lane, batch, pack(job, "job"), id);
	return { sql, width: 12, cells };
}

function linkRows(sql: string, links: Changes["links"]): Write {
	const cells: Cell[] = [];
	for (const { key, role, job } of links) cells.push(key, role, job);
	return { sql, width: 3, cells };
}

/** The tables that hold rows of a job. Edges from a forgotten job to a kept one stay, so that the kept job still shows what it came after. */
export const FORGET = [
	["job", "id"],
	["done", "id"],
	["spec", "id"],
	["edge", "job"],
	["link", "job"],
	["run", "job"],
	["event", "job"],
] as const;
