// What is checked of a job that is added or edited, besides its fields: by the host that will run it.

import { SluiceError } from "../../../core/errors.ts";
import type { JobInput } from "../../../core/job.ts";
import type { At } from "../../call.ts";
import type { Startable } from "../../context.ts";

/** The base branch of a job with predecessors or needs may not exist yet: they may create it. */
export async function mustHaveBase({ repo, base_branch, after, needs }: JobInput, { context }: At): Promise<void> {
	if (typeof repo !== "string" || typeof base_branch !== "string" || (after?.length ?? 0) > 0 || (needs?.length ?? 0) > 0) return;
	await context.repos.mustHaveBranch(repo, base_branch);
}

const MOST_WARNINGS = 5;

/** Warnings only, because a program may be installed before the job's turn comes. Each is given once. */
export function startProblems(jobs: readonly Startable[], { context }: At): string[] {
	const found = [...new Set(jobs.flatMap((job) => context.agents.startProblem(job) ?? []))];
	return found.length <= MOST_WARNINGS ? found : [...found.slice(0, MOST_WARNINGS), `and ${found.length - MOST_WARNINGS} more like these`];
}

export function refuseLongPrompts(jobs: readonly JobInput[], { context }: At): void {
	for (const { agent, prompt } of jobs) {
		const problem = agent === undefined || typeof prompt !== "string" ? null : context.supervisor.promptProblem(agent, prompt);
		if (problem !== null) throw new SluiceError("limit", `prompt: ${problem}`, { field: "prompt" });
	}
}

export const warned = (warnings: readonly string[]) => (warnings.length > 0 ? { warning: warnings.join("; ") } : {});
