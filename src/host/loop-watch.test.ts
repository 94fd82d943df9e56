// The thread that watches the event loop must report while the loop is stuck, and only then.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { localHost } from "./local.ts";
import { watchLoop } from "./loop-watch.ts";

/** Complete lines: the file exists a moment before its first line. */
const told = (path: string) => (existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : []);

test("a stuck loop is reported once, while it is stuck; a loop that turns is not", async () => {
	const path = join(makeFolder(), "log");
	const watch = watchLoop({ path, stuckMs: 100, lookMs: 20, startMs: 0 });
	onTestFinished(() => watch.stop());
	// A busy loop: this thread does nothing else meanwhile, so the report comes from the watching thread.
	const stuckUntil = (count: number) => {
		while (told(path).length < count);
	};
	// Give the event loop a turn in which the thread is created.
	await new Promise<void>((resolve) => localHost.after(1, resolve, "hold"));
	stuckUntil(1);
	expect(told(path)[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z error the event loop is stuck; .* ms=\d+$/);
	// Beats end the stuck state; then the loop may be stuck again.
	for (let beats = 0; beats < 1000; beats++) watch.beat();
	stuckUntil(2);
	expect(told(path)).toHaveLength(2);
});
