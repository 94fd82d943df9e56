// What a claim costs in the leader's process with a million queued jobs over a thousand, with caps and locks over without, with ten million finished jobs over none.

import { fill } from "../../backlog.ts";
import { openFleet } from "../../fleet/open.ts";
import { dropDatabase, makeDatabase, query } from "../../postgres.ts";
import { atMost, type Bench, type Measure, type Row } from "../../row.ts";
import { compareCaps } from "./caps.ts";
import { compareHistory } from "./history.ts";
import { comparePair } from "./pair.ts";

export const pgDepth: Row = {
	name: "pg-depth",
	title: "claim on PostgreSQL: 1,000,000 queued over 1,000; with caps and locks over without; 10,000,000 finished over none",
	run: async (bench) => [...(await compareQueued(bench)), ...(await compareCaps(bench)), ...(await compareHistory(bench))],
};

async function compareQueued(bench: Bench): Promise<Measure[]> {
	const urls = [await makeDatabase("shallow"), await makeDatabase("deep")] as const;
	const [shallow, deep] = [await openFleet(urls[0]), await openFleet(urls[1])];
	try {
		await fill(shallow, 1000);
		await fill(deep, bench.size(1_000_000, 20_000), bench.progress);
		// What autovacuum would do in the minutes to come is done before, on both: it is no part of a claim.
		for (const url of urls) await query(url, "VACUUM (ANALYZE)");
		for (const url of urls) await query(url, "CHECKPOINT");
		return await comparePair(
			bench,
			"at 1,000,000 queued ÷ at 1,000",
			atMost(1.5),
			{ name: "1,000,000 queued", engine: deep },
			{ name: "1,000 queued", engine: shallow },
		);
	} finally {
		await Promise.all([shallow.close(), deep.close()]);
		for (const url of urls) await dropDatabase(url);
	}
}
