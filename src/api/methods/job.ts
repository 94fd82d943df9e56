// The methods of jobs: adding, acting, and the door for workers outside. Looking is in job-look.ts.

import { SluiceError } from "../../core/errors.ts";
import type { JobInput } from "../../core/job.ts";
import type { Claimed, Ending } from "../../scheduler.ts";
import { type At, doc, type Handlers, resolve, shown } from "../call.ts";
import { endedDocument, rfc3339, runDocument } from "../documents.ts";
import type { Ref } from "../fields.ts";
import type { AddDocument, ClaimedDocument, OneJob } from "../protocol/job.ts";
import { JOB_LOOKS } from "./job-look.ts";

/** Acts on one job, and shows it afterwards. */
const acted = async (ref: Ref, { context }: At, act: (id: number) => Promise<unknown>): Promise<OneJob> => {
	const id = await resolve(context, ref);
	await act(id);
	return doc({ job: shown(context, await context.scheduler.show(id)) });
};

/** What a run adds is its child unless it says otherwise. */
const asChild = (input: JobInput, { session }: At): JobInput => {
	const { job } = session.caller;
	return job === undefined || input.parent !== undefined ? input : { ...input, parent: job };
};

/** It is accepted all the same: the setting may come before its turn does. */
function agentProblems(agents: readonly (string | undefined)[], { context }: At): string[] {
	const named = new Set(agents.filter((agent) => agent !== undefined));
	return [...named].flatMap((agent) => context.supervisor.agentProblem(agent) ?? []);
}
const warned = (warnings: readonly string[]) => (warnings.length > 0 ? { warning: warnings.join("; ") } : {});

export const jobMethods: Handlers<"job"> = {
	...JOB_LOOKS,

	"job.add": async ({ force, by: _by, ...input }, at) => {
		const { context, by } = at;
		const adding = context.scheduler.add(asChild(input, at), { by, force: force === true });
		context.supervisor.claimAlong?.();
		const result = await adding;
		if (result.outcome !== "queued") return doc(result) as AddDocument;
		const warnings = [...(result.warning === undefined ? [] : [result.warning]), ...agentProblems([result.job.agent], at)];
		return doc({ ...result, job: shown(context, result.job), ...warned(warnings) }) as AddDocument;
	},
	"job.apply": async ({ manifest, check, force }, at) => {
		const { scheduler } = at.context;
		const whole = at.session.caller.job === undefined ? manifest : { ...manifest, defaults: asChild(manifest.defaults ?? {}, at) };
		const result = await scheduler.apply(whole, { by: at.by, force: force === true, check: check === true });
		const agents = manifest.jobs.map((job) => job.agent ?? (job.command === undefined ? manifest.defaults?.agent : undefined));
		return doc({ ...result, ...warned(agentProblems(agents, at)) });
	},

	"job.cancel": async ({ id, ids, subtree, reason }, { context, by }) => {
		const refs = [...(id === undefined ? [] : [id]), ...(ids ?? [])];
		if (refs.length === 0) throw new SluiceError("invalid", "id: is missing", { field: "id", hint: "name the job, or several as ids" });
		const jobs = await Promise.all(refs.map((ref) => resolve(context, ref)));
		// All of them must exist before the first is touched.
		for (const job of jobs) await context.scheduler.show(job);
		const cancelled = new Set<number>();
		const requested = new Set<number>();
		for (const job of new Set(jobs)) {
			// Cancelled with the subtree of one before it.
			if (cancelled.has(job) || requested.has(job)) continue;
			const report = await context.scheduler.cancel(job, { by, subtree: subtree === true, ...(reason === undefined ? {} : { reason }) });
			for (const one of report.cancelled) cancelled.add(one);
			for (const one of report.requested) requested.add(one);
		}
		return doc({ cancelled: [...cancelled], requested: [...requested] });
	},
	"job.retry": async ({ id }, { context, by }) => doc(await context.scheduler.retry(await resolve(context, id), { by })),
	"job.rerun": async ({ id }, { context, by }) => doc(await context.scheduler.rerun(await resolve(context, id), { by })),
	"job.promote": ({ id }, at) => acted(id, at, (job) => at.context.scheduler.promote(job, { by: at.by })),
	"job.demote": ({ id }, at) => acted(id, at, (job) => at.context.scheduler.demote(job, { by: at.by })),
	"job.priority": ({ id, priority }, at) => acted(id, at, (job) => at.context.scheduler.priority(job, priority, { by: at.by })),
	"job.run_now": ({ id, force }, at) => acted(id, at, (job) => at.context.scheduler.runNow(job, { by: at.by, force: force === true })),
	"job.approve": ({ id }, at) => acted(id, at, (job) => at.context.scheduler.approve(job, { by: at.by })),
	"job.reject": ({ id, reason }, at) =>
		acted(id, at, (job) => at.context.scheduler.reject(job, { by: at.by, ...(reason === undefined ? {} : { reason }) })),
	"job.answer": ({ id, text }, at) => acted(id, at, (job) => at.context.scheduler.answer(job, text, { by: at.by })),

	"job.claim": async ({ worker, max, lanes }, at) => {
		const wanted = {
			worker,
			kinds: ["payload" as const],
			...(max === undefined ? {} : { max }),
			...(lanes === undefined ? {} : { lanes }),
		};
		const claimed = await at.context.scheduler.claim(wanted);
		return doc({ claimed: await Promise.all(claimed.map((one) => claimedDocument(one, at))) });
	},
	"job.complete": async ({ job, by: _by, ...rest }, { context }) =>
		doc(endedDocument(await context.scheduler.complete({ ...rest, job: await resolve(context, job) } as Ending))),
	"job.extend": async ({ job, token }, { context }) => {
		const { cancel_requested, lease_until } = await context.scheduler.extend({ job: await resolve(context, job), token });
		return doc({ cancel_requested, lease_until: lease_until === null ? null : rfc3339(lease_until) });
	},
};

/** Whoever runs a job gets its spec as it is: nothing is masked there. */
async function claimedDocument({ job, spec, run }: Claimed, { context }: At): Promise<ClaimedDocument> {
	const view = await context.scheduler.show(job.id);
	return { job: shown(context, view), spec, run: { ...runDocument(job.id, run), token: run.token } };
}
