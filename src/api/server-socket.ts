// The socket's door: JSON-RPC, one message a line. The file's mode is the lock: whoever can open it is its owner.

import { chmodSync, lstatSync, mkdirSync, unlinkSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { dirname } from "node:path";
import { SluiceError } from "../core/errors.ts";
import { answerText, type Door, failed, type Session } from "./dispatch.ts";
import { LIMITS, RPC_CODES } from "./protocol.ts";

/** Calls of one connection that are under way; more are read when some are answered. */
const UNDER_WAY = 1000;
const LINGER_MS = 500;

/** The caller has made sure that no other daemon has this home: a socket that is there is a leftover. */
export async function serveSocket(door: Door, path: string): Promise<{ close(): Promise<void> }> {
	const open = new Set<Socket>();
	// Whoever has said all and closed its side still gets its answers.
	const server = createServer({ allowHalfOpen: true }, (socket) => {
		open.add(socket);
		socket.on("close", () => open.delete(socket));
		attend(door, socket);
	});
	clearWay(path);
	// Nobody else gets in between its making and its mode.
	const before = process.umask(0o177);
	try {
		await new Promise<void>((resolve, reject) => {
			server.once("error", (error) =>
				reject(
					new SluiceError("store", `cannot listen on ${path}: ${error.message}`, { hint: "is the home on a disk that can hold sockets?" }),
				),
			);
			server.listen(path, resolve);
			process.umask(before);
		});
	} finally {
		process.umask(before);
	}
	chmodSync(path, 0o600);
	const { ino } = lstatSync(path);
	return {
		close: () =>
			new Promise((resolve) => {
				// Closing a server removes the file of its path, also where that is the socket of another daemon by now.
				if ((lstatSync(path, { throwIfNoEntry: false })?.ino ?? ino) === ino) server.close(() => resolve());
				else resolve(void server.unref());
				// Answers that are written already still go out, but not to those who do not read.
				for (const socket of open) socket.end(() => socket.destroy());
				door.context.host.after(LINGER_MS, () => {
					for (const socket of open) socket.destroy();
				});
			}),
	};
}

function clearWay(path: string): void {
	const folder = dirname(path);
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	const there = lstatSync(path, { throwIfNoEntry: false });
	if (!there) return;
	if (!there.isSocket()) throw new SluiceError("conflict", `${path} is there and is no socket`, { hint: "move it away" });
	unlinkSync(path);
}

function attend(door: Door, socket: Socket): void {
	const session: Session = { caller: { role: "operator", by: door.context.user, door: "socket" } };
	let pieces: Buffer[] = [];
	let length = 0;
	let underWay = 0;
	let isAllSaid = false;
	const utf8 = new TextDecoder("utf-8", { fatal: true });

	const say = (text: string) => {
		// Whoever does not read its answers is not read either.
		if (!socket.destroyed && !socket.write(`${text}\n`)) socket.pause();
	};
	const refuse = (code: number, message: string, word: string) => say(JSON.stringify(failed(null, code, message, word)));
	const take = (line: Buffer) => {
		let text: string;
		try {
			text = utf8.decode(line);
		} catch {
			return refuse(RPC_CODES.parse, "not UTF-8", "parse");
		}
		if (text.trim() === "") return;
		if (++underWay >= UNDER_WAY) socket.pause();
		void answerText(door, session, text).then((answer) => {
			underWay--;
			if (answer !== undefined) say(answer);
			if (isAllSaid && underWay === 0) socket.end();
			if (underWay < UNDER_WAY && !socket.writableNeedDrain) socket.resume();
		});
	};

	socket.on("error", () => {});
	socket.on("drain", () => {
		if (underWay < UNDER_WAY) socket.resume();
	});
	socket.on("end", () => {
		isAllSaid = true;
		if (length > 0) take(Buffer.concat(pieces));
		if (underWay === 0) socket.end();
	});
	socket.on("data", (chunk: Buffer) => {
		let from = 0;
		for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
			const last = chunk.subarray(from, at);
			from = at + 1;
			if (length + last.length > LIMITS.line) return tooLong();
			take(pieces.length === 0 ? last : Buffer.concat([...pieces, last]));
			pieces = [];
			length = 0;
		}
		const rest = chunk.subarray(from);
		if (rest.length === 0) return;
		pieces.push(rest);
		length += rest.length;
		if (length > LIMITS.line) tooLong();
	});

	/** Nothing after it can be trusted to begin a line. */
	function tooLong(): void {
		pieces = [];
		length = 0;
		socket.removeAllListeners("data");
		refuse(RPC_CODES.request, `a line of more than ${LIMITS.line} bytes`, "limit");
		socket.end(() => socket.destroy());
	}
}
