// Makes replies smaller for clients that accept it: files of the page with Brotli, once; large answers with gzip, at its quickest. On a slow line (a tunnel)
// this is most of the time until a page is there.

import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { HttpReply } from "./reply.ts";

const br = promisify(brotliCompress);
const gz = promisify(gzip);

/** Below this a reply fits into a few packets anyway. */
const WORTH = 4096;
const KINDS = /^(?:text\/(?:html|css|javascript)|application\/json)/;

const files = new WeakMap<HttpReply, Promise<Buffer>>();

/** `kept`: the same reply is sent many times. */
export async function compressed(reply: HttpReply, request: IncomingMessage, kept: "kept" | "once"): Promise<HttpReply> {
	const { body, headers = {} } = reply;
	if (body === undefined || body.length < WORTH || !KINDS.test(headers["Content-Type"] ?? "")) return reply;
	const accepted = String(request.headers["accept-encoding"] ?? "");
	const with_ = (encoding: string, smaller: Buffer): HttpReply => ({
		...reply,
		headers: { ...headers, "Content-Encoding": encoding, Vary: "Accept-Encoding" },
		body: smaller,
	});
	if (kept === "kept" && /\bbr\b/.test(accepted)) {
		let made = files.get(reply);
		if (!made) {
			made = br(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
			files.set(reply, made);
		}
		return with_("br", await made);
	}
	return /\bgzip\b/.test(accepted) ? with_("gzip", await gz(body, { level: kept === "kept" ? 9 : 1 })) : reply;
}
