// Row 5: a DAG of 100,000 jobs and 200,000 edges: applied beside bare inserts while somebody asks for the status, then run through.

import type { Scheduler } from "../../src/contracts/scheduler.ts";
import { openEngine, payload, success } from "../engine.ts";
import { bareDag, dagEdges } from "../floor/dag.ts";
import { interleave } from "../interleave.ts";
import { atLeast, atMost, type Row } from "../row.ts";
import { ratio, sample } from "../statistics.ts";

const BATCH = 100;
const ASK_EVERY_MS = 20;

type Round = { applyMs: number; runUs: number; worstStatusMs: number; worstHoldMs: number };

export const dag: Row = {
	name: "dag",
	title: "a DAG of 100,000 jobs and 200,000 edges: apply, status meanwhile, run through",
	async run(bench) {
		const jobs = bench.size(100_000, 3_000);
		const mine: Round[] = [];
		const bare: Pick<Round, "applyMs" | "runUs">[] = [];
		await interleave(bench, [
			{
				name: "ours",
				async round(path) {
					mine.push(await ours(path, jobs));
					return mine.at(-1)?.applyMs ?? 0;
				},
			},
			{
				name: "bare",
				round(path) {
					bare.push(bareDag(path, jobs));
					return bare.at(-1)?.applyMs ?? 0;
				},
			},
		]);
		const of = <Key extends string>(rounds: Record<Key, number>[], key: Key) =>
			sample(rounds.slice(-bench.rounds).map((round) => round[key]));
		const status = of(mine, "worstStatusMs");
		const hold = of(mine, "worstHoldMs");
		return [
			{
				what: "apply a DAG of 100,000 jobs, 200,000 edges ÷ bare inserts",
				bar: atMost(4),
				unit: "×",
				measured: ratio(of(mine, "applyMs"), of(bare, "applyMs")),
			},
			// A promise about the worst case is judged by the worst round.
			{ what: "status() during apply, worst of all rounds", bar: atMost(100), unit: "ms", measured: { ...status, median: status.max } },
			{
				what: "run the DAG through, throughput ÷ bare claim+complete+release",
				bar: atLeast(0.4),
				unit: "×",
				measured: ratio(of(bare, "runUs"), of(mine, "runUs")),
			},
			{ what: "event loop held up during apply, worst of all rounds", unit: "ms", measured: { ...hold, median: hold.max } },
			{ what: "apply", unit: "ms", measured: of(mine, "applyMs") },
			{ what: "bare inserts", unit: "ms", measured: of(bare, "applyMs") },
			{ what: "run through", unit: "µs/job", measured: of(mine, "runUs") },
			{ what: "bare run through", unit: "µs/job", measured: of(bare, "runUs") },
		];
	},
};

async function ours(path: string, jobs: number): Promise<Round> {
	const manifest = {
		jobs: dagEdges(jobs).map((after, i) => ({ ...payload(i), name: `n${i}`, after: after.map((before) => `n${before}`) })),
	};
	const engine = await openEngine(path);
	const asking = ask(engine);
	const start = performance.now();
	await engine.apply(manifest);
	const applyMs = performance.now() - start;
	const { worstStatusMs, worstHoldMs } = await asking.stop();
	const runUs = await runThrough(engine, jobs);
	await engine.close();
	return { applyMs, runUs, worstStatusMs, worstHoldMs };
}

/** Counts from when the call was due, not from when a busy event loop let it be made. */
function ask(engine: Scheduler): { stop(): Promise<{ worstStatusMs: number; worstHoldMs: number }> } {
	let worstStatusMs = 0;
	let worstHoldMs = 0;
	let due = performance.now() + ASK_EVERY_MS;
	const open = new Set<Promise<void>>();
	let timer = setTimeout(tick, ASK_EVERY_MS);
	function tick() {
		const dueNow = due;
		worstHoldMs = Math.max(worstHoldMs, performance.now() - dueNow);
		const call: Promise<void> = engine.status().then(() => {
			worstStatusMs = Math.max(worstStatusMs, performance.now() - dueNow);
			open.delete(call);
		});
		open.add(call);
		due = Math.max(due + ASK_EVERY_MS, performance.now());
		timer = setTimeout(tick, due - performance.now());
	}
	return {
		async stop() {
			// One that is overdue now has been kept from asking: it counts too.
			worstHoldMs = Math.max(worstHoldMs, performance.now() - due);
			clearTimeout(timer);
			const overdue = Math.max(0, performance.now() - due);
			await Promise.all(open);
			return { worstStatusMs: Math.max(worstStatusMs, overdue), worstHoldMs };
		},
	};
}

/** Microseconds a job. */
async function runThrough(engine: Scheduler, jobs: number): Promise<number> {
	const start = performance.now();
	let finished = 0;
	while (finished < jobs) {
		const claimed = await engine.claim({ worker: "bench", max: BATCH });
		if (claimed.length === 0) throw new Error(`the DAG is stuck at ${finished} of ${jobs}`);
		await Promise.all(claimed.map((one) => engine.complete(success(one))));
		finished += claimed.length;
	}
	return ((performance.now() - start) * 1000) / jobs;
}
