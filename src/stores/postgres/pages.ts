// Events by the page: where a transaction makes many of one kind, they are one row of the table `page` instead of a row, and two entries of
// indexes, for each. One by one they would be a third of what a busy queue costs the database, and most of what its history takes on the disk.
//
//   last   the number of the last; the others stand before it without a gap
//   jobs   whose they are, in that order; null where the job was forgotten
//   near   their numbers, each divided by BLOCK, each once: what an index finds them by. Jobs that are added, started and ended together have numbers near
//          each other: two or three entries instead of a hundred
//   data   their data, in that order, with BETWEEN between; only once where that is the same for all

import type { Changes, StoreRead } from "../../contracts/store.ts";
import { written } from "../sql/document.ts";
import { type Query, query } from "../sql/reads.ts";
import type { Write } from "../sql/writes.ts";

type Events = Changes["events"];

/** Fewer are rows of `event`. More than fit on a page go to the next: a reader of one event has to read the whole page. */
export const FEWEST = 16;
const MOST = 256;

/** JSON never contains it as it is, and it is another one than that between rows. */
const BETWEEN = "\x1d";
const MARK = `chr(${BETWEEN.charCodeAt(0)})`;
const ITEMS = `unnest(page.jobs, string_to_array(page.data, ${MARK})) WITH ORDINALITY AS e (job, data, place)`;
const SEQ = "page.last - cardinality(page.jobs) + e.place";
/** As bits. */
const BLOCK = 6;
const COLUMNS = "seq, at, kind, job, by, data";
/** Where it stands there once, the others of the list have none. */
const UNFOLDED = `SELECT ${SEQ}, page.at, page.kind, e.job, page.by, coalesce(e.data, page.data)`;

export const TABLE = `
CREATE TABLE IF NOT EXISTS page (last bigint PRIMARY KEY, at double precision NOT NULL, kind text COLLATE "C" NOT NULL, by text COLLATE "C" NOT NULL, jobs bigint[] NOT NULL, near bigint[] NOT NULL, data text COLLATE "C" NOT NULL);
CREATE INDEX IF NOT EXISTS page_near ON page USING gin (near) WITH (gin_pending_list_limit = 512);
CREATE OR REPLACE VIEW events AS SELECT ${COLUMNS} FROM event UNION ALL ${UNFOLDED} FROM page, ${ITEMS} WHERE e.job IS NOT NULL;
`;

export const INSERT_PAGE = "pages";

/** What goes to pages, and what is left for rows of their own. */
export function paged(events: Events, fewest: number): { pages: Write | null; rest: Events } {
	if (events.length < fewest) return { pages: null, rest: events };
	const rest: Events = [];
	const cells: Write["cells"] = [];
	for (let from = 0; from < events.length; ) {
		const to = endOfRun(events, from);
		if (to - from >= fewest) cells.push(...page(events, from, to));
		else rest.push(...events.slice(from, Math.max(to, from + 1)));
		from = Math.max(to, from + 1);
	}
	return { pages: cells.length === 0 ? null : { sql: INSERT_PAGE, width: 7, cells }, rest };
}

/** Up to where they differ in nothing but the job and what is told of it; one that is no job's begins none. */
function endOfRun(events: Events, from: number): number {
	const first = events[from] as Events[number];
	const { seq, at, kind, by } = first;
	let to = from;
	for (; to < events.length && to - from < MOST; to++) {
		const one = events[to] as Events[number];
		if (one.job === null || one.kind !== kind || one.at !== at || one.by !== by || one.seq !== seq + to - from) break;
	}
	return to;
}

function page(events: Events, from: number, to: number): Write["cells"] {
	const { at, kind, by } = events[from] as Events[number];
	let jobs = "{";
	const near = new Set<number>();
	const data: string[] = [];
	let alike = true;
	for (let n = from; n < to; n++) {
		const one = events[n] as Events[number];
		if (n > from) jobs += ",";
		jobs += one.job;
		near.add(nearOf(one.job as number));
		const told = written(one.data);
		alike &&= n === from || told === data[0];
		data.push(told);
	}
	return [
		(events[to - 1] as Events[number]).seq,
		at,
		kind,
		by,
		`${jobs}}`,
		`{${[...near].join(",")}}`,
		alike ? (data[0] as string) : data.join(BETWEEN),
	];
}

const nearOf = (job: number): number => Math.floor(job / 2 ** BLOCK);

/** As many pages as are needed for so many events: the first may be read in part already. */
const SOME = `(SELECT * FROM (SELECT *, sum(count) OVER (ORDER BY last) - count - first_value(count) OVER (ORDER BY last) AS before
FROM (SELECT *, cardinality(array_remove(jobs, NULL)) AS count FROM page WHERE last > ? ORDER BY last LIMIT ? + 1) AS page) AS page WHERE before < ?) AS page`;

const SINCE = `SELECT ${COLUMNS} FROM ((SELECT ${COLUMNS} FROM event WHERE seq > ? ORDER BY seq LIMIT ?)
UNION ALL (${UNFOLDED} FROM ${SOME}, ${ITEMS} WHERE e.job IS NOT NULL AND ${SEQ} > ?)) AS found ORDER BY seq LIMIT ?`;

const HISTORY = `SELECT ${COLUMNS} FROM (SELECT ${COLUMNS} FROM event WHERE job = ?
UNION ALL ${UNFOLDED} FROM page, ${ITEMS} WHERE page.near @> ARRAY[?]::bigint[] AND e.job = ?) AS found ORDER BY seq`;

/** The shared queries, but for events. */
export function queryOf(request: StoreRead): Query {
	if (request.read === "events") {
		const { since, limit } = request;
		return { sql: SINCE, params: [since, limit, since, limit, limit, since, limit] };
	}
	if (request.read === "history") return { sql: HISTORY, params: [request.job, nearOf(request.job), request.job] };
	return query(request);
}

/** Takes the events of jobs away, in a statement that has their numbers as `ids`. */
export const forgetIn = (ids: string): string => {
	const kept = (value: string, other: string) => `CASE WHEN e.job = ANY(${ids}) OR e.job IS NULL THEN ${other} ELSE ${value} END`;
	const theirs = `near && (SELECT array_agg(DISTINCT j.id >> ${BLOCK}) FROM unnest(${ids}) AS j (id)) AND jobs && ${ids}`;
	return `DELETE FROM page WHERE ${theirs} AND NOT EXISTS (SELECT 1 FROM unnest(jobs) AS e (job) WHERE e.job <> ALL(${ids}));
UPDATE page SET (jobs, data) = (SELECT array_agg(${kept("e.job", "NULL")} ORDER BY e.place), CASE WHEN strpos(page.data, ${MARK}) = 0 THEN page.data ELSE string_agg(${kept("e.data", "''")}, ${MARK} ORDER BY e.place) END FROM ${ITEMS}) WHERE ${theirs}`;
};

/** Makes rows of all of them, for code that reads and writes the tables directly; the caller must hold the lock. */
export const settlePages = (schema: string): string =>
	`INSERT INTO "${schema}".event (${COLUMNS}) ${UNFOLDED} FROM "${schema}".page, ${ITEMS} WHERE e.job IS NOT NULL; DELETE FROM "${schema}".page`;
