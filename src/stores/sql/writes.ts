// Every write as SQL, shared by the dialects: one statement for each table, with the rows of a transaction.

import type { Changes, JobRow, LinkRow } from "../../contracts/store.ts";
import type { EventRow } from "../../core/event.ts";
import type { Job } from "../../core/job.ts";
import { pack, written } from "./document.ts";

export type Cell = string | number | null;
/**
 * A statement to run once for each row of `width` cells. The cells are one flat list, since an array for each row would cost more than its share of the SQL.
 */
export type Write = { sql: string; width: number; cells: Cell[] };

const marks = (count: number) => Array.from({ length: count }, () => "?").join(", ");

/** Makes an INSERT of one row an INSERT of several: SQLite takes them in fewer calls. */
export const widen = (sql: string, rows: number): string =>
	sql.replace(/VALUES (\([^)]*\))/, (_, row: string) => `VALUES ${Array.from({ length: rows }, () => row).join(", ")}`);

export const INSERT_JOB = `INSERT INTO job (line, bucket, rank, level, age_at, ready_at, due_at, status, lane, batch, doc, id) VALUES (${marks(12)})`;
export const UPDATE_JOB =
	"UPDATE job SET line = ?, bucket = ?, rank = ?, level = ?, age_at = ?, ready_at = ?, due_at = ?, status = ?, lane = ?, batch = ?, doc = ? WHERE id = ?";

const INSERT_DONE = `INSERT INTO done (id, status, lane, batch, ended_at, doc) VALUES (${marks(6)})`;
const INSERT_SPEC = `INSERT INTO spec (id, body) VALUES (${marks(2)}) ON CONFLICT (id) DO UPDATE SET body = excluded.body`;
const INSERT_EDGE = `INSERT INTO edge (pred, job, policy, seq) VALUES (${marks(4)})`;
const INSERT_LINK = `INSERT INTO link (key, role, job) VALUES (${marks(3)}) ON CONFLICT DO NOTHING`;
const INSERT_RUN = `INSERT INTO run (job, attempt, doc) VALUES (${marks(3)})`;
const INSERT_EVENT = `INSERT INTO event (seq, at, kind, job, by, data) VALUES (${marks(6)})`;
const INSERT_RECORD = `INSERT INTO record (kind, key, body) VALUES (${marks(3)}) ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body`;

const INSERT_FRESH = `INSERT INTO record (kind, key, body) VALUES (${marks(3)})`;

const DELETE_UNDONE = "DELETE FROM done WHERE id IN {ids}";
const DELETE_EDGES = "DELETE FROM edge WHERE job IN {ids}";
const DELETE_JOB = "DELETE FROM job WHERE id IN {ids}";
const DELETE_LINK = "DELETE FROM link WHERE key = ? AND role = ? AND job = ?";
const DELETE_RECORD = "DELETE FROM record WHERE kind = ? AND key = ?";

/** No query needs the place in the order of a running job, so this UPDATE leaves those columns and their indexes alone. */
const UPDATE_RUNNING = "UPDATE job SET line = ?, ready_at = ?, due_at = ?, status = ?, doc = ? WHERE id = ?";

/** Deletions come before the inserts that replace them. Each list is empty for most transactions. */
export function* writes(changes: Changes): Generator<Write> {
	const { insert, update, running, remove, done, undone, specs, unedges, edges, links, unlinks, runs, events, records, fresh, forget } =
		changes;
	if (undone.length > 0) yield list(DELETE_UNDONE, undone);
	if (insert.length > 0) yield rows(INSERT_JOB, 12, insert, jobCells);
	if (update.length > 0) yield rows(UPDATE_JOB, 12, update, jobCells);
	if (running.length > 0) yield rows(UPDATE_RUNNING, 6, running, runningCells);
	if (remove.length > 0) yield list(DELETE_JOB, remove);
	if (done.length > 0) yield rows(INSERT_DONE, 6, done, doneCells);
	if (specs.length > 0) yield rows(INSERT_SPEC, 2, specs, (cells, [id, spec]) => cells.push(id, JSON.stringify(spec)));
	if (unedges.length > 0) yield list(DELETE_EDGES, unedges);
	if (edges.length > 0) yield rows(INSERT_EDGE, 4, edges, (cells, { pred, job, policy, seq }) => cells.push(pred, job, policy, seq));
	if (unlinks.length > 0) yield rows(DELETE_LINK, 3, unlinks, linkCells);
	if (links.length > 0) yield rows(INSERT_LINK, 3, links, linkCells);
	if (runs.length > 0) yield rows(INSERT_RUN, 3, runs, (cells, run) => cells.push(run.job, run.attempt, JSON.stringify(run)));
	if (events.length > 0) yield rows(INSERT_EVENT, 6, events, eventCells);
	if (records.length > 0) {
		const kept = records.filter(([, , value]) => value !== null);
		const gone = kept.length === records.length ? [] : records.filter(([, , value]) => value === null);
		if (kept.length > 0) yield rows(INSERT_RECORD, 3, kept, recordCells);
		if (gone.length > 0) yield rows(DELETE_RECORD, 2, gone, (cells, [kind, key]) => cells.push(kind, key));
	}
	if (fresh.length > 0) yield rows(INSERT_FRESH, 3, fresh, recordCells);
	if (forget.length > 0) for (const [table, column] of FORGET) yield list(`DELETE FROM ${table} WHERE ${column} IN {ids}`, forget);
}

const list = (sql: string, ids: readonly number[]): Write => ({ sql, width: 1, cells: [JSON.stringify(ids)] });

function rows<T>(sql: string, width: number, all: readonly T[], push: (cells: Cell[], row: T) => void): Write {
	const cells: Cell[] = [];
	for (const row of all) push(cells, row);
	return { sql, width, cells };
}
const jobCells = (cells: Cell[], { line, bucket, rank, level, age_at, ready_at, due_at, status, lane, batch, job, id }: JobRow) =>
	cells.push(line, bucket, rank, level, age_at, ready_at, due_at, status, lane, batch, pack(job, "job"), id);
const runningCells = (cells: Cell[], { line, ready_at, due_at, status, job, id }: JobRow) =>
	cells.push(line, ready_at, due_at, status, pack(job, "job"), id);
const doneCells = (cells: Cell[], job: Job) =>
	cells.push(job.id, job.status, job.lane, job.batch ?? null, job.ended_at ?? 0, pack(job, "done"));
const linkCells = (cells: Cell[], { key, role, job }: LinkRow) => cells.push(key, role, job);
const eventCells = (cells: Cell[], { seq, at, kind, job, by, data }: EventRow) => cells.push(seq, at, kind, job, by, written(data));
const recordCells = (cells: Cell[], [kind, key, value]: Changes["records"][number]) => cells.push(kind, key, JSON.stringify(value));

/** The tables that hold rows of a job. Edges from a forgotten job to a kept one stay, so that the kept job still shows what it came after. */
const FORGET = [
	["job", "id"],
	["done", "id"],
	["spec", "id"],
	["edge", "job"],
	["link", "job"],
	["run", "job"],
	["event", "job"],
] as const;
