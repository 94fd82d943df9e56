// Methods of budgets: limits, usage, and the cost of jobs.

import { everyJob } from "../../contracts/queue.ts";
import type { BudgetView, JobView } from "../../contracts/scheduler.ts";
import { SluiceError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { addTo } from "../../core/text/lists-by-key.ts";
import { type At, demandToAct, doc, type Handlers } from "../call.ts";
import { maybeTime } from "../documents.ts";
import type { BudgetDocument, COST_GROUPS, CostDocument } from "../protocol/budget.ts";

const budgetDocument = (view: BudgetView): BudgetDocument => ({ ...view, refills_at: maybeTime(view.refills_at) });

type Group = (typeof COST_GROUPS)[number];
type Only = { batch?: string | undefined; owner?: string | undefined; repo?: string | undefined };

/** Total usage that the runs of these jobs reported. */
export function costOf(name: string | null, jobs: readonly JobView[]): CostDocument {
	const usage: Record<string, number> = {};
	for (const job of jobs) for (const [dim, amount] of Object.entries(job.usage ?? {})) usage[dim] = (usage[dim] ?? 0) + amount;
	return {
		name,
		jobs: jobs.length,
		runs: jobs.reduce((sum, { attempt }) => sum + attempt, 0),
		cost_micro: usage.cost_micro ?? 0,
		tokens: usage.tokens ?? 0,
		usage,
	};
}

async function report(per: Group, { batch, owner, repo }: Only, { context }: At): Promise<CostDocument[]> {
	const groups = new Map<string | null, JobView[]>();
	for await (const job of everyJob(context.scheduler, { all: true, ...given({ batch, repo }) })) {
		// A job that has not run has cost nothing.
		if (job.attempt === 0 || (owner !== undefined && job.owner !== owner)) continue;
		const name = per === "job" ? String(job.id) : (job[per] ?? null);
		addTo(groups, name, job);
	}
	return [...groups]
		.map(([name, jobs]) => costOf(name, jobs))
		.sort((a, b) => b.cost_micro - a.cost_micro || b.tokens - a.tokens || b.runs - a.runs || (String(a.name) < String(b.name) ? -1 : 1));
}

export const budgetMethods: Handlers<"budget"> = {
	"budget.list": async ({ subject }, { context }) => doc({ budgets: (await context.scheduler.ledgers(subject)).map(budgetDocument) }),
	"budget.grant": async ({ subject, dim, limit, window, warn_at, on_breach, reserve }, { context, by }) => {
		const grant = { limit, ...given({ window, warn_at, on_breach, reserve }) };
		return doc({ budget: budgetDocument(await context.scheduler.grant(subject, dim, grant, { by })) });
	},
	"budget.report": async ({ per = "batch", batch, owner, repo, subject, dim, amount }, at) => {
		if (subject === undefined && dim === undefined && amount === undefined)
			return doc({ per, costs: await report(per, { batch, owner, repo }, at) });
		demandToAct(at, "budget.report");
		const missing = subject === undefined ? "subject" : dim === undefined ? "dim" : amount === undefined ? "amount" : undefined;
		if (subject === undefined || dim === undefined || amount === undefined)
			throw new SluiceError("invalid", `${missing}: is missing`, {
				field: missing ?? "subject",
				hint: "a charge takes subject, dim and amount; without all three the costs are reported",
			});
		const { warned, first_breach, ...budget } = await at.context.scheduler.charge(subject, dim, amount);
		return doc({ budget: budgetDocument(budget), warned, first_breach });
	},
};
