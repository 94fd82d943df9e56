// 100,000 jobs through one queue on PostgreSQL that is never rested: what claims cost at the end over the beginning, how large the hot tables get.

import { addAll, claimExactly, completeAll, openFleet } from "../../fleet/open.ts";
import { dropDatabase, makeDatabase } from "../../postgres.ts";
import { atMost, type Measure, type Row } from "../../row.ts";
import { median, sample } from "../../statistics.ts";
import { BATCH } from "./claims.ts";
import { tableSizes, tables } from "./size.ts";

const BACKLOG = 5000;
const HOT = ["job", "record", "link", "head"];

export const pgBloat: Row = {
	name: "pg-bloat",
	title: "100,000 jobs through one queue on PostgreSQL without a rest: bloat",
	async run(bench) {
		const jobs = bench.size(100_000, 2000);
		const url = await makeDatabase("bloat");
		const engine = await openFleet(url);
		try {
			await addAll(engine, BACKLOG, BATCH);
			const before = await tableSizes(url);
			const claims: number[] = [];
			for (let from = 0; from < jobs; from += BATCH) {
				const start = performance.now();
				const claimed = await claimExactly(engine, BATCH);
				claims.push(((performance.now() - start) * 1000) / BATCH);
				await completeAll(engine, claimed);
				await addAll(engine, BATCH, BATCH);
				if (from % 10_000 === 0) bench.progress(`bloat ${from.toLocaleString("en")}`);
			}
			const after = await tableSizes(url);
			const tenth = Math.ceil(claims.length / 10);
			const [first, last] = [claims.slice(0, tenth), claims.slice(-tenth)];
			const grown = HOT.flatMap((name): Measure[] => {
				const [was, is] = [before.get(name), after.get(name)];
				if (!was || !is) return [];
				return [
					{
						what: `PostgreSQL: table ${name} with its indexes, after 100,000 jobs`,
						unit: "MB",
						measured: sample([is.heap + is.indexes]),
						note: `before ${(was.heap + was.indexes).toFixed(1)} MB, with the same ${BACKLOG.toLocaleString("en")} queued; ${is.dead.toLocaleString("en")} dead rows, ${is.vacuums} vacuums`,
					},
				];
			});
			return [
				{
					what: "PostgreSQL: claims of 100, the last tenth of 100,000 jobs ÷ the first tenth",
					bar: atMost(1.5),
					unit: "×",
					measured: sample([median(last) / median(first)]),
					note: await tables(url),
				},
				{ what: "PostgreSQL: claims of 100, the first tenth", unit: "µs/job", measured: sample(first) },
				{ what: "PostgreSQL: claims of 100, the last tenth", unit: "µs/job", measured: sample(last) },
				...grown,
			];
		} finally {
			await engine.close();
			await dropDatabase(url);
		}
	},
};
