// What a claim costs on PostgreSQL with ten million finished jobs in its history, over what it costs with none.

import { addAll, claimExactly, completeAll, openFleet } from "../../fleet/open.ts";
import { connect, dropDatabase, makeDatabase, query } from "../../postgres.ts";
import { atMost, type Bench, type Measure } from "../../row.ts";
import { sample } from "../../statistics.ts";
import { BATCH } from "./claims.ts";
import { comparePair } from "./pair.ts";
import { databaseMb, tables } from "./size.ts";

const QUEUED = 1000;
const CHUNK = 500_000;

export async function compareHistory(bench: Bench): Promise<Measure[]> {
	const finished = bench.size(10_000_000, 50_000);
	const urls = [await makeDatabase("new"), await makeDatabase("old")] as const;
	await past(urls[1], finished, bench);
	const [young, old] = [await openFleet(urls[0]), await openFleet(urls[1])];
	try {
		await addAll(young, QUEUED, BATCH);
		await addAll(old, QUEUED, BATCH);
		for (const url of urls) await query(url, "CHECKPOINT");
		const measures = await comparePair(
			bench,
			"with 10,000,000 finished jobs ÷ with none",
			atMost(1.5),
			{ name: "10,000,000 finished jobs", engine: old },
			{ name: "no history", engine: young },
			"their ends, specs and three events each are in the database.",
		);
		const size: Measure = {
			what: "PostgreSQL: database with 10,000,000 finished jobs",
			unit: "MB",
			measured: sample([await databaseMb(urls[1])]),
		};
		return [...measures, { ...size, note: await tables(urls[1]) }];
	} finally {
		await Promise.all([young.close(), old.close()]);
		for (const url of urls) await dropDatabase(url);
	}
}

/** Works one job off and multiplies what it left behind. Numbers below zero: the engine's own go on above them, at the same end of each index. */
async function past(url: string, finished: number, bench: Bench): Promise<void> {
	const engine = await openFleet(url);
	await addAll(engine, 1, 1);
	await completeAll(engine, await claimExactly(engine, 1));
	await engine.close();
	const client = await connect(url);
	try {
		await client.query("SET search_path = sluice");
		await client.query("SET synchronous_commit = off");
		for (let from = 0; from < finished; from += CHUNK) {
			const range = `generate_series(${from + 1}, ${Math.min(finished, from + CHUNK)}) AS n`;
			const doc = (column: string) => `replace(${column}, '"id":' || one.id, '"id":-' || n)`;
			await client.query(
				`INSERT INTO done (id, status, lane, batch, ended_at, doc) SELECT -n, status, lane, batch, ended_at - n, ${doc("doc")} FROM done AS one, ${range} WHERE one.id > 0`,
			);
			await client.query(`INSERT INTO spec (id, body) SELECT -n, body FROM spec AS one, ${range} WHERE one.id > 0`);
			await client.query(
				`INSERT INTO event (seq, at, kind, job, by, data) SELECT -3 * n - row_number() OVER (PARTITION BY n) % 3, at - n, kind, -n, by, data FROM event AS one, ${range} WHERE one.job > 0`,
			);
			bench.progress(`history ${Math.min(finished, from + CHUNK).toLocaleString("en")}`);
		}
		// As it would be after a night: the statistics are there, and no row is looked at for the first time.
		await client.query("VACUUM ANALYZE");
	} finally {
		await client.end();
	}
}
