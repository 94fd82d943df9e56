// The HTTP door on the loopback interface: POST /rpc, GET /events, /metrics, /health, and the dashboard at /.
//
//   Host or Origin that is not ours          403   (another site's page, or a name that was pointed at us)
//   too many wrong tokens                    429
//   no token, a wrong one                    401
//   anything else                            404, 405, 413

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Caller } from "./context.ts";
import { answerText, type Door } from "./dispatch.ts";
import type { Metrics } from "./metrics.ts";
import { LIMITS } from "./protocol.ts";
import { type StreamOptions, streamEvents } from "./server-events.ts";
import { webFiles } from "./server-web.ts";
import { bearer, Lockout } from "./tokens.ts";

export type HttpOptions = {
	/** 0 = any free one. */
	port: number;
	/** Names under which we may be called besides the loopback ones: `box.example:7420`. */
	hosts?: readonly string[];
	metrics: Metrics;
	stream?: Partial<StreamOptions>;
	/** The folder of the dashboard's bundle; without it there is none. */
	web?: string;
};

type Reply = { status: number; headers?: Record<string, string>; body?: string };
type Exchange = { request: IncomingMessage; response: ServerResponse; url: URL; caller: Caller };

const HEADERS = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
const json = (status: number, body: unknown, headers = {}): Reply => ({
	status,
	headers: { "Content-Type": "application/json", ...headers },
	body: JSON.stringify(body),
});
const refusal = (status: number, code: string, message: string, headers = {}): Reply =>
	json(status, { schema_version: 1, error: { code, message } }, headers);

export async function serveHttp(door: Door, options: HttpOptions): Promise<{ port: number; close(): Promise<void> }> {
	const { context } = door;
	const page = options.web === undefined ? () => undefined : webFiles(options.web);
	const lockout = new Lockout(context.clock);
	const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 60_000 }, (request, response) => {
		response.on("error", () => {});
		void handle(request, response).catch((error: unknown) => {
			context.log.error("an HTTP request failed", { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
			if (!response.headersSent) send(response, refusal(500, "internal", "something went wrong inside the daemon"));
			else response.destroy();
		});
	});
	server.on("clientError", (_error, socket) => {
		if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
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
		const caller = identify(request);
		if ("status" in caller) return send(response, caller);
		const reply = await route({ request, response, url, caller });
		if (reply) send(response, reply);
	}

	/** Before anything is looked at: who is called, and from which page. */
	function refuse({ headers }: IncomingMessage): Reply | undefined {
		if (!hosts.has((headers.host ?? "").toLowerCase())) return refusal(403, "forbidden", "this daemon has another name");
		const { origin } = headers;
		if (origin === undefined) return undefined;
		const ours = /^https?:\/\/(.+)$/.exec(origin.toLowerCase())?.[1];
		return ours !== undefined && hosts.has(ours) ? undefined : refusal(403, "forbidden", "requests from other origins are not taken");
	}

	function identify(request: IncomingMessage): Caller | Reply {
		const challenge = { "WWW-Authenticate": 'Bearer realm="sluice"' };
		const address = request.socket.remoteAddress ?? "";
		const presented = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
		if (presented === undefined) return refusal(401, "unauthorised", "a bearer token is needed: the home's file token has it", challenge);
		const left = lockout.left(address);
		if (left > 0) return refusal(429, "locked_out", "too many wrong tokens", { "Retry-After": String(Math.ceil(left / 1000)) });
		const caller = bearer(presented, door.tokens, context.supervisor, "http");
		if (caller) return caller;
		lockout.failed(address);
		context.log.warn("a wrong token on the HTTP door", { address });
		return refusal(401, "unauthorised", "this token is not known", challenge);
	}

	async function route(at: Exchange): Promise<Reply | undefined> {
		const { method } = at.request;
		switch (at.url.pathname) {
			case "/rpc":
				return method === "POST" ? rpc(at) : notAllowed("POST");
			case "/events":
				if (method !== "GET") return notAllowed("GET");
				return streamEvents(context, at.request, at.response, at.url, options.stream);
			case "/metrics":
				if (method !== "GET") return notAllowed("GET");
				return { status: 200, headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }, body: await options.metrics.text() };
			default:
				return refusal(404, "not_found", "there is nothing here", {});
		}
	}

	async function rpc({ request, caller }: Exchange): Promise<Reply> {
		const body = await readBody(request);
		if (body === undefined) return refusal(413, "limit", `more than ${LIMITS.line} bytes`, { Connection: "close" });
		const answer = await answerText(door, { caller }, body);
		return answer === undefined ? { status: 204 } : { status: 200, headers: { "Content-Type": "application/json" }, body: answer };
	}

	return {
		port,
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

const notAllowed = (method: string): Reply => refusal(405, "request", `only ${method} is taken here`, { Allow: method });

function send(response: ServerResponse, { status, headers = {}, body }: Reply): void {
	response.writeHead(status, { ...HEADERS, ...headers });
	response.end(body);
}

/** undefined: too long. What is not UTF-8 cannot be JSON: it comes as a text that does not parse. */
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
