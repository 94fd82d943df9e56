// Stores on a PostgreSQL that ends with the tests of a file, each in a schema of its own.

import pg from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { type Changes, noChanges, type Store } from "../../../src/contracts/store.ts";
import { systemClock } from "../../../src/host/local.ts";
import { addressOf } from "../../../src/stores/address.ts";
import { DatabaseClock } from "../../../src/stores/postgres/clock.ts";
import type { Connection } from "../../../src/stores/postgres/connection.ts";
import { prepareSchema } from "../../../src/stores/postgres/prepare.ts";
import { PostgresStore, type TermOptions } from "../../../src/stores/postgres/store.ts";
import { beginTerm, connectToLead } from "../../../src/stores/postgres/term.ts";
import { type Server, startServer } from "./postgres-server.ts";

let server: Server;
let schemas = 0;
let leaders = 0;

/** To be called at the top of a file of tests. */
export function withServer(): void {
	beforeAll(async () => {
		server = await startServer();
	});
	afterAll(() => server?.end());
}

export const theServer = () => server;
export const newSchema = () => `s${++schemas}`;
export const urlOf = (schema: string, port = server.port, user = "sluice") =>
	`postgres://${user}@127.0.0.1:${port}/postgres?schema=${schema}`;

/** A connection as a leader has it, to a schema that is up to date. */
export async function connected(url: string, patienceMs = 20_000): Promise<Connection> {
	const connection = await connectToLead(addressOf(url), { name: `leader ${++leaders}`, patienceMs });
	await prepareSchema(connection, addressOf(url));
	return connection;
}
/** The name of the connection that was made last, as pg_stat_activity shows it. */
export const lastConnection = () => `sluice/4 leader ${leaders}`;

/** The store of a new term, which ends that of the store before: without the lock of a leader. */
export async function openTerm(
	url: string,
	{ patienceMs, ...more }: Partial<TermOptions> & { patienceMs?: number } = {},
): Promise<PostgresStore> {
	const connection = await connected(url, patienceMs);
	const { schema } = addressOf(url);
	const { epoch, txn, now } = await beginTerm(connection, schema, { leader: `leader ${leaders}`, rank: 0 });
	const clock = new DatabaseClock(systemClock.monotonic);
	clock.learn(now);
	return new PostgresStore(connection, { schema, epoch, txn, clock, ...more });
}
export async function opened(url: string, more: Parameters<typeof openTerm>[1] = {}): Promise<PostgresStore> {
	const store = await openTerm(url, more);
	onTestFinished(() => store.close());
	return store;
}
export const put = (key: string, value: unknown): Changes => ({ ...noChanges(), records: [["name", key, value]] });
export async function write(store: Store, key: string, value: unknown): Promise<void> {
	await store.begin();
	await store.write(put(key, value));
	await store.commit();
}
export async function recordOf(store: Store, key: string): Promise<unknown> {
	await store.begin();
	const [found] = await store.read({ read: "records", kind: "name", keys: [key] });
	await store.commit();
	return found?.[1];
}
export async function admin(sql: string, values: unknown[] = []): Promise<unknown[][]> {
	const client = new pg.Client({ connectionString: server.url() });
	await client.connect();
	try {
		return (await client.query({ text: sql, values, rowMode: "array" })).rows as unknown[][];
	} finally {
		await client.end();
	}
}
