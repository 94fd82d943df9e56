// Lines that come in pieces, and lines that never end.

import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../../test/make/daemons/daemon.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { openFifo } from "./fifo.ts";
import { splitLines } from "./lines.ts";

test("lines that come in pieces come out whole", () => {
	const lines: string[] = [];
	const splitter = splitLines((line) => lines.push(line));
	for (const piece of ["exi", "ted 7.1", "\nexited 8.1\n", "\n", "exited 9"]) splitter.take(piece);
	expect(lines).toEqual(["exited 7.1", "exited 8.1", ""]);
	expect(splitter.kept()).toBe("exited 9".length);
});

test("a line without end is dropped up to its end: nothing of it is kept, and the next line is read", () => {
	const lines: string[] = [];
	const splitter = splitLines((line) => lines.push(line));
	for (let count = 0; count < 1000; count++) {
		splitter.take("\0".repeat(65_536));
		expect(splitter.kept()).toBe(0);
	}
	splitter.take("still it\nexited 7.1\n");
	expect(lines).toEqual(["exited 7.1"]);
});

test("the FIFO of a home delivers the lines after one that was too long", async () => {
	const path = join(makeFolder(), "exits");
	const lines: string[] = [];
	const mkfifo = execFileSync("/bin/sh", ["-c", "command -v mkfifo"], { encoding: "utf8" }).trim();
	const fifo = await openFifo(path, mkfifo, (line) => lines.push(line));
	const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
	const write = async (text: string) => {
		const bytes = Buffer.from(text);
		for (let at = 0; at < bytes.length; )
			at += await until(() => {
				try {
					return writeSync(fd, bytes, at);
				} catch {
					return undefined;
				}
			});
	};
	await write("x".repeat(1_000_000));
	await write("\nexited 7.1\n");
	await until(() => lines.length > 0);
	closeSync(fd);
	fifo?.close();
	expect(lines).toEqual(["exited 7.1"]);
});
