// Every write as SQL, shared by the dialects: one statement a table, given the rows of a transaction.

import type { Changes } from "../../store.ts";

export type Cell = string | number | null;
/** A statement to be run for each row of parameters. */
export type Write = { sql: string; rows: Cell[][] };

const marks = (count: number) => Array.from({ length: count }, () => "?").join(", ");

/** One row of an INSERT made several: SQLite takes them in fewer calls, PostgreSQL in fewer round trips. */
export const widen = (sql: string, rows: number): string =>
	sql.replace(/VALUES (\([^)]*\))/, (_, row: string) => `VALUES ${Array.from({ length: rows }, () => row).join(", ")}`);

export const INSERT_JOB = `INSERT INTO job (line, bucket, rank, level, age_at, ready_at, due_at, status, lane, batch, doc, id) VALUES (${marks(12)})`;
export const UPDATE_JOB =
	"UPDATE job SET line = ?, bucket = ?, rank = ?, level = ?, age_at = ?, ready_at = ?, due_at = ?, status = ?, lane = ?, batch = ?, doc = ? WHERE id = ?";

const INSERT_DONE = `INSERT INTO done (id, status, lane, batch, ended_at, doc) VALUES (${marks(6)})`;
const INSERT_SPEC = `INSERT INTO spec (id, body) VALUES (${marks(2)})`;
const INSERT_EDGE = `INSERT INTO edge (pred, job, policy, seq) VALUES (${marks(4)})`;
const INSERT_LINK = `INSERT INTO link (key, role, job) VALUES (${marks(3)}) ON CONFLICT DO NOTHING`;
const INSERT_RUN = `INSERT INTO run (job, attempt, doc) VALUES (${marks(3)})`;
const INSERT_EVENT = `INSERT INTO event (seq, at, kind, job, by, data) VALUES (${marks(6)})`;
const INSERT_RECORD = `INSERT INTO record (kind, key, body) VALUES (${marks(3)}) ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body`;

/** While a job runs nobody asks for its place in the order: fewer columns, fewer indexes to look at. */
const UPDATE_RUNNING = "UPDATE job SET line = ?, ready_at = ?, due_at = ?, status = ?, doc = ? WHERE id = ?";

/** In an order that a reader of the log would expect; each list is empty for most transactions. */
export function* writes(changes: Changes): Generator<Write> {
	const jobRow = (row: Changes["insert"][number]): Cell[] => [
		row.line,
		row.bucket,
		row.rank,
		row.level,
		row.age_at,
		row.ready_at,
		row.due_at,
		row.status,
		row.lane,
		row.batch,
		JSON.stringify(row.job),
		row.id,
	];
	const ids = (list: number[]): Cell[][] => [[JSON.stringify(list)]];
	if (changes.undone.length > 0) yield { sql: "DELETE FROM done WHERE id IN {ids}", rows: ids(changes.undone) };
	if (changes.insert.length > 0) yield { sql: INSERT_JOB, rows: changes.insert.map(jobRow) };
	if (changes.update.length > 0) yield { sql: UPDATE_JOB, rows: changes.update.map(jobRow) };
	if (changes.running.length > 0)
		yield {
			sql: UPDATE_RUNNING,
			rows: changes.running.map((row) => [row.line, row.ready_at, row.due_at, row.status, JSON.stringify(row.job), row.id]),
		};
	if (changes.remove.length > 0) yield { sql: "DELETE FROM job WHERE id IN {ids}", rows: ids(changes.remove) };
	if (changes.done.length > 0)
		yield {
			sql: INSERT_DONE,
			rows: changes.done.map((job) => [job.id, job.status, job.lane, job.batch ?? null, job.ended_at ?? 0, JSON.stringify(job)]),
		};
	if (changes.specs.length > 0) yield { sql: INSERT_SPEC, rows: changes.specs.map(([id, spec]) => [id, JSON.stringify(spec)]) };
	if (changes.edges.length > 0)
		yield {
			sql: INSERT_EDGE,
			rows: changes.edges.map((edge) => [edge.pred, edge.job, edge.policy, edge.seq]),
		};
	if (changes.unlinks.length > 0)
		yield {
			sql: "DELETE FROM link WHERE key = ? AND role = ? AND job = ?",
			rows: changes.unlinks.map((link) => [link.key, link.role, link.job]),
		};
	if (changes.links.length > 0)
		yield {
			sql: INSERT_LINK,
			rows: changes.links.map((link) => [link.key, link.role, link.job]),
		};
	if (changes.runs.length > 0)
		yield {
			sql: INSERT_RUN,
			rows: changes.runs.map((run) => [run.job, run.attempt, JSON.stringify(run)]),
		};
	if (changes.events.length > 0)
		yield {
			sql: INSERT_EVENT,
			rows: changes.events.map((one) => [one.seq, one.at, one.kind, one.job, one.by, JSON.stringify(one.data)]),
		};
	const kept = changes.records.filter(([, , value]) => value !== null);
	const gone = changes.records.filter(([, , value]) => value === null);
	if (kept.length > 0)
		yield {
			sql: INSERT_RECORD,
			rows: kept.map(([kind, key, value]) => [kind, key, JSON.stringify(value)]),
		};
	if (gone.length > 0) yield { sql: "DELETE FROM record WHERE kind = ? AND key = ?", rows: gone.map(([kind, key]) => [kind, key]) };
	if (changes.forget.length > 0)
		for (const [table, column] of FORGET) yield { sql: `DELETE FROM ${table} WHERE ${column} IN {ids}`, rows: ids(changes.forget) };
}

/** Where a job leaves traces. Edges from a forgotten job to a kept one stay: the kept one still tells what it came after. */
const FORGET = [
	["job", "id"],
	["done", "id"],
	["spec", "id"],
	["edge", "job"],
	["link", "job"],
	["run", "job"],
	["event", "job"],
] as const;
