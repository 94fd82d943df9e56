// What transactions want of their session, and how they take the lock. Behind a pooler each says it anew, with SET LOCAL; a connection to the server itself is
// told once, and has its statements prepared.

import type { Connection, Result } from "./connection.ts";

export type Session = {
	/** Once, where the connection stays the same. */
	settings: string;
	/** Goes out at once: what is asked behind it is answered with the lock. `at`: the database's time, once it has the lock. */
	takeLock(connection: Connection): Promise<{ version: number; at: number }>;
	/** The same without the lock: what is asked behind it is answered as of this moment. Only where the connection is direct. */
	look(connection: Connection): Promise<{ version: number; at: number }>;
};

/** The database's time in milliseconds. */
export const CLOCK = "extract(epoch FROM clock_timestamp()) * 1000";

export function sessionOf(schema: string, idleMs: number): Session {
	// Tables that were empty a moment ago fool the planner, and so does a limit that it does not know yet: an index, row by row, is always the better way here.
	const ways = ["seqscan", "bitmapscan", "sort", "hashjoin", "mergejoin"].map((way) => `enable_${way} = off`);
	const settings = [`idle_in_transaction_session_timeout = ${idleMs}`, ...ways, "jit = off"];
	// The time outside of what takes the lock: beside it, it would be the time before.
	const lock = `SELECT h.version, ${CLOCK} FROM (SELECT version FROM "${schema}".head FOR UPDATE) AS h`;
	const script = ["BEGIN", ...settings.map((one) => `SET LOCAL ${one}`), lock].join("; ");
	const looked = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", `SELECT version, ${CLOCK} FROM "${schema}".head`];
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
	};
}

function told(results: readonly Result[]): { version: number; at: number } {
	const [version, at] = (results.at(-1) as Result).rows[0] as [number, number];
	return { version, at };
}
