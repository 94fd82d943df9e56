// Row: the graph of 10,000 jobs and 20,000 edges as JSON, beside reading the same rows with bare SQL.

import { graphDocument } from "../../src/core/graph/text.ts";
import { openDatabase } from "../../src/stores/sqlite/driver.ts";
import { openEngine, payload } from "../engine.ts";
import { dagEdges } from "../floor/dag.ts";
import { atMost, type Row } from "../row.ts";
import { ratio, sample } from "../statistics.ts";

export const graph: Row = {
	name: "graph",
	title: "the graph of 10,000 jobs as JSON, beside reading the rows",
	async run(bench) {
		const jobs = bench.size(10_000, 500);
		const path = bench.freshFile("graph");
		const engine = await openEngine(path);
		await engine.apply({
			jobs: dagEdges(jobs).map((after, i) => ({ ...payload(i), name: `n${i}`, after: after.map((before) => `n${before}`) })),
		});
		const [ours, bare]: [number[], number[]] = [[], []];
		for (let round = 0; round <= bench.rounds; round++) {
			bare.push(readRows(path, jobs));
			const start = performance.now();
			const { nodes } = JSON.parse(JSON.stringify(graphDocument(await engine.graph())));
			ours.push(performance.now() - start);
			if (nodes.length !== jobs) throw new Error(`${nodes.length} of ${jobs} nodes`);
		}
		await engine.close();
		const of = (times: number[]) => sample(times.slice(-bench.rounds));
		return [
			{ what: "graph of 10,000 jobs as JSON ÷ reading the rows", bar: atMost(10), unit: "×", measured: ratio(of(ours), of(bare)) },
			{ what: "graph of 10,000 jobs as JSON", unit: "ms", measured: of(ours) },
			{ what: "reading the rows", unit: "ms", measured: of(bare) },
		];
	},
};

/** Jobs, specs and edges, each document parsed: what nobody who draws them can do without. */
function readRows(path: string, jobs: number): number {
	const database = openDatabase(path);
	try {
		const start = performance.now();
		const all = (sql: string) => {
			const statement = database.prepare(sql);
			statement.setReturnArrays(true);
			return statement.all() as unknown[][];
		};
		const docs = all("SELECT doc FROM job ORDER BY id").map(([doc]) => JSON.parse(doc as string));
		const specs = all("SELECT body FROM spec ORDER BY id").map(([body]) => JSON.parse(body as string));
		const edges = all("SELECT job, pred, policy FROM edge ORDER BY job, seq");
		if (docs.length !== jobs || specs.length !== jobs || edges.length === 0) throw new Error("the rows are not all there");
		return performance.now() - start;
	} finally {
		database.close();
	}
}
