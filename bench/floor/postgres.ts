// The same work on PostgreSQL as a bare loop: one table, one connection, prepared statements, no caps, no events, no fencing.

import type { Client } from "pg";
import { connect, prepared } from "../postgres.ts";

const TABLE = `
CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, state text NOT NULL DEFAULT 'queued', worker text, payload jsonb NOT NULL);
CREATE INDEX bare_queued ON bare (id) WHERE state = 'queued';
`;
const INSERT = "INSERT INTO bare (payload) SELECT jsonb_build_object('n', n) FROM unnest($1::int[]) AS n";
const CLAIM = `UPDATE bare SET state = 'running', worker = $2
WHERE id IN (SELECT id FROM bare WHERE state = 'queued' ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING id, payload`;
const COMPLETE = "UPDATE bare SET state = 'done' WHERE id = ANY ($1::bigint[]) AND worker = $2";

export async function makeBare(url: string): Promise<Client> {
	const client = await connect(url);
	await client.query(TABLE);
	return client;
}

const bareInsert = async (client: Client, numbers: readonly number[]): Promise<void> => {
	await client.query(prepared("insert", INSERT, [numbers]));
};

async function bareClaim(client: Client, max: number): Promise<string[]> {
	const { rows } = await client.query<{ id: string }>(prepared("claim", CLAIM, [max, "bench"]));
	if (rows.length !== max) throw new Error(`the bare loop claimed ${rows.length} instead of ${max}`);
	return rows.map(({ id }) => id);
}

const bareComplete = async (client: Client, ids: readonly string[]): Promise<void> => {
	await client.query(prepared("complete", COMPLETE, [ids, "bench"]));
};

/** Insert, claim, complete, a batch at a time. Microseconds a job. */
export async function barePostgresCycle(url: string, { jobs, batch }: { jobs: number; batch: number }): Promise<number> {
	const client = await makeBare(url);
	const start = performance.now();
	for (let from = 0; from < jobs; from += batch) {
		await bareInsert(
			client,
			Array.from({ length: batch }, (_, i) => from + i),
		);
		await bareComplete(client, await bareClaim(client, batch));
	}
	const took = performance.now() - start;
	await client.end();
	return (took * 1000) / jobs;
}

/** One row, a transaction of its own: what a durable single add costs at least. */
export const bareSingle = (client: Client, n: number): Promise<unknown> =>
	client.query(prepared("one", "INSERT INTO bare (payload) VALUES ($1) RETURNING id", [{ n }]));

/** Insert with a notice in the same transaction; the listener claims. Calls back at each claimed job. */
export async function bareListener(
	url: string,
): Promise<{ add(n: number): Promise<void>; onStart(call: () => void): void; end(): Promise<void> }> {
	const adder = await makeBare(url);
	const [listener, worker] = [await connect(url), await connect(url)];
	let started = () => {};
	listener.on("notification", async () => {
		const ids = await bareClaim(worker, 1);
		started();
		await bareComplete(worker, ids);
	});
	await listener.query("LISTEN bare");
	return {
		async add(n) {
			await adder.query(
				prepared("tell", "WITH one AS (INSERT INTO bare (payload) VALUES ($1) RETURNING id) SELECT pg_notify('bare', id::text) FROM one", [
					{ n },
				]),
			);
		},
		onStart(call) {
			started = call;
		},
		async end() {
			await Promise.all([adder.end(), listener.end(), worker.end()]);
		},
	};
}
