// Opens a queue as its leader, alone: for as long as this process has the store open, no other process can lead.

import type { Store } from "../../../src/contracts/store.ts";
import { SluiceError } from "../../../src/core/errors.ts";
import { addressOf, directly } from "../../../src/stores/address.ts";
import { DatabaseClock } from "../../../src/stores/postgres/clock.ts";
import { connect } from "../../../src/stores/postgres/connection.ts";
import { PREPARE_MS, prepareSchema } from "../../../src/stores/postgres/prepare.ts";
import { PostgresStore } from "../../../src/stores/postgres/store.ts";
import { beginTerm, connectToLead, lastLeader, tryToLead } from "../../../src/stores/postgres/term.ts";

export type PostgresOptions = {
	/** The name of this process, for the row of its term. */
	writer: string;
	monotonic(): number;
	/** How long to try to connect, and to wait for an answer. */
	patienceMs?: number;
	/** Whose time transactions get: the database's, which is the same for all machines, or the caller's own. */
	clock?: "database" | "caller";
	fault?: (point: string) => void;
};

const PATIENCE_MS = 20_000;

export async function openPostgres(url: string, options: PostgresOptions): Promise<Store & { now(): number }> {
	const { writer: name, patienceMs = PATIENCE_MS, fault } = options;
	const address = addressOf(url);
	const preparing = await connect(directly(address), { name, patienceMs, queryMs: PREPARE_MS });
	await prepareSchema(preparing, address).finally(() => preparing.end());
	const connection = await connectToLead(address, { name, patienceMs });
	try {
		if (!connection.direct)
			throw new SluiceError("store", `${address.display} is a pooler, and a leader needs a connection to the server itself`, {
				hint: "name the server: …?direct=HOST:PORT",
			});
		if (!(await tryToLead(connection, address.schema)))
			throw new SluiceError("store", `${await lastLeader(connection, address.schema)} leads the queue in ${address.display}`, {
				hint: "only one process at a time can have it open",
			});
		const { epoch, txn, now } = await beginTerm(connection, address.schema, { leader: name, rank: 0 });
		const clock = new DatabaseClock(options.monotonic);
		clock.learn(now);
		// Nothing pings this connection, and a process that is stopped keeps the queue.
		await connection.script("SET idle_session_timeout = 0");
		const store = new PostgresStore(connection, {
			schema: address.schema,
			epoch,
			txn,
			fault,
			clock: options.clock === "caller" ? undefined : clock,
		});
		return Object.assign(store, { now: () => clock.now() });
	} catch (error) {
		await connection.end();
		throw error;
	}
}
