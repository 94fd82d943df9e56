// The HTTP server, on the loopback interface or shared on the network with TLS: POST /rpc, /sign-in, /sign-out, GET /events, /metrics, /health, and the
// dashboard at /.
//
//   Host or Origin that is not ours          403   (another site's page, or a DNS name that points to us)
//   no token, a wrong one                    401
//   a wrong one after many others            429   (a right one is always accepted)
//   anything else                            404, 405, 413

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { openFilesLimit } from "../../host/open-files.ts";
import { secret } from "../../host/secret.ts";
import { answerText, type RpcServer } from "../dispatch.ts";
import { LIMITS } from "../protocol.ts";
import { compressed } from "./compress.ts";
import { capConnections } from "./connection-cap.ts";
import { eventStreams, type StreamOptions } from "./events.ts";
import { createCallers, type Identified } from "./http-callers.ts";
import type { Metrics } from "./metrics.ts";
import type { ProxyRule } from "./proxy.ts";
import { type HttpReply, json, notAllowed, refusal } from "./reply.ts";
import { webFiles } from "./web.ts";

export type HttpOptions = {
	/** 0 = any free port. */
	port: number;
	/** The address to listen on; the loopback interface unless given. */
	address?: string;
	/** Certificate and key, in PEM form; without them the server speaks plain HTTP. */
	tls?: { cert: string; key: string };
	/** Names and addresses under which we may be called, besides the loopback ones: `box.example` is also taken with our port. */
	names?: () => readonly string[];
	proxy?: () => ProxyRule | null;
	metrics: Metrics;
	stream?: Partial<StreamOptions>;
	/** The folder of the dashboard's bundle; without it there is no dashboard. */
	web?: string;
	/** How many files the process may have open, null if unknown; by default the system is asked. */
	files?: number | null;
};

type Exchange = Identified & { request: IncomingMessage; response: ServerResponse; url: URL };

/** A client sends its headers at once: a connection that does not is closed after a few seconds. */
const TIMES = { maxHeaderSize: 16_384, headersTimeout: 5000, requestTimeout: 60_000, connectionsCheckingInterval: 1000 };

const LOOPBACK = "127.0.0.1";
const LEAST_TLS = "TLSv1.2";

const HEADERS = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };

/** `renew`: another certificate, for connections from now on. */
export type HttpServing = { port: number; renew(tls: { cert: string; key: string }): void; close(): Promise<void> };

export async function serveHttp(rpc: RpcServer, options: HttpOptions): Promise<HttpServing> {
	const { context } = rpc;
	const page = options.web === undefined ? () => undefined : webFiles(options.web, secret(16));
	const callers = createCallers(rpc, options.proxy);
	const streams = eventStreams(rpc, options.stream);
	const server = await createHttpServer(options.tls, (request, response) => {
		response.on("error", () => {});
		void handle(request, response).catch((error: unknown) => {
			context.log.error("an HTTP request failed", { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
			if (!response.headersSent) send(response, refusal(500, "internal", "something went wrong inside the daemon"));
			else response.destroy();
		});
	});
	const cap = capConnections(server, options.files === undefined ? openFilesLimit() : options.files);
	server.on("clientError", refuseBroken);
	const port = await listen(server, options.port, options.address ?? LOOPBACK);
	const isOurs = hostCheck(port, options.names);

	async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const before = refuse(request, isOurs);
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
		if (file) return sendFile(request, response, file);
		if (url.pathname === "/sign-in") return send(response, request.method === "POST" ? await callers.signIn(request) : notAllowed("POST"));
		const found = callers.identify(request);
		if ("status" in found) return send(response, found);
		cap.known(request.socket);
		const reply = await route({ request, response, url, ...found });
		if (reply) send(response, await compressed(reply, request, "once"));
	}

	async function route(at: Exchange): Promise<HttpReply | undefined> {
		const { method } = at.request;
		switch (at.url.pathname) {
			case "/rpc":
				return method === "POST" ? answerRpc(at) : notAllowed("POST");
			case "/sign-out":
				return method === "POST" ? callers.signOut(at) : notAllowed("POST");
			case "/events":
				return method === "GET" ? streams.openStream(at, at.page && rpc.pages.hold(at.page)) : notAllowed("GET");
			case "/metrics":
				if (method !== "GET") return notAllowed("GET");
				return { status: 200, headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }, body: await options.metrics.text() };
			default:
				return refusal(404, "not_found", "there is nothing here", {});
		}
	}

	async function answerRpc({ request, caller }: Exchange): Promise<HttpReply> {
		const body = await readBody(request);
		if (body === undefined) return refusal(413, "limit", `more than ${LIMITS.line} bytes`, { Connection: "close" });
		const answer = await answerText(rpc, { caller }, body);
		return answer === undefined ? { status: 204 } : { status: 200, headers: { "Content-Type": "application/json" }, body: answer };
	}

	return {
		port,
		renew({ cert, key }) {
			if ("setSecureContext" in server) server.setSecureContext({ cert, key, minVersion: LEAST_TLS });
		},
		close: () =>
			new Promise((resolve) => {
				callers.close();
				streams.close();
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

/** Destroyed at once, because a client that keeps its side open would keep the descriptor. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
	if (!socket.writable || error.code === "ERR_HTTP_REQUEST_TIMEOUT") socket.destroy();
	else socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", () => socket.destroy());
}

/** Checked first: the Host that was called, and the Origin of the page. */
function refuse({ headers }: IncomingMessage, isOurs: (host: string) => boolean): HttpReply | undefined {
	const host = (headers.host ?? "").toLowerCase();
	if (!isOurs(host))
		return refusal(403, "forbidden", "this daemon has another name: an admin can add this one to the setting listen.names");
	const { origin } = headers;
	if (origin === undefined) return undefined;
	const ours = /^https?:\/\/(.+)$/.exec(origin.toLowerCase())?.[1];
	return ours !== undefined && isOurs(ours) ? undefined : refusal(403, "forbidden", "requests from other origins are not taken");
}

/** Our own names. A name that another site has pointed at this machine (DNS rebinding) is none of them. */
function hostCheck(port: number, names: HttpOptions["names"] = () => []): (host: string) => boolean {
	const loopback = new Set([`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]);
	return (host) => loopback.has(host) || names().some((name) => host === name || host === `${name}:${port}`);
}

/** The code for TLS is loaded only where the daemon is shared. */
async function createHttpServer(tls: HttpOptions["tls"], handler: RequestListener): Promise<Server | TlsServer> {
	if (!tls) return createServer(TIMES, handler);
	const https = await import("node:https");
	return https.createServer({ ...TIMES, ...tls, minVersion: LEAST_TLS, handshakeTimeout: TIMES.headersTimeout }, handler);
}

async function listen(server: Server | TlsServer, port: number, address: string): Promise<number> {
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, address, () => {
			server.off("error", reject);
			server.on("error", () => {});
			resolve();
		});
	});
	return (server.address() as AddressInfo).port;
}

function send(response: ServerResponse, { status, headers = {}, body }: HttpReply): void {
	response.writeHead(status, { ...HEADERS, ...headers });
	response.end(body);
}

async function sendFile(request: IncomingMessage, response: ServerResponse, file: HttpReply): Promise<void> {
	if (request.method !== "GET" && request.method !== "HEAD") return send(response, notAllowed("GET"));
	const tag = file.headers?.ETag;
	const isKnown =
		tag !== undefined &&
		String(request.headers["if-none-match"] ?? "")
			.split(",")
			.some((one) => one.trim() === tag);
	if (isKnown) send(response, { status: 304, headers: file.headers ?? {} });
	else send(response, await compressed(file, request, "kept"));
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
