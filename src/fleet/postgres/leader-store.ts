// The store of a term on PostgreSQL: scheduling tables through the leader's session, whose death ends the term, and messages in the same transactions. What is
// read of messages outside of transactions goes over the member's connection.

import { type Begun, type Changes, type Replies, type StoreRead, TermOver } from "../../contracts/store.ts";
import type { Connection } from "../../stores/postgres/connection.ts";
import { CLOCK } from "../../stores/postgres/schema.ts";
import type { PostgresStore } from "../../stores/postgres/store.ts";
import { ASIDE } from "../../stores/postgres/term.ts";
import type { ConsumedOf, Heartbeat, LeaderStore, Mail, Request, RequestId } from "../database.ts";

/** How long a number that is missing between visible ones counts as an insert that is not committed yet; each full look finds the rest. */
const GAP_MS = 10_000;
/** The leader reads at most so many requests at once. */
const READ_MAX = 20_000;
/** A member may sleep for long, and must then find its reply, or that nothing was done. */
const KEPT_MS = 30 * 86_400_000;

export type LeaderStoreParts = {
	store: PostgresStore;
	/** The leader's session. */
	session: Connection;
	schema: string;
	rank: number;
	/** The member's connection. */
	reach(): Promise<Connection>;
	monotonic(): number;
	/** Replies for these members are committed. */
	onReplies(members: string[]): void;
};

export class PostgresLeaderStore implements LeaderStore {
	private readonly s: string;
	private replied: string[] = [];
	/** Requests are numbered in the order of their inserts, but become visible in that of their commits. Up to `floor` all were read; above it those in `seen`, with the time. */
	private floor = 0;
	private readonly seen = new Map<number, number>();

	constructor(private readonly parts: LeaderStoreParts) {
		this.s = `"${parts.schema}"`;
	}

	begin(): Begun {
		this.replied = [];
		return this.parts.store.begin();
	}

	read<R extends StoreRead>(request: R): Replies[R["read"]] | Promise<Replies[R["read"]]> {
		return this.parts.store.read(request);
	}

	write(changes: Changes): void | Promise<void> {
		return this.parts.store.write(changes);
	}

	async commit(): Promise<void> {
		await this.parts.store.commit();
		if (this.replied.length > 0) this.parts.onReplies(this.replied);
	}

	rollback(): void | Promise<void> {
		return this.parts.store.rollback();
	}

	close(): void | Promise<void> {
		return this.parts.store.close();
	}

	attach({ taken, dropped, aside, replies, consumed, assigned, heartbeats }: Mail): void {
		const { s } = this;
		const { store } = this.parts;
		const ids = (some: readonly RequestId[]) => [some.map(({ member }) => member), some.map(({ n }) => n)];
		const deleting = `DELETE FROM ${s}.request AS r USING unnest($1::text[], $2::bigint[]) AS t(member, n) WHERE r.member = t.member AND r.n = t.n`;
		if (taken.length > 0) store.attach([{ text: `${deleting} AND NOT r.void`, values: ids(taken), rows: taken.length }]);
		if (dropped.length > 0) store.attach([{ text: deleting, values: ids(dropped) }]);
		if (aside.length > 0) {
			const text = `UPDATE ${s}.request AS r SET tries = ${ASIDE} FROM unnest($1::text[], $2::bigint[]) AS t(member, n) WHERE r.member = t.member AND r.n = t.n`;
			store.attach([{ text, values: ids(aside) }]);
		}
		if (replies.length > 0) {
			const text = `INSERT INTO ${s}.reply (member, n, at, error, body) SELECT r.member, r.n, ${CLOCK}, r.error, r.body
FROM unnest($1::text[], $2::bigint[], $3::boolean[], $4::text[]) AS r(member, n, error, body) ON CONFLICT (member, n) DO NOTHING`;
			store.attach([{ text, values: [...ids(replies), replies.map(({ failed }) => failed), replies.map(({ body }) => body)] }]);
			this.replied = [...new Set(replies.map(({ member }) => member))];
		}
		if (consumed.length > 0) {
			const text = `INSERT INTO ${s}.member (id, floor, above, seen_at) SELECT m.id, m.floor, m.above, ${CLOCK}
FROM unnest($1::text[], $2::bigint[], $3::text[]) AS m(id, floor, above)
ON CONFLICT (id) DO UPDATE SET floor = excluded.floor, above = excluded.above, seen_at = excluded.seen_at`;
			const above = consumed.map((one) => JSON.stringify(one.above));
			store.attach([{ text, values: [consumed.map(({ member }) => member), consumed.map(({ floor }) => floor), above] }]);
		}
		if (assigned.length > 0) {
			const text = `INSERT INTO ${s}.box (host, version) SELECT host, 1 FROM unnest($1::text[]) AS b(host) ON CONFLICT (host) DO UPDATE SET version = box.version + 1`;
			store.attach([{ text, values: [assigned] }]);
		}
		this.attachHeartbeats(heartbeats);
	}

	private attachHeartbeats(heartbeats: readonly Heartbeat[]): void {
		const { s } = this;
		const columns = (some: readonly Heartbeat[]) => [some.map(({ host }) => host), some.map(({ life }) => life), some.map(({ at }) => at)];
		const rows = "unnest($1::text[], $2::bigint[], $3::double precision[]) AS b(host, life, at)";
		const [open, closed] = [heartbeats.filter((one) => one.open), heartbeats.filter((one) => !one.open)];
		if (open.length > 0) {
			const text = `INSERT INTO ${s}.heartbeat (host, life, at, open) SELECT host, life, at, true FROM ${rows}
ON CONFLICT (host) DO UPDATE SET life = excluded.life, at = excluded.at, open = true`;
			this.parts.store.attach([{ text, values: columns(open) }]);
		}
		if (closed.length === 0) return;
		const same = "h.host = b.host AND h.life = b.life";
		this.parts.store.attach([
			{ text: `UPDATE ${s}.heartbeat AS h SET open = false FROM ${rows} WHERE ${same}`, values: columns(closed) },
			// A host that has beaten since the leader looked is alive: the transaction must not give it up.
			{ text: `UPDATE ${s}.heartbeat AS h SET open = false FROM ${rows} WHERE ${same} AND h.at > b.at`, values: columns(closed), rows: 0 },
		]);
	}

	async requests(which: "new" | "all"): Promise<Request[]> {
		const { rows } = await this.ask(
			`SELECT id, member, n, messages, name, args, "by", until, tries FROM ${this.s}.request WHERE id > $1 AND NOT void AND tries < ${ASIDE} ORDER BY id LIMIT ${READ_MAX}`,
			[which === "all" ? 0 : this.floor],
		);
		this.raiseFloor(rows.map(([id]) => Number(id)));
		return rows.map(
			([, member, n, messages, name, args, by, until, tries]) => ({ member, n, messages, name, args, by, until, tries }) as Request,
		);
	}

	/** Without a gap the next look begins behind what was read: it meets neither claims that stand nor rows that are consumed. */
	private raiseFloor(ids: readonly number[]): void {
		const { seen } = this;
		const now = this.parts.monotonic();
		for (const id of ids) if (id > this.floor && !seen.has(id)) seen.set(id, now);
		while (seen.delete(this.floor + 1)) this.floor++;
		for (const [id, at] of seen) if (at <= now - GAP_MS) this.floor = Math.max(this.floor, id);
		for (const id of seen.keys()) if (id <= this.floor) seen.delete(id);
	}

	async withdrawn(): Promise<RequestId[]> {
		const { rows } = await this.ask(`SELECT member, n FROM ${this.s}.request WHERE void LIMIT ${READ_MAX}`);
		return rows.map(([member, n]) => ({ member, n }) as RequestId);
	}

	async heartbeats(): Promise<Heartbeat[]> {
		const { rows } = await this.ask(`SELECT host, life, at, open FROM ${this.s}.heartbeat`);
		return rows.map(([host, life, at, open]) => ({ host, life, at, open }) as Heartbeat);
	}

	async consumed(): Promise<ConsumedOf[]> {
		const { rows } = await this.ask(`SELECT id, floor, above FROM ${this.s}.member`);
		return rows.map(([member, floor, above]) => ({ member, floor, above: JSON.parse(String(above)) }) as ConsumedOf);
	}

	async countTry({ member, n }: RequestId): Promise<void> {
		await this.ask(`UPDATE ${this.s}.request SET tries = tries + 1 WHERE member = $1 AND n = $2`, [member, n]);
	}

	async sweepMail(): Promise<void> {
		await this.ask(`DELETE FROM ${this.s}.reply WHERE at < ${CLOCK} - ${KEPT_MS}`);
		await this.ask(`DELETE FROM ${this.s}.member WHERE seen_at < ${CLOCK} - ${KEPT_MS}`);
	}

	/** Also keeps the leader's session from being ended as idle, and finds out that it was. */
	async isOutdated(): Promise<boolean> {
		try {
			const { rows } = await this.parts.session.query(`SELECT successor FROM ${this.s}.head`);
			return Number(rows[0]?.[0]) > this.parts.rank;
		} catch (cause) {
			throw new TermOver("its session with the database has ended", { doubt: false, txn: 0, cause });
		}
	}

	private async ask(text: string, values: readonly unknown[] = []) {
		return (await this.parts.reach()).query(text, values);
	}
}
