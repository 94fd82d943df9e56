// The FIFO through which shims report that a run has ended. Its lines are only hints: without it, a look at the run's folder finds the same.

import { execFile } from "node:child_process";
import { closeSync, constants, lstatSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { promisify } from "node:util";
import { splitLines } from "./lines.ts";
import { quietly } from "./reading.ts";

export type Fifo = { close(): void };

/**
 * Null when there can be no FIFO here (no mkfifo, or a file system without FIFOs). An existing FIFO is kept, because shims of an earlier daemon write to it.
 */
export async function openFifo(path: string, mkfifo: string | null, onLine: (line: string) => void): Promise<Fifo | null> {
	const found = quietly(() => lstatSync(path));
	if (found && !found.isFIFO()) rmSync(path);
	if (!found?.isFIFO()) {
		if (!mkfifo) return null;
		try {
			await promisify(execFile)(mkfifo, ["-m", "600", path], { env: {} });
		} catch {
			return null;
		}
	}
	// Opened for writing as well, so that it never reaches end of file; non-blocking, so that no thread waits in it.
	const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
	let socket: Socket;
	try {
		socket = new Socket({ fd, readable: true, writable: false });
	} catch (error) {
		closeSync(fd);
		throw error;
	}
	const lines = splitLines(onLine);
	socket.setEncoding("latin1");
	socket.on("data", (text: string) => lines.take(text));
	// An error is harmless: the run's folder says what happened.
	socket.on("error", () => socket.destroy());
	return { close: () => void socket.destroy() };
}
