// The FIFO through which shims tell that a run has started or ended. Only hints go through it; without it a look finds the same.

import { execFile } from "node:child_process";
import { closeSync, constants, lstatSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { promisify } from "node:util";
import { quietly } from "./reading.ts";

export type Fifo = { close(): void };

/** Null when there can be no FIFO here (no mkfifo, a file system without them). One that is there already is used on: shims of an earlier daemon write to it. */
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
	// Opened for writing too, so that it never ends; not blocking, so that no thread waits in it.
	const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
	let socket: Socket;
	try {
		socket = new Socket({ fd, readable: true, writable: false });
	} catch (error) {
		closeSync(fd);
		throw error;
	}
	let rest = "";
	socket.setEncoding("latin1");
	socket.on("data", (text: string) => {
		const lines = (rest + text).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) onLine(line);
	});
	// Nothing depends on it: the run's folder says what happened.
	socket.on("error", () => socket.destroy());
	return { close: () => void socket.destroy() };
}
