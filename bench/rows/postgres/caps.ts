// What a claim costs on PostgreSQL with a global cap, caps of its lane, its owner's account and exclusive locks, over what it costs without any.

import { payload } from "../../engine.ts";
import { addAll, openFleet } from "../../fleet/open.ts";
import { dropDatabase, makeDatabase } from "../../postgres.ts";
import { atMost, type Bench, type Measure } from "../../row.ts";
import { BATCH } from "./claims.ts";
import { comparePair } from "./pair.ts";

const LANES = 4;
/** Each job has a lock of its own, so that none waits: what is measured is counting. Beside it, each lock is wanted by two: whoever starts parks the other. */
const WANTED_BY_TWO = 1000;
const CAPPED = {
	max_concurrent: 1000,
	safety_cap: 2000,
	lanes: Object.fromEntries(Array.from({ length: LANES }, (_, i) => [`lane-${i}`, { max: 500 }])),
};
const FREE = { max_concurrent: -1, safety_cap: 0 };

let made = 0;
const capped = (n: number) => ({ ...payload(n), lane: `lane-${n % LANES}`, locks: [`lock-${++made}`] });
const contested = (n: number) => ({ ...payload(n), lane: `lane-${n % LANES}`, locks: [`lock-${n % WANTED_BY_TWO}`] });

export async function compareCaps(bench: Bench): Promise<Measure[]> {
	const urls = [await makeDatabase("free"), await makeDatabase("capped"), await makeDatabase("contested")] as const;
	const free = await openFleet(urls[0], { config: FREE });
	const caps = await openFleet(urls[1], { config: CAPPED });
	const two = await openFleet(urls[2], { config: CAPPED });
	try {
		const jobs = bench.size(2000, 1000);
		await addAll(free, jobs, BATCH);
		await addAll(caps, jobs, BATCH, capped);
		await addAll(two, jobs, BATCH, contested);
		const without = { name: "without", engine: free };
		return [
			...(await comparePair(
				bench,
				"with caps and locks ÷ without",
				atMost(1.5),
				{ name: "with caps and locks", engine: caps, input: capped },
				without,
				`a global cap, a cap on each of ${LANES} lanes, an exclusive lock a job; ${jobs.toLocaleString("en")} queued; none of them binds.`,
			)),
			...(await comparePair(
				bench,
				"each lock wanted by two ÷ without",
				undefined,
				{ name: "each lock wanted by two", engine: two, input: contested },
				without,
			)),
		];
	} finally {
		await Promise.all([free.close(), caps.close(), two.close()]);
		for (const url of urls) await dropDatabase(url);
	}
}
