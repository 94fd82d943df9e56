// The shared reads and writes in PostgreSQL's words: numbered parameters, lists as arrays, tables by their full names. All rows that a transaction writes to a
// table go as one statement, with an array for each column.

import type { Query } from "../sql/reads.ts";
import type { Cell, Write } from "../sql/writes.ts";
import { qualified, runHost, typeOf } from "./schema.ts";

export type Statement = { text: string; values: (string | number | null)[] };

/**
 * For every session that reads or writes scheduling tables. Plans are generic, so the planner knows neither the length of a list nor a LIMIT, and tables that
 * were empty a moment ago have no statistics: an index, row by row, is always the better way here.
 */
const SETTINGS = [
	...["seqscan", "bitmapscan", "sort", "hashjoin", "mergejoin", "material", "memoize"].map((way) => `enable_${way} = off`),
	"jit = off",
	"plan_cache_mode = force_generic_plan",
	"max_parallel_workers_per_gather = 0",
];

/** SET statements; LOCAL ones end with the transaction, as it must be behind a pooler. */
export const settings = (scope: "SESSION" | "LOCAL"): string => SETTINGS.map((one) => `SET ${scope} ${one};`).join(" ");

/** The text for a shared SQL, made once. `parts`: for each parameter of a read, the kind of list that it is; for a write, its columns. */
type Shape = { text: string; parts: readonly string[] };
const shapes = new Map<string, Shape>();

/** `schema` is the same for all statements of a store, and few stores are open at once. */
function shapeOf(sql: string, schema: string, make: (sql: string) => Shape): Shape {
	// A statement for one row and the same one for many rows have different shapes.
	const name = `${make.name}\n${schema}\n${sql}`;
	let shape = shapes.get(name);
	if (!shape) {
		const { text, parts } = make(sql);
		shape = { text: qualified(text, schema).replaceAll("{run_host}", runHost(schema)), parts };
		shapes.set(name, shape);
	}
	return shape;
}

export function translate({ sql, params }: Query, schema: string): Statement {
	const { text, parts } = shapeOf(sql, schema, readShape);
	return { text, values: params.map((value, at) => (parts[at] === "" ? value : arrayOf(String(value)))) };
}

function readShape(sql: string): Shape {
	const parts: string[] = [];
	const text = sql.replaceAll("doc ->>", "doc::json ->>").replace(/IN \{(ids|keys)\}|\{texts\}|\?/g, (mark, list: string | undefined) => {
		parts.push(mark === "{texts}" ? "keys" : (list ?? ""));
		if (mark === "?") return `$${parts.length}`;
		if (mark === "{texts}") return `unnest($${parts.length}::text[]) AS e(value)`;
		return `= ANY($${parts.length}::${list === "ids" ? "bigint" : "text"}[])`;
	});
	return { text, parts };
}

/** All rows of a write as one statement. */
export function translateWrite({ sql, width, cells }: Write, schema: string): Statement {
	if (sql.includes("{ids}")) return translate({ sql, params: cells }, schema);
	const { text, parts } = shapeOf(sql, schema, writeShape);
	return { text, values: parts.map((column, at) => columnOf(column, cells, at, width)) };
}

/** Documents are JSON, which never contains this character unescaped. */
const SEPARATOR = "\x1e";

function writeShape(sql: string): Shape {
	const [verb, , third] = sql.split(" ");
	const inserted = /^INSERT INTO \w+ \(([^)]+)\)/.exec(sql)?.[1];
	const parts = inserted ? inserted.split(", ") : Array.from(sql.matchAll(/\b\w+(?= = \?)/g), ([column]) => column);
	const arrays = parts.map((column, at) => {
		const type = typeOf(column);
		return type === "document" ? `string_to_array($${at + 1}::text, chr(${SEPARATOR.charCodeAt(0)}))` : `$${at + 1}::${type}[]`;
	});
	const rows = `unnest(${arrays.join(", ")}) AS n(${parts.join(", ")})`;
	if (verb === "INSERT") return { parts, text: sql.replace(/VALUES \([^)]*\)/, () => `SELECT * FROM ${rows}`) };
	const named = sql.replace(/\b(\w+) = \?/g, "$1 = n.$1");
	if (verb === "UPDATE") return { parts, text: named.replace("WHERE id", () => `FROM ${rows} WHERE job.id`).replace("SET", "AS job SET") };
	// A plain join is a trap: planned while the table is nearly empty, it scans the whole table for each row of the list, and the plan is kept when there are
	// thousands. The subquery makes PostgreSQL find each row by its key.
	const keys = parts.map((column) => `o.${column} = n.${column}`).join(" AND ");
	const found = `LATERAL (SELECT o.ctid FROM ${third} AS o WHERE ${keys} OFFSET 0) AS o`;
	return { parts, text: `DELETE FROM ${third} AS t USING ${rows}, ${found} WHERE t.ctid = o.ctid` };
}

/** One column of all rows: an array's text, or documents with SEPARATOR between, because quoting and unquoting them would cost more than the rest of the row. */
function columnOf(column: string, cells: readonly Cell[], from: number, step: number): string {
	const type = typeOf(column);
	const between = type === "document" ? SEPARATOR : ",";
	let text = "";
	for (let at = from; at < cells.length; at += step) {
		const cell = cells[at] ?? null;
		if (at !== from) text += between;
		text += type === "text" && cell !== null ? quoted(String(cell)) : (cell ?? "NULL");
	}
	return type === "document" ? text : `{${text}}`;
}

/** A JSON list of numbers or texts is written like an array, except for its brackets and its escapes. */
function arrayOf(json: string): string {
	if (!json.includes("\\")) return `{${json.slice(1, -1)}}`;
	const texts: string[] = JSON.parse(json);
	return `{${texts.map(quoted).join(",")}}`;
}

const SPECIAL = /["\\]/;
const quoted = (value: string): string => (SPECIAL.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : `"${value}"`);
