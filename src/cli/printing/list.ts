// Prints a noun's documents as a table, a line for each.

import type { Io } from "../io.ts";
import { agoWords } from "../times.ts";
import { plain } from "./print.ts";
import { type TableColumn, table } from "./table.ts";

export type ListColumn<T> = TableColumn & { cell(row: T, io: Io): string };

export const right = { align: "right" } as const;

type With<K extends string> = { readonly [key in K]?: unknown };

export const field = <K extends string>(name: K, title = name.toUpperCase().replaceAll("_", " ")) => ({
	title,
	shrink: 8,
	cell: (row: With<K>) => plain(row[name]),
});
export const count = <K extends string>(name: K, title = name.toUpperCase()) => ({
	title,
	...right,
	cell: (row: With<K>) => plain(row[name]),
});
export const cap = <K extends string>(name: K, title: string) => ({
	title,
	...right,
	cell: (row: With<K>) => (row[name] === null ? "–" : plain(row[name])),
});
export const time = <K extends string>(name: K, title: string) => ({
	title,
	cell: (row: With<K>, io: Io) => agoWords(row[name], io.world.now()),
});

/** `empty` is said where there is nothing to list. */
export function printList<T>(io: Io, rows: readonly T[] | undefined, columns: readonly ListColumn<T>[], empty: string): undefined {
	if (rows === undefined || rows.length === 0) {
		io.print.say(empty);
		return;
	}
	for (const line of listLines(io, rows, columns)) io.print.out(line);
}

export const listLines = <T>(io: Io, rows: readonly T[], columns: readonly ListColumn<T>[]): string[] =>
	tableLines(
		io,
		columns,
		rows.map((row) => columns.map((column) => column.cell(row, io))),
	);

/** Columns of which the last gives way on a narrow terminal. */
export const titled = (...titles: string[]): TableColumn[] =>
	titles.map((title, index) => (index === titles.length - 1 ? { title, shrink: 12 } : { title }));

const tableLines = ({ print }: Io, columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string[] =>
	table(columns, rows, print.width, (text) => print.paint("dim", text));

export function printTable(io: Io, columns: readonly TableColumn[], rows: readonly (readonly string[])[]): void {
	for (const line of tableLines(io, columns, rows)) io.print.out(line);
}
