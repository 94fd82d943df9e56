// GET /events: every event as it happens, as server-sent events. Reads from the store in the client's own pace, so nothing piles up for a slow one and
// nothing is missed by one that comes back with the last number it saw.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventRow } from "../scheduler.ts";
import type { Context } from "./context.ts";
import { eventDocument } from "./documents.ts";

export type StreamOptions = {
	heartbeatMs: number;
	/** Who has not read for so long is cut off; it comes back where it was. */
	stallMs: number;
};
const DEFAULTS: StreamOptions = { heartbeatMs: 15_000, stallMs: 60_000 };

type Reply = { status: number; headers: Record<string, string>; body: string };

/** A reply means that there will be no stream. */
export async function streamEvents(
	context: Context,
	request: IncomingMessage,
	response: ServerResponse,
	url: URL,
	given: Partial<StreamOptions> = {},
): Promise<Reply | undefined> {
	const options = { ...DEFAULTS, ...given };
	// After a break the browser sends the last number it saw; the address still has the first one.
	const asked = request.headers["last-event-id"]?.toString() ?? url.searchParams.get("since") ?? undefined;
	if (asked !== undefined && !/^\d{1,15}$/.test(asked)) return bad("since must be a number");
	const last = await context.scheduler.lastEvent();
	const since = asked === undefined ? last : Number(asked);
	// A proxy that holds streams back lets go of what has an end.
	if (url.searchParams.has("once")) return once(context, since, last);
	response.writeHead(200, {
		"Content-Type": "text/event-stream; charset=utf-8",
		"Cache-Control": "no-store",
		"X-Content-Type-Options": "nosniff",
		"X-Accel-Buffering": "no",
	});
	const out = new Outlet(context, response, options);
	// Newer than anything we have: the store is another one than the client knew.
	if (since > last) await out.write(gap(last + 1, since, last));
	// At once, so that a client can tell a stream that is held back from one in which nothing happens.
	else await out.write(": here\n\n");
	await pump(context, out, Math.min(since, last));
	return undefined;
}

const bad = (message: string): Reply => ({
	status: 400,
	headers: { "Content-Type": "application/json" },
	body: JSON.stringify({ schema_version: 1, error: { code: "invalid", message } }),
});

/** Events at most in one answer. */
const MOST = 2000;

/** What has happened since, and no more. */
async function once(context: Context, since: number, last: number): Promise<Reply> {
	let text = since > last ? gap(last + 1, since, last) : "";
	let [seen, count] = [Math.min(since, last), 0];
	if (seen < last)
		for await (const event of context.scheduler.events({ since: seen })) {
			if (event.seq > last) break;
			if (event.seq > seen + 1) text += gap(seen + 1, event.seq - 1, event.seq - 1);
			text += frame(event);
			seen = event.seq;
			if (seen >= last || ++count >= MOST) break;
		}
	return { status: 200, headers: { "Content-Type": "text/event-stream; charset=utf-8" }, body: text || ": here\n\n" };
}

const frame = (event: EventRow): string => `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(eventDocument(event))}\n\n`;
/** Events `from` to `to` cannot be told; the stream goes on after `id`. */
const gap = (from: number, to: number, id: number): string => `id: ${id}\nevent: gap\ndata: ${JSON.stringify({ from, to })}\n\n`;

async function pump(context: Context, out: Outlet, since: number): Promise<void> {
	const events = context.scheduler.events({ since })[Symbol.asyncIterator]();
	let seen = since;
	try {
		while (!out.closed) {
			const step = await events.next();
			if (step.done) break;
			const event = step.value;
			// Numbers go up by one: those that are missing are gone.
			if (event.seq > seen + 1) await out.write(gap(seen + 1, event.seq - 1, event.seq - 1));
			seen = event.seq;
			await out.write(frame(event));
		}
	} catch (error) {
		context.log.debug("an event stream ended", { error: error instanceof Error ? error.message : String(error) });
	} finally {
		void events.return?.().catch(() => {});
		out.end();
	}
}

/** The response with its heartbeats: a write resolves when there is room for the next one. */
class Outlet {
	closed = false;
	private cancel = () => {};
	private release = () => {};
	private stalled = 0;

	constructor(
		private readonly context: Context,
		private readonly response: ServerResponse,
		private readonly options: StreamOptions,
	) {
		response.on("drain", () => this.release());
		response.on("close", () => {
			this.closed = true;
			this.cancel();
			this.release();
		});
		this.beat();
	}

	async write(text: string): Promise<void> {
		if (this.closed || this.response.write(text)) return;
		await new Promise<void>((resolve) => {
			this.release = resolve;
		});
	}

	end(): void {
		this.cancel();
		if (!this.closed) this.response.end();
	}

	private beat(): void {
		const { heartbeatMs, stallMs } = this.options;
		this.cancel = this.context.host.after(heartbeatMs, () => {
			if (this.closed) return;
			this.stalled = this.response.writableNeedDrain ? this.stalled + heartbeatMs : 0;
			if (this.stalled >= stallMs) this.response.destroy();
			else if (this.stalled === 0) this.response.write(": heartbeat\n\n");
			this.beat();
		});
	}
}
