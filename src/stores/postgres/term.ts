// The term of a leader: how a process gets one, by the advisory lock of its session and a raised epoch, and how it learns who leads.

import { type Address, directly } from "../address.ts";
import { type Connection, type ConnectOptions, connect } from "./connection.ts";
import { settings } from "./dialect.ts";
import { CLOCK, leaderKey } from "./schema.ts";

export type BegunTerm = { epoch: number; txn: number; now: number };

/** A stopped leader keeps its session, and the lock with it, until these timeouts end the session. The leader pings within the first. */
const TIMEOUTS = "SET idle_session_timeout = 8000; SET idle_in_transaction_session_timeout = 5000;";

/** A connection for a leader: to the server itself, with the planner's settings. `direct` is false if a pooler answers all the same: then it must not lead. */
export const connectToLead = (
	address: Address,
	{ name, patienceMs, after }: Pick<ConnectOptions, "name" | "patienceMs" | "after">,
): Promise<Connection> =>
	connect(directly(address), { name, patienceMs, ...(after ? { after } : {}), settings: `${settings("SESSION")} ${TIMEOUTS}` });

/** Takes the lock of the leader for this session, if it is free. */
export async function tryToLead(connection: Connection, schema: string): Promise<boolean> {
	return (await connection.query(`SELECT pg_try_advisory_lock(${leaderKey(schema)})`)).rows[0]?.[0] === true;
}

/**
 * Raises the epoch, for the process that has the lock of the leader. Waits for a transaction of an earlier leader that is still open; whatever that leader
 * sends from now on is refused.
 */
export async function beginTerm(
	connection: Connection,
	schema: string,
	{ leader, rank }: { leader: string; rank: number },
): Promise<BegunTerm> {
	const { rows } = await connection.query(
		`WITH raised AS (UPDATE "${schema}".head SET epoch = epoch + 1, rank = $2, successor = 0 RETURNING epoch, txn)
INSERT INTO "${schema}".term (epoch, leader, first_txn, at) SELECT epoch, $1, txn, ${CLOCK} FROM raised RETURNING epoch, first_txn, at`,
		[leader, rank],
	);
	const [epoch, txn, now] = rows[0] ?? [];
	return { epoch: Number(epoch), txn: Number(txn), now: Number(now) };
}

/** The leader of the last term, who may lead still; null if there has been none. */
export async function lastLeader(connection: Connection, schema: string): Promise<string | null> {
	const { rows } = await connection.query(`SELECT leader FROM "${schema}".term ORDER BY epoch DESC LIMIT 1`);
	return rows[0] ? String(rows[0][0]) : null;
}

/** `tries` of a request that was set aside: no leader reads it any more. */
export const ASIDE = 100;
