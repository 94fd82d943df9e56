// One stream of events for all tabs of a browser: browsers allow six connections to a server, and a stream takes one for good. The tab that has the lock reads
// the stream and passes it on; the others listen, and one of them takes over when it is gone.
//
//   lock       Web Locks: one tab leads. Its name is a digest, because any page of this origin can list the names of locks.
//   channel    BroadcastChannel: what the leading tab hears, in whole frames. Its name is secret: only tabs that are signed in to this run of the daemon know it,
//              so no page that another program left open on this port can listen or speak.
//
// Without these (a page that is not on the loopback interface has no Web Locks), each tab reads a stream of its own.

import type { RpcClient } from "./client.ts";

type Stream = RpcClient["stream"];

const hex = (bytes: ArrayBuffer): string => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const digest = async (text: string): Promise<string> => hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

/** What identifies this run of the daemon in a page token. */
const termOf = (token: string): string | undefined => /^page\.([^.]{8,})\./.exec(token)?.[1];

export const canShare = (token: string): boolean =>
	termOf(token) !== undefined &&
	typeof BroadcastChannel !== "undefined" &&
	typeof navigator !== "undefined" &&
	navigator.locks !== undefined &&
	globalThis.crypto?.subtle !== undefined;

/** The whole frames of a text that comes in pieces. */
export class Frames {
	private rest = "";

	take(text: string): string {
		const all = this.rest + text;
		const end = all.lastIndexOf("\n\n") + 2;
		if (end < 2) {
			this.rest = all;
			return "";
		}
		this.rest = all.slice(end);
		return all.slice(0, end);
	}
}

/** A stream like the client's own, of which all tabs together open one. */
export function shareStream(client: Pick<RpcClient, "stream" | "poll">, token: string): Stream {
	const term = termOf(token);
	if (term === undefined || !canShare(token)) return client.stream;
	return async (since, heard, signal) => {
		const [lock, name] = await Promise.all([digest(`lock ${term}`), digest(`channel ${term}`)]);
		const channel = new BroadcastChannel(name);
		/** What was heard before the events from before it were there. */
		let early: string[] | null = [];
		let leads = false;
		channel.onmessage = ({ data }: MessageEvent<unknown>) => {
			if (leads || typeof data !== "string") return;
			if (early) early.push(data);
			else heard(data);
		};
		const lead = async () => {
			leads = true;
			const frames = new Frames();
			await client.stream(
				since,
				(text) => {
					heard(text);
					const whole = frames.take(text);
					if (whole !== "") channel.postMessage(whole);
				},
				signal,
			);
		};
		const catchUp = async () => {
			// An answer has so many events at most; one without any has a comment, or the progress of runs.
			for (let text = await client.poll(since()); !leads; text = await client.poll(since())) {
				heard(text);
				if (!/^id:/m.test(text)) break;
			}
			const missed = early ?? [];
			early = null;
			if (!leads) for (const text of missed) heard(text);
		};
		const cut = new AbortController();
		const both = AbortSignal.any([signal, cut.signal]);
		try {
			const leading = navigator.locks.request(lock, { signal: both }, lead);
			// A tab that leads at once reads everything from the stream. Else it catches up, and the failure of that ends its turn as well.
			const following = navigator.locks
				.query()
				.then(({ held = [] }) => (held.some((one) => one.name === lock) && !leads ? catchUp() : undefined));
			await Promise.race([leading, following.then(() => leading)]);
		} finally {
			cut.abort();
			channel.close();
		}
	};
}
