// Opens the doors of a daemon: the socket, and HTTP where a port is given.

import type { Context, Tokens } from "./context.ts";
import type { Door } from "./dispatch.ts";
import { Metrics } from "./metrics.ts";
import type { StreamOptions } from "./server-events.ts";
import { serveHttp } from "./server-http.ts";
import { serveSocket } from "./server-socket.ts";

export type ServeOptions = {
	context: Context;
	/** From socket-path.ts. */
	socketPath: string;
	/** On 127.0.0.1; 0 = any free one, null = no HTTP. */
	port: number | null;
	tokens: Tokens;
	/** Names under which HTTP may be called besides the loopback ones, with their port. */
	hosts?: readonly string[];
	stream?: Partial<StreamOptions>;
	/** The folder of the dashboard's bundle. */
	web?: string;
};

export type Serving = {
	/** Null without HTTP; `problem` says why when a port was asked for. */
	port: number | null;
	problem: string | null;
	/** No new calls; answers that are written still go out. */
	close(): Promise<void>;
};

/** A port that is taken costs only HTTP: the socket is what a home cannot do without. */
export async function serve({ context, socketPath, port, tokens, hosts, stream, web }: ServeOptions): Promise<Serving> {
	const door: Door = { context, tokens };
	const metrics = new Metrics(context.scheduler, context.startedAt, context.version);
	await metrics.open();
	const socket = await serveSocket(door, socketPath);
	let http: Awaited<ReturnType<typeof serveHttp>> | undefined;
	let problem: string | null = null;
	if (port !== null) {
		try {
			http = await serveHttp(door, { port, metrics, ...(hosts ? { hosts } : {}), ...(stream ? { stream } : {}), ...(web ? { web } : {}) });
		} catch (error) {
			const { code, message } = error as NodeJS.ErrnoException;
			problem = code === "EADDRINUSE" ? `port ${port} is taken by another program` : `no HTTP on port ${port}: ${message}`;
			context.log.warn(problem, { port });
		}
	}
	return {
		port: http?.port ?? null,
		problem,
		close: async () => {
			metrics.close();
			await Promise.all([socket.close(), http?.close()]);
		},
	};
}
