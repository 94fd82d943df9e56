// A TCP proxy that counts what it carries to its client, and can slow that down: a browser behind a thin line.

import { connect, createServer, type Socket } from "node:net";

export type SlowLine = { port: number /** Bytes to the client since the last call. */; taken(): number; close(): Promise<void> };

/** How often a slowed line passes on what it may. */
const TICK_MS = 10;

/** `bytesASecond`: for all connections together; undefined = as fast as it goes. */
export async function openSlowLine(to: number, bytesASecond?: number): Promise<SlowLine> {
	let carried = 0;
	const open = new Set<Socket>();
	const waiting: { client: Socket; piece: Buffer }[] = [];
	const deliver = ({ client, piece }: { client: Socket; piece: Buffer }) => {
		carried += piece.length;
		client.write(piece);
	};
	let allowance = 0;
	const timer =
		bytesASecond === undefined
			? undefined
			: setInterval(() => {
					allowance = Math.min(bytesASecond / 10, allowance + (bytesASecond * TICK_MS) / 1000);
					while (allowance >= 1) {
						const first = waiting.shift();
						if (!first) return;
						const part = first.piece.subarray(0, Math.floor(allowance));
						if (part.length < first.piece.length) waiting.unshift({ ...first, piece: first.piece.subarray(part.length) });
						allowance -= part.length;
						deliver({ ...first, piece: part });
					}
				}, TICK_MS);
	const server = createServer((client) => {
		const daemon = connect(to, "127.0.0.1");
		for (const one of [client, daemon]) {
			open.add(one);
			one.on("error", () => one.destroy());
			one.on("close", () => open.delete(one));
		}
		client.pipe(daemon);
		daemon.on("data", (piece: Buffer) => (timer ? waiting.push({ client, piece }) : deliver({ client, piece })));
		daemon.on("close", () => client.end());
		client.on("close", () => daemon.destroy());
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("the proxy has no port");
	return {
		port: address.port,
		taken() {
			const bytes = carried;
			carried = 0;
			return bytes;
		},
		close() {
			clearInterval(timer);
			for (const one of open) one.destroy();
			return new Promise((resolve) => server.close(() => resolve()));
		},
	};
}
