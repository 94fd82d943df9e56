// Sends one HTTP request and reads a bounded answer. Follows no redirect, verifies certificates whatever NODE_TLS_REJECT_UNAUTHORIZED says, uses no proxy.

import { Agent as HttpAgent, type IncomingMessage, request as overHttp, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as overHttps } from "node:https";
import type { HttpAnswer, HttpPost, SendPost } from "../contracts/webhook.ts";
import { codeOf } from "../core/errors.ts";

/** How much of the answer is kept; a longer one is cut off with its connection. */
const KEPT_BYTES = 1000;
/** An answer up to this size is read to its end, so that its connection can be used again. */
const READ_BYTES = 64 * 1024;

/** Idle connections are few and short-lived: a webhook is no reason to keep a socket. */
const IDLE = { keepAlive: true, maxFreeSockets: 4, timeout: 5_000 };
const AGENTS = { "http:": new HttpAgent(IDLE), "https:": new HttpsAgent({ ...IDLE, rejectUnauthorized: true }) };

export const httpPost: SendPost = async (request) => {
	try {
		return await attempt(request);
	} catch (error) {
		// The receiver had closed the idle connection that was used: it has not seen the request, which goes out on a new one.
		if (error instanceof StaleConnection) return attempt(request, "new connection");
		throw error;
	}
};

class StaleConnection extends Error {}

function attempt({ url, headers, body, timeoutMs, signal }: HttpPost, connection?: "new connection"): Promise<HttpAnswer> {
	const address = new URL(url);
	const isTls = address.protocol === "https:";
	const options: RequestOptions = {
		method: "POST",
		headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
		agent: connection === "new connection" ? false : isTls ? AGENTS["https:"] : AGENTS["http:"],
		...(isTls ? { rejectUnauthorized: true } : {}),
		...(signal ? { signal } : {}),
	};
	return new Promise((resolve, reject) => {
		const request = (isTls ? overHttps : overHttp)(address, options);
		let isAnswered = false;
		const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
		const end = (call: () => void) => {
			clearTimeout(timer);
			call();
		};
		request.on("error", (error) => {
			const isStale = request.reusedSocket && !isAnswered && ["ECONNRESET", "EPIPE"].includes(codeOf(error));
			end(() => reject(isStale ? new StaleConnection() : error));
		});
		request.on("response", (response) => {
			isAnswered = true;
			readSome(response).then(
				(text) => end(() => resolve({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"], text })),
				(error) => end(() => reject(error)),
			);
		});
		request.end(body);
	});
}

/** The beginning of a body. The status has come already: of a body that is too long the rest is not read. */
function readSome(response: IncomingMessage): Promise<string> {
	return new Promise((resolve, reject) => {
		const kept: Buffer[] = [];
		let size = 0;
		const text = () => Buffer.concat(kept).subarray(0, KEPT_BYTES).toString("utf8");
		response.on("data", (chunk: Buffer) => {
			if (size < KEPT_BYTES) kept.push(chunk);
			size += chunk.length;
			if (size <= READ_BYTES) return;
			resolve(text());
			response.destroy();
		});
		response.on("end", () => resolve(text()));
		response.on("error", reject);
		response.on("close", () => reject(new Error("the answer was cut off")));
	});
}
