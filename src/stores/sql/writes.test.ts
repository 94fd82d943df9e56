// Writes as SQL: nothing for nothing, one statement a table, deletions before what takes their place, wide inserts.

import { expect, test } from "vitest";
import { makeJob, makeRow } from "../../../test/store-conformance.ts";
import { noChanges } from "../../store.ts";
import { INSERT_JOB, widen, writes } from "./writes.ts";

test("no changes, no statements", () => {
	expect([...writes(noChanges())]).toEqual([]);
});

test("what goes comes before what takes its place", () => {
	const statements = [
		...writes({
			...noChanges(),
			undone: [1],
			insert: [makeRow(makeJob(1, "queued"))],
			unlinks: [{ key: "k", role: "wants", job: 1 }],
			links: [{ key: "k", role: "wants", job: 1 }],
		}),
	].map(({ sql }) => sql.split(" ").slice(0, 3).join(" "));
	expect(statements).toEqual(["DELETE FROM done", "INSERT INTO job", "DELETE FROM link", "INSERT INTO link"]);
});

test("a record of null is taken out, any other value is kept, also a false one", () => {
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

test("as many values as columns, in their order", () => {
	const [statement] = [...writes({ ...noChanges(), insert: [makeRow(makeJob(7, "queued", { lane: "code", batch: "b" }), { level: 3 })] })];
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
