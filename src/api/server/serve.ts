// Starts a daemon's servers: the socket, HTTP on the loopback interface if a port is given, and on request one more that is shared on the network.

import { SluiceError } from "../../core/errors.ts";
import type { Context, Tokens } from "../context.ts";
import type { RpcServer } from "../dispatch.ts";
import { type HttpOptions, type HttpServing, serveHttp } from "./http.ts";
import { Metrics } from "./metrics.ts";
import { type PageRole, PageSignIns } from "./page-sign-ins.ts";
import { PeopleBook } from "./people-book.ts";
import { serveSocket } from "./socket.ts";

export type ServeOptions = {
	context: Context;
	/** From socket-path.ts. */
	socketPath: string;
	/** On 127.0.0.1; 0 = any free port, null = no HTTP. */
	port: number | null;
	/** If the port is taken: `next` tries the next ports, `refuse` rejects with a `conflict`. */
	taken?: "next" | "refuse";
	tokens: Tokens;
} & Omit<HttpOptions, "port" | "metrics" | "address" | "tls">;

type ShareOptions = Pick<HttpOptions, "port" | "tls" | "names"> & { address: string };

export type Serving = {
	/** Null without HTTP. `problem`: why there is none, or why it is another port than requested. */
	port: number | null;
	problem: string | null;
	/** As RPC method `session.code`. */
	signInCode(role: PageRole): string;
	/** Opens one more HTTP server. Rejects if it cannot listen there. */
	share(options: ShareOptions): Promise<HttpServing>;
	/** Accepts no new calls; answers that are already written are still sent. */
	close(): Promise<void>;
};

/** How many ports above a taken one are tried before any free port. */
const NEXT_PORTS = 50;

type Http = { port: number | null; problem: string | null; close(): Promise<void> };

/**
 * If HTTP fails, the socket is still opened: a home cannot do without it. The socket comes last, because a command that waits for the daemon considers it
 * started as soon as the socket answers.
 */
export async function serve({ context, socketPath, port, taken = "next", tokens, ...more }: ServeOptions): Promise<Serving> {
	const people = new PeopleBook(context);
	const rpc: RpcServer = { context, tokens, pages: new PageSignIns(context.clock), people };
	const metrics = new Metrics(context.scheduler, context.startedAt, context.version);
	const http = await openHttp(rpc, port, taken, { metrics, ...more });
	try {
		await Promise.all([metrics.open(), people.open()]);
		const socket = await serveSocket(rpc, socketPath);
		return {
			port: http.port,
			problem: http.problem,
			signInCode: (role) => rpc.pages.makeCode(role),
			share: (options) => serveHttp(rpc, { metrics, ...more, ...options }),
			close: async () => {
				metrics.close();
				people.close();
				await Promise.all([socket.close(), http.close()]);
			},
		};
	} catch (error) {
		await http.close();
		throw error;
	}
}

async function openHttp(rpc: RpcServer, port: number | null, taken: "next" | "refuse", more: Omit<HttpOptions, "port">): Promise<Http> {
	const { log } = rpc.context;
	const none = (problem: string | null): Http => {
		if (problem !== null) log.warn(problem, { port });
		return { port: null, problem, close: async () => {} };
	};
	if (port === null) return none(null);
	for (const one of portsFrom(port, taken)) {
		try {
			const http = await serveHttp(rpc, { port: one, ...more });
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
