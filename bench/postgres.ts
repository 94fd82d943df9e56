// The PostgreSQL that the rows measure on: one server for the whole run, durable as it comes, and a database of its own for each round.
//
// SLUICE_TEST_POSTGRES (a URL) names another server; its settings are then its own.

import { Client, type QueryConfig } from "pg";
import { type Server, startServer } from "../test/make/stores/postgres-server.ts";
import { parentOf, treeCpuMs } from "./machine.ts";

/** PostgreSQL's own defaults where the tests' server has others; history tables of gigabytes need the WAL to last between two checkpoints, and a thousand hosts as many connections. */
const SETTINGS = { shared_buffers: "'128MB'", max_wal_size: "'4GB'", max_connections: "1200" };

let server: Promise<Pick<Server, "url">> | undefined;
let made = 0;

/** Starts it at the first call; it ends with this process. */
function postgres(): Promise<Pick<Server, "url">> {
	server ??= open();
	return server;
}

async function open(): Promise<Pick<Server, "url">> {
	const given = process.env.SLUICE_TEST_POSTGRES;
	if (given) return { url: (database) => (database ? withDatabase(given, database) : given) };
	const started = await startServer({ durability: "full", settings: SETTINGS });
	process.once("exit", started.end);
	return started;
}

function withDatabase(url: string, database: string): string {
	const other = new URL(url);
	other.pathname = `/${database}`;
	return other.href;
}

export async function connect(url: string): Promise<Client> {
	const client = new Client({ connectionString: url });
	// A server that goes away is told of by the query that fails.
	client.on("error", () => {});
	await client.connect();
	return client;
}

/** One connection for one question. */
export async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
	const client = await connect(url);
	try {
		return (await client.query<Row>(text)).rows;
	} finally {
		await client.end();
	}
}

export async function makeDatabase(name: string): Promise<string> {
	const { url } = await postgres();
	const database = `bench_${process.pid}_${++made}_${name.replaceAll(/[^a-z0-9]+/gi, "_").toLowerCase()}`.slice(0, 60);
	await query(url(), `CREATE DATABASE "${database}"`);
	return url(database);
}

export async function dropDatabase(url: string): Promise<void> {
	const { url: of } = await postgres();
	await query(of(), `DROP DATABASE IF EXISTS "${new URL(url).pathname.slice(1)}" WITH (FORCE)`);
}

/** A round on a database that nobody has used. What the one before left dirty is written before the clock starts, at nobody's expense. */
export async function inDatabase<T>(name: string, run: (url: string) => Promise<T>): Promise<T> {
	const url = await makeDatabase(name);
	try {
		await query(url, "CHECKPOINT");
		return await run(url);
	} finally {
		await dropDatabase(url);
	}
}

/** Milliseconds of processor that the server and all its processes have used so far; 0 if it is on another machine. */
export async function databaseCpuMs(url: string): Promise<number> {
	const client = await connect(url);
	try {
		const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
		const postmaster = parentOf(rows[0]?.pid ?? 0);
		return postmaster > 1 ? treeCpuMs(postmaster) : 0;
	} finally {
		await client.end();
	}
}

/** Every text parsed and planned once a connection, as a store would have it. */
export const prepared = (name: string, text: string, values: unknown[]): QueryConfig => ({ name, text, values });

export async function postgresVersion(): Promise<string> {
	const { url } = await postgres();
	const [row] = await query<{ version: string; commit: string; fsync: string }>(
		url(),
		"SELECT current_setting('server_version') AS version, current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync",
	);
	return `PostgreSQL ${row?.version}, synchronous_commit ${row?.commit}, fsync ${row?.fsync}`;
}
