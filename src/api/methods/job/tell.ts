// Methods with which a person speaks to a job's agent: the text is recorded, and the answer says when the agent gets it.

import type { JobView } from "../../../contracts/scheduler.ts";
import { SluiceError } from "../../../core/errors.ts";
import type { ToldHow } from "../../../core/runs/told.ts";
import { doc, type Handler, resolve, shown } from "../../call.ts";
import type { Context } from "../../context.ts";

/** When the agent of this job gets a text, and why then. */
function whenTold({ status, agent = "", spec, attempt, run }: JobView, { agents }: Context): { how: ToldHow; detail: string } {
	if (status !== "running")
		return { how: "next", detail: attempt === 0 ? "it has not started: the prompt of its first run has it" : "its next run gets it" };
	if (run?.intent && !run.intent.resumes) return { how: "next", detail: "it is being stopped: its next run, if there is one, gets it" };
	if (spec.mode === "ralph") return { how: "next", detail: "each of its runs starts afresh: the next one, if there is one, gets it" };
	const { resume, output } = agents.profile(agent);
	if (resume.length === 0 || output === "command")
		return { how: "next", detail: `${agent} cannot be resumed: the next attempt, if there is one, gets it` };
	return { how: "turn", detail: "its run is stopped at the end of the present turn and goes on with it, in the same session" };
}

const cannotOpen = (job: number, agent: string): SluiceError =>
	new SluiceError("illegal_transition", `job ${job} runs ${agent}, which has no session that a person can open`, {
		field: "id",
		hint: `say how with agents.${agent}.open; sluice logs ${job} -f shows what it does`,
	});

/** Refuses what can be seen to be impossible before its run is stopped for it. */
function mayAttach({ id, kind, status, agent = "", run }: JobView, { agents }: Context): void {
	if (kind !== "agent")
		throw new SluiceError("illegal_transition", `job ${id} runs no agent: there is no session to attach to`, {
			field: "id",
			hint: `sluice logs ${id} -f shows what it writes`,
		});
	if (status !== "running" || run === undefined)
		throw new SluiceError("illegal_transition", `job ${id} is ${status}: only a running job can be attached`, {
			field: "id",
			hint: `sluice open ${id} prints how to go on with its session by hand`,
		});
	if (agents.opening(agent, "s", null) === null) throw cannotOpen(id, agent);
}

export const tellMethods: { [M in "job.tell" | "job.attach" | "job.detach"]: Handler<M> } = {
	"job.attach": async ({ id, key = null }, { context, by }) => {
		const job = await resolve(context, id);
		const view = await context.scheduler.show(job);
		mayAttach(view, context);
		const { cwd, session, account, ...found } = context.supervisor.attach(job, { by, key });
		if (found.state === "waiting" || session === null) return doc({ job, ...found, state: "waiting" as const, open: null });
		const opening = context.agents.opening(view.agent ?? "", session, account);
		const place = await context.work.place(job);
		const path = place?.there ? place.path : cwd;
		if (opening === null || path === null) throw cannotOpen(job, view.agent ?? "");
		return doc({ job, ...found, open: { path, session, ...opening } });
	},
	"job.detach": async ({ id, key, done }, { context }) => {
		const job = await resolve(context, id);
		return doc({ job, released: context.supervisor.detach(job, { key, done: done === true }) });
	},
	"job.tell": async ({ id, text }, { context, by }) => {
		if (text.trim() === "") throw new SluiceError("invalid", "text: is empty", { field: "text", hint: "say what the agent should know" });
		const job = await resolve(context, id);
		await context.scheduler.tell(job, text, { by });
		const view = await context.scheduler.show(job);
		return doc({ job: shown(context, view), ...whenTold(view, context) });
	},
};
