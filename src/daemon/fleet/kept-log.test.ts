// Stored logs: the beginning and the end are there, the part between them is skipped, characters stay whole.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { localDisk } from "../../host/disk.ts";
import { isKept, keepLog, readKept } from "./kept-log.ts";

function kept(text: string, tail: number) {
	const path = join(makeFolder(), "log");
	writeFileSync(path, text);
	return keepLog(localDisk, path, tail);
}
const NONE = { size: 0, parts: [] };
const read = (stdout: ReturnType<typeof kept>, offset: number, limit: number) => {
	const piece = readKept({ stdout, stderr: NONE }, "stdout", { offset, limit });
	const { parts: _, ...rest } = piece ?? {};
	return piece && rest;
};
const has = (stdout: ReturnType<typeof kept>, offset: number, limit: number) =>
	isKept({ stdout, stderr: NONE }, "stdout", { offset, limit });

test("a short log is kept whole, and read in pieces of whole characters", () => {
	const log = kept("grün", 10);
	expect(log).toMatchObject({ size: 5, parts: [{ from: 0, to: 5 }] });
	expect(read(log, 0, 3)).toEqual({ offset: 0, next_offset: 2, text: "gr", eof: false });
	expect(read(log, 2, 99)).toEqual({ offset: 2, next_offset: 5, text: "ün", eof: true });
	expect(read(log, -1, 99)).toEqual({ offset: 4, next_offset: 5, text: "n", eof: true });
	expect(read(log, 9, 99)).toEqual({ offset: 5, next_offset: 5, text: "", eof: true });
});

test("of a long log the beginning and the end are kept", () => {
	const text = `${"a".repeat(100_000)}${"b".repeat(100_000)}`;
	const log = kept(text, 1000);
	expect(log.parts.map(({ from, to }) => [from, to])).toEqual([
		[0, 65_536],
		[199_000, 200_000],
	]);
	expect(JSON.stringify(log).length).toBeLessThan(1000);
	const first = read(log, 0, 1_000_000);
	expect(first).toMatchObject({ offset: 0, next_offset: 65_536, eof: false });
	expect(read(log, 65_536, 1_000_000)).toEqual({ offset: 199_000, next_offset: 200_000, text: "b".repeat(1000), eof: true });
	expect([has(log, 0, 65_536), has(log, 0, 65_537), has(log, -1000, 9999), has(log, -1001, 10)]).toEqual([true, false, true, false]);
});

test("nothing is kept when the setting is 0, or there is no log", () => {
	expect(kept("x", 0)).toEqual({ size: 1, parts: [] });
	expect(read(kept("x", 0), 0, 10)).toBeNull();
	expect(keepLog(localDisk, "/nowhere", 10)).toEqual({ size: 0, parts: [] });
});

test("both streams in their order; parts that are not kept are skipped", () => {
	const short = { stdout: kept("a\nc\n", 10), stderr: kept("b\n", 10), order: "o 2\ne 2\n" };
	expect(readKept(short, "both", { limit: 99 })).toEqual({
		offset: 0,
		next_offset: 6,
		text: "a\nb\nc\n",
		parts: [
			{ stream: "stdout", length: 2 },
			{ stream: "stderr", length: 2 },
			{ stream: "stdout", length: 2 },
		],
		eof: true,
	});
	expect(readKept(short, "both", { tail: 2, limit: 99 })).toMatchObject({ offset: 2, text: "b\nc\n" });
	expect(readKept({ stdout: short.stdout, stderr: short.stderr }, "both", { limit: 99 })?.text).toBe("a\nc\nb\n");
	const long = {
		stdout: kept(`${"a".repeat(99_999)}\n${"b".repeat(99_999)}\n`, 1000),
		stderr: kept("oops\n", 10),
		order: "o 100000\ne 5\n",
	};
	expect(readKept(long, "both", { limit: 1_000_000 })).toMatchObject({ offset: 0, next_offset: 65_536 });
	expect(readKept(long, "both", { offset: 65_536, limit: 1_000_000 })).toMatchObject({
		offset: 100_000,
		next_offset: 100_005,
		text: "oops\n",
	});
	expect(readKept(long, "both", { offset: 100_005, limit: 1_000_000 })).toMatchObject({ offset: 199_005, next_offset: 200_005, eof: true });
	expect([isKept(long, "both", { offset: 0, limit: 9 }), isKept(long, "both", { tail: 1, limit: 9 })]).toEqual([true, false]);
});
