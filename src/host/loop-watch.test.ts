// The thread that looks at the event loop: it must speak while the loop is stuck, and only then.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { localHost } from "./local.ts";
import { watchLoop } from "./loop-watch.ts";

/** Whole lines: the file is there a moment before its first one. */
const told = (path: string) => (existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : []);

test("a loop that is stuck is told of while it is stuck, once; one that comes round is not", async () => {
	const path = join(makeFolder(), "log");
	const watch = watchLoop({ path, stuckMs: 100, lookMs: 20, startMs: 0 });
	onTestFinished(() => watch.stop());
	// Nothing of this process's own can happen in this loop but the beats.
	const stuckUntil = (count: number) => {
		while (told(path).length < count);
	};
	// The thread is made in a turn of the loop.
	await new Promise<void>((resolve) => localHost.after(1, resolve, "hold"));
	stuckUntil(1);
	expect(told(path)[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z error the event loop is stuck; .* ms=\d+$/);
	// Beats end it; then it may be stuck again.
	for (let beats = 0; beats < 1000; beats++) watch.beat();
	stuckUntil(2);
	expect(told(path)).toHaveLength(2);
});
