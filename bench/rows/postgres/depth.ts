// What a claim costs on PostgreSQL with a million queued jobs, over what it costs with a thousand.

import { fill } from "../../backlog.ts";
import { openFleet } from "../../fleet.ts";
import { dropDatabase, makeDatabase, query } from "../../postgres.ts";
import { atMost, type Row } from "../../row.ts";
import { comparePair } from "./pair.ts";

export const pgDepth: Row = {
	name: "pg-depth",
	title: "claim on PostgreSQL at 1,000,000 queued over 1,000 queued",
	async run(bench) {
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
	},
};
