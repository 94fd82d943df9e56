// Writes as SQL: no statement without changes, one statement for each table, deletions before the inserts that replace them, and inserts of several rows.

import { expect, test } from "vitest";
import { makeJob } from "../../../test/make/job.ts";
import { makeRow } from "../../../test/store-conformance.ts";
import { noChanges } from "../../contracts/store.ts";
import { INSERT_JOB, widen, writes } from "./writes.ts";

test("no changes, no statements", () => {
	expect([...writes(noChanges())]).toEqual([]);
});

test("deletions come before the inserts that replace them", () => {
	const statements = [
		...writes({
			...noChanges(),
			undone: [1],
			insert: [makeRow(makeJob({ id: 1 }))],
			unlinks: [{ key: "k", role: "wants", job: 1 }],
			links: [{ key: "k", role: "wants", job: 1 }],
		}),
	].map(({ sql }) => sql.split(" ").slice(0, 3).join(" "));
	expect(statements).toEqual(["DELETE FROM done", "INSERT INTO job", "DELETE FROM link", "INSERT INTO link"]);
});

test("a record of null is deleted, any other value is stored, even a falsy one", () => {
	const statements = [
		...writes({
			...noChanges(),
			records: [
				["meta", "a", null],
				["meta", "b", 0],
				["meta", "c", false],
				["meta", "d", ""],
			],
		}),
	];
	expect(statements.map(({ sql, width, cells }) => [sql.split(" ")[0], width, cells])).toEqual([
		["INSERT", 3, ["meta", "b", "0", "meta", "c", "false", "meta", "d", '""']],
		["DELETE", 2, ["meta", "a"]],
	]);
});

test("an insert has one value for each column, in their order", () => {
	const [statement] = [...writes({ ...noChanges(), insert: [makeRow(makeJob({ id: 7, lane: "code", batch: "b" }), { level: 3 })] })];
	const columns = /\(([^)]*)\)/.exec(INSERT_JOB)?.[1]?.split(", ") ?? [];
	expect(Object.fromEntries(columns.map((column, index) => [column, statement?.cells[index]]))).toMatchObject({
		id: 7,
		lane: "code",
		batch: "b",
		level: 3,
		status: "queued",
	});
	expect([statement?.width, statement?.cells.length]).toEqual([columns.length, columns.length]);
});

test("several rows in one statement", () => {
	expect(widen("INSERT INTO t (a, b) VALUES (?, ?)", 3)).toBe("INSERT INTO t (a, b) VALUES (?, ?), (?, ?), (?, ?)");
	expect(widen("INSERT INTO t (a) VALUES (?) ON CONFLICT (a) DO UPDATE SET a = excluded.a", 2)).toBe(
		"INSERT INTO t (a) VALUES (?), (?) ON CONFLICT (a) DO UPDATE SET a = excluded.a",
	);
});
