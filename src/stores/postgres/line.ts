// The connection of a store: made when it is wanted, and anew when it broke.

import { SluiceError } from "../../core/errors.ts";
import { type Address, type Connection, type ConnectOptions, connect, Lost, type Time } from "./connection.ts";

const [FIRST_MS, MOST_MS] = [20, 500];

export class Line {
	private connection: Connection | undefined;
	private closed = false;

	constructor(
		private readonly address: Address,
		private readonly options: ConnectOptions,
		private readonly time: Time,
		/** Told of each new connection. */
		private readonly reached: (connection: Connection) => void = () => {},
	) {}

	get alive(): Connection | undefined {
		return this.connection?.alive ? this.connection : undefined;
	}

	/** Again and again for as long as patience lasts; then an error that says so. */
	async reach(): Promise<Connection> {
		const { monotonic, after } = this.time;
		const until = monotonic() + this.options.patienceMs;
		for (let wait = FIRST_MS; ; wait = Math.min(wait * 2, MOST_MS)) {
			try {
				this.connection = await connect(this.address, { ...this.options, time: this.time });
				this.reached(this.connection);
				return this.connection;
			} catch (error) {
				if (!(error instanceof Lost)) throw error;
				if (this.closed || monotonic() + wait > until)
					throw new SluiceError("store", `${this.address.display} cannot be reached (${error.message})`, {
						hint: "is PostgreSQL up, and the address right? Nothing is lost: what runs goes on, and catches up",
						cause: error,
					});
			}
			// "hold": a retry keeps the process alive, even if nothing else does.
			await new Promise<void>((resolve) => after(wait, resolve, "hold"));
		}
	}

	async close(way: "cut" | "end"): Promise<void> {
		this.closed = true;
		if (way === "cut") this.connection?.cut();
		else await this.connection?.end();
	}
}
