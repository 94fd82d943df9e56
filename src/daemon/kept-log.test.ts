// Kept logs: the beginning and the end are there, what was between them is passed over, letters stay whole.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { localDisk } from "../host/disk.ts";
import { isKept, keepLog, readKept } from "./kept-log.ts";

function kept(text: string, tail: number) {
	const path = join(makeFolder(), "log");
	writeFileSync(path, text);
	return keepLog(localDisk, path, tail);
}

test("a short log is kept whole, and read in pieces of whole letters", () => {
	const log = kept("grün", 10);
	expect(log).toMatchObject({ size: 5, parts: [{ from: 0, to: 5 }] });
	expect(readKept(log, 0, 3)).toEqual({ offset: 0, next_offset: 2, text: "gr", eof: false });
	expect(readKept(log, 2, 99)).toEqual({ offset: 2, next_offset: 5, text: "ün", eof: true });
	expect(readKept(log, -1, 99)).toEqual({ offset: 4, next_offset: 5, text: "n", eof: true });
	expect(readKept(log, 9, 99)).toEqual({ offset: 5, next_offset: 5, text: "", eof: true });
});

test("of a long one the beginning and the end", () => {
	const text = `${"a".repeat(100_000)}${"b".repeat(100_000)}`;
	const log = kept(text, 1000);
	expect(log.parts.map(({ from, to }) => [from, to])).toEqual([
		[0, 65_536],
		[199_000, 200_000],
	]);
	expect(JSON.stringify(log).length).toBeLessThan(1000);
	const first = readKept(log, 0, 1_000_000);
	expect(first).toMatchObject({ offset: 0, next_offset: 65_536, eof: false });
	expect(readKept(log, 65_536, 1_000_000)).toEqual({ offset: 199_000, next_offset: 200_000, text: "b".repeat(1000), eof: true });
	expect([isKept(log, 0, 65_536), isKept(log, 0, 65_537), isKept(log, -1000, 9999), isKept(log, -1001, 10)]).toEqual([
		true,
		false,
		true,
		false,
	]);
});

test("nothing is kept where none is wanted, or there is no log", () => {
	expect(kept("x", 0)).toEqual({ size: 1, parts: [] });
	expect(readKept(kept("x", 0), 0, 10)).toBeNull();
	expect(keepLog(localDisk, "/nowhere", 10)).toEqual({ size: 0, parts: [] });
});
