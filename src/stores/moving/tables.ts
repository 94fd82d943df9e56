// The tables of a store as a move sees them: rows of plain cells in the order of their keys, the same in every dialect. Documents are texts here
// and stay what they are, byte by byte, also those that no longer parse.

export type Cell = string | number | null;
export type Row = readonly Cell[];
type Type = "bigint" | "double precision" | "text";
export type Table = { name: string; columns: Readonly<Record<string, Type>>; key: readonly string[] };

const WHOLE = "bigint";
const REAL = "double precision";
const TEXT = "text";

export const TABLES: readonly Table[] = [
	{
		name: "job",
		columns: {
			id: WHOLE,
			line: TEXT,
			bucket: WHOLE,
			rank: REAL,
			level: REAL,
			age_at: REAL,
			ready_at: REAL,
			due_at: REAL,
			status: TEXT,
			lane: TEXT,
			batch: TEXT,
			doc: TEXT,
		},
		key: ["id"],
	},
	{ name: "done", columns: { id: WHOLE, status: TEXT, lane: TEXT, batch: TEXT, ended_at: REAL, doc: TEXT }, key: ["id"] },
	{ name: "spec", columns: { id: WHOLE, body: TEXT }, key: ["id"] },
	{ name: "edge", columns: { pred: WHOLE, job: WHOLE, policy: TEXT, seq: WHOLE }, key: ["pred", "job"] },
	{ name: "link", columns: { key: TEXT, role: TEXT, job: WHOLE }, key: ["key", "role", "job"] },
	{ name: "run", columns: { job: WHOLE, attempt: WHOLE, doc: TEXT }, key: ["job", "attempt"] },
	{ name: "event", columns: { seq: WHOLE, at: REAL, kind: TEXT, job: WHOLE, by: TEXT, data: TEXT }, key: ["seq"] },
	{ name: "record", columns: { kind: TEXT, key: TEXT, body: TEXT }, key: ["kind", "key"] },
];

/** One store that is moved from or to, with its write lock while a transaction is open. `?` in SQL are parameters, in either dialect. */
export interface End {
	/** For people: without a password. */
	readonly display: string;
	/** Takes the write lock. `busy`: somebody has the store to himself. */
	begin(): Promise<"locked" | "busy">;
	/** The store's clock, ms. */
	now(): Promise<number>;
	select(sql: string, params?: Row): Promise<Row[]>;
	append(table: Table, rows: readonly Row[]): Promise<void>;
	clear(table: Table): Promise<void>;
	/** Tells whether it is done, also when the answer was lost on the way. */
	commit(): Promise<"committed" | "lost">;
	/** Lets go of everything, and of what was begun. */
	close(): Promise<void>;
}

/** A table's rows, those behind `after` in the order of its key. */
export function pageOf(table: Table, after: Row | null, limit: number): { sql: string; params: Cell[] } {
	const { name, columns, key } = table;
	const at = key.map((column) => Object.keys(columns).indexOf(column));
	const behind = after === null ? "" : ` WHERE (${key.join(", ")}) > (${key.map(() => "?").join(", ")})`;
	return {
		sql: `SELECT ${Object.keys(columns).join(", ")} FROM ${name}${behind} ORDER BY ${key.join(", ")} LIMIT ?`,
		params: [...(after === null ? [] : at.map((index) => after[index] as Cell)), limit],
	};
}
