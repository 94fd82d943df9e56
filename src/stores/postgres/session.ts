// What transactions want of their session, and how they take the lock. Behind a pooler each says it anew, with SET LOCAL; a connection to the server itself is
// told once, and has its statements prepared.

import type { Connection, Result } from "./connection.ts";
import { lastOf } from "./writers.ts";

/** `at`: the database's time. */
export type Head = { version: number; at: number; counters: string | null };

export type Session = {
	/** Once, where the connection stays the same. */
	settings: string;
	/** Goes out at once: what is asked behind it is answered with the lock. */
	takeLock(connection: Connection): Promise<Head>;
	/** The same without the lock: what is asked behind it is answered as of this moment. Only where the connection is direct. */
	look(connection: Connection): Promise<Head>;
	/** The last transaction of a writer. The lock waits for what may still be under way; a new version keeps out what may still arrive. */
	last(connection: Connection, writer: string): Promise<number>;
};

/** The database's time in milliseconds. */
export const CLOCK = "date_part('epoch', clock_timestamp()) * 1000";

/** As one question among others. */
export const HEAD = { sql: `SELECT turn, ${CLOCK}, counters FROM head`, params: [], columns: "nnt" };

export function sessionOf(schema: string, idleMs: number): Session {
	// Tables that were empty a moment ago fool the planner, and so does a limit that it does not know yet: an index, row by row, is always the better way here.
	const ways = ["seqscan", "bitmapscan", "sort", "hashjoin", "mergejoin", "material", "memoize"].map((way) => `enable_${way} = off`);
	const settings = [`idle_in_transaction_session_timeout = ${idleMs}`, ...ways, "jit = off"];
	// The time outside of what takes the lock: beside it, it would be the time before.
	const lock = `SELECT h.turn, ${CLOCK}, h.counters FROM (SELECT turn, counters FROM "${schema}".head FOR UPDATE) AS h`;
	const script = ["BEGIN", ...settings.map((one) => `SET LOCAL ${one}`), lock].join("; ");
	const looked = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", `SELECT turn, ${CLOCK}, counters FROM "${schema}".head`];
	return {
		settings: [...settings, "plan_cache_mode = force_generic_plan", "max_parallel_workers_per_gather = 0"]
			.map((one) => `SET ${one};`)
			.join(" "),
		async takeLock(connection) {
			return told(
				connection.direct ? await Promise.all(["BEGIN", lock].map((text) => connection.query(text))) : await connection.script(script),
			);
		},
		look: async (connection) => told(await Promise.all(looked.map((text) => connection.query(text)))),
		async last(connection, writer) {
			await connection.script(`BEGIN; UPDATE "${schema}".head SET turn = turn + 1`);
			const { rows } = await connection.query(lastOf(schema, "$1::text"), [writer]);
			await connection.query("COMMIT");
			return Number(rows[0]?.[0] ?? 0);
		},
	};
}

function told(results: readonly Result[]): Head {
	const [version, at, counters] = (results.at(-1) as Result).rows[0] as [number, number, string | null];
	return { version, at, counters };
}
