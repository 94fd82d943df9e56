// Caps HTTP connections that have not shown a valid token yet. Every local user can open connections to the port; without a cap their incomplete requests would
// use up the daemon's file descriptors, and the owner could not even use the Unix socket.
//
//   no token shown yet       at most MOST_UNKNOWN, fewer if the process may open few files; a new connection beyond that closes the oldest. New ones are not
//                            refused instead: a caller that occupied all places would lock out the owner's browser
//   valid token shown        never closed by this; all connections together use at most half of the files that the process may open

import type { Server, Socket } from "node:net";

const MOST_UNKNOWN = 64;
/** Divisors of the number of files that the process may open: an eighth for connections without a token, half for all connections. */
const UNKNOWN_SHARE = 8;
const ALL_SHARE = 2;

type ConnectionCap = {
	/** Reports that a valid token came through this connection. */
	known(socket: Socket): void;
};

/** `files`: how many files the process may have open; null if unknown. */
export function capConnections(server: Server, files: number | null): ConnectionCap {
	const mostUnknown = files === null ? MOST_UNKNOWN : Math.max(1, Math.min(MOST_UNKNOWN, Math.floor(files / UNKNOWN_SHARE)));
	const most = files === null ? Number.POSITIVE_INFINITY : Math.max(2, Math.floor(files / ALL_SHARE));
	/** Oldest first, by the address and port of the client: over TLS, the socket of a request is another object than the one that was accepted. */
	const unknown = new Map<string, Socket>();
	let all = 0;
	server.on("connection", (socket: Socket) => {
		all++;
		const client = clientOf(socket);
		unknown.set(client, socket);
		socket.on("close", () => {
			all--;
			if (unknown.get(client) === socket) unknown.delete(client);
		});
		const [oldest] = unknown;
		if (oldest && (unknown.size > mostUnknown || all > most)) drop(...oldest);
	});
	/** Frees the descriptor now; the event `close` comes later. */
	function drop(client: string, socket: Socket): void {
		unknown.delete(client);
		socket.destroy();
	}
	return { known: (socket) => void unknown.delete(clientOf(socket)) };
}

const clientOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
