// Methods of batches: their progress, and actions on all of their jobs.

import { everyJob } from "../../contracts/queue.ts";
import type { BatchView, JobView } from "../../contracts/scheduler.ts";
import { given } from "../../core/given.ts";
import { isTerminal } from "../../core/job.ts";
import { type At, doc, type Handlers, shownAll } from "../call.ts";
import { batchEtas } from "../documents/eta.ts";
import { noSuch } from "../known.ts";
import type { BatchDocument } from "../protocol/batch.ts";
import { costOf } from "./budget.ts";

/** Jobs retried in one transaction: more would delay other callers. */
const RETRY_BATCH = 250;
/** What `batch.retry` retries; jobs blocked by them are retried along with them. */
const RETRIED = ["failed", "cancelled", "expired"];

async function jobsOf(name: string, { context }: At): Promise<JobView[]> {
	const all: JobView[] = [];
	for await (const job of everyJob(context.scheduler, { batch: name, all: true })) all.push(job);
	return all;
}

type Etas = Awaited<ReturnType<typeof batchEtas>>;

async function documentOf(
	{ name, open, total, owned }: BatchView,
	jobs: readonly JobView[],
	{ context }: At,
	etas: Etas,
): Promise<BatchDocument> {
	const counts: BatchDocument["counts"] = {};
	for (const { status } of jobs) counts[status] = (counts[status] ?? 0) + 1;
	const { usage, runs } = costOf(name, jobs);
	const ledger = (await context.scheduler.ledgers(`batch:${name}`)).find(({ dim }) => dim === "cost_micro");
	return {
		name,
		state: open === 0 && !owned ? "closed" : "open",
		open,
		total,
		owned,
		counts,
		progress: total === 0 ? 1 : Math.round((1000 * (total - open)) / total) / 1000,
		runs,
		usage,
		cost_micro: usage.cost_micro ?? ledger?.used ?? null,
		eta: open === 0 ? null : (etas.get(name) ?? null),
	};
}

async function mustKnow(name: string, { context }: At): Promise<BatchView> {
	const all = await context.scheduler.batches();
	const found = all.find((one) => one.name === name);
	if (found) return found;
	const names = all.map((one) => one.name);
	throw noSuch("batch", name, names, "sluice batch list --all shows the batches that exist");
}

export const batchMethods: Handlers<"batch"> = {
	"batch.list": async ({ all }, at) => {
		const batches: BatchDocument[] = [];
		const etas = await batchEtas(at.context);
		for (const one of await at.context.scheduler.batches())
			if (all || one.open > 0 || one.owned) batches.push(await documentOf(one, await jobsOf(one.name, at), at, etas));
		return doc({ batches });
	},
	"batch.show": async ({ name }, at) => {
		const batch = await mustKnow(name, at);
		const jobs = await jobsOf(name, at);
		return doc({ batch: await documentOf(batch, jobs, at, await batchEtas(at.context)), jobs: shownAll(at.context, jobs) });
	},
	"batch.close": async ({ name }, at) => {
		const batch = await at.context.scheduler.closeBatch(name, { by: at.by });
		return doc({ batch: await documentOf(batch, await jobsOf(name, at), at, await batchEtas(at.context)) });
	},
	"batch.cancel": async ({ name, reason }, at) => {
		await mustKnow(name, at);
		const open = (await jobsOf(name, at)).filter(({ status }) => !isTerminal(status));
		const ids = open.map(({ id }) => id);
		if (ids.length === 0) return doc({ cancelled: [], requested: [] });
		const { cancelled, requested } = await at.context.scheduler.cancelAll(ids, { by: at.by, ...given({ reason }) });
		return doc({ cancelled, requested });
	},
	"batch.retry": async ({ name }, at) => {
		await mustKnow(name, at);
		await at.context.work.lookForBusy();
		const reset = new Set<number>();
		const restarted = new Set<number>();
		const skipped: { job: number; reason: string }[] = [];
		const ids = (await jobsOf(name, at)).filter(({ status }) => RETRIED.includes(status)).map(({ id }) => id);
		for (let from = 0; from < ids.length; from += RETRY_BATCH) {
			const some = ids.slice(from, from + RETRY_BATCH).filter((id) => !reset.has(id));
			const report = await at.context.scheduler.retryAll(some, { by: at.by });
			for (const one of report.reset) reset.add(one);
			for (const one of report.restarted) restarted.add(one);
			skipped.push(...report.skipped);
		}
		return doc({ reset: [...reset], restarted: [...restarted], skipped });
	},
};
