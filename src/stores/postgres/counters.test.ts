// Which records stand in `head`, which in the table, and that both together are always what was written.

import { expect, test } from "vitest";
import type { Changes, RecordKind } from "../../contracts/store.ts";
import { Counters } from "./counters.ts";

type Records = Changes["records"];
type Table = Map<string, unknown>;

/** As the database keeps it: what is left for the table, and the text. */
function write(counters: Counters, table: Table, records: Records): Records {
	const left = counters.take(records);
	for (const [kind, key, value] of left) {
		if (value === null) table.delete(`${kind} ${key}`);
		else table.set(`${kind} ${key}`, value);
	}
	return left;
}

function standing(counters: Counters, table: Table): Table {
	const rows = [...table].map(([name, value]) => [...name.split(" "), value] as [RecordKind, string, unknown]);
	const kinds = ["meta", "bucket", "depth", "usage", "hold"] as RecordKind[];
	return new Map(
		counters.amend({ read: "standing", kinds: kinds as never }, rows as never).map(([kind, key, value]) => [`${kind} ${key}`, value]),
	);
}

test("counters stay out of the table, other records do not", () => {
	const [counters, table] = [new Counters(), new Map()];
	const left = write(counters, table, [
		["depth", "default", 1],
		["meta", "ids", { job: 1 }],
		["meta", "moved", { to: "x" }],
		["hold", "h", {}],
	] as Records);
	expect(left.map(([kind, key]) => `${kind}/${key}`)).toEqual(["meta/moved", "hold/h"]);
	expect(counters.text).toBe('[["depth","default",1],\n["meta","ids",{"job":1}]]');
	expect(standing(counters, table)).toEqual(
		new Map<string, unknown>([
			["meta moved", { to: "x" }],
			["hold h", {}],
			["depth default", 1],
			["meta ids", { job: 1 }],
		]),
	);
});

test("another process reads the same from the text", () => {
	const [one, other] = [new Counters(), new Counters()];
	one.take([["depth", 'a"\n\u{1f388}', 7]]);
	other.learn(one.text);
	expect(other.amend({ read: "records", kind: "depth", keys: ['a"\n\u{1f388}', "b"] }, [])).toEqual([['a"\n\u{1f388}', 7]]);
	expect(other.take([["hold", "h", 1]] as Records)).toEqual([["hold", "h", 1]]);
	expect(other.text).toBe(one.text);
});

test("what has not been changed for long makes room, and nothing is lost", () => {
	const [counters, table, truth] = [new Counters(), new Map<string, unknown>(), new Map<string, unknown>()];
	let seed = 1;
	const below = (n: number) => {
		seed = (seed * 48_271) % 2_147_483_647;
		return seed % n;
	};
	for (let turn = 0; turn < 2_000; turn++) {
		const records: Records = [];
		for (let n = below(30); n >= 0; n--) {
			const key = `lane-${below(60)}`.padEnd(5 + below(3) * 200, "x");
			const kind = (["depth", "usage", "bucket"] as const)[below(3)] as RecordKind;
			const value = below(5) === 0 ? null : below(1_000);
			records.push([kind, key, value]);
			if (value === null) truth.delete(`${kind} ${key}`);
			else truth.set(`${kind} ${key}`, value);
		}
		// A record is given once in a transaction.
		const once = new Map(records.map((record) => [`${record[0]} ${record[1]}`, record]));
		write(counters, table, [...once.values()]);
		expect(counters.text?.length ?? 0).toBeLessThanOrEqual(1_500);
		if (turn % 3 === 0) counters.learn(JSON.parse(JSON.stringify(counters.text)));
		if (turn % 100 === 0) expect(new Map([...standing(counters, table)].sort())).toEqual(new Map([...truth].sort()));
	}
	expect(table.size).toBeGreaterThan(20);
});

test("one that is too long for `head` stands in the table", () => {
	const counters = new Counters();
	const key = "x".repeat(2_000);
	expect(counters.take([["depth", key, 3]])).toEqual([["depth", key, 3]]);
	expect(counters.text).toBe(null);
});
