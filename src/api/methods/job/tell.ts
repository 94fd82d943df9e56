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

export const tellMethods: { [M in "job.tell"]: Handler<M> } = {
	"job.tell": async ({ id, text }, { context, by }) => {
		if (text.trim() === "") throw new SluiceError("invalid", "text: is empty", { field: "text", hint: "say what the agent should know" });
		const job = await resolve(context, id);
		await context.scheduler.tell(job, text, { by });
		const view = await context.scheduler.show(job);
		return doc({ job: shown(context, view), ...whenTold(view, context) });
	},
};
