// What could be wrong with a database that is to be a store: each with what was found and what to do. Changes nothing.

import { SCHEMA_VERSION } from "../migrations/index.ts";
import { type Address, addressOf, type Connection, connect } from "./connection.ts";
import { channelOf } from "./listener.ts";
import { checkVersion, versionIn } from "./prepare.ts";
import { WRITER } from "./schema.ts";

export type DatabaseFinding = { name: string; ok: boolean; detail: string; hint?: string };

const PATIENCE_MS = 5_000;
/** The database's clock counts, but a host's own shows in its logs, its cron times and its files. */
const MOST_DRIFT_MS = 5_000;
const RIGHTS = ["SELECT", "INSERT", "UPDATE", "DELETE"];
const TABLES = ["job", "done", "spec", "edge", "link", "run", "event", "page", "record", "head", "writer"];

export async function checkDatabase(url: string, now: () => number): Promise<DatabaseFinding[]> {
	let connection: Connection | undefined;
	try {
		const address = addressOf(url);
		connection = await connect(address, { patienceMs: PATIENCE_MS, name: "sluice doctor" });
		const there = connection;
		const version = await checkVersion(there, address);
		const found: DatabaseFinding[] = [{ name: "database", ok: true, detail: `PostgreSQL ${shortVersion(version)}, ${address.display}` }];
		for (const look of [transport, durability, clock, schema, listener])
			found.push(await look(there, address, now).catch((error) => failed(look.name, error)));
		return found;
	} catch (error) {
		return [failed("database", error)];
	} finally {
		await connection?.end();
	}
}

type Look = (connection: Connection, address: Address, now: () => number) => Promise<DatabaseFinding>;

const shortVersion = (version: number) => `${Math.floor(version / 10_000)}.${version % 10_000}`;

function failed(name: string, error: unknown): DatabaseFinding {
	const { message, hint } = error as { message?: string; hint?: string };
	return {
		name: name === "database" ? name : `database ${name}`,
		ok: false,
		detail: message ?? String(error),
		hint: hint ?? "is PostgreSQL up, and the address right?",
	};
}

const transport: Look = async (connection, { url }) => {
	const name = "database transport";
	const { rows } = await connection.query("SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
	const [on, version] = rows[0] ?? [];
	if (on === "t") return { name, ok: true, detail: `encrypted, ${version}` };
	// What never leaves this machine need not be.
	const { hostname } = new URL(url);
	const isNear = hostname === "" || /^(?:localhost|127\..*|\[?::1\]?|%2f.*)$/i.test(hostname);
	return isNear
		? { name, ok: true, detail: "not encrypted, on this machine" }
		: {
				name,
				ok: false,
				detail: "not encrypted",
				hint: "add sslmode=verify-full to the store's URL, and sslrootcert=FILE if its certificate is your own",
			};
};

const durability: Look = async (connection) => {
	const name = "database durability";
	const settings = ["fsync", "synchronous_commit", "full_page_writes"];
	const { rows } = await connection.query("SELECT name, setting FROM pg_settings WHERE name = ANY($1::text[]) ORDER BY name", [settings]);
	const off = rows.filter(([, value]) => value === "off").map(([setting]) => setting);
	if (off.length === 0) return { name, ok: true, detail: rows.map(([setting, value]) => `${setting} ${value}`).join(", ") };
	return {
		name,
		ok: false,
		detail: `${off.join(", ")} off: what was acknowledged may be lost when the server goes down`,
		hint: "turn it on, in postgresql.conf or with ALTER SYSTEM SET",
	};
};

const clock: Look = async (connection, _address, now) => {
	const name = "database clock";
	const before = now();
	const { rows } = await connection.query("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)");
	const drift = Math.round(Number(rows[0]?.[0]) - (before + now()) / 2);
	const detail = `${Math.abs(drift)} ms ${drift < 0 ? "behind" : "ahead of"} this machine's`;
	return Math.abs(drift) <= MOST_DRIFT_MS
		? { name, ok: true, detail }
		: { name, ok: false, detail, hint: "the database's clock counts for all hosts; let both machines keep time (ntp)" };
};

const schema: Look = async (connection, address) => {
	const name = "database schema";
	const version = await versionIn(connection, address);
	if (version === null) {
		const { rows } = await connection.query("SELECT has_database_privilege(current_database(), 'CREATE')");
		return rows[0]?.[0] === "t"
			? { name, ok: true, detail: `${address.schema} is not there yet; the first daemon makes it` }
			: {
					name,
					ok: false,
					detail: `${address.schema} is not there, and this role may not make it`,
					hint: "docs/fleet.md says how to, and which grants a host needs",
				};
	}
	const missing = await missingRights(connection, address);
	if (missing.length > 0)
		return { name, ok: false, detail: `this role may not ${missing.join(", ")}`, hint: "docs/fleet.md says which grants a host needs" };
	const { rows } = await connection.query(
		`SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1 AND p.proname = $2`,
		[address.schema, WRITER],
	);
	const isReady = version === SCHEMA_VERSION && Number(rows[0]?.[0]) > 0;
	const detail = `${address.schema}, version ${version}`;
	return isReady
		? { name, ok: true, detail }
		: { name, ok: true, detail: `${detail}; a daemon whose role owns it brings it up to date when it starts` };
};

async function missingRights(connection: Connection, { schema }: Address): Promise<string[]> {
	const { rows } = await connection.query(
		`SELECT t, r FROM unnest($1::text[]) AS t, unnest($2::text[]) AS r WHERE NOT has_table_privilege(format('%I.%I', $3::text, t), r)`,
		[TABLES, RIGHTS, schema],
	);
	return rows.map(([table, right]) => `${String(right).toLowerCase()} ${table}`);
}

const WHO = "SELECT pg_backend_pid()";

/** On a connection of its own, past a pooler: where notices do not come through, hosts hear of each other by looking now and then. */
const listener: Look = async (_connection, address, now) => {
	const name = "database notices";
	const past = { ...address, url: address.direct };
	const direct = await connect(past, { patienceMs: PATIENCE_MS, name: "sluice doctor listener" });
	const other = await connect(past, { patienceMs: PATIENCE_MS, name: "sluice doctor" });
	try {
		const channel = `${channelOf(address)}_doctor_${now()}`;
		let heard = false;
		direct.onNotice(() => {
			heard = true;
		});
		const listening = await direct.script(`LISTEN ${channel}; ${WHO}`);
		// A pooler would hand this one the connection that listens now; a client that talks to the server itself is not affected by it.
		await other.query("BEGIN");
		const asking = await direct.script(`SELECT pg_notify('${channel}', ''); ${WHO}`);
		// Sent by the server before it answers the next question.
		await direct.query("SELECT 1");
		if (heard && listening[1]?.rows[0]?.[0] === asking[1]?.rows[0]?.[0]) return { name, ok: true, detail: "come through" };
		return {
			name,
			ok: false,
			detail: "do not come through",
			hint: "is a pooler between? name the server itself for the one connection that listens: …?direct=HOST:PORT",
		};
	} finally {
		await direct.end();
		await other.end();
	}
};
