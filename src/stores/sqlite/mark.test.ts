// The mark beside a store: what is read from it, and what is said where it cannot be used.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { makeJob } from "../../../test/make/job.ts";
import { makeRow } from "../../../test/store-conformance.ts";
import { noChanges } from "../../contracts/store.ts";
import { dropMark, guardStore, holdsJobs, lossAt, markProblem, readMark } from "./mark.ts";
import { openSqlite } from "./store.ts";

const BUSY_MS = 100;

/** A store that has given out numbers, and was closed. */
function makeStore(): { path: string; mark: string } {
	const path = `${makeFolder()}/sluice.db`;
	const { mark } = guardStore(path, { loss: "refuse", warn: () => {}, busyMs: BUSY_MS });
	const store = openSqlite(path, mark ? { mark } : {});
	void store.begin();
	const ids = { seq: 9, job: 3, token: 1 };
	void store.write({ ...noChanges(), insert: [makeRow(makeJob({ id: 3 }))], records: [["meta", "ids", ids]] });
	void store.commit();
	void store.close();
	return { path, mark: `${path}-mark` };
}

function guard(path: string): string[] {
	const said: string[] = [];
	guardStore(path, { loss: "refuse", warn: (line) => said.push(line), busyMs: BUSY_MS }).mark?.close();
	return said;
}

test("a store's mark says what it has given out, and raises no alarm", () => {
	const { path } = makeStore();
	expect(readMark(path)).toMatchObject({ is: "usable", mark: { seq: 9, job: 3 } });
	expect(markProblem(path, () => true)).toBeNull();
	expect(lossAt(path, BUSY_MS)).toBeNull();
	expect(guard(path)).toEqual([]);
});

test.each([
	["empty", ""],
	["half written", '{"id":"a'],
	["of zeros", "\0".repeat(256)],
])("a mark that a power cut left %s is no loss: the daemon says that it is blind, and writes a new one", (_, text) => {
	const { path, mark } = makeStore();
	writeFileSync(mark, text);
	expect(readMark(path)).toMatchObject({ is: "unreadable" });
	expect(lossAt(path, BUSY_MS)).toBeNull();
	expect(markProblem(path, () => false)?.message).toContain(`${mark} cannot be used`);
	expect(guard(path)).toEqual([expect.stringContaining(`${mark} cannot be used`)]);
	expect(readMark(path)).toMatchObject({ is: "usable", mark: { seq: 9, job: 3 } });
});

test("no mark: said for a store with jobs alone", () => {
	const fresh = `${makeFolder()}/sluice.db`;
	expect(guard(fresh)).toEqual([]);
	const { path, mark } = makeStore();
	rmSync(mark);
	expect(holdsJobs(path, BUSY_MS)).toBe(true);
	expect(guard(path)).toEqual([expect.stringContaining(`${mark} is not there`)]);
	expect(existsSync(mark)).toBe(true);
	expect(guard(path)).toEqual([]);
});

test.each<[string, (mark: string) => void]>([
	["a folder", (mark) => mkdirSync(mark)],
	["a pipe", (mark) => void execFileSync("mkfifo", [mark])],
	["a link that leads nowhere", (mark) => symlinkSync("/nowhere/at/all", mark)],
	["a link to a file", (mark) => symlinkSync("moved", mark)],
])("%s in its place is refused with its name, and so is a new store there", (_, make) => {
	const { path, mark } = makeStore();
	renameSync(mark, join(dirname(mark), "moved"));
	const before = readFileSync(path);
	make(mark);
	expect(readMark(path)).toEqual({ is: "misplaced" });
	expect(() => guard(path)).toThrow(`${mark} is not a plain file`);
	if (existsSync(mark)) expect(() => dropMark(path)).toThrow(`${mark} is not a plain file`);
	expect(readFileSync(path)).toEqual(before);
});
