// One connection to PostgreSQL: queries go out without waiting for each other, answers come in order. What breaks it is told as one kind of
// error, and the next use makes a new one.

import type { Clock, Host } from "../../contracts/host.ts";
import { SluiceError } from "../../core/errors.ts";
import { likeQuery, prepared, type Result, type Statement } from "./prepared.ts";

export type { Result };

type Listener = (...args: never[]) => void;
type Client = {
	connect(): Promise<unknown>;
	query(config: { text: string; values?: readonly unknown[]; rowMode: "array" }): Promise<Result | Result[]>;
	end(): Promise<void>;
	on(event: string, call: Listener): unknown;
	/** What the other end says that its process is. */
	processID?: number | null;
	connection?: { stream?: { destroy(): void; cork(): void; uncork(): void } };
};
type Module = { default: { Client: new (config: Record<string, unknown>) => Client; Query: { prototype: object } } };

/** The connection is gone; whether the last thing asked was done is not known. */
export class Lost extends Error {}

/** `direct`: past a pooler, for the one connection that listens. */
export type Address = { url: string; direct: string; schema: string; display: string };

const SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/;

const STRICT = ["require", "verify-ca", "verify-full"];
const SSL_MODES = ["disable", "no-verify", ...STRICT];

/** `?schema=` and `?direct=host:port` are ours; the rest of the URL is PostgreSQL's. The password is never shown. */
export function addressOf(text: string): Address {
	let url: URL;
	try {
		url = new URL(text);
	} catch {
		throw new SluiceError("store", "the store's URL cannot be read", { hint: "postgres://user@host:5432/database" });
	}
	const schema = url.searchParams.get("schema") ?? "sluice";
	if (!SCHEMA.test(schema))
		throw new SluiceError("store", `the schema ${JSON.stringify(schema)} in the store's URL is no plain name`, {
			hint: "small letters, digits and _, at most 40",
		});
	const mode = url.searchParams.get("sslmode");
	if (mode !== null && !SSL_MODES.includes(mode))
		throw new SluiceError("store", `sslmode=${mode} in the store's URL is not known`, { hint: `${SSL_MODES.join(", ")}` });
	// All that encrypts also looks who answers, but for the one that says that it does not.
	if (mode !== null && STRICT.includes(mode)) url.searchParams.set("sslmode", "verify-full");
	const past = url.searchParams.get("direct");
	for (const ours of ["schema", "direct"]) url.searchParams.delete(ours);
	const direct = new URL(url);
	if (past !== null) {
		direct.host = past;
		if (!/^[^/?#@\s]+$/.test(past) || direct.host !== past)
			throw new SluiceError("store", `direct=${past} in the store's URL is no address`, {
				hint: "host:port of the server behind the pooler",
			});
	}
	const shown = new URL(url);
	if (shown.password) shown.password = "***";
	shown.searchParams.delete("password");
	return { url: url.toString(), direct: direct.toString(), schema, display: shown.toString() };
}

/** Types by number: whole and real numbers as numbers, the rest as text. */
const NUMBERS = new Set([20, 21, 23, 700, 701, 1700]);
const types = { getTypeParser: (type: number) => (NUMBERS.has(type) ? Number : (text: string) => text) };

let loaded: Promise<Module> | undefined;

/** Loaded by the first who wants it: most never do. */
function load(): Promise<Module> {
	loaded ??= import("pg") as unknown as Promise<Module>;
	return loaded;
}

export type Connection = {
	query(text: string, values?: readonly unknown[]): Promise<Result>;
	/** Several statements without parameters, one answer for each. */
	script(text: string): Promise<Result[]>;
	/** Called with the payload of each notice. */
	onNotice(call: (payload: string) => void): void;
	readonly alive: boolean;
	/** It is the server itself that answers, no pooler in between: what is set or prepared here stays. */
	readonly direct: boolean;
	/** Cuts it off: what is under way fails at once. */
	cut(): void;
	end(): Promise<void>;
};

/** `queryMs`: how long an answer is waited for, where that is not the same. `settings`: made once where the connection is direct. */
export type ConnectOptions = { patienceMs: number; queryMs?: number; name: string; settings?: string; time?: Time };
export type Time = Pick<Clock, "monotonic"> & Pick<Host, "after">;

/** A statement that we prepared is not there, or one that we did not is: something hands out connections, though it tells the server's own process. */
const SHIFTED = /^(?:26000|42P05)$/;
const shifting = new Set<string>();

/** Statements that are kept prepared; a store has a few dozen. */
const KEPT = 500;

export async function connect(
	address: Pick<Address, "url" | "display">,
	{ patienceMs, queryMs = patienceMs, name, settings, time }: ConnectOptions,
): Promise<Connection> {
	const { Client, Query } = (await load()).default;
	likeQuery(Query);
	let client: Client;
	try {
		client = new Client({
			connectionString: address.url,
			application_name: name,
			connectionTimeoutMillis: patienceMs,
			...(time ? {} : { query_timeout: queryMs }),
			keepAlive: true,
			pipeline: true,
			types,
		});
	} catch (error) {
		// It reads the files of certificates at once.
		throw new SluiceError("store", `${address.display}: ${error instanceof Error ? error.message : String(error)}`, {
			hint: "check sslrootcert, sslcert and sslkey in the store's URL",
			cause: error,
		});
	}
	let alive = true;
	let call: (payload: string) => void = () => {};
	const patience = time ? watch(time, queryMs, () => client.connection?.stream?.destroy()) : undefined;
	const gone = () => {
		alive = false;
		patience?.end();
	};
	client.on("error", gone);
	client.on("end", gone);
	client.on("notification", ((notice: { payload?: string }) => call(notice.payload ?? "")) as Listener);
	try {
		await client.connect();
	} catch (error) {
		alive = false;
		void client.end().catch(() => {});
		throw asError(error, address);
	}
	let direct = false;
	const statements = new Map<string, Statement>();
	const statementOf = (text: string): Statement | undefined => {
		let known = statements.get(text);
		if (known === undefined && statements.size < KEPT) {
			known = { name: `s${statements.size}`, text };
			statements.set(text, known);
		}
		return known;
	};
	let corked = false;
	/** What is asked in one go leaves in one go. */
	const cork = () => {
		const stream = client.connection?.stream;
		if (corked || !stream) return;
		corked = true;
		stream.cork();
		void Promise.resolve().then(() => {
			corked = false;
			stream.uncork();
		});
	};
	const run = async (text: string, values?: readonly unknown[]): Promise<Result | Result[]> => {
		if (!alive) throw new Lost("the connection is gone");
		cork();
		patience?.asked();
		const statement = direct && values ? statementOf(text) : undefined;
		try {
			if (statement && values) return await prepared(client as never, statement, values, types);
			return await client.query({ text, ...(values ? { values } : {}), rowMode: "array" });
		} catch (error) {
			if (direct && SHIFTED.test(String((error as { code?: unknown }).code))) {
				shifting.add(address.url);
				client.connection?.stream?.destroy();
			}
			const told = asError(error, address);
			if (told instanceof Lost && alive) {
				alive = false;
				client.connection?.stream?.destroy();
			}
			throw told;
		} finally {
			patience?.answered();
		}
	};
	// A pooler makes up the number of a process that it tells, and hands out connections as it likes.
	if (settings !== undefined && !shifting.has(address.url)) {
		const { rows } = (await run("SELECT pg_backend_pid()")) as Result;
		direct = rows[0]?.[0] === client.processID;
		if (direct) await run(settings);
	}
	return {
		query: (text, values = []) => run(text, values) as Promise<Result>,
		script: async (text) => {
			const results = await run(text);
			return Array.isArray(results) ? results : [results];
		},
		onNotice(next) {
			call = next;
		},
		get alive() {
			return alive;
		},
		get direct() {
			return direct;
		},
		cut() {
			gone();
			client.connection?.stream?.destroy();
		},
		async end() {
			gone();
			await client.end().catch(() => {});
		},
	};
}

/** Calls when nothing has been answered for so long, though something was asked. One timer for all: one for each question costs more than some questions do. */
function watch({ monotonic, after }: Time, ms: number, call: () => void): { asked(): void; answered(): void; end(): void } {
	let waiting = 0;
	let since = 0;
	let cancel: (() => void) | undefined;
	const look = () => {
		cancel = undefined;
		if (waiting === 0) return;
		const left = since + ms - monotonic();
		if (left > 0) cancel = after(left, look);
		else call();
	};
	return {
		asked() {
			if (waiting++ === 0) since = monotonic();
			cancel ??= after(ms, look);
		},
		answered() {
			waiting--;
			since = monotonic();
		},
		end() {
			cancel?.();
			cancel = undefined;
		},
	};
}

/** By SQLSTATE, or its first two characters. */
const REFUSALS: [RegExp, string, string][] = [
	[/^28/, "the database refuses this user", "check user and password in the store's URL, and pg_hba.conf"],
	[/^3D000/, "there is no such database", "createdb makes one; its name is the last part of the URL"],
	[/^42501/, "this role may not do that", "docs/fleet.md says which grants a host needs"],
	[/^53100/, "the database's disk is full", "free some space there: nothing was lost, the last transaction was not acknowledged"],
	[/^25006/, "the database is read-only", "is this a standby? use the primary's address"],
];
/** Of TLS: nothing that another try would mend. */
const CERTIFICATES = /CERT|UNABLE_TO_(?:GET|VERIFY)|ERR_TLS|ERR_SSL|does not support SSL/;
/** Shutting down, starting up, too many connections, ended by an administrator or a timeout: worth another try. */
const PASSING = /^(?:57P0|53300|08|25P0[34]|26000|42P05|40)/;
const BROKEN = /terminated|timeout|timed out|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOST|ENET|not queryable|closed|reset/i;

function asError(error: unknown, { display }: Pick<Address, "display">): Error {
	const code = (error as { code?: unknown }).code;
	const message =
		error instanceof Error ? error.message || (error as { errors?: Error[] }).errors?.[0]?.message || "no answer" : String(error);
	if (CERTIFICATES.test(`${code} ${message}`))
		return new SluiceError("store", `${display}: the connection cannot be encrypted as asked for (${message})`, {
			hint: "name the certificate that signed the server's: sslrootcert=FILE; and the server by the name in its certificate",
			cause: error,
		});
	if (/^SASL|client password/.test(message))
		return new SluiceError("store", `${display}: the database wants a password (${message})`, {
			hint: "postgres://USER:PASSWORD@HOST/DATABASE, or PGPASSWORD in the environment",
			cause: error,
		});
	if (typeof code === "string") {
		for (const [pattern, what, hint] of REFUSALS)
			if (pattern.test(code)) return new SluiceError("store", `${display}: ${what} (${message})`, { hint, cause: error });
		if (PASSING.test(code)) return new Lost(message, { cause: error });
		if (/^(?=.*\d)[0-9A-Z]{5}$/.test(code)) return error as Error;
	}
	if (typeof code === "string" || BROKEN.test(message)) return new Lost(message, { cause: error });
	return error instanceof Error ? error : new Error(message);
}
