// sluice migrate-store: what it requests, and what it prints.

import { resolve } from "node:path";
import { expect, test } from "vitest";
import { openCommandLine } from "../../../../test/make/daemons/command-line.ts";
import type { MoveRequest } from "../../../api/daemon-module.ts";
import type { DaemonCode } from "../../io.ts";

const DOCUMENT = {
	schema_version: 1,
	moved: true,
	from: "/a",
	to: "postgres://h/d",
	jobs: { waiting: 1, running: 0, ended: 2 },
	rows: { event: 7 },
	replaced: false,
	marked: true,
	objections: [],
};

async function opened(document: Record<string, unknown>) {
	const line = await openCommandLine(undefined);
	const wishes: MoveRequest[] = [];
	const daemon = async () =>
		({
			migrateStore: async (wish: MoveRequest) => {
				wishes.push(wish);
				wish.progress?.({ table: "job", step: "copy", done: 60_000, total: 90_000 });
				wish.progress?.({ table: "job", step: "copy", done: 61_000, total: 90_000 });
				return document;
			},
		}) as unknown as DaemonCode;
	return { wishes, home: line.home, run: (words: string) => line.run(words, { daemon }) };
}

test("passes both stores and the options on; paths relative to the caller, URLs unchanged", async () => {
	const { run, wishes, home } = await opened(DOCUMENT);
	expect(await run("migrate-store old.db postgres://h/d --replace")).toEqual({
		code: 0,
		out: "",
		err: "copied 60000 of 90000 rows of job\nmoved: 1 job that waits, 2 that ended, 7 events, from /a to postgres://h/d\n",
	});
	expect(wishes[0]).toMatchObject({ from: resolve(home, "old.db"), to: "postgres://h/d", replace: true, check: false, again: false });
	expect(await run("migrate-store a b --json")).toEqual({ code: 0, out: `${JSON.stringify(DOCUMENT)}\n`, err: "" });
});

test("warns if the source could not be marked as moved; lists what is in the way", async () => {
	expect((await (await opened({ ...DOCUMENT, marked: false })).run("migrate-store a b -q")).err).toMatch(/^\/a could not be told/);
	const blocked = { ...DOCUMENT, moved: false, objections: [{ message: "a job is running", hint: "wait" }] };
	expect(await (await opened(blocked)).run("migrate-store a b --check -q")).toEqual({
		code: 4,
		out: "would be moved: 1 job that waits, 2 that ended, 7 events, from /a to postgres://h/d\nbut a job is running\n    → wait\n",
		err: "",
	});
});

test.each(["migrate-store", "migrate-store a", "migrate-store a b c", "migrate-store a b --force"])("%s is refused", async (words) => {
	const { run, wishes } = await opened(DOCUMENT);
	expect((await run(words)).code).toBe(2);
	expect(wishes).toEqual([]);
});
