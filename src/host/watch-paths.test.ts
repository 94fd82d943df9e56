// Real files: changes at and below a path, a path that is created later, and no calls after the end.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { watchPaths } from "./watch-paths.ts";

function watching(...paths: string[]) {
	let calls = 0;
	const end = watchPaths(paths, () => {
		calls++;
	});
	onTestFinished(end);
	/** Repeats an action until the watcher notices it. */
	const noticed = async (act: () => void) => {
		for (const before = calls; calls === before; ) {
			act();
			await pause(20);
		}
	};
	return { noticed, end, calls: () => calls };
}

test("files in a folder, in folders below it, and a file by itself", async () => {
	const folder = makeFolder();
	mkdirSync(join(folder, "a"));
	const file = join(makeFolder(), "one.txt");
	writeFileSync(file, "");
	const { noticed, end, calls } = watching(folder, file);
	let count = 0;
	await noticed(() => writeFileSync(join(folder, `${count++}.md`), "x"));
	await noticed(() => writeFileSync(join(folder, "a", `${count++}.md`), "x"));
	await noticed(() => writeFileSync(file, String(count++)));
	await noticed(() => {
		mkdirSync(join(folder, "b"), { recursive: true });
		writeFileSync(join(folder, "b", `${count++}.md`), "x");
	});
	end();
	const before = calls();
	writeFileSync(file, "after the end");
	rmSync(join(folder, "a"), { recursive: true });
	expect(calls()).toBe(before);
});

test("a path that does not exist yet", async () => {
	const path = join(makeFolder(), "later");
	const { noticed } = watching(path);
	await noticed(() => mkdirSync(path, { recursive: true }));
	let count = 0;
	await noticed(() => writeFileSync(join(path, `${count++}.md`), "x"));
});
