// What could be wrong with a database that is to be a store: each with what was found and what to do. Changes nothing.

import { type Address, addressOf, directly } from "../../stores/address.ts";
import { SCHEMA_VERSION } from "../../stores/migrations/index.ts";
import { type Connection, connect } from "../../stores/postgres/connection.ts";
import { checkVersion, versionIn } from "../../stores/postgres/prepare.ts";
import { TABLES } from "../../stores/postgres/schema.ts";
import { ASIDE, lastLeader } from "../../stores/postgres/term.ts";

export type DatabaseFinding = { name: string; ok: boolean; detail: string; hint?: string };

const PATIENCE_MS = 5_000;
/** The database's clock counts; a host's own clock shows in its logs, its cron times and its files. */
const MOST_DRIFT_MS = 5_000;
const ALL_TABLES = [...TABLES.scheduling, ...TABLES.fleet];
const RIGHTS = ["SELECT", "INSERT", "UPDATE", "DELETE"];
/** What a host needs that never leads, beyond SELECT on every table: it sends and withdraws requests, takes replies, and beats. */
const HOST_RIGHTS: Record<string, readonly string[]> = {
	request: ["INSERT", "UPDATE"],
	reply: ["DELETE"],
	heartbeat: ["UPDATE"],
};

export async function checkDatabase(url: string, now: () => number): Promise<DatabaseFinding[]> {
	let connection: Connection | undefined;
	try {
		const address = addressOf(url);
		connection = await connect(address, { patienceMs: PATIENCE_MS, name: "doctor" });
		const there = connection;
		const version = await checkVersion(there, address);
		const found: DatabaseFinding[] = [{ name: "database", ok: true, detail: `PostgreSQL ${shortVersion(version)}, ${address.display}` }];
		for (const look of [transport, durability, clock, schema, leader])
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
	if (on === true) return { name, ok: true, detail: `encrypted, ${version}` };
	// A connection that never leaves this machine need not be encrypted.
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
		return rows[0]?.[0] === true
			? { name, ok: true, detail: `${address.schema} is not there yet; the first daemon makes it` }
			: {
					name,
					ok: false,
					detail: `${address.schema} is not there, and this role may not make it`,
					hint: "docs/fleet.md says how to, and which grants a host needs",
				};
	}
	const detail = `${address.schema}, version ${version}`;
	if (version < SCHEMA_VERSION)
		return { name, ok: true, detail: `${detail}; a daemon whose role owns it brings it up to date when it starts` };
	const missing = await missingRights(connection, address, (table) => ["SELECT", ...(HOST_RIGHTS[table] ?? [])]);
	if (missing.length > 0)
		return { name, ok: false, detail: `this role may not ${missing.join(", ")}`, hint: "docs/fleet.md says which grants a host needs" };
	const toLead = await missingRights(connection, address, () => RIGHTS);
	return { name, ok: true, detail: toLead.length === 0 ? detail : `${detail}; this role may be a host, and not lead` };
};

async function missingRights(connection: Connection, { schema }: Address, needed: (table: string) => readonly string[]): Promise<string[]> {
	const wanted = ALL_TABLES.flatMap((table) => needed(table).map((right) => [table, right] as const));
	const { rows } = await connection.query(
		"SELECT t, r FROM unnest($1::text[], $2::text[]) AS n (t, r) WHERE NOT has_table_privilege(format('%I.%I', $3::text, t), r)",
		[wanted.map(([table]) => table), wanted.map(([, right]) => right), schema],
	);
	return rows.map(([table, right]) => `${String(right).toLowerCase()} ${table}`);
}

/** A leader holds a lock of its session, so it needs a connection past any pooler. */
/** The names of requests that no leader carries out any more. */
async function setAside(connection: Connection, { schema }: Address): Promise<string[]> {
	const { rows } = await connection.query(`SELECT DISTINCT name FROM "${schema}".request WHERE tries >= $1 ORDER BY name LIMIT 10`, [
		ASIDE,
	]);
	return rows.map(([request]) => String(request));
}

const leader: Look = async (connection, address) => {
	const name = "database leader";
	const direct = await connect(directly(address), { patienceMs: PATIENCE_MS, name: "doctor", settings: "" });
	try {
		if (!direct.direct)
			return {
				name,
				ok: false,
				detail: "this host cannot lead: a pooler is between",
				hint: "name the server itself for the one connection of a leader: …?direct=HOST:PORT",
			};
		if ((await versionIn(connection, address)) !== SCHEMA_VERSION) return { name, ok: true, detail: "this host reaches the server itself" };
		const aside = await setAside(connection, address);
		if (aside.length > 0)
			return {
				name,
				ok: false,
				detail: `set aside, because leaders ended while they carried them out: ${aside.join(", ")}`,
				hint: `this is a fault of Sluice: report it with the rows of "${address.schema}".request where tries >= ${ASIDE}, then delete them`,
			};
		const last = await lastLeader(connection, address.schema);
		return { name, ok: true, detail: `this host reaches the server itself${last === null ? "" : `; the last leader is ${last}`}` };
	} finally {
		await direct.end();
	}
};
