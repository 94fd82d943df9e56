// Brings a database to this version's schema, once, under a lock; one that is already there needs no rights beyond reading and writing.

import { SluiceError } from "../../core/errors.ts";
import { SCHEMA_VERSION } from "../migrations/index.ts";
import type { Address, Connection } from "./connection.ts";
import { migration, WRITER } from "./schema.ts";

const OLDEST_POSTGRES = 14;
const LOCK = 7_551_221;

/** Of the server, in numbers: 160004 is 16.4. */
export async function checkVersion(connection: Connection, { display }: Address): Promise<number> {
	const server = Number((await connection.query("SHOW server_version_num")).rows[0]?.[0]);
	if (server < OLDEST_POSTGRES * 10_000)
		throw new SluiceError("store", `${display} runs PostgreSQL ${Math.floor(server / 10_000)}`, {
			hint: `${OLDEST_POSTGRES} or newer is needed`,
		});
	return server;
}

/** Returns the secret, which only roles that may read the jobs can read. */
export async function prepareSchema(connection: Connection, address: Address): Promise<string> {
	const { schema } = address;
	await checkVersion(connection, address);
	if (await isReady()) return secretOf();
	await connection.query("BEGIN");
	try {
		await connection.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
		if (!(await isReady())) {
			const version = await versionIn(connection, address);
			if (version === null) await connection.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
			await connection.script(migration(schema, version ?? 0));
		}
		await connection.query("COMMIT");
	} catch (error) {
		await connection.query("ROLLBACK").catch(() => {});
		throw error;
	}
	return secretOf();

	async function secretOf(): Promise<string> {
		return String((await connection.query(`SELECT secret FROM "${schema}".head`)).rows[0]?.[0]);
	}

	async function isReady(): Promise<boolean> {
		if ((await versionIn(connection, address)) !== SCHEMA_VERSION) return false;
		const { rows } = await connection.query(
			"SELECT 1 FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1 AND p.proname = $2",
			[schema, WRITER],
		);
		return rows.length > 0;
	}
}

/** null: nothing of ours is there yet. Refuses what is another program's, or too new. */
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
