// 20,000 no-op jobs added and worked off on PostgreSQL, in the leader's process and by three other members, beside pg-boss, graphile-worker, BullMQ and a bare
// loop, all durable.

import type { Scheduler } from "../../../src/index.ts";
import { addAll, claimExactly, completeAll, openFleet } from "../../fleet/open.ts";
import { type Child, startChild } from "../../fleet/processes.ts";
import { barePostgresCycle } from "../../floor/postgres.ts";
import { type Contender, interleave } from "../../interleave.ts";
import { bullmq } from "../../peer/bullmq.ts";
import { graphile } from "../../peer/graphile.ts";
import { openBoss, pgBoss, QUEUE } from "../../peer/pg-boss.ts";
import { batches, countdown, type Peer } from "../../peer/queue.ts";
import { inDatabase, postgresVersion } from "../../postgres.ts";
import { atLeast, type Bar, type Measure, type Row } from "../../row.ts";
import { perSecond, ratio, type Sample } from "../../statistics.ts";

const BATCH = 100;
/** Processes that work beside the one that adds. */
const WORKERS = 3;

export const pgNoops: Row = {
	name: "pg-noops",
	title: "20,000 no-op jobs on PostgreSQL beside other queues and a bare loop",
	async run(bench) {
		const run = { jobs: bench.size(20_000, 1000), batch: BATCH };
		const [boss, worker, bull] = [await pgBoss(), await graphile(), await bullmq()];
		const barred: [Peer, Bar][] = [];
		if (boss) barred.push([boss, atLeast(1)]);
		if (worker) barred.push([worker.plain, atLeast(1)]);
		const beside = [...(worker ? [worker.local] : []), ...(bull ? [bull] : [])];
		const peers = [...barred.map(([peer]) => peer), ...beside];
		const warm = { jobs: bench.size(5000, 200), batch: BATCH };
		const contender = (name: string, process: (url: string, of: typeof run) => Promise<number>): Contender => ({
			name,
			warm: () => inDatabase("warm", (url) => process(url, warm)),
			round: () => inDatabase("round", (url) => process(url, run)),
		});
		const contenders: Contender[] = [
			contender("work", (url, of) => ours(url, of, worked)),
			contender("claim", (url, of) => ours(url, of, claimed)),
			contender("cycle", (url, of) => ourCycle(url, of.jobs)),
			contender("bare", barePostgresCycle),
			contender("members", (url, of) => byWorkers("sluice", url, of)),
			...(boss ? [contender("boss-workers", (url, of) => byWorkers("pg-boss", url, of))] : []),
			...peers.map((peer) => contender(peer.name, peer.process)),
		];
		const found = await interleave(bench, contenders);
		const of = (name: string) => found[name] as Sample;
		const against = (peer: Peer, bar?: Bar): Measure => ({
			what: `PostgreSQL: add + work of 20,000 no-ops, throughput ÷ ${peer.name}`,
			...(bar ? { bar } : {}),
			unit: "×",
			measured: ratio(of(peer.name), of("work")),
			note: peer.keeps,
		});
		const absent = [boss ? [] : "pg-boss", worker ? [] : "graphile-worker", bull ? [] : "BullMQ (no redis-server)"].flat();
		return [
			...barred.map(([peer, bar]) => against(peer, bar)),
			{
				what: "PostgreSQL: add + work of 20,000 no-ops, throughput ÷ bare batch-of-100 loop",
				bar: atLeast(0.35),
				unit: "×",
				measured: ratio(of("bare"), of("work")),
				note: `ours: 100 adds a turn, then work() with concurrency 100; events, caps and fencing on. The bare loop: insert, claim with SKIP LOCKED, complete, 100 at a time. All of them warm: 5,000 jobs before each round.${absent.length > 0 ? ` Not here: ${absent.join(", ")}.` : ""}`,
			},
			...(boss
				? [
						{
							what: `PostgreSQL: add + work of 20,000 no-ops by ${WORKERS} other members, throughput ÷ ${boss.name}, ${WORKERS} processes`,
							bar: atLeast(1),
							unit: "×",
							measured: ratio(of("boss-workers"), of("members")),
							note: "one process adds, three others work: ours with concurrency 100 each, pg-boss with fetch and complete of 100.",
						},
						{ what: `PostgreSQL: 20,000 no-ops, pg-boss, ${WORKERS} processes`, unit: "jobs/s", measured: perSecond(of("boss-workers")) },
					]
				: []),
			{ what: `PostgreSQL: 20,000 no-ops, ours, ${WORKERS} other members`, unit: "jobs/s", measured: perSecond(of("members")) },
			...beside.map((peer) => against(peer)),
			{ what: "PostgreSQL: claim and complete by hand, throughput ÷ bare loop", unit: "×", measured: ratio(of("bare"), of("claim")) },
			{ what: "PostgreSQL: add, claim, complete in turn, throughput ÷ bare loop", unit: "×", measured: ratio(of("bare"), of("cycle")) },
			{ what: "PostgreSQL: 20,000 no-ops, ours, work()", unit: "jobs/s", measured: perSecond(of("work")) },
			{ what: "PostgreSQL: 20,000 no-ops, ours, claim and complete by hand", unit: "jobs/s", measured: perSecond(of("claim")) },
			{ what: "PostgreSQL: 20,000 no-ops, ours, add, claim, complete in turn", unit: "jobs/s", measured: perSecond(of("cycle")) },
			{ what: "PostgreSQL: 20,000 no-ops, bare loop", unit: "jobs/s", measured: perSecond(of("bare")), note: await postgresVersion() },
			...peers.map((peer) => ({ what: `PostgreSQL: 20,000 no-ops, ${peer.name}`, unit: "jobs/s", measured: perSecond(of(peer.name)) })),
		];
	},
};

/** One process adds, others work. Processes are started and connected before the clock starts. */
async function byWorkers(which: "sluice" | "pg-boss", url: string, { jobs, batch }: { jobs: number; batch: number }): Promise<number> {
	const boss = which === "pg-boss" ? await openBoss(url) : undefined;
	const leader = boss ? undefined : await openFleet(url, { name: "leader" });
	const workers = Array.from({ length: WORKERS }, () => startChild("noop-worker"));
	try {
		await Promise.all(workers.map((worker, i) => worker.ask("open", { which, url, name: `worker-${i}`, batch })));
		const start = performance.now();
		if (boss)
			for (const numbers of batches({ jobs, batch }))
				await boss.insert(
					QUEUE,
					numbers.map((n) => ({ data: { n } })),
				);
		else if (leader) await addAll(leader, jobs, batch);
		await Promise.all(workers.map((worker) => worker.ask("work")));
		await untilDone(workers, jobs);
		await Promise.all(workers.map((worker) => worker.ask("rest")));
		return ((performance.now() - start) * 1000) / jobs;
	} finally {
		await Promise.all(workers.map((worker) => worker.end()));
		await leader?.close();
		await boss?.stop({ graceful: false });
	}
}

/** Each worker says what it has done when that has changed. */
async function untilDone(workers: readonly Child[], jobs: number): Promise<void> {
	let done = 0;
	await new Promise<void>((resolve, reject) => {
		for (const worker of workers)
			(async () => {
				for (let own = 0; done < jobs; ) {
					const count = await worker.ask<number>("more", own);
					done += count - own;
					own = count;
				}
				resolve();
			})().catch(reject);
	});
	if (done !== jobs) throw new Error(`${done} of ${jobs} jobs were done`);
}

type Way = (engine: Scheduler, jobs: number) => Promise<void>;

async function ours(url: string, { jobs, batch }: { jobs: number; batch: number }, way: Way): Promise<number> {
	const engine = await openFleet(url);
	const start = performance.now();
	await addAll(engine, jobs, batch);
	await way(engine, jobs);
	const took = performance.now() - start;
	await checkEmpty(engine);
	await engine.close();
	return (took * 1000) / jobs;
}

async function worked(engine: Scheduler, jobs: number): Promise<void> {
	const all = countdown(jobs);
	const worker = engine.work("default", async () => all.call(), { concurrency: BATCH });
	await all.done;
	// Stopping waits until the last outcomes are durable, so they are in the time.
	await worker.stop();
}

async function claimed(engine: Scheduler, jobs: number): Promise<void> {
	for (let left = jobs; left > 0; left -= BATCH) await completeAll(engine, await claimExactly(engine, BATCH));
}

/** As the bare loop goes: 100 in, 100 through. */
async function ourCycle(url: string, jobs: number): Promise<number> {
	const engine = await openFleet(url);
	const start = performance.now();
	for (let from = 0; from < jobs; from += BATCH) {
		await addAll(engine, BATCH, BATCH);
		await completeAll(engine, await claimExactly(engine, BATCH));
	}
	const took = performance.now() - start;
	await checkEmpty(engine);
	await engine.close();
	return (took * 1000) / jobs;
}

async function checkEmpty(engine: Scheduler): Promise<void> {
	const { queued_total, running } = await engine.status();
	if (queued_total + running !== 0) throw new Error(`${queued_total} queued and ${running} running jobs are left`);
}
