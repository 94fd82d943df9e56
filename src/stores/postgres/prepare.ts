// Brings a database to this version's schema, once, under a lock. A database that is up to date already needs no rights beyond reading and writing.

import { SluiceError } from "../../core/errors.ts";
import type { Address } from "../address.ts";
import { SCHEMA_VERSION } from "../migrations/index.ts";
import { migration } from "../migrations/postgres.ts";
import type { Connection } from "./connection.ts";

const OLDEST_POSTGRES = 14;
const LOCK = 7_551_221;
/** How long a connection that prepares must wait for an answer: a large store takes a while to migrate. */
export const PREPARE_MS = 900_000;

/** The server's version as a number: 160004 is 16.4. */
export async function checkVersion(connection: Connection, { display }: Address): Promise<number> {
	const server = Number((await connection.query("SHOW server_version_num")).rows[0]?.[0]);
	if (server < OLDEST_POSTGRES * 10_000)
		throw new SluiceError("store", `${display} runs PostgreSQL ${Math.floor(server / 10_000)}`, {
			hint: `${OLDEST_POSTGRES} or newer is needed`,
		});
	return server;
}

export async function prepareSchema(connection: Connection, address: Address): Promise<void> {
	await checkVersion(connection, address);
	if ((await versionIn(connection, address)) === SCHEMA_VERSION) return;
	await connection.query("BEGIN");
	try {
		await connection.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
		// Another process may have done it while this one waited for the lock.
		const version = await versionIn(connection, address);
		if (version === null) await connection.query(`CREATE SCHEMA IF NOT EXISTS "${address.schema}"`);
		else if (version < SCHEMA_VERSION) await refuseOlderHosts(connection, address);
		if (version !== SCHEMA_VERSION) await connection.script(migration(address.schema, version ?? 0));
		await connection.query("COMMIT");
	} catch (error) {
		await connection.query("ROLLBACK").catch(() => {});
		throw error;
	}
}

/** Every process of a build with schema 3 or older has a connection of this name, past a pooler; it would go on to write into tables that it does not know. */
async function refuseOlderHosts(connection: Connection, { display }: Address): Promise<void> {
	const { rows } = await connection.query(
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^sluice [^ ]+ listener$'",
	);
	const count = Number(rows[0]?.[0]);
	if (count > 0)
		throw new SluiceError(
			"store",
			`${count === 1 ? "a process of an older Sluice still works" : `${count} processes of an older Sluice still work`} with ${display}`,
			{
				hint: "stop them on all hosts (sluice down), then start this one again: it brings the database up to date",
			},
		);
}

/** null: there is no store yet. Refuses a schema of another program, or of a newer version. */
export async function versionIn(connection: Connection, { schema, display }: Address): Promise<number | null> {
	const tables = await connection.query(
		"SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'",
		[schema],
	);
	if (tables.rows.length === 0) return null;
	if (!tables.rows.some(([name]) => name === "head"))
		throw new SluiceError("store", `the schema ${schema} in ${display} belongs to another program`, {
			hint: "name another: …?schema=NAME",
		});
	const version = Number((await connection.query(`SELECT schema FROM "${schema}".head`)).rows[0]?.[0]);
	if (version > SCHEMA_VERSION)
		throw new SluiceError("store", `${display} was written by a newer Sluice (schema ${version}, this one knows ${SCHEMA_VERSION})`, {
			hint: "upgrade this Sluice, or use another database",
		});
	return version;
}
