// Stores on a PostgreSQL that ends with the tests of a file, each in a schema of its own.

import pg from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { type Changes, noChanges, StaleTransaction, type Store } from "../../../src/contracts/store.ts";
import { localHost, systemClock } from "../../../src/host/local.ts";
import type { PostgresOptions } from "../../../src/stores/postgres/options.ts";
import { openPostgres } from "../../../src/stores/postgres/store.ts";
import { type Server, startServer } from "./postgres-server.ts";

let server: Server;
let schemas = 0;
let writers = 0;

/** To be called at the top of a file of tests. */
export function withServer(): void {
	beforeAll(async () => {
		server = await startServer();
	});
	afterAll(() => server?.end());
}

export const theServer = () => server;
/** The name of the writer that was opened last. */
export const lastWriter = () => `w${writers}`;
export const parts = () => ({ writer: `w${++writers}`, monotonic: systemClock.monotonic, after: localHost.after });
export const newSchema = () => `s${++schemas}`;
export const urlOf = (schema: string, port = server.port, user = "sluice") =>
	`postgres://${user}@127.0.0.1:${port}/postgres?schema=${schema}`;

export async function opened(url: string, more: Partial<PostgresOptions> = {}): Promise<Store> {
	const store = await openPostgres(url, { ...parts(), ...more });
	onTestFinished(async () => void (await store.close()));
	return store;
}
export const put = (key: string, value: unknown): Changes => ({ ...noChanges(), records: [["name", key, value]] });
export async function write(store: Store, key: string, value: unknown): Promise<void> {
	await store.begin();
	await store.write(put(key, value));
	await store.commit();
}
/** As the engine does it: again for as long as it is outrun. */
export async function insist<T>(store: Store, body: () => Promise<T>): Promise<T> {
	for (;;) {
		try {
			await store.begin();
			const result = await body();
			await store.commit();
			return result;
		} catch (error) {
			await store.rollback();
			if (!(error instanceof StaleTransaction)) throw error;
		}
	}
}
export const recordOf = (store: Store, key: string) =>
	insist(store, async () => (await store.read({ read: "records", kind: "name", keys: [key] }))[0]?.[1]);
export async function admin(sql: string, values: unknown[] = []): Promise<unknown[][]> {
	const client = new pg.Client({ connectionString: server.url() });
	await client.connect();
	try {
		return (await client.query({ text: sql, values, rowMode: "array" })).rows as unknown[][];
	} finally {
		await client.end();
	}
}
