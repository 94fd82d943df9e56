// The dashboard's files, read once from the bundle: page, code and style, for every local user on the loopback interface. The data comes through /rpc and
// /events, with a token.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HttpReply } from "./reply.ts";

const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" } as const;

/** Paths of the bundle: the page, its code and style, and the parts of the code that views load when they are opened. */
const PATH = /^\/(?:$|(?:app|graph-worker)\.js$|app\.css$|chunks\/[\w-]+\.js$)/;

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

/**
 * `folder`: the bundle. `term`: a secret of this run of the daemon, part of every ETag: a program that had the port before can leave a file of its own in the
 * browser's cache, but cannot name it so that the daemon confirms it. Undefined for an unknown path.
 */
export function webFiles(folder: string, term: string): (path: string) => HttpReply | undefined {
	const read = new Map<string, HttpReply>();
	return (path) => {
		if (!PATH.test(path)) return undefined;
		const known = read.get(path);
		if (known) return known;
		const name = path === "/" ? "index.html" : path.slice(1);
		const headers = {
			"Content-Type": TYPES[name.slice(name.lastIndexOf(".") + 1) as keyof typeof TYPES],
			"Content-Security-Policy": POLICY,
			"Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control": "no-cache",
		};
		try {
			const body = readFileSync(join(folder, name), "utf8");
			const tag = createHash("sha256").update(term).update(body).digest("base64url").slice(0, 27);
			const reply = { status: 200, headers: { ...headers, ETag: `"${tag}"` }, body };
			read.set(path, reply);
			return reply;
		} catch {
			// A part of an older build: the page says that it has to be loaded anew.
			if (path.startsWith("/chunks/")) return { status: 404, headers, body: "This part of the dashboard is of another build.\n" };
			const words = "The dashboard is not built here: run `npm run build`.\n";
			return { status: 503, headers: { ...headers, "Content-Type": "text/plain; charset=utf-8" }, body: words };
		}
	};
}
