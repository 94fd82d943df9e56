// The tables of a store as a move sees them: rows of plain cells in the order of their keys, the same in every dialect. Documents are copied as texts, byte
// by byte, so those that cannot be parsed are preserved, too.

export type MovedCell = string | number | null;
export type MovedRow = readonly MovedCell[];
type Type = "bigint" | "double precision" | "text";
export type Table = { name: string; columns: Readonly<Record<string, Type>>; key: readonly string[] };

const WHOLE = "bigint";
const REAL = "double precision";
const TEXT = "text";

export const RECORD: Table = { name: "record", columns: { kind: TEXT, key: TEXT, body: TEXT }, key: ["kind", "key"] };

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
	RECORD,
];

/** A store as source or target of a move. Holds the write lock while a transaction is open. `?` in SQL is a parameter, in either dialect. */
export interface End {
	/** For messages: without a password. */
	readonly display: string;
	/** Takes the write lock. `busy`: another process has the store in use; its name, if it is known. */
	begin(): Promise<"locked" | { busy: string | null }>;
	/** The store's clock in milliseconds. */
	now(): Promise<number>;
	select(sql: string, params?: MovedRow): Promise<MovedRow[]>;
	append(table: Table, rows: readonly MovedRow[]): Promise<void>;
	clear(table: Table): Promise<void>;
	/** Says whether the commit succeeded, even when the connection broke before the answer. */
	commit(): Promise<"committed" | "lost">;
	/** Rolls back an open transaction and releases all resources. */
	close(): Promise<void>;
}

/** The rows of a table after the key of `after`, in the order of the key. */
export function pageOf(table: Table, after: MovedRow | null, limit: number): { sql: string; params: MovedCell[] } {
	const { name, columns, key } = table;
	const at = key.map((column) => Object.keys(columns).indexOf(column));
	const behind = after === null ? "" : ` WHERE (${key.join(", ")}) > (${key.map(() => "?").join(", ")})`;
	return {
		sql: `SELECT ${Object.keys(columns).join(", ")} FROM ${name}${behind} ORDER BY ${key.join(", ")} LIMIT ?`,
		params: [...(after === null ? [] : at.map((index) => after[index] ?? null)), limit],
	};
}
