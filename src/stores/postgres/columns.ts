// What a transaction writes, as lists of columns: each list is one table's rows, each column one array. The function in the database and its
// callers are both made from this, so that they cannot disagree.

import type { Cell, Write } from "../sql/writes.ts";
import * as sql from "../sql/writes.ts";
import { forgetIn, INSERT_PAGE } from "./pages.ts";

type Type = "bigint" | "double precision" | "text";
/**
 * `document`: a text that is JSON itself, so has no control characters: a column of them goes as one text with SEPARATOR between. Quoting each as
 * an element of an array, and taking that apart again, would cost both sides more than the rest of the row. `as`: what the text is in the table.
 */
export type Column = { name: string; type: Type; content?: "document"; as?: "bigint[]" };
/**
 * `sql` is the shared statement that it stands for; `many`: what is said for several rows, where that is not the same. `before`: the list that may write a row
 * that this one takes away (or `all`): then it needs a statement, and a turn, of its own.
 */
export type List = { sql: string; columns: readonly Column[]; statement: string; many?: string; before?: string };

/**
 * Deletes each row by its key. A plain join is a trap: made while the table is nearly empty, its plan goes through the whole table for each row of the list, and is
 * kept when there are thousands.
 */
const deleteEach = (table: string, key: readonly string[]): Pick<List, "statement" | "many"> => {
	const found = (name: string) => key.map((column) => `${name}.${column} = n.${column}`).join(" AND ");
	return {
		statement: `DELETE FROM ${table} USING $ WHERE ${found(table)}`,
		many: `DELETE FROM ${table} USING $, LATERAL (SELECT o.ctid FROM ${table} AS o WHERE ${found("o")} OFFSET 0) AS o WHERE ${table}.ctid = o.ctid`,
	};
};

const id = (name: string): Column => ({ name, type: "bigint" });
const real = (name: string): Column => ({ name, type: "double precision" });
const text = (name: string): Column => ({ name, type: "text" });
const document = (name: string): Column => ({ name, type: "text", content: "document" });

/** What JSON never contains as it is: the record separator. */
const SEPARATOR = "\x1e";

const JOB = [
	text("line"),
	id("bucket"),
	real("rank"),
	real("level"),
	real("age_at"),
	real("ready_at"),
	real("due_at"),
	text("status"),
	text("lane"),
	text("batch"),
	document("doc"),
	id("id"),
];

/** In the order in which they are carried out; `$` stands for the rows. */
export const LISTS: readonly List[] = [
	{ sql: sql.DELETE_UNDONE, columns: [id("id")], statement: "DELETE FROM done WHERE id = ANY($id)", before: sql.INSERT_DONE },
	{ sql: sql.INSERT_JOB, columns: JOB, statement: `INSERT INTO job (${JOB.map((one) => one.name).join(", ")}) SELECT * FROM $` },
	{
		sql: sql.UPDATE_JOB,
		columns: JOB,
		statement: `UPDATE job SET ${JOB.slice(0, -1)
			.map(({ name }) => `${name} = n.${name}`)
			.join(", ")} FROM $ WHERE job.id = n.id`,
	},
	{
		sql: sql.UPDATE_RUNNING,
		columns: [text("line"), real("ready_at"), real("due_at"), text("status"), document("doc"), id("id")],
		statement:
			"UPDATE job SET line = n.line, ready_at = n.ready_at, due_at = n.due_at, status = n.status, doc = n.doc FROM $ WHERE job.id = n.id",
	},
	{ sql: sql.DELETE_JOB, columns: [id("id")], statement: "DELETE FROM job WHERE id = ANY($id)" },
	{
		sql: sql.INSERT_DONE,
		columns: [id("id"), text("status"), text("lane"), text("batch"), real("ended_at"), document("doc")],
		statement: "INSERT INTO done (id, status, lane, batch, ended_at, doc) SELECT * FROM $",
	},
	{
		sql: sql.INSERT_SPEC,
		columns: [id("id"), document("body")],
		statement: "INSERT INTO spec (id, body) SELECT * FROM $ ON CONFLICT (id) DO UPDATE SET body = excluded.body",
	},
	{ sql: sql.DELETE_EDGES, columns: [id("id")], statement: "DELETE FROM edge WHERE job = ANY($id)", before: sql.INSERT_EDGE },
	{
		sql: sql.INSERT_EDGE,
		columns: [id("pred"), id("job"), text("policy"), id("seq")],
		statement: "INSERT INTO edge (pred, job, policy, seq) SELECT * FROM $",
	},
	{
		sql: sql.DELETE_LINK,
		columns: [text("key"), text("role"), id("job")],
		...deleteEach("link", ["key", "role", "job"]),
		before: sql.INSERT_LINK,
	},
	{
		sql: sql.INSERT_LINK,
		columns: [text("key"), text("role"), id("job")],
		statement: "INSERT INTO link (key, role, job) SELECT * FROM $ ON CONFLICT DO NOTHING",
	},
	{
		sql: sql.INSERT_RUN,
		columns: [id("job"), id("attempt"), document("doc")],
		statement: "INSERT INTO run (job, attempt, doc) SELECT * FROM $",
	},
	{
		sql: sql.INSERT_EVENT,
		columns: [id("seq"), real("at"), text("kind"), id("job"), text("by"), document("data")],
		statement: "INSERT INTO event (seq, at, kind, job, by, data) SELECT * FROM $",
	},
	{
		sql: INSERT_PAGE,
		columns: [
			id("last"),
			real("at"),
			text("kind"),
			text("by"),
			{ ...text("jobs"), as: "bigint[]" },
			{ ...text("near"), as: "bigint[]" },
			document("data"),
		],
		statement: "INSERT INTO page (last, at, kind, by, jobs, near, data) SELECT * FROM $",
	},
	{
		sql: sql.INSERT_RECORD,
		columns: [text("kind"), text("key"), document("body")],
		statement: "INSERT INTO record (kind, key, body) SELECT * FROM $ ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body",
	},
	{
		sql: sql.INSERT_FRESH,
		columns: [text("kind"), text("key"), document("body")],
		statement: "INSERT INTO record (kind, key, body) SELECT * FROM $",
	},
	{
		sql: sql.DELETE_RECORD,
		columns: [text("kind"), text("key")],
		...deleteEach("record", ["kind", "key"]),
	},
	{
		sql: "forget",
		columns: [id("id")],
		statement: [...sql.FORGET.map(([table, column]) => `DELETE FROM ${table} WHERE ${column} = ANY($id)`), forgetIn("$id")].join("; "),
		before: "all",
	},
];

const NAMES = LISTS.map((_, index) => `l${index}`);
const AT = new Map(LISTS.map((list, index) => [list.sql, index]));
const parameter = (list: number, column: string) => `${NAMES[list]}_${column}`;
const OFFSETS = LISTS.map((_, index) => LISTS.slice(0, index).reduce((sum, list) => sum + list.columns.length, 0));

/** All parameters of the function, in order. */
export const PARAMETERS = LISTS.flatMap((list, index) =>
	list.columns.map((column) => ({
		name: parameter(index, column.name),
		type: column.content === "document" ? "text" : `${column.type}[]`,
	})),
);

/** The function's body: one statement a list, none for a list that is not given. */
export const BODY = LISTS.map((list, index) => {
	const last = parameter(index, (list.columns.at(-1) as Column).name);
	const rows = () => rowsOf(list.columns, (name) => parameter(index, name));
	const statement = (list.many ?? list.statement).replaceAll("$id", parameter(index, "id")).replace("$", rows);
	if (!list.statement.includes("FROM $") && !list.statement.includes("USING $")) return `IF ${last} IS NOT NULL THEN ${statement}; END IF;`;
	return `IF ${last} IS NOT NULL THEN IF ${ofOne(list, index)} THEN ${single(list, index)}; ELSE ${statement}; END IF; END IF;`;
}).join("\n\t");

/** One row, as most transactions have it: half as much work without a list to take apart. */
function single(list: List, index: number): string {
	const cell = (name: string) => {
		const { content, as } = list.columns.find((column) => column.name === name) as Column;
		return content === "document" ? parameter(index, name) : `${parameter(index, name)}[1]${as ? `::${as}` : ""}`;
	};
	return list.statement
		.replace("SELECT * FROM $", `VALUES (${list.columns.map(({ name }) => cell(name)).join(", ")})`)
		.replace(/ (?:FROM|USING) \$ WHERE/, " WHERE")
		.replaceAll(/\bn\.(\w+)/g, (_, name: string) => cell(name));
}

function ofOne(list: List, index: number): string {
	const plain = list.columns.find(({ content }) => content !== "document") as Column;
	return `cardinality(${parameter(index, plain.name)}) = 1`;
}

/** The arguments for one set of writes: an array literal for each column, null where there is nothing. */
export function argumentsFor(writes: Iterable<Write>): Cell[] {
	const values: Cell[] = PARAMETERS.map(() => null);
	for (const write of writes) {
		const index = listOf(write);
		const offset = OFFSETS[index] as number;
		for (const [column, value] of columnsOf(write, index).entries()) values[offset + column] = value;
	}
	return values;
}

/** Where in LISTS it belongs. */
export function listOf({ sql, forgets }: Write): number {
	const index = AT.get(forgets ? "forget" : sql);
	if (index === undefined) throw new Error(`assertion failed: no list for ${sql}`);
	return index;
}

/** All its rows, an array literal for each column; for those that are the same in all (`same`, as bits), what they are. */
export function columnsOf({ width, cells }: Write, index: number, same = 0): Cell[] {
	const { columns } = LISTS[index] as List;
	// A list of numbers comes as one JSON text.
	if (isOfNumbers(columns)) return [`{${(cells[0] as string).slice(1, -1)}}`];
	return columns.map((column, at) => ((same & (1 << at)) === 0 ? literal(column, cells, at, width) : (cells[at] as Cell)));
}

export const isOfNumbers = (columns: readonly Column[]): boolean => columns.length === 1;

/** The rows of a list, some columns of them or all, as a table `n`; each column's parameter by its name. */
export function rowsOf(columns: readonly Column[], parameter: (column: string) => string): string {
	const arrays = columns.map(({ name, content }) =>
		content === "document" ? `string_to_array(${parameter(name)}, chr(${SEPARATOR.charCodeAt(0)}))` : parameter(name),
	);
	const rows = `unnest(${arrays.join(", ")}) AS n(${columns.map(({ name }) => name).join(", ")})`;
	if (columns.every(({ as }) => as === undefined)) return rows;
	return `(SELECT ${columns.map(({ name, as }) => `n.${name}${as ? `::${as}` : ""}`).join(", ")} FROM ${rows}) AS n`;
}

function literal({ type, content }: Column, cells: readonly Cell[], from: number, step: number): string {
	if (content === "document") {
		let joined = cells[from] as string;
		for (let at = from + step; at < cells.length; at += step) joined += SEPARATOR + (cells[at] as string);
		return joined;
	}
	let out = "{";
	for (let at = from; at < cells.length; at += step) {
		if (at !== from) out += ",";
		const cell = cells[at] as Cell;
		if (cell === null) out += "NULL";
		else if (type !== "text") out += String(cell);
		else out += quoted(String(cell));
	}
	return `${out}}`;
}

const SPECIAL = /["\\]/;
export const quoted = (value: string): string => (SPECIAL.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : `"${value}"`);
