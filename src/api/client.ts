// Client of a daemon's socket. Small on purpose: every CLI command loads it, so it imports only types from protocol.ts.

import { readFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { dirname } from "node:path";
import { readJson, writeJson } from "../core/text/json-text.ts";
import type { Distrust } from "../core/trust/path.ts";
import type { ErrorData, MethodName, Params, Result, RpcResponse } from "./protocol.ts";
import { lookAtSocket } from "./socket-path.ts";

/** A payload is a `JsonText` if JavaScript would lose something of it. */
export { JsonText } from "../core/text/json-text.ts";

/**
 * PROTOCOL of protocol.ts, which is too much to load for a number. Sent with every call: a daemon with another protocol refuses before it does anything.
 */
export const SPEAKS = 1;

/** A refusal, or a lost connection. `code` is a word: that of the daemon's error, `no_daemon`, `disconnected` or `aborted`. */
export class RpcError extends Error {
	override readonly name = "RpcError";
	readonly code: string;
	/** JSON-RPC's error number; null if the daemon did not answer. */
	readonly number: number | null;
	readonly field: string | undefined;
	readonly hint: string | undefined;
	/** Further mistakes in the same input. */
	readonly also: ErrorData["also"];

	constructor(message: string, number: number | null, data: Partial<ErrorData> & { code: string }) {
		super(message);
		this.number = number;
		this.code = data.code;
		this.field = data.field;
		this.hint = data.hint;
		this.also = data.also;
	}
}

export type Client = {
	call<M extends MethodName>(method: M, params: Params<M>, options?: { signal?: AbortSignal }): Promise<Result<M>>;
	/** Closes the connection and rejects all calls that are not answered yet. */
	close(): void;
	/** Resolves when the connection is closed, for any reason. */
	readonly closed: Promise<void>;
};

type Waiting = { resolve(result: unknown): void; reject(error: Error): void };

/**
 * Rejects with `no_daemon` if no daemon listens there, and with `forbidden`, before anything is sent, if the listener may be another user. `from`: the
 * caller is a run; if the system denies it the socket, the error mentions the run's sandbox.
 */
export function connect(path: string, from: "anywhere" | "run" = "anywhere"): Promise<Client> {
	return new Promise((resolve, reject) => {
		const refuse = (error: NodeJS.ErrnoException) => {
			const message =
				error.code === "ENOTDIR" ? `${dirname(path)} is no folder: name another home with --home or SLUICE_HOME` : error.message;
			const gone = error.code === "ENOENT" || error.code === "ECONNREFUSED";
			if (error.code === "EACCES" || error.code === "EPERM") return reject(from === "run" ? sandboxed() : notYours(path));
			reject(new RpcError(gone ? "no daemon is running" : message, null, { code: gone ? "no_daemon" : "disconnected" }));
		};
		let found: ReturnType<typeof lookAtSocket>;
		try {
			found = lookAtSocket(path);
		} catch (error) {
			return refuse(error as NodeJS.ErrnoException);
		}
		if (!found) return refuse(Object.assign(new Error(), { code: "ENOENT" }));
		if ("what" in found) return reject(distrusted(found));
		const socket = createConnection(found.path);
		socket.once("error", refuse);
		socket.once("connect", () => resolve(clientOn(socket)));
	});
}

/** The client sends nothing to a socket that another user may have put there. */
export const distrusted = ({ what, hint }: Distrust): RpcError => new RpcError(what, null, { code: "forbidden", hint });

/** Only its owner may use a home. */
const notYours = (socket: string): RpcError =>
	new RpcError(`you may not use ${socket}: the home belongs to another user`, null, {
		code: "forbidden",
		hint: "name a home of your own with --home or SLUICE_HOME; to look at another user's queue, ask that user for the link of sluice open --viewer",
	});

/** A daemon starts runs as its own user: only a sandbox, such as that of Codex, denies a run's program the socket. */
const sandboxed = (): RpcError =>
	new RpcError(
		"the sandbox of this run keeps programs from the daemon: call the tool run_fail (run_ask, run_result) instead, of the MCP server that every run has",
		null,
		{ code: "forbidden" },
	);

function clientOn(socket: Socket): Client {
	const waiting = new Map<number, Waiting>();
	let last = 0;
	let over = false;
	let finished = () => {};
	const closed = new Promise<void>((resolve) => {
		finished = resolve;
	});
	const end = () => {
		over = true;
		for (const one of waiting.values()) one.reject(lost());
		waiting.clear();
		finished();
	};
	socket.removeAllListeners("error");
	socket.on("error", () => {});
	socket.on("close", end);
	const take = (line: string) => {
		const answer = readJson(line) as RpcResponse;
		const one = waiting.get(answer.id as number);
		if (!one) return;
		waiting.delete(answer.id as number);
		if ("result" in answer) one.resolve(answer.result);
		else one.reject(new RpcError(answer.error.message, answer.error.code, { code: "internal", ...answer.error.data }));
	};
	socket.on("data", createSplitter(take));
	return {
		closed,
		close: () => socket.destroy(),
		call: (method, params, { signal } = {}) =>
			new Promise((resolve, reject) => {
				if (over) throw lost();
				if (signal?.aborted) throw aborted();
				const id = ++last;
				const leave = () => {
					waiting.delete(id);
					reject(aborted());
				};
				signal?.addEventListener("abort", leave, { once: true });
				const done = () => signal?.removeEventListener("abort", leave);
				waiting.set(id, {
					resolve: (result) => {
						done();
						resolve(result as never);
					},
					reject: (error) => {
						done();
						reject(error);
					},
				});
				own ??= thisProcess();
				socket.write(`${writeJson({ jsonrpc: "2.0", protocol: SPEAKS, process: own, id, method, params })}\n`);
			}),
	};
}

/**
 * Sent with every call: the daemon checks whether this process is part of a run. The start time distinguishes our pid from the same number in another
 * namespace.
 */
let own: { pid: number; start?: string } | undefined;

function thisProcess(): { pid: number; start?: string } {
	try {
		const stat = readFileSync("/proc/self/stat", "latin1");
		const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 20)[19];
		return { pid: process.pid, ...(start === undefined ? {} : { start }) };
	} catch {
		// macOS has no /proc.
		return { pid: process.pid };
	}
}

const lost = () => new RpcError("the daemon has gone away", null, { code: "disconnected", hint: "try again" });
const aborted = () => new RpcError("gave up waiting for an answer", null, { code: "aborted" });

/** Splits a stream into lines. Scans each chunk once, however long the line is: joins the pieces when the line end arrives. Returns the bytes that are held. */
export function createSplitter(call: (line: string) => void): (chunk: Buffer) => number {
	let pieces: Buffer[] = [];
	let held = 0;
	return (chunk) => {
		let from = 0;
		for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
			pieces.push(chunk.subarray(from, at));
			const line = (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)).toString("utf8");
			pieces = [];
			held = 0;
			from = at + 1;
			call(line);
		}
		if (from < chunk.length) pieces.push(chunk.subarray(from));
		held += chunk.length - from;
		return held;
	};
}
