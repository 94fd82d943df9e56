// The store of a term on PostgreSQL: scheduling tables through the leader's session, whose death ends the term, and messages in the same transactions. What is
// read of messages outside of transactions goes over the member's connection.

import { TermOver } from "../../contracts/store.ts";
import type { Connection } from "../../stores/postgres/connection.ts";
import { CLOCK } from "../../stores/postgres/schema.ts";
import { type Attached, PostgresStore, type TermOptions } from "../../stores/postgres/store.ts";
import { ASIDE } from "../../stores/postgres/term.ts";
import type { ConsumedOf, Heartbeat, LeaderStore, Mail, Request, RequestId } from "../database.ts";

/** How long a number that is missing between visible ones counts as an insert that is not committed yet; each full look finds the rest. */
const GAP_MS = 10_000;
/** The leader reads at most so many requests at once. */
const READ_MAX = 20_000;
/** A member may sleep for long, and must then find its reply, or that nothing was done. */
const KEPT_MS = 30 * 86_400_000;

export type LeaderStoreParts = {
	rank: number;
	/** The member's connection. */
	reach(): Promise<Connection>;
	monotonic(): number;
	/** Replies for these members are committed. */
	onReplies(members: string[]): void;
};

export class PostgresLeaderStore extends PostgresStore implements LeaderStore {
	private readonly s: string;
	/** Requests are numbered in the order of their inserts, but become visible in that of their commits. Up to `floor` all were read; above it those in `seen`, with the time. */
	private floor = 0;
	private readonly seen = new Map<number, number>();

	constructor(
		session: Connection,
		options: TermOptions,
		private readonly parts: LeaderStoreParts,
	) {
		super(session, options);
		this.s = `"${options.schema}"`;
	}

	override async commit(mail?: Mail): Promise<void> {
		await this.commitWith(mail ? this.statements(mail) : []);
		if (mail && mail.replies.length > 0) this.parts.onReplies([...new Set(mail.replies.map(({ member }) => member))]);
	}

	/** What happens to the tables of messages. Each statement takes its rows as one JSON list. */
	private statements(mail: Mail): Attached[] {
		const { s } = this;
		const given = (columns: string) => `json_to_recordset($1::json) AS m(${columns})`;
		const requests = `${given("member text, n bigint")} WHERE r.member = m.member AND r.n = m.n`;
		const lives = given("host text, life bigint, at double precision");
		const closing = `UPDATE ${s}.heartbeat AS h SET open = false FROM ${lives} WHERE h.host = m.host AND h.life = m.life`;
		const closed = mail.heartbeats.filter(({ open }) => !open);
		const all: { list: readonly unknown[]; text: string; rows?: number }[] = [
			{ list: mail.taken, text: `DELETE FROM ${s}.request AS r USING ${requests} AND NOT r.void`, rows: mail.taken.length },
			{ list: mail.dropped, text: `DELETE FROM ${s}.request AS r USING ${requests}` },
			{ list: mail.aside, text: `UPDATE ${s}.request AS r SET tries = ${ASIDE} FROM ${requests}` },
			{
				list: mail.replies,
				text: `INSERT INTO ${s}.reply (member, n, at, error, body) SELECT member, n, ${CLOCK}, failed, body
FROM ${given("member text, n bigint, failed boolean, body text")} ON CONFLICT (member, n) DO NOTHING`,
			},
			{
				list: mail.consumed,
				text: `INSERT INTO ${s}.member (id, floor, above, seen_at) SELECT member, floor, above, ${CLOCK}
FROM ${given("member text, floor bigint, above text")}
ON CONFLICT (id) DO UPDATE SET floor = excluded.floor, above = excluded.above, seen_at = excluded.seen_at`,
			},
			{
				list: mail.assigned,
				text: `INSERT INTO ${s}.box (host, version) SELECT host, 1 FROM json_array_elements_text($1::json) AS m(host)
ON CONFLICT (host) DO UPDATE SET version = box.version + 1`,
			},
			{
				list: mail.heartbeats.filter(({ open }) => open),
				text: `INSERT INTO ${s}.heartbeat (host, life, at, open) SELECT host, life, at, true FROM ${lives}
ON CONFLICT (host) DO UPDATE SET life = excluded.life, at = excluded.at, open = true`,
			},
			{ list: closed, text: closing },
			// A host that has beaten since the leader looked is alive: the transaction must not give it up.
			{ list: closed, text: `${closing} AND h.at > m.at`, rows: 0 },
		];
		return all.filter(({ list }) => list.length > 0).map(({ list, ...statement }) => ({ ...statement, values: [JSON.stringify(list)] }));
	}

	async requests(which: "new" | "all" | "withdrawn"): Promise<Request[]> {
		const wanted = which === "withdrawn" ? "void" : "id > $1";
		const { rows } = await this.ask(
			`SELECT id, member, n, messages, name, args, "by", until, void, tries FROM ${this.s}.request WHERE ${wanted} AND tries < ${ASIDE} ORDER BY id LIMIT ${READ_MAX}`,
			which === "withdrawn" ? [] : [which === "all" ? 0 : this.floor],
		);
		if (which !== "withdrawn") this.raiseFloor(rows.map(([id]) => Number(id)));
		return rows.map(
			([, member, n, messages, name, args, by, until, withdrawn, tries]) =>
				({ member, n, messages, name, args, by, until, withdrawn, tries }) as Request,
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
			const { rows } = await this.connection.query(`SELECT successor FROM ${this.s}.head`);
			return Number(rows[0]?.[0]) > this.parts.rank;
		} catch (cause) {
			throw new TermOver("its session with the database has ended", { doubt: false, txn: 0, cause });
		}
	}

	private async ask(text: string, values: readonly unknown[] = []) {
		return (await this.parts.reach()).query(text, values);
	}
}
