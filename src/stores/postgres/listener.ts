// Hears notices of other writers, and holds the leader's lock. Where its connection is lost, hints stop and another host leads until it is back; nothing
// else depends on it.
//
// A notice wakes the server's process behind each connection that listens. Where the connection of the transactions leads to the server itself, that one
// listens: the process that is woken is the one that is needed next, and this host's own notices wake no other process. Behind a pooler it is the one connection with state
// of a session that does, as it holds the lock in any case.

import { type Address, type Connection, connect } from "./connection.ts";
import { type Made, type News, Newsroom, onlyStarts } from "./news.ts";
import type { Notice } from "./statement.ts";

export type ListenerParts = {
	address: Address;
	channel: string;
	/** Whose notices these are. */
	self: string;
	patienceMs: number;
	after(ms: number, call: () => void): () => void;
	monotonic(): number;
	/** For the simulator: throws where this process is meant to be dead. */
	fault?: ((point: string) => void) | undefined;
};

const AGAIN_MS = 1_000;
/** Notices at most so often: the first at once, the rest together. */
const NOTICE_MS = 10;
/** For this long after a check, another host is assumed to lead still. */
const LEADS_MS = 5_000;
/** With a digest of the channel: the advisory lock that the leader holds. */
export const LEADER_LOCK = 7_551_222;
const listenTo = (channel: string): string => `LISTEN ${channel}`;
export const channelOf = ({ schema }: Address): string => `sluice_${schema}`;

export function openListener(parts: ListenerParts) {
	const { address, channel, self, after, monotonic } = parts;
	const calls = new Set<() => void>();
	let connection: Connection | undefined;
	/** The connection of the transactions, where that one hears. */
	let main: Connection | undefined;
	/** A pooler stands between, or is said to: we hear for ourselves, from then on. */
	let apart = address.direct !== address.url;
	let closed = false;
	let leads = false;
	let refusedAt = Number.NEGATIVE_INFINITY;
	let cancel = () => {};
	let starting: Promise<void> | undefined;
	let noticedAt = Number.NEGATIVE_INFINITY;
	let noticeDue: (() => void) | undefined;
	let carried = false;
	let newsroom: Newsroom | undefined;
	/** A notice has come that does not say what is new. */
	let warned = false;

	/** One by itself, for those that went out without. */
	const later = () =>
		after(NOTICE_MS, () => {
			noticeDue = undefined;
			noticedAt = monotonic();
			if (connection?.alive) void connection.query("SELECT pg_notify($1, $2)", [channel, self]).catch(() => {});
		});

	/** Null: something may have been missed. */
	const tell = (payload: string | null) => {
		const found = payload === null ? "something" : (newsroom?.take(payload) ?? "something");
		if (found === "ours") return;
		warned ||= found === "something";
		for (const call of calls) call();
	};

	async function open(): Promise<void> {
		try {
			parts.fault?.("listen");
			const next = await connect(
				{ ...address, url: address.direct },
				{ patienceMs: parts.patienceMs, name: `sluice ${self} listener`, time: parts },
			);
			next.onNotice(tell);
			if (apart) await next.query(listenTo(channel));
			if (closed) return void (await next.end());
			connection = next;
			// Something may have been missed.
			if (apart) tell(null);
		} catch {
			// Tried again below.
		}
	}

	/** Looks now and then whether it is still there: a connection that listens has no other way to tell. */
	function watch(): void {
		if (closed) return;
		cancel = after(AGAIN_MS, () => {
			void (async () => {
				if (main?.alive === false) {
					// `tell` makes the scheduler look for changes, which opens another connection that listens again.
					main = undefined;
					tell(null);
				}
				if (!connection?.alive) {
					leads = false;
					await open();
				} else if (leads) await connection.query("SELECT 1").catch(() => {});
				watch();
			})();
		});
	}

	return {
		/** What a connection for transactions is told once, if it is direct. */
		settings: apart ? "" : listenTo(channel),
		/** `secret`: can be read only by database roles that may read the jobs. */
		start(secret: string): void {
			newsroom = new Newsroom(self, secret);
			starting = open().then(watch);
		},
		/** A connection for transactions has been made. It listens already, if it is direct. */
		reached(next: Connection): void {
			if (next.direct && !apart) {
				main = next;
				next.onNotice(tell);
				// Something may have been missed.
				tell(null);
			} else if (!apart) {
				apart = true;
				main = undefined;
				if (connection?.alive) void connection.query(listenTo(channel)).then(() => tell(null), connection.cut);
			}
		},
		listen(call: () => void): () => void {
			calls.add(call);
			return () => calls.delete(call);
		},
		/** What others have told since a version; undefined: there is more than they have told. */
		news(version: number | null): News[] | undefined {
			if (warned) return undefined;
			return version === null ? [] : newsroom?.since(version);
		},
		/** What is new is about to be asked for: the answer will say more than what was told so far. */
		asking(): void {
			warned = false;
			newsroom?.clear();
		},
		/** A transaction begins. */
		begin(): void {
			carried = false;
		},
		/**
		 * What goes out with a transaction, if a notice is due; else one goes out soon for all that come meanwhile: with one of them, or by itself.
		 * `made`: what the transaction does.
		 */
		notice(made: Made): Notice | null {
			if (carried) return null;
			const now = monotonic();
			if (now - noticedAt >= NOTICE_MS && !onlyStarts(made.changes)) {
				noticedAt = now;
				carried = true;
				// In a stream of them, what was not told in between would be missing.
				const payload = noticeDue ? self : (newsroom?.payload(made) ?? self);
				if (noticeDue) {
					// Should this one come to nothing, theirs follows; while it is under way it would be one too many.
					noticeDue();
					noticeDue = later();
				}
				return { channel, payload };
			}
			noticeDue ??= later();
			return null;
		},
		/** For when there is time. */
		prepare: () => newsroom?.prepare(),
		/** The transaction is durable: if it had the notice with it, none has to follow. */
		committed(): void {
			if (!carried) return;
			noticeDue?.();
			noticeDue = undefined;
		},
		async lead(): Promise<boolean> {
			await starting;
			if (!connection?.alive) {
				leads = false;
				return false;
			}
			if (leads) return true;
			if (monotonic() - refusedAt < LEADS_MS) return false;
			try {
				const { rows } = await connection.query("SELECT pg_try_advisory_lock($1, hashtext($2))", [LEADER_LOCK, channel]);
				leads = rows[0]?.[0] === "t";
				if (!leads) refusedAt = monotonic();
			} catch {
				leads = false;
			}
			return leads;
		},
		async close(): Promise<void> {
			closed = true;
			noticeDue?.();
			cancel();
			await starting?.catch(() => {});
			await connection?.end();
		},
	};
}
