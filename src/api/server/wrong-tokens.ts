// Counts requests with wrong tokens and wrong sign-in codes, to limit what they cost: beyond a few per minute they are answered 429, and the log gets one
// line per minute for all of them. A right token is never refused because of wrong ones: the HTTP server checks it before it counts. Guessing is no danger
// in itself, because tokens have 256 random bits and sign-in codes 128.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";

/** Maximum requests with a wrong token that a source may make within the window. */
const MAX_WRONG = 10;
const WINDOW_MS = 60_000;
/** Maximum sources that are counted separately; beyond, the oldest is dropped. */
const MOST_SOURCES = 1000;
/** Maximum sources that the log names. */
const NAMED_SOURCES = 5;

/** All of 127.0.0.0/8 and ::1 is one source: a local user can call from any of these addresses. */
const sourceOf = (address: string): string => (/^(?:::ffff:)?127\.|^::1$/.test(address) ? "loopback" : address);

type WrongTokenParts = { clock: Pick<Clock, "monotonic">; host: Pick<Host, "after">; log: Pick<Log, "warn"> };

export class WrongTokens {
	private readonly sources = new Map<string, { since: number; count: number }>();
	/** Not logged yet. */
	private unlogged = { count: 0, from: new Set<string>() };
	private cancel: (() => void) | undefined;

	constructor(private readonly parts: WrongTokenParts) {}

	/** Counts one request. Returns 0 if it is within the limit; else milliseconds until the source gets a new window. */
	count(address: string): number {
		const source = sourceOf(address);
		this.note(source);
		const now = this.parts.clock.monotonic();
		const known = this.sources.get(source);
		const window = known && now - known.since < WINDOW_MS ? known : { since: now, count: 0 };
		window.count++;
		this.sources.delete(source);
		this.sources.set(source, window);
		if (this.sources.size > MOST_SOURCES) this.sources.delete(this.sources.keys().next().value as string);
		return window.count <= MAX_WRONG ? 0 : window.since + WINDOW_MS - now;
	}

	/** Whether the next request of this source would be over the limit. */
	isFull(address: string): boolean {
		const known = this.sources.get(sourceOf(address));
		return known !== undefined && this.parts.clock.monotonic() - known.since < WINDOW_MS && known.count >= MAX_WRONG;
	}

	/** Writes to the log what it does not have yet. */
	close(): void {
		this.cancel?.();
		this.writeLog();
	}

	private note(source: string): void {
		this.unlogged.count++;
		if (this.unlogged.from.size < NAMED_SOURCES) this.unlogged.from.add(source);
		this.cancel ??= this.parts.host.after(WINDOW_MS, () => this.writeLog());
	}

	private writeLog(): void {
		this.cancel = undefined;
		const { count, from } = this.unlogged;
		if (count === 0) return;
		this.unlogged = { count: 0, from: new Set() };
		this.parts.log.warn("requests with a wrong token were refused on the HTTP server", {
			count,
			within_s: WINDOW_MS / 1000,
			from: [...from].join(","),
		});
	}
}
