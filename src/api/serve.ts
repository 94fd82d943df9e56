// Opens the doors of a daemon: the socket, and HTTP where a port is given.

import { SluiceError } from "../core/errors.ts";
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
	/** Where it is taken: `next` takes the next free one, `refuse` rejects with a `conflict`. */
	taken?: "next" | "refuse";
	tokens: Tokens;
	/** Names under which HTTP may be called besides the loopback ones, with their port. */
	hosts?: readonly string[];
	stream?: Partial<StreamOptions>;
	/** The folder of the dashboard's bundle. */
	web?: string;
};

export type Serving = {
	/** Null without HTTP. `problem` says why there is none, or why it is another port than the one that was asked for. */
	port: number | null;
	problem: string | null;
	/** No new calls; answers that are written still go out. */
	close(): Promise<void>;
};

/** So many ports above a taken one are tried, then any free one. */
const NEXT_PORTS = 50;

type Http = { port: number | null; problem: string | null; close(): Promise<void> };

/**
 * Where HTTP cannot be had at all, the socket is there all the same: it is what a home cannot do without. The socket comes last: a command that waits for the
 * daemon takes it for started as soon as the socket answers.
 */
export async function serve({ context, socketPath, port, taken = "next", tokens, hosts, stream, web }: ServeOptions): Promise<Serving> {
	const door: Door = { context, tokens };
	const metrics = new Metrics(context.scheduler, context.startedAt, context.version);
	const more = { metrics, ...(hosts ? { hosts } : {}), ...(stream ? { stream } : {}), ...(web ? { web } : {}) };
	const http = await openHttp(door, port, taken, more);
	try {
		await metrics.open();
		const socket = await serveSocket(door, socketPath);
		return {
			port: http.port,
			problem: http.problem,
			close: async () => {
				metrics.close();
				await Promise.all([socket.close(), http.close()]);
			},
		};
	} catch (error) {
		await http.close();
		throw error;
	}
}

async function openHttp(
	door: Door,
	port: number | null,
	taken: "next" | "refuse",
	more: Omit<Parameters<typeof serveHttp>[1], "port">,
): Promise<Http> {
	const { log } = door.context;
	const none = (problem: string | null): Http => {
		if (problem !== null) log.warn(problem, { port });
		return { port: null, problem, close: async () => {} };
	};
	if (port === null) return none(null);
	for (const one of portsFrom(port, taken)) {
		try {
			const http = await serveHttp(door, { port: one, ...more });
			const problem = one === port ? null : `port ${port} is taken by another program: ${http.port} is used instead`;
			if (problem !== null) log.warn(problem, { port: http.port });
			return { ...http, problem };
		} catch (error) {
			const { code, message } = error as NodeJS.ErrnoException;
			const isTaken = code === "EADDRINUSE";
			if (taken === "refuse") throw refusal(port, isTaken ? "is taken by another program" : `cannot be used: ${message}`);
			if (!isTaken) return none(`no HTTP on port ${one}: ${message}`);
		}
	}
	return none(`port ${port} and all others are taken`);
}

function portsFrom(port: number, taken: "next" | "refuse"): number[] {
	if (taken === "refuse" || port === 0) return [port];
	const next = Array.from({ length: NEXT_PORTS }, (_, index) => port + 1 + index).filter((one) => one <= 65_535);
	return [port, ...next, 0];
}

const refusal = (port: number, why: string) =>
	new SluiceError("conflict", `port ${port} ${why}`, {
		field: "port",
		hint: "name another one, or leave --port out: then the next free one is taken",
	});
