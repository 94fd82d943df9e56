// Methods for the processes of a running job: freeze, thaw, signal. The host of the run carries them out.

import { SluiceError } from "../../../core/errors.ts";
import { given } from "../../../core/given.ts";
import { doc, type Handler, resolve, resolveAll } from "../../call.ts";

export const frozenMethods: { [M in "job.freeze" | "job.thaw" | "job.signal"]: Handler<M> } = {
	// The supervisor of the run's host learns of it by the event, and by comparing what is assigned to it.
	"job.freeze": async ({ ids, reason }, at) =>
		doc(await at.context.scheduler.freeze(await resolveAll(ids, at), { by: at.by, ...given({ reason }) })),
	"job.thaw": async ({ ids }, at) => doc(await at.context.scheduler.thaw(await resolveAll(ids, at), { by: at.by })),
	"job.signal": async ({ id, signal }, { context, by }) => {
		const job = await resolve(context, id);
		const { run, status, kind } = await context.scheduler.show(job);
		const refuse = (why: string, hint?: string) =>
			new SluiceError("illegal_transition", `job ${job} ${why}`, { field: "id", ...given({ hint }) });
		if (run === undefined) throw refuse(`is ${status}: only a running job can be signalled`);
		if (kind === "payload" || kind === "kernel") throw refuse("runs at an outside worker, which has its processes");
		const { attempt } = run;
		const isHere = context.supervisor.signal(job, signal);
		const away = isHere ? null : ((await context.elsewhere?.signal(job, attempt, signal)) ?? null);
		if (!isHere && away?.sent == null && away?.host)
			throw refuse(`runs on host ${away.host}, which does not answer: the signal was not sent`, "try again, or see sluice host list");
		if (!isHere && !away?.sent) throw refuse("has no process now: it is starting, or has just ended", "try again");
		await context.scheduler.signalled({ job, attempt }, signal, { by });
		return doc({ job, run: `${job}.${attempt}`, host: away?.host ?? null, signal, frozen: run.frozen !== undefined });
	},
};
