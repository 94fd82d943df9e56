// What a transaction writes, as one statement: a call of the function that knows all lists, or one that is made for exactly those that it has,
// which is less work. That pays where it is prepared, so on a connection to the server itself, and for what comes again and again.

import type { Changes } from "../../contracts/store.ts";
import { type Write, writes } from "../sql/writes.ts";
import { argumentsFor, type Column, columnsOf, isOfNumbers, LISTS, type List, listOf, PARAMETERS, rowsOf } from "./columns.ts";
import type { Result } from "./connection.ts";
import { paged } from "./pages.ts";
import { qualified, WRITER } from "./schema.ts";
import { CLOCK } from "./session.ts";
import { LENGTH, LONG, lately, longAgo } from "./writers.ts";

/** `alone`: the version that it rests on is this writer's own, so no other writer's last transaction is to be kept. */
export type Writing = {
	expected: number | null;
	writer: string;
	txn: number;
	counters: string | null;
	notice: Notice | null;
	alone: boolean;
};

export type Notice = { channel: string; payload: string };

/** How many shapes get a statement. */
const SHAPES = 150;

export class Statements {
	private readonly shapes = new Map<string, { seen: number; text?: string }>();

	private readonly call: string;
	/** `head` has more writers than it should, or may have: with the next statement they go elsewhere. */
	private crowded = true;

	/** `usual`: how often a shape has to come before; `fewest`: how many events make a page. */
	constructor(
		private readonly schema: string,
		private readonly usual: number,
		private readonly fewest: number,
	) {
		const marks = Array.from({ length: PARAMETERS.length + 6 }, (_, index) => `$${index + 1}`).join(", ");
		this.call = `SELECT "${schema}".${WRITER}(${marks})`;
	}

	/** Its answer is one row with the time (and how long the list of writers in `head` is), or none (or an error) if another writer has committed since. `kept`: the connection keeps what is prepared. */
	find(changes: Changes, kept: boolean, writing: Writing): { text: string; values: unknown[] } {
		const { pages, rest } = paged(changes.events, this.fewest);
		const rows = [...writes({ ...changes, events: rest })];
		if (pages) rows.push(pages);
		const { expected, writer, txn, counters, notice } = writing;
		const own = kept ? this.own(rows, writing) : undefined;
		return own ?? { text: this.call, values: [expected, writer, txn, counters, notice?.channel, notice?.payload, ...argumentsFor(rows)] };
	}

	/** What a statement of ours has answered, which others than the last writer have a part in. */
	answered({ rows }: Result): void {
		const long = rows[0]?.[1];
		if (typeof long === "number") this.crowded = long > LONG;
	}

	private own(writes: readonly Write[], writing: Writing): { text: string; values: unknown[] } | undefined {
		const { expected, writer, txn, counters, notice, alone } = writing;
		const crowded = this.crowded && !alone;
		let key = `${alone ? "a" : crowded ? "c" : "o"}${notice === null ? "" : "n"}`;
		const uniform: number[] = [];
		for (const write of writes) {
			const index = listOf(write);
			const { before } = LISTS[index] as List;
			if (before !== undefined && (before === "all" || writes.some(({ sql }) => sql === before))) return undefined;
			const same = sameIn(write);
			uniform.push(same);
			key += isOne(write) ? ` ${index}` : ` ${index}*${same === 0 ? "" : same}`;
		}
		let shape = this.shapes.get(key);
		if (!shape) {
			if (this.shapes.size >= SHAPES) return undefined;
			shape = { seen: 0 };
			this.shapes.set(key, shape);
		}
		if (++shape.seen <= this.usual) return undefined;
		shape.text ??= textFor(this.schema, writes, uniform, { ...writing, crowded });
		const values: unknown[] = [expected, writer, txn, counters];
		if (notice !== null) values.push(notice.channel, notice.payload);
		for (const [at, write] of writes.entries()) {
			if (isOne(write)) for (const cell of write.cells) values.push(cell);
			else values.push(...columnsOf(write, listOf(write), uniform[at]));
		}
		return { text: shape.text, values };
	}
}

const isOne = ({ width, cells }: Write): boolean => width > 1 && cells.length === width;

/** From so many rows on it is worth while to look. */
const SEVERAL = 16;

/** Columns that are the same in all rows, as bits: most are, where many are written at once. They need no list to be taken apart. */
function sameIn({ width, cells }: Write): number {
	if (cells.length < SEVERAL * width || width === 1) return 0;
	let same = 0;
	for (let column = 0; column < width; column++) {
		const first = cells[column];
		let at = column + width;
		while (at < cells.length && cells[at] === first) at += width;
		if (at >= cells.length) same |= 1 << column;
	}
	return same;
}

function textFor(
	schema: string,
	writes: readonly Write[],
	uniform: readonly number[],
	{ notice, alone, crowded }: Writing & { crowded: boolean },
): string {
	let used = notice === null ? 4 : 6;
	const kept = alone ? "" : `lately = ${lately("$2::text", crowded ? "anew" : "on")}, `;
	const parts = [
		`h AS (UPDATE head SET turn = turn + 1, ${kept}last = $2::text, txn = $3::bigint, counters = $4::text WHERE $1::bigint IS NULL OR turn = $1 RETURNING turn${alone ? "" : `, ${LENGTH} AS long`})`,
	];
	// What it sees of `head` is the row before the update.
	if (crowded) parts.push(`w AS (${longAgo("head AS b, h", "b.", "$2::text")})`);
	for (const [at, write] of writes.entries()) {
		const list = LISTS[listOf(write)] as List;
		const first = used;
		used += list.columns.length;
		const parameter = (name: string) => first + 1 + list.columns.findIndex((column) => column.name === name);
		parts.push(`l${parts.length} AS (${isOne(write) ? one(list, parameter) : many(list, parameter, uniform[at] as number)})`);
	}
	const told = notice === null ? "" : ", pg_notify($5::text, $6::text)";
	return qualified(`WITH ${parts.join(",\n")}\nSELECT ${CLOCK}${alone ? "" : ", h.long"}${told} FROM h`, schema);
}

function one(list: List, parameter: (name: string) => number): string {
	const cell = (name: string) => {
		const { type, as } = list.columns.find((column) => column.name === name) as Column;
		return `$${parameter(name)}::${as ?? type}`;
	};
	return list.statement
		.replace("SELECT * FROM $", `SELECT ${list.columns.map(({ name }) => cell(name)).join(", ")} FROM h`)
		.replace(/\b(FROM|USING) \$ WHERE/, "$1 h WHERE")
		.replaceAll(/\bn\.(\w+)/g, (_, name: string) => cell(name));
}

function many(list: List, parameter: (name: string) => number, same: number): string {
	if (isOfNumbers(list.columns)) return list.statement.replace("WHERE", "USING h WHERE").replace("$id", `$${parameter("id")}::bigint[]`);
	const typed = (name: string) => {
		const { type, content } = list.columns.find((column) => column.name === name) as Column;
		return `$${parameter(name)}::${content === "document" ? "text" : `${type}[]`}`;
	};
	const varying = list.columns.filter((_, at) => (same & (1 << at)) === 0);
	const rows = rowsOf(varying, typed);
	const all = list.columns.map(({ name, type, as }) =>
		varying.some((one) => one.name === name) ? `n.${name}` : `$${parameter(name)}::${as ?? type} AS ${name}`,
	);
	const source = same === 0 ? rows : `(SELECT ${all.join(", ")} FROM ${rows}) AS n`;
	return (list.many ?? list.statement).replace("SELECT * FROM $", "SELECT n.* FROM $").replace("$", () => `h, ${source}`);
}
