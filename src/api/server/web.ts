// The dashboard's files, read once from the bundle: page, code and style, for every local user on the loopback interface. The data comes through /rpc and
// /events, with a token.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HttpReply } from "./reply.ts";

const FILES = {
	"/": ["index.html", "text/html; charset=utf-8"],
	"/app.js": ["app.js", "text/javascript; charset=utf-8"],
	"/app.css": ["app.css", "text/css; charset=utf-8"],
} as const;

/** Nothing from other origins, nothing inline, no framing; its worker is its own code. */
const POLICY = [
	"default-src 'none'",
	"script-src 'self'",
	"worker-src 'self'",
	"style-src 'self'",
	"connect-src 'self'",
	"img-src 'self' data:",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
].join("; ");

/** `folder`: the bundle. Undefined for an unknown path. */
export function webFiles(folder: string): (path: string) => HttpReply | undefined {
	const read = new Map<string, HttpReply>();
	return (path) => {
		if (!Object.hasOwn(FILES, path)) return undefined;
		const known = read.get(path);
		if (known) return known;
		const [name, type] = FILES[path as keyof typeof FILES];
		const headers = {
			"Content-Type": type,
			"Content-Security-Policy": POLICY,
			"Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control": "no-cache",
		};
		try {
			const reply = { status: 200, headers, body: readFileSync(join(folder, name), "utf8") };
			read.set(path, reply);
			return reply;
		} catch {
			const words = "The dashboard is not built here: run `npm run build`.\n";
			return { status: 503, headers: { ...headers, "Content-Type": "text/plain; charset=utf-8" }, body: words };
		}
	};
}
