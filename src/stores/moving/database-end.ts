// A PostgreSQL database as source or target of a move. It uses one connection and one transaction and keeps no session state, so it works through a pooler.
// While the transaction is open it holds the lock of the leader: no process can lead the queue.

import { codeOf, SluiceError } from "../../core/errors.ts";
import { type Address, addressOf } from "../address.ts";
import { type Connection, connect, Lost } from "../postgres/connection.ts";
import { settings, translate } from "../postgres/dialect.ts";
import { checkVersion, PREPARE_MS, prepareSchema, versionIn } from "../postgres/prepare.ts";
import { CLOCK, leaderKey } from "../postgres/schema.ts";
import { beginTerm, lastLeader } from "../postgres/term.ts";
import type { End, MovedRow } from "./tables.ts";

const LOCK_PATIENCE_MS = 10_000;
const REACH_MS = 10_000;

/**
 * `look`: creates nothing, null when there is no store. `make`: creates the store if it is missing. `use`: the store must exist. `mover`: a name for this
 * move, recorded with its commit.
 */
export async function openDatabaseEnd(url: string, purpose: "look" | "use" | "make", mover: string): Promise<End | null> {
	const address = addressOf(url);
	const connection = await reach(address, mover);
	try {
		await checkVersion(connection, address);
		const there = (await versionIn(connection, address)) !== null;
		if (!there && purpose === "use")
			throw new SluiceError("not_found", `there is no store in ${address.display} (schema ${address.schema})`, {
				hint: "name a home, a SQLite file or a postgres:// URL; another schema is …?schema=NAME",
			});
		if (!there && purpose === "look") {
			await connection.end();
			return null;
		}
		if (purpose !== "look") await prepareSchema(connection, address);
		return databaseEnd(connection, address, mover);
	} catch (error) {
		await connection.end();
		throw plainly(error, address);
	}
}

async function reach(address: Address, name: string): Promise<Connection> {
	try {
		return await connect(address, { patienceMs: REACH_MS, queryMs: PREPARE_MS, name });
	} catch (error) {
		throw plainly(error, address);
	}
}

function databaseEnd(first: Connection, address: Address, mover: string): End {
	let connection = first;
	const { schema, display } = address;
	let begun = false;
	const run = async (text: string, values: readonly unknown[] = []): Promise<MovedRow[]> => {
		try {
			return (await connection.query(text, values)).rows as MovedRow[];
		} catch (error) {
			throw plainly(error, address);
		}
	};
	return {
		display: schema === "sluice" ? display : `${display} (schema ${schema})`,
		async begin() {
			try {
				await connection.script(
					`BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${LOCK_PATIENCE_MS}; ${settings("LOCAL")}`,
				);
				begun = true;
				const [row] = await run(`SELECT pg_try_advisory_xact_lock(${leaderKey(schema)})::text`);
				if (row?.[0] !== "true") return { busy: await lastLeader(connection, schema) };
				// Waits for a transaction of a leader that has lost its lock.
				await run(`SELECT 1 FROM "${schema}".head FOR UPDATE`);
				return "locked";
			} catch (error) {
				if (codeOf(error) === "55P03") return { busy: null };
				throw plainly(error, address);
			}
		},
		now: async () => Number((await run(`SELECT ${CLOCK}`))[0]?.[0]),
		async select(sql, params = []) {
			const { text, values } = translate({ sql, params: [...params] }, schema);
			return run(text, values);
		},
		async append({ name, columns }, rows) {
			const names = Object.keys(columns);
			const arrays = names.map((_, index) => rows.map((row) => row[index] ?? null));
			const types = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
			await run(`INSERT INTO "${schema}".${name} (${names.join(", ")}) SELECT * FROM unnest(${types.join(", ")})`, arrays);
		},
		clear: async ({ name }) => void (await run(`DELETE FROM "${schema}".${name}`)),
		async commit() {
			// Messages to the queue that was here before would be carried out on the jobs that come.
			for (const table of ["request", "reply", "member", "heartbeat", "box"]) await run(`DELETE FROM "${schema}".${table}`);
			// A new epoch, as if the mover had led: earlier leaders are refused, and its row of `term` shows that the commit was carried out.
			await beginTerm(connection, schema, { leader: mover, rank: 0 });
			try {
				await connection.query("COMMIT");
			} catch (error) {
				if (!(error instanceof Lost)) throw plainly(error, address);
				// The connection broke during COMMIT. Taking the row lock waits for a transaction that may still be committing.
				connection = await reach(address, mover);
				await connection.script(`BEGIN; SELECT 1 FROM "${schema}".head FOR UPDATE`);
				const done = await run(`SELECT 1 FROM "${schema}".term WHERE leader = $1`, [mover]);
				await run("COMMIT");
				if (done.length === 0) return "lost";
			}
			begun = false;
			await statistics();
			return "committed";
		},
		async close() {
			if (begun && connection.alive) connection.cut();
			else await connection.end();
		},
	};

	/** Updates the planner's statistics, which know nothing of the rows just copied. A role without the right to ANALYZE does without. */
	async function statistics(): Promise<void> {
		for (const table of ["job", "done", "edge", "link", "event", "record"])
			await connection.query(`ANALYZE "${schema}".${table}`).catch(() => {});
	}
}

function plainly(error: unknown, { display }: Address): Error {
	if (error instanceof Lost)
		return new SluiceError("store", `${display} cannot be reached (${error.message})`, {
			hint: "is PostgreSQL up, and the address right? Nothing was moved",
			cause: error,
		});
	if (codeOf(error) === "22021")
		return new SluiceError("store", `${display} takes no text with the character NUL`, { hint: "nothing was moved", cause: error });
	return error instanceof Error ? error : new Error(String(error));
}
