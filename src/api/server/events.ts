// GET /events: every event as it happens, as server-sent events. Reads from the store at the client's own pace, so nothing piles up for a slow client, and
// a client that reconnects with the last number it saw misses nothing. Between them come frames about the progress of live runs, which have no number.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { EventRow } from "../../contracts/scheduler.ts";
import { messageOf } from "../../core/errors.ts";
import type { Caller, Context } from "../context.ts";
import type { RpcServer } from "../dispatch.ts";
import { eventDocument } from "../documents.ts";
import { progressFrames, streamProgress } from "./progress-stream.ts";
import { type HttpReply, refusal } from "./reply.ts";

export type StreamOptions = {
	heartbeatMs: number;
	/** A client that has not read for this long is disconnected; it can reconnect where it was. */
	stallMs: number;
	/** Streams that one caller may have open at a time: each holds events that its client has not read yet. */
	maxStreams: number;
};
const DEFAULTS: StreamOptions = { heartbeatMs: 15_000, stallMs: 60_000, maxStreams: 100 };

type Exchange = { caller: Caller; request: IncomingMessage; response: ServerResponse; url: URL };

/** Opens streams. `closed` is called when the response is. A reply means that there will be no stream. */
export function eventStreams({ context, people }: Pick<RpcServer, "context" | "people">, given: Partial<StreamOptions> = {}) {
	const options = { ...DEFAULTS, ...given };
	/** How many each caller has open. */
	const open = new Map<string, number>();
	/** Streams of people. A person who was changed is cut off: a page that may still read comes back, and asks what it may do. */
	const ofPeople = new Set<{ name: string; response: ServerResponse }>();
	const unfollow = people.onChange((name) => {
		for (const one of ofPeople) if (one.name === name) one.response.destroy();
	});
	const openStream = async ({ caller, request, response, url }: Exchange, closed?: () => void): Promise<HttpReply | undefined> => {
		if (closed) response.once("close", closed);
		const name = `${caller.role} ${caller.by}`;
		const count = (open.get(name) ?? 0) + 1;
		if (count > options.maxStreams) return refusal(429, "limit", "this caller has too many event streams open", { "Retry-After": "1" });
		open.set(name, count);
		if (caller.person) {
			const own = { name: caller.person.name, response };
			ofPeople.add(own);
			response.once("close", () => ofPeople.delete(own));
		}
		response.once("close", () => {
			const left = (open.get(name) ?? 1) - 1;
			if (left === 0) open.delete(name);
			else open.set(name, left);
		});
		return streamEvents(context, request, response, url, options);
	};
	return { openStream, close: unfollow };
}

async function streamEvents(
	context: Context,
	request: IncomingMessage,
	response: ServerResponse,
	url: URL,
	options: StreamOptions,
): Promise<HttpReply | undefined> {
	// After a break the browser sends the last number it saw; the address still has the first one.
	const asked = request.headers["last-event-id"]?.toString() ?? url.searchParams.get("since") ?? undefined;
	if (asked !== undefined && !/^\d{1,15}$/.test(asked)) return refusal(400, "invalid", "since must be a number");
	const last = await context.scheduler.lastEvent();
	const since = asked === undefined ? last : Number(asked);
	// A proxy that buffers streams passes on a response that ends.
	if (url.searchParams.has("once")) return once(context, since, last);
	response.writeHead(200, {
		"Content-Type": "text/event-stream; charset=utf-8",
		"Cache-Control": "no-store",
		"X-Content-Type-Options": "nosniff",
		"X-Accel-Buffering": "no",
	});
	const out = new Outlet(context, response, options);
	// Higher than any event we have: the client knew another store.
	if (since > last) await out.write(gap(last + 1, since, last));
	// Sent at once, so that a client can distinguish a buffered stream from one in which nothing happens.
	else await out.write(": here\n\n");
	if (!out.closed)
		response.once(
			"close",
			streamProgress(context, (text) => out.offer(text)),
		);
	await pump(context, out, Math.min(since, last));
	return undefined;
}

/** Maximum events in one answer. */
const MAX_EVENTS = 2000;

/** Sends the events since `since`, and ends. */
async function once(context: Context, since: number, last: number): Promise<HttpReply> {
	let text = since > last ? gap(last + 1, since, last) : "";
	let [seen, count] = [Math.min(since, last), 0];
	if (seen < last)
		for await (const event of context.scheduler.events({ since: seen })) {
			if (event.seq > last) break;
			if (event.seq > seen + 1) text += gap(seen + 1, event.seq - 1, event.seq - 1);
			text += frame(event);
			seen = event.seq;
			if (seen >= last || ++count >= MAX_EVENTS) break;
		}
	return {
		status: 200,
		headers: { "Content-Type": "text/event-stream; charset=utf-8" },
		body: text + progressFrames(context) || ": here\n\n",
	};
}

const frame = (event: EventRow): string => `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(eventDocument(event))}\n\n`;
/** Events `from` to `to` are no longer available; the stream continues after `id`. */
const gap = (from: number, to: number, id: number): string => `id: ${id}\nevent: gap\ndata: ${JSON.stringify({ from, to })}\n\n`;

async function pump(context: Context, out: Outlet, since: number): Promise<void> {
	const events = context.scheduler.events({ since })[Symbol.asyncIterator]();
	let seen = since;
	try {
		while (!out.closed) {
			const step = await events.next();
			if (step.done) break;
			const event = step.value;
			// Event numbers are consecutive: a missing one was deleted.
			if (event.seq > seen + 1) await out.write(gap(seen + 1, event.seq - 1, event.seq - 1));
			seen = event.seq;
			await out.write(frame(event));
		}
	} catch (error) {
		context.log.debug("an event stream ended", { error: messageOf(error) });
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

	/** Writes a text that may be left out, unless the client has to read first. Returns whether it was written. */
	offer(text: string): boolean {
		if (this.closed || this.response.writableNeedDrain) return false;
		this.response.write(text);
		return true;
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
