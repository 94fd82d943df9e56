// The HTTP server on the loopback interface: POST /rpc, POST /sign-in, GET /events, /metrics, /health, and the dashboard at /.
//
//   Host or Origin that is not ours          403   (another site's page, or a DNS name that points to us)
//   no token, a wrong one                    401
//   a wrong one after many others            429   (a right one is always accepted)
//   anything else                            404, 405, 413

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openFilesLimit } from "../../host/open-files.ts";
import type { Caller } from "../context.ts";
import { answerText, type RpcServer } from "../dispatch.ts";
import { LIMITS } from "../protocol.ts";
import { capConnections } from "./connection-cap.ts";
import { eventStreams, type StreamOptions } from "./events.ts";
import type { Metrics } from "./metrics.ts";
import type { Page } from "./page-sign-ins.ts";
import { bearer } from "./tokens.ts";
import { webFiles } from "./web.ts";
import { WrongTokens } from "./wrong-tokens.ts";

export type HttpOptions = {
	/** 0 = any free port. */
	port: number;
	/** Host names under which we may be called, besides the loopback ones: `box.example:7420`. */
	hosts?: readonly string[];
	metrics: Metrics;
	stream?: Partial<StreamOptions>;
	/** The folder of the dashboard's bundle; without it there is no dashboard. */
	web?: string;
	/** How many files the process may have open; null if unknown. */
	files?: number | null;
};

type Reply = { status: number; headers?: Record<string, string>; body?: string };
/** `page`: the caller is a page that has signed in. */
type Identified = { caller: Caller; page?: Page };
type Exchange = Identified & { request: IncomingMessage; response: ServerResponse; url: URL };

/** A client sends its headers at once: a connection that does not is closed after a few seconds. */
const TIMES = { maxHeaderSize: 16_384, headersTimeout: 5000, requestTimeout: 60_000, connectionsCheckingInterval: 1000 };

const HEADERS = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
const json = (status: number, body: unknown, headers = {}): Reply => ({
	status,
	headers: { "Content-Type": "application/json", ...headers },
	body: JSON.stringify(body),
});
const refusal = (status: number, code: string, message: string, headers = {}): Reply =>
	json(status, { schema_version: 1, error: { code, message } }, headers);

export async function serveHttp(rpc: RpcServer, options: HttpOptions): Promise<{ port: number; close(): Promise<void> }> {
	const { context } = rpc;
	const page = options.web === undefined ? () => undefined : webFiles(options.web);
	const wrong = new WrongTokens(context);
	const openStream = eventStreams(context, options.stream);
	const server = createServer(TIMES, (request, response) => {
		response.on("error", () => {});
		void handle(request, response).catch((error: unknown) => {
			context.log.error("an HTTP request failed", { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
			if (!response.headersSent) send(response, refusal(500, "internal", "something went wrong inside the daemon"));
			else response.destroy();
		});
	});
	const cap = capConnections(server, options.files === undefined ? openFilesLimit() : options.files);
	server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
		// Destroyed at once, because a client that keeps its side open would keep the descriptor.
		if (!socket.writable || error.code === "ERR_HTTP_REQUEST_TIMEOUT") socket.destroy();
		else socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", () => socket.destroy());
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(options.port, "127.0.0.1", () => {
			server.off("error", reject);
			server.on("error", () => {});
			resolve();
		});
	});
	const { port } = server.address() as AddressInfo;
	const hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, ...(options.hosts ?? [])]);

	async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const before = refuse(request);
		if (before) return send(response, before);
		let url: URL;
		try {
			url = new URL(request.url ?? "/", "http://localhost");
		} catch {
			return send(response, refusal(400, "request", "the address cannot be read"));
		}
		if (url.pathname === "/health")
			return send(response, request.method === "GET" ? json(200, { ok: true, version: context.version }) : notAllowed("GET"));
		const file = page(url.pathname);
		if (file) return send(response, request.method === "GET" || request.method === "HEAD" ? file : notAllowed("GET"));
		if (url.pathname === "/sign-in") return send(response, request.method === "POST" ? signIn(request) : notAllowed("POST"));
		const found = identify(request);
		if ("status" in found) return send(response, found);
		cap.known(request.socket);
		const reply = await route({ request, response, url, ...found });
		if (reply) send(response, reply);
	}

	/** Checked first: the Host that was called, and the Origin of the page. */
	function refuse({ headers }: IncomingMessage): Reply | undefined {
		if (!hosts.has((headers.host ?? "").toLowerCase())) return refusal(403, "forbidden", "this daemon has another name");
		const { origin } = headers;
		if (origin === undefined) return undefined;
		const ours = /^https?:\/\/(.+)$/.exec(origin.toLowerCase())?.[1];
		return ours !== undefined && hosts.has(ours) ? undefined : refusal(403, "forbidden", "requests from other origins are not taken");
	}

	/** A right token is accepted whatever wrong ones came before, so other users cannot lock the owner out. */
	function identify(request: IncomingMessage): Identified | Reply {
		const presented = presentedIn(request);
		if (presented === undefined) return refusal(401, "unauthorised", "a bearer token is needed: the home's file token has it", CHALLENGE);
		const caller = bearer(presented, rpc.tokens, context.supervisor, "http");
		if (caller) return { caller };
		const page = rpc.pages.find(presented);
		if (page) return { caller: { role: page.role, by: page.role === "viewer" ? "viewer" : "page", channel: "http" }, page };
		const dead = rpc.pages.whyDead(presented);
		// Pages that were open before a restart present a token of that term, once each. Such a token is not a guess, so it is not counted.
		if (dead === "signed_out") wrong.count(addressOf(request));
		if (dead !== null) return refusal(401, dead, DEAD[dead], CHALLENGE);
		return refuseWrong(request, "this token is not known");
	}

	/** Exchanges a code of `session.code` for a page token. */
	function signIn(request: IncomingMessage): Reply {
		const code = presentedIn(request);
		if (code === undefined) return refusal(401, "unauthorised", "a sign-in code is needed: it is in the link of sluice open", CHALLENGE);
		const signed = rpc.pages.signIn(code);
		return signed
			? json(200, { schema_version: 1, ...signed })
			: refuseWrong(request, "this sign-in code is not known, was used already, or is too old: sluice open prints a new link");
	}

	function refuseWrong(request: IncomingMessage, message: string): Reply {
		const left = wrong.count(addressOf(request));
		if (left === 0) return refusal(401, "unauthorised", message, CHALLENGE);
		return refusal(429, "locked_out", `${message}; there were too many wrong ones`, { "Retry-After": String(Math.ceil(left / 1000)) });
	}

	async function route(at: Exchange): Promise<Reply | undefined> {
		const { method } = at.request;
		switch (at.url.pathname) {
			case "/rpc":
				return method === "POST" ? answerRpc(at) : notAllowed("POST");
			case "/events":
				return method === "GET" ? openStream(at, at.page && rpc.pages.hold(at.page)) : notAllowed("GET");
			case "/metrics":
				if (method !== "GET") return notAllowed("GET");
				return { status: 200, headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }, body: await options.metrics.text() };
			default:
				return refusal(404, "not_found", "there is nothing here", {});
		}
	}

	async function answerRpc({ request, caller }: Exchange): Promise<Reply> {
		const body = await readBody(request);
		if (body === undefined) return refusal(413, "limit", `more than ${LIMITS.line} bytes`, { Connection: "close" });
		const answer = await answerText(rpc, { caller }, body);
		return answer === undefined ? { status: 204 } : { status: 200, headers: { "Content-Type": "application/json" }, body: answer };
	}

	return {
		port,
		close: () =>
			new Promise((resolve) => {
				wrong.close();
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

const CHALLENGE = { "WWW-Authenticate": 'Bearer realm="sluice"' };
const DEAD = {
	restarted: "the daemon was restarted since this page signed in: sluice open prints a new link",
	signed_out: "this page was not used for too long and is signed out: sluice open prints a new link",
};

const addressOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? "";
const presentedIn = ({ headers }: IncomingMessage): string | undefined => /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];

const notAllowed = (method: string): Reply => refusal(405, "request", `only ${method} is taken here`, { Allow: method });

function send(response: ServerResponse, { status, headers = {}, body }: Reply): void {
	response.writeHead(status, { ...HEADERS, ...headers });
	response.end(body);
}

/** undefined: too long. A body that is not UTF-8 cannot be JSON: it becomes a text that does not parse. */
function readBody(request: IncomingMessage): Promise<string | undefined> {
	if (Number(request.headers["content-length"] ?? 0) > LIMITS.line) return Promise.resolve(undefined);
	return new Promise((resolve, reject) => {
		const pieces: Buffer[] = [];
		let length = 0;
		request.on("data", (piece: Buffer) => {
			length += piece.length;
			if (length > LIMITS.line) {
				request.pause();
				resolve(undefined);
			} else pieces.push(piece);
		});
		request.on("end", () => {
			try {
				resolve(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(pieces)));
			} catch {
				resolve("");
			}
		});
		request.on("error", reject);
	});
}
