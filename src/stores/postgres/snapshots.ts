// A member's view of the queue: read-only transactions, each of one moment, through a pooler or not.

import { type Begun, type Replies, StaleTransaction, type Store, type StoreRead } from "../../contracts/store.ts";
import type { Address } from "../address.ts";
import { query, reply } from "../sql/reads.ts";
import type { DatabaseClock } from "./clock.ts";
import { type Connection, Lost } from "./connection.ts";
import { settings, translate } from "./dialect.ts";
import { Reconnecting, type ReconnectOptions } from "./reconnecting.ts";
import { CLOCK } from "./schema.ts";

/** `clock`: what `begin` gives as the time, learnt from each snapshot. Without it the caller's own clock counts. */
export type SnapshotOptions = Omit<ReconnectOptions, "settings"> & { clock?: DatabaseClock | undefined };

/** A process that is stopped in the middle of a snapshot must not keep the server from clearing dead rows for longer. */
const IDLE = "SET LOCAL idle_in_transaction_session_timeout = 5000;";

export const openSnapshots = (address: Address, { clock, ...options }: SnapshotOptions): Store =>
	new Snapshots(new Reconnecting(address, { ...options, settings: settings("SESSION") }), clock);

class Snapshots implements Store {
	/** The connection of the open snapshot. */
	private open: Connection | undefined;
	/** The newest transaction in the last snapshot, and the connection that it came from: the database may have been restored before another is made. */
	private seen: { txn: unknown; by: Connection } | undefined;

	constructor(
		private readonly line: Reconnecting,
		private readonly clock: DatabaseClock | undefined,
	) {}

	async begin(): Promise<Begun> {
		const connection = await this.line.reach();
		this.open = connection;
		// Behind a pooler, settings of the session may be those of another client.
		const local = connection.direct ? IDLE : `${IDLE} ${settings("LOCAL")}`;
		const head = `SELECT txn, ${CLOCK} FROM "${this.line.address.schema}".head`;
		const results = await guarded(connection.script(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${local} ${head}`));
		const [txn, now] = results.at(-1)?.rows[0] ?? [];
		const fresh = this.seen?.txn === txn && this.seen?.by === connection;
		this.seen = { txn, by: connection };
		this.clock?.learn(Number(now));
		return this.clock ? { fresh, now: this.clock.now() } : { fresh };
	}

	async read<R extends StoreRead>(request: R): Promise<Replies[R["read"]]> {
		if (!this.open) throw new Error("assertion failed: a read outside of a snapshot");
		const { text, values } = translate(query(request), this.line.address.schema);
		return reply(request, (await guarded(this.open.query(text, values))).rows);
	}

	write(): void {
		throw new Error("assertion failed: a snapshot is read-only");
	}

	/** Not waited for: nothing depends on the answer. */
	commit(): void {
		const connection = this.open;
		this.open = undefined;
		if (connection?.alive) connection.query("COMMIT").catch(() => connection.cut());
	}

	rollback(): void {
		this.commit();
	}

	async close(): Promise<void> {
		this.open?.cut();
		await this.line.close();
	}
}

/** A lost connection makes the caller begin again. */
async function guarded<T>(asked: Promise<T>): Promise<T> {
	try {
		return await asked;
	} catch (error) {
		throw error instanceof Lost ? new StaleTransaction(error.message) : error;
	}
}
