// A member's statements: requests, replies, heartbeats. The connection may go through a pooler; it is made anew when it is lost.

import { messageOf } from "../../core/errors.ts";
import type { Connection } from "../../stores/postgres/connection.ts";
import { CLOCK } from "../../stores/postgres/schema.ts";
import type { Polled, Post } from "../database.ts";
import { Unreachable } from "../database.ts";

export type PostParts = {
	schema: string;
	member: string;
	/** The name of this process's host. */
	host: string | null;
	/** Connects if there is no connection. */
	reach(): Promise<Connection>;
	/** A request is there: the leader may be notified. */
	onSent(): void;
	onClock(at: number): void;
};

export function openPost({ schema, member, host, reach, onSent, onClock }: PostParts): Post {
	const s = `"${schema}"`;
	const SEND = `WITH collected AS (DELETE FROM ${s}.reply WHERE member = $1 AND n = ANY($3::bigint[]))
INSERT INTO ${s}.request (member, n, at, messages, name, args, "by", until, void)
SELECT $1, r.n, ${CLOCK}, r.messages, r.name, r.args, r."by", r.until, r.withdrawn
FROM json_to_recordset($2::json) AS r(n bigint, messages int, name text, args text, "by" text, until double precision, withdrawn boolean)
ON CONFLICT (member, n) DO NOTHING`;
	const WITHDRAW = `INSERT INTO ${s}.request (member, n, at, messages, name, args, void) VALUES ($1, $2, ${CLOCK}, $3, '', '', true)
ON CONFLICT (member, n) DO UPDATE SET void = true`;
	const LOOK = `SELECT (SELECT txn FROM ${s}.head), coalesce((SELECT version FROM ${s}.box WHERE host = $2), 0), ${CLOCK},
(SELECT json_agg(json_build_array(n, error, body))::text FROM ${s}.reply WHERE member = $1 AND n <> ALL($3::bigint[]))`;
	const BEAT = `UPDATE ${s}.heartbeat SET at = greatest(at, ${CLOCK}) WHERE host = $1 AND life = $2 AND open RETURNING at`;

	const connection = async (): Promise<Connection> => {
		try {
			return await reach();
		} catch (cause) {
			// The database did not let this process in: no statement has left.
			throw new Unreachable(messageOf(cause), { cause });
		}
	};
	return {
		async send(requests, collected) {
			await (await connection()).query(SEND, [member, JSON.stringify(requests), collected]);
			onSent();
		},
		async withdraw({ n, messages }) {
			await (await connection()).query(WITHDRAW, [member, n, messages]);
		},
		async poll(collected): Promise<Polled> {
			const { rows } = await (await connection()).query(LOOK, [member, host, collected]);
			const [txn, assigned, at, replies] = rows[0] as [number, number, number, string | null];
			onClock(at);
			const found: [number, boolean, string][] = replies === null ? [] : JSON.parse(replies);
			return { txn, assigned, replies: found.map(([n, failed, body]) => ({ n, failed, body })) };
		},
		async beat(name, life) {
			const { rows } = await (await connection()).query(BEAT, [name, life]);
			return rows.length > 0;
		},
	};
}
