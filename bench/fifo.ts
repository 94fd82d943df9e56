// A pipe with a name that programs write a line to as soon as they run: no polling, and no clock but the reader's.

import { execFileSync } from "node:child_process";
import { constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";

export type Fifo = { path: string /** When the next line came, by performance.now(). */; next(): Promise<number>; close(): void };

/** What a program is that says it runs: no more than a shell that writes to a pipe. */
export const announcing = (path: string): string[] => ["/bin/sh", "-c", 'echo >"$0"', path];

export function openFifo(path: string): Fifo {
	execFileSync("mkfifo", ["-m", "600", path]);
	// For writing too: so it never ends, whoever comes and goes.
	const socket = new Socket({ fd: openSync(path, constants.O_RDWR | constants.O_NONBLOCK), readable: true, writable: false });
	const came: number[] = [];
	const waiting: ((at: number) => void)[] = [];
	socket.on("data", (chunk: Buffer) => {
		const now = performance.now();
		for (const byte of chunk) {
			if (byte !== 10) continue;
			const call = waiting.shift();
			if (call) call(now);
			else came.push(now);
		}
	});
	return {
		path,
		next: () => {
			const at = came.shift();
			return at === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(at);
		},
		close() {
			socket.destroy();
			rmSync(path, { force: true });
		},
	};
}
