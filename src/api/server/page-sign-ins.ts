// Sign-ins of the dashboard page. Codes and page tokens exist only in this daemon's memory: after a restart none of them is valid, so a program
// that listens on the port while the daemon is down learns nothing useful.
//
//   code         `session.code` makes it for an admin; part of the link of `sluice open`; signs in once, within CODE_LASTS_MS
//   page token   `POST /sign-in` returns it for a code: `page.<term>.<secret>`; ends with the daemon, or after PAGE_IDLE_MS without a request or an open stream

import { createHash } from "node:crypto";
import type { Clock } from "../../contracts/host.ts";
import { secret } from "../../host/secret.ts";

/** Documented in docs/dashboard.md. */
export const CODE_LASTS_MS = 10 * 60_000;
const PAGE_IDLE_MS = 12 * 3_600_000;
/** Beyond these, the oldest code or the least recently used page is dropped. */
const MOST_CODES = 100;
const MOST_PAGES = 500;

/** 128 bits: a caller cannot guess one within the ten minutes of its life. */
const CODE_BYTES = 16;
const TOKEN_BYTES = 32;

export type PageRole = "admin" | "operator" | "viewer";
export type Page = { readonly role: PageRole; usedAt: number; streams: number };

/** Secrets are stored and looked up as digests, so that the time of a look-up reveals nothing about them. */
const digest = (text: string): string => createHash("sha256").update(text).digest("base64");

export class PageSignIns {
	/** Identifies this run of the daemon in its page tokens. Only pages that signed in know it: their tabs share one stream under a name made of it. */
	private readonly term = secret(9);
	private readonly codes = new Map<string, { role: PageRole; until: number }>();
	/** In the order of their last use. */
	private readonly pages = new Map<string, Page>();

	constructor(private readonly clock: Pick<Clock, "monotonic">) {}

	makeCode(role: PageRole): string {
		const code = secret(CODE_BYTES);
		this.codes.set(digest(code), { role, until: this.clock.monotonic() + CODE_LASTS_MS });
		dropFirst(this.codes, MOST_CODES);
		return code;
	}

	/** A code is valid once: the second caller that presents it gets nothing. */
	signIn(code: string): { token: string; role: PageRole } | undefined {
		const key = digest(code);
		const found = this.codes.get(key);
		this.codes.delete(key);
		const now = this.clock.monotonic();
		if (!found || found.until <= now) return undefined;
		const token = `page.${this.term}.${secret(TOKEN_BYTES)}`;
		this.pages.set(digest(token), { role: found.role, usedAt: now, streams: 0 });
		dropFirst(this.pages, MOST_PAGES);
		return { token, role: found.role };
	}

	/** The page with this token; counts as a use of it. */
	find(token: string): Page | undefined {
		if (!token.startsWith("page.")) return undefined;
		const key = digest(token);
		const page = this.pages.get(key);
		if (!page) return undefined;
		const now = this.clock.monotonic();
		this.pages.delete(key);
		if (page.streams === 0 && now - page.usedAt > PAGE_IDLE_MS) return undefined;
		page.usedAt = now;
		this.pages.set(key, page);
		return page;
	}

	/** A page with an open event stream is in use, even if nothing happens. Returns a function that ends that. */
	hold(page: Page): () => void {
		page.streams++;
		return () => {
			page.streams--;
			page.usedAt = this.clock.monotonic();
		};
	}

	/** Why a page token is not valid: `restarted`: an earlier run of the daemon issued it. Null: not a page token at all. */
	whyDead(token: string): "restarted" | "signed_out" | null {
		const term = /^page\.([\w-]{1,40})\.[\w-]{1,100}$/.exec(token)?.[1];
		if (term === undefined) return null;
		return term === this.term ? "signed_out" : "restarted";
	}
}

function dropFirst(map: Map<string, unknown>, most: number): void {
	for (const key of map.keys()) {
		if (map.size <= most) return;
		map.delete(key);
	}
}
