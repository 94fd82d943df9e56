// job.select: the numbers of all jobs that match a filter, so that a person can act on all of them.

import { everyJob } from "../../../contracts/queue.ts";
import type { JobView } from "../../../contracts/scheduler.ts";
import { given } from "../../../core/given.ts";
import { isTerminal } from "../../../core/job.ts";
import { doc, type Handler } from "../../call.ts";
import { mustBeKnownScope } from "../../known.ts";
import type { Params } from "../../protocol.ts";
import { matches } from "./search.ts";

/** Numbers in one answer; `total` counts the rest. */
const MOST = 10_000;

type Filter = Params<"job.select">["filter"];

export const selectMethods: { [M in "job.select"]: Handler<M> } = {
	"job.select": async ({ filter, limit = MOST }, { context }) => {
		const { status, lane, repo, batch, all, since } = filter;
		await mustBeKnownScope({ lane, repo, batch }, context);
		const isEnded = all === true || since !== undefined;
		const ids: number[] = [];
		let total = 0;
		for await (const job of everyJob(context.scheduler, given({ status, lane, repo, batch, all: isEnded || undefined }))) {
			if (!fits(job, filter)) continue;
			total++;
			if (ids.length < limit) ids.push(job.id);
		}
		return doc({ ids, total });
	},
};

function fits(job: JobView, { owner, agent, model, host, since, held, asks, text = "" }: Filter): boolean {
	if (owner !== undefined && job.owner !== owner) return false;
	if (agent !== undefined && job.agent !== agent) return false;
	if (model !== undefined && (job.run?.model ?? job.spec.model) !== model) return false;
	if (host !== undefined && (job.run ?? job.last_run)?.host !== host) return false;
	if (since !== undefined && !(isTerminal(job.status) && (job.ended_at ?? 0) >= Number(since))) return false;
	if (held === true && job.hold === undefined) return false;
	if (asks === true && job.approval !== "needed") return false;
	return matches(job, text.toLowerCase().split(/\s+/).filter(Boolean));
}
