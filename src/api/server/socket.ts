// The socket server: JSON-RPC, one message per line. The file's mode is the access control: only its owner can open it.

import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { SluiceError } from "../../core/errors.ts";
import { answerText, failed, type RpcServer, type RpcSession } from "../dispatch.ts";
import { LIMITS, RPC_CODES } from "../protocol.ts";

/** Maximum concurrent calls of one connection; more are read when some are answered. */
const UNDER_WAY = 1000;
const LINGER_MS = 500;

/** The caller has made sure that no other daemon has this home, and that only the owner can access the folder: an existing socket is a leftover. */
export async function serveSocket(rpc: RpcServer, path: string): Promise<{ close(): Promise<void> }> {
	const open = new Set<Socket>();
	// A client that has sent everything and closed its side still gets its answers.
	const server = createServer({ allowHalfOpen: true }, (socket) => {
		open.add(socket);
		socket.on("close", () => open.delete(socket));
		attend(rpc, socket);
	});
	clearWay(path);
	// The umask makes the socket private from the moment it is created.
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
				// Closing a server removes the file at its path, even if that is another daemon's socket by now.
				if ((lstatSync(path, { throwIfNoEntry: false })?.ino ?? ino) === ino) server.close(() => resolve());
				else resolve(void server.unref());
				// Answers that are already written are still sent, but not to clients that do not read.
				for (const socket of open) socket.end(() => socket.destroy());
				rpc.context.host.after(LINGER_MS, () => {
					for (const socket of open) socket.destroy();
				});
			}),
	};
}

function clearWay(path: string): void {
	const there = lstatSync(path, { throwIfNoEntry: false });
	if (!there) return;
	if (!there.isSocket()) throw new SluiceError("conflict", `${path} is there and is no socket`, { hint: "move it away" });
	unlinkSync(path);
}

function attend(rpc: RpcServer, socket: Socket): void {
	const session: RpcSession = { caller: { role: "admin", by: rpc.context.user, channel: "socket" } };
	let pieces: Buffer[] = [];
	let length = 0;
	let underWay = 0;
	let isAllSaid = false;
	const utf8 = new TextDecoder("utf-8", { fatal: true });

	const say = (text: string) => {
		// A client that does not read its answers is not read from either.
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
		void answerText(rpc, session, text).then((answer) => {
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

	/** After a line that is too long, the next line's beginning cannot be trusted. */
	function tooLong(): void {
		pieces = [];
		length = 0;
		socket.removeAllListeners("data");
		refuse(RPC_CODES.request, `a line of more than ${LIMITS.line} bytes`, "limit");
		socket.end(() => socket.destroy());
	}
}
