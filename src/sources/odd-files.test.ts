// Special or giant files in a source: reported for that item, while every other item is read. Opening a FIFO would block a thread forever.

import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeSourceSettings } from "../../test/make/agents/source.ts";
import { makeFolder } from "../../test/make/folder.ts";
import { localHost } from "../host/local.ts";
import { readPlainFile } from "../host/plain-file.ts";
import { openCards } from "./cards/index.ts";
import { openFolder } from "./folder.ts";

/** More than Node's threads for file access. */
const FIFOS = 6;
const GIANT = 2_000_000_000;

function makeOdd(folder: string, name: (n: number) => string): void {
	mkdirSync(folder, { recursive: true });
	for (let n = 1; n <= FIFOS; n++) execFileSync("mkfifo", [join(folder, name(n))]);
	writeFileSync(join(folder, name(8)), "");
	truncateSync(join(folder, name(8)), GIANT);
	writeFileSync(join(folder, name(9)), "---\nagent_flow: implement\n---\n# Good\n\nDo it.\n");
}

test("cards", async () => {
	const root = makeFolder();
	makeOdd(join(root, "phase-1-x", "backlog"), (n) => `F-${n}-x.md`);
	const source = openCards("cards", makeSourceSettings({ kind: "cards", root }), { host: localHost });
	const { items, faults } = await source.scan();
	source.close();
	expect(items.map(({ title }) => title)).toEqual(["Good"]);
	expect(faults.filter(({ message }) => message.includes("is not a plain file"))).toHaveLength(FIFOS);
	expect(faults.filter(({ message }) => message.includes(`${GIANT} bytes, at most`))).toHaveLength(1);
});

test("a folder of prompts", async () => {
	const root = makeFolder();
	makeOdd(root, (n) => `task-${n}.md`);
	const { items, faults } = await openFolder("prompts", makeSourceSettings({ kind: "folder", root })).scan();
	expect(items.map(({ id }) => id)).toEqual(["task-9"]);
	expect(faults.map(({ message }) => message)).toEqual([
		...Array.from({ length: FIFOS }, (_, n) => `${join(root, `task-${n + 1}.md`)}: is not a plain file`),
		expect.stringContaining(`task-8.md: ${GIANT} bytes, at most`),
	]);
});

test("a plain file is read whole, an empty one too", async () => {
	const root = makeFolder();
	writeFileSync(join(root, "one"), "text");
	writeFileSync(join(root, "none"), "");
	expect((await readPlainFile(join(root, "one"), 4)).toString()).toBe("text");
	expect((await readPlainFile(join(root, "none"), 4)).length).toBe(0);
	await expect(readPlainFile(root, 4)).rejects.toThrow(/plain file/);
	await expect(readPlainFile(join(root, "one"), 3)).rejects.toThrow("4 bytes, at most 3");
});
