// A connection that is made when it is needed, and again when it was lost.

import type { Clock, Host } from "../../contracts/host.ts";
import { SluiceError } from "../../core/errors.ts";
import type { Address } from "../address.ts";
import { type Connection, type ConnectOptions, connect, Lost } from "./connection.ts";

/** `patienceMs`: also how long a lost connection is tried again. `onConnected` is awaited before a new connection is used. */
export type ReconnectOptions = ConnectOptions &
	Pick<Clock, "monotonic"> &
	Pick<Host, "after"> & { onConnected?: (connection: Connection) => Promise<void> };

const [FIRST_PAUSE_MS, MOST_PAUSE_MS] = [20, 500];

export class Reconnecting {
	private connection: Connection | undefined;
	private connecting: Promise<Connection> | undefined;
	private isClosed = false;

	constructor(
		readonly address: Address,
		private readonly options: ReconnectOptions,
	) {}

	/** The connection that is alive, or a new one. Calls that come while it is made get the same. */
	async reach(): Promise<Connection> {
		if (this.connection?.alive) return this.connection;
		this.connecting ??= this.connect().finally(() => {
			this.connecting = undefined;
		});
		return this.connecting;
	}

	async close(): Promise<void> {
		this.isClosed = true;
		await this.connection?.end();
	}

	private async connect(): Promise<Connection> {
		const { monotonic, after, patienceMs, onConnected } = this.options;
		const until = monotonic() + patienceMs;
		for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MOST_PAUSE_MS)) {
			try {
				const connection = await connect(this.address, this.options);
				await onConnected?.(connection);
				if (this.isClosed) await connection.end();
				this.connection = connection;
				return connection;
			} catch (error) {
				if (!(error instanceof Lost)) throw error;
				if (this.isClosed || monotonic() + pause > until)
					throw new SluiceError("store", `${this.address.display} cannot be reached (${error.message})`, {
						hint: "is PostgreSQL up, and the address right? Nothing is lost: what runs goes on, and catches up",
						cause: error,
					});
			}
			// "hold" keeps the process alive for the next attempt.
			await new Promise<void>((resolve) => after(pause, resolve, "hold"));
		}
	}
}
