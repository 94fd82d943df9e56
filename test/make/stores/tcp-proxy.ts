// A network between a client and a server that can be cut, made deaf in one direction, or slow.

import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type Network = {
	port: number;
	/** Ends every connection, and refuses new ones until `mend`. */
	cut(): void;
	mend(): void;
	/** What the server answers from now on is lost, and with the first of it the connection. */
	loseAnswers(): void;
	/** What the client sends from now on is lost, and with the first of it the connection. */
	loseRequests(): void;
	/** The same, from the first request on that is nothing but COMMIT. */
	beforeCommit(then: "loseAnswers" | "loseRequests"): void;
	/** Nothing goes through in either direction, and nobody is told. */
	freeze(): void;
	/** Each piece waits so long. */
	slow(ms: number): void;
	close(): void;
};

export async function openTcpProxy(port: number): Promise<Network> {
	let state: "open" | "cut" | "answers" | "requests" | "frozen" = "open";
	let delay = 0;
	let atCommit: "answers" | "requests" | undefined;
	const pairs = new Set<[Socket, Socket]>();
	const server = createServer({ noDelay: true }, (inward) => {
		inward.on("error", () => {});
		if (state === "cut") return void inward.destroy();
		const onward = connect({ port, host: "127.0.0.1", noDelay: true });
		onward.on("error", () => {});
		const pair: [Socket, Socket] = [inward, onward];
		pairs.add(pair);
		const end = () => {
			pairs.delete(pair);
			inward.destroy();
			onward.destroy();
		};
		inward.on("close", end);
		onward.on("close", end);
		const carry = (from: Socket, to: Socket, lost: "answers" | "requests") =>
			from.on("data", (piece) => {
				if (state === "frozen") return;
				if (atCommit && lost === "requests" && piece.includes("COMMIT\0")) {
					state = atCommit;
					atCommit = undefined;
				}
				if (state === lost) {
					state = "open";
					return end();
				}
				if (delay === 0) to.write(piece);
				else setTimeout(() => to.destroyed || to.write(piece), delay).unref();
			});
		carry(inward, onward, "requests");
		carry(onward, inward, "answers");
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const endAll = () => {
		for (const [inward, onward] of [...pairs]) {
			inward.destroy();
			onward.destroy();
		}
	};
	return {
		port: (server.address() as AddressInfo).port,
		cut() {
			state = "cut";
			endAll();
		},
		mend() {
			// What was swallowed would be missing in the middle.
			if (state === "frozen") endAll();
			state = "open";
		},
		loseAnswers() {
			state = "answers";
		},
		loseRequests() {
			state = "requests";
		},
		beforeCommit(then) {
			atCommit = then === "loseAnswers" ? "answers" : "requests";
		},
		freeze() {
			state = "frozen";
		},
		slow(ms) {
			delay = ms;
		},
		close() {
			endAll();
			server.close();
		},
	};
}
