// One connection to PostgreSQL. Statements go out without waiting for each other's answers (pg's pipeline mode), answers come in order. Every error is a `Lost`
// connection, a `SluiceError` that says what to do, or PostgreSQL's own error.

import type { Client } from "pg";
import type { Host } from "../../contracts/host.ts";
import { codeOf, messageOf, SluiceError } from "../../core/errors.ts";
import type { Address } from "../address.ts";

/** The connection is gone; whether the last statements were carried out is not known. */
export class Lost extends Error {}

/** Parsers by type: numbers, booleans, and everything else as text. */
const NUMBERS = new Set([20, 21, 23, 700, 701, 1700]);
const BOOLEAN = 16;
const asText = (text: string) => text;
const types = {
	getTypeParser: (type: number) => (NUMBERS.has(type) ? Number : type === BOOLEAN ? (text: string) => text === "t" : asText),
};

export type QueryResult = { rows: unknown[][]; command: string; rowCount: number | null };

/**
 * `queryMs`: how long to wait for an answer, if not `patienceMs`. `settings`: SET statements, run once and only if the connection is direct. `name`: shown in
 * pg_stat_activity behind APPLICATION. `after`: the timer for a server that does not answer when the connection is ended.
 */
export type ConnectOptions = { patienceMs: number; queryMs?: number; name: string; settings?: string; after?: Host["after"] };

/** Builds with schema 3 and older are named `sluice …`: the migration tells them from these by the slash. */
const APPLICATION = "sluice/4";

/** SQLSTATE of a prepared statement that does not exist, or exists already: a pooler switches server connections although it reports the server's process id. */
const SWITCHED = /^(?:26000|42P05)$/;
const switching = new Set<string>();

/** Statements that a connection keeps prepared; a store has a few dozen. */
const MOST_STATEMENTS = 500;
/** How long `end` waits for the server to close the session. */
const END_MS = 2_000;

export async function connect(
	address: Pick<Address, "url" | "display">,
	{ patienceMs, queryMs = patienceMs, name, settings, after }: ConnectOptions,
): Promise<Connection> {
	// Imported here, because only processes with a PostgreSQL store need the driver.
	const { default: pg } = await import("pg");
	let client: Client;
	try {
		client = new pg.Client({
			connectionString: address.url,
			application_name: `${APPLICATION} ${name}`,
			connectionTimeoutMillis: patienceMs,
			query_timeout: queryMs,
			keepAlive: true,
			pipeline: true,
			types: types as never,
		});
	} catch (error) {
		// The driver reads the files of certificates at once.
		throw new SluiceError("store", `${address.display}: ${messageOf(error)}`, {
			hint: "check sslrootcert, sslcert and sslkey in the store's URL",
			cause: error,
		});
	}
	const connection = new Connection(client, address, after);
	try {
		await client.connect();
	} catch (error) {
		connection.cut();
		throw asError(error, address);
	}
	if (settings !== undefined && !switching.has(address.url)) await connection.prepareSession(settings);
	return connection;
}

export class Connection {
	alive = true;
	/** The server itself answers, no pooler in between: what is set or prepared stays. Only known if the connection was made with `settings`. */
	direct = false;
	private readonly names = new Map<string, string>();
	private isCorked = false;
	private hasFailed = false;

	constructor(
		private readonly client: Client,
		private readonly address: Pick<Address, "url" | "display">,
		private readonly after: Host["after"] | undefined,
	) {
		const gone = () => {
			this.alive = false;
		};
		client.on("error", gone);
		client.on("end", gone);
	}

	query(text: string, values: readonly unknown[] = []): Promise<QueryResult> {
		const name = this.direct && values.length > 0 ? this.nameOf(text) : undefined;
		return this.run<QueryResult>({ text, values: [...values], ...(name ? { name } : {}) });
	}

	/** Several statements without parameters in one message, one result for each. */
	async script(text: string): Promise<QueryResult[]> {
		const results = await this.run<QueryResult | QueryResult[]>({ text });
		return Array.isArray(results) ? results : [results];
	}

	/** Calls with the payload of each notification. */
	onNotice(call: (payload: string) => void): void {
		this.client.on("notification", ({ payload = "" }) => call(payload));
	}

	/** A pooler invents the process id that it reports, and may give each transaction another server connection. */
	async prepareSession(settings: string): Promise<void> {
		const { rows } = await this.query("SELECT pg_backend_pid()");
		this.direct = rows[0]?.[0] === (this.client as { processID?: unknown }).processID;
		if (this.direct && settings !== "") await this.script(settings);
	}

	/** Breaks the connection: statements under way fail at once. */
	cut(): void {
		this.alive = false;
		this.client.connection.stream.destroy();
	}

	/** Resolves when the server has ended the session, and released its locks. */
	async end(): Promise<void> {
		if (!this.alive) return;
		this.alive = false;
		const ended = this.client.end().catch(() => {});
		// A server that does not answer must not hold up the caller.
		let cancel = () => {};
		const late = new Promise<void>((resolve) => {
			cancel = this.after?.(END_MS, resolve, "hold") ?? (() => {});
		});
		await Promise.race([ended, late]);
		cancel();
		this.client.connection.stream.destroy();
	}

	private nameOf(text: string): string | undefined {
		let name = this.names.get(text);
		if (name === undefined && this.names.size < MOST_STATEMENTS) {
			name = `s${this.names.size}`;
			this.names.set(text, name);
		}
		return name;
	}

	private async run<R>(statement: { text: string; values?: unknown[]; name?: string }): Promise<R> {
		if (!this.alive) throw new Lost("the connection is gone");
		this.cork();
		try {
			const result: unknown = await this.client.query({ ...statement, rowMode: "array" });
			this.hasFailed = false;
			return result as R;
		} catch (error) {
			throw this.failed(error);
		}
	}

	private failed(error: unknown): Error {
		if (this.direct && SWITCHED.test(codeOf(error))) {
			// Behind a statement that failed in the same transaction, a name is unknown because its own Parse was refused.
			if (this.hasFailed && error instanceof Error) return error;
			switching.add(this.address.url);
		}
		this.hasFailed = true;
		const translated = asError(error, this.address);
		if (translated instanceof Lost && this.alive) this.cut();
		return translated;
	}

	/** Statements that are sent in the same turn of the event loop leave in one packet: measured, 0.26 ms instead of 0.40 for a transaction of six. */
	private cork(): void {
		if (this.isCorked) return;
		this.isCorked = true;
		const { stream } = this.client.connection;
		stream.cork();
		void Promise.resolve().then(() => {
			this.isCorked = false;
			stream.uncork();
		});
	}
}

/** By SQLSTATE, or its first two characters. */
const REFUSALS: [RegExp, string, string][] = [
	[/^28/, "the database refuses this user", "check user and password in the store's URL, and pg_hba.conf"],
	[/^3D000/, "there is no such database", "createdb makes one; its name is the last part of the URL"],
	[/^42501/, "this role may not do that", "docs/fleet.md says which grants a host needs"],
	[/^53100/, "the database's disk is full", "free some space there: nothing was lost, the last transaction was not acknowledged"],
	[/^25006/, "the database is read-only", "is this a standby? use the primary's address"],
];
/** Errors of TLS, which another attempt would not mend. */
const CERTIFICATES = /CERT|UNABLE_TO_(?:GET|VERIFY)|ERR_TLS|ERR_SSL|does not support SSL/;
/** Shutting down, starting up, too many connections, ended by an administrator or a timeout: worth another attempt. */
const PASSING = /^(?:57P0|53300|08|25P0[34]|26000|42P05)/;
const BROKEN = /terminated|timeout|timed out|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOST|ENET|not queryable|closed|reset/i;

function asError(error: unknown, { display }: Pick<Address, "display">): Error {
	const code = codeOf(error);
	const first = error instanceof AggregateError ? error.errors[0] : undefined;
	const message = messageOf(error) || (first === undefined ? "" : messageOf(first)) || "no answer";
	const refusal = (what: string, hint: string) => new SluiceError("store", `${display}: ${what} (${message})`, { hint, cause: error });
	if (CERTIFICATES.test(`${code} ${message}`))
		return refusal(
			"the connection cannot be encrypted as asked for",
			"name the certificate that signed the server's: sslrootcert=FILE; and the server by the name in its certificate",
		);
	if (/^SASL|client password/.test(message))
		return refusal("the database wants a password", "postgres://USER:PASSWORD@HOST/DATABASE, or PGPASSWORD in the environment");
	for (const [pattern, what, hint] of REFUSALS) if (pattern.test(code)) return refusal(what, hint);
	if (PASSING.test(code)) return new Lost(message, { cause: error });
	const isSqlState = /^(?=.*\d)[0-9A-Z]{5}$/.test(code);
	if (!isSqlState && (code !== "" || BROKEN.test(message))) return new Lost(message, { cause: error });
	return error instanceof Error ? error : new Error(message);
}
