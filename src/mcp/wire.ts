// MCP's lines over stdin and stdout. Our own transport, because the package's would parse a payload into JavaScript values and lose part of it.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { createSplitter } from "../api/client.ts";
import type { McpClient } from "../api/mcp-client.ts";

/** Maximum bytes of one message, as in the daemon's servers. */
const MAX_MESSAGE_BYTES = 10_000_000;

export function stdioWire({ readJson, writeJson }: McpClient, stdin: typeof process.stdin, stdout: typeof process.stdout): Transport {
	let closed = false;
	const wire: Transport = {
		async start() {
			stdin.on("data", take);
			stdin.on("error", fail);
			stdout.on("error", fail);
			for (const event of ["end", "close"]) stdin.on(event, end);
			if (stdin.readableEnded || stdin.destroyed) end();
		},
		send: (message) =>
			new Promise((resolve, reject) => {
				if (closed) reject(new Error("the connection is closed"));
				else stdout.write(`${writeJson(message)}\n`, (error) => (error ? reject(error) : resolve()));
			}),
		close: async () => end(),
	};

	const split = createSplitter(read);
	function take(chunk: Buffer): void {
		if (split(chunk) <= MAX_MESSAGE_BYTES) return;
		fail(new Error(`a message of more than ${MAX_MESSAGE_BYTES} bytes`));
		end();
	}

	/** Skips lines that are not JSON, as the protocol's own package does. */
	function read(line: string): void {
		let message: unknown;
		try {
			message = readJson(line);
		} catch {
			return;
		}
		wire.onmessage?.(message as JSONRPCMessage);
	}

	const fail = (error: Error) => wire.onerror?.(error);

	function end(): void {
		if (closed) return;
		closed = true;
		stdin.off("data", take);
		stdin.off("error", fail);
		if (stdin.listenerCount("data") === 0) stdin.pause();
		wire.onclose?.();
	}
	return wire;
}
