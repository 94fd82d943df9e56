// Methods of what a job has changed in its worktree: the patch, the place, the merge.

import { SluiceError } from "../../../core/errors.ts";
import { isTerminal } from "../../../core/job.ts";
import { doc, type Handler, resolve, shown } from "../../call.ts";
import type { Context } from "../../context.ts";

/** The job's branch, if it still exists; null if no host has it any more. */
async function branchOf(job: number, attempt: number, { work, elsewhere }: Context): Promise<string | null> {
	const away = elsewhere && attempt > 0 ? await elsewhere.place(job, attempt) : null;
	// If its host does not answer now, the branch counts as present: the host learns of the request when it is back.
	if (away) return away.there === false ? null : away.branch;
	return work.worktrees().find((one) => one.job === job)?.branch ?? null;
}

export const worktreeMethods: { [M in "job.diff" | "job.open" | "job.merge"]: Handler<M> } = {
	"job.diff": async ({ id, beginning }, { context }) => {
		const which = beginning ? "beginning" : "whole";
		const job = await resolve(context, id);
		const { attempt, repo, status, spec } = await context.scheduler.show(job);
		// If another host has the latest attempt, the worktree here is outdated.
		const away = context.elsewhere && attempt > 0 ? await context.elsewhere.diff(job, attempt) : null;
		const found = away ?? (await context.work.diff(job, attempt, which));
		if (found) return doc({ job, ...found });
		const ofBranch =
			attempt === 0 && repo !== undefined && spec.worktree !== undefined
				? await context.work.branchDiff(repo, spec.worktree, spec.base_branch, which)
				: null;
		if (ofBranch) return doc({ job, ...ofBranch });
		if (repo === undefined)
			throw new SluiceError("not_found", `job ${job} has no repo, so no changes of it are known`, {
				field: "id",
				hint: "jobs with --repo work in a worktree of their own, and diff shows what they changed there",
			});
		if (attempt === 0) throw new SluiceError("not_found", `job ${job} has changed nothing yet: it has not started`, { field: "id" });
		return doc({ job, patch: "", from: isTerminal(status) ? ("run" as const) : ("worktree" as const) });
	},
	"job.open": async ({ id }, { context }) => {
		const job = await resolve(context, id);
		const view = await context.scheduler.show(job);
		const away = context.elsewhere && view.attempt > 0 ? await context.elsewhere.place(job, view.attempt) : null;
		const host = context.elsewhere && view.attempt > 0 ? await context.scheduler.outputs.ranOn(job, view.attempt) : null;
		const worktree = away ?? (await context.work.place(job));
		const isGone = away === null && view.attempt > 0 && worktree?.there !== true;
		const past = { job, branch: worktree?.branch ?? view.spec.worktree, commit: view.merge_report?.commit };
		const again = isGone && view.repo !== undefined ? await context.work.restorable(view.repo, past) : null;
		const path = again?.path ?? worktree?.path ?? view.spec.cwd;
		if (path === undefined)
			throw new SluiceError("not_found", `job ${job} has no worktree and no folder of its own`, {
				field: "id",
				hint: view.repo === undefined ? "it runs in the home folder" : "it has not run yet, or its worktree was removed after the merge",
			});
		const { branch, base_branch, there } = worktree ?? { branch: null, base_branch: null, there: again === null || again.argv === null };
		const restore = again?.argv ?? null;
		const repo = view.repo ?? null;
		const session = view.session ?? null;
		const account = view.run?.account ?? view.last_run?.account ?? view.account ?? null;
		const resume = session === null || view.agent === undefined ? null : context.agents.opening(view.agent, session, account);
		return doc({ job, host, repo, path, branch, base_branch, there, restore, session, resume });
	},
	"job.merge": async ({ id, drop, reason }, { context, by }) => {
		const { scheduler } = context;
		const job = await resolve(context, id);
		const { status, will_merge, merge_status, merge_report, attempt } = await scheduler.show(job);
		const branch = await branchOf(job, attempt, context);
		if (drop) {
			const where = branch === null ? "" : `; its work stays on ${branch}`;
			await scheduler.dropMerge(job, { by, reason: `given up by ${by}${reason === undefined ? "" : `: ${reason}`}${where}` });
		} else {
			if (branch === null && status === "succeeded" && will_merge && merge_status !== "merged")
				throw new SluiceError("not_found", `the worktree of job ${job} is gone: there is nothing to merge from`, {
					field: "id",
					hint: `merge its branch by hand (git branch --list 'sluice/*-${job}-*')${merge_report?.given_up ? "" : `, then: sluice merge ${job} --drop`}`,
				});
			await scheduler.mergeAgain(job, { by });
		}
		return doc({ job: shown(context, await scheduler.show(job)) });
	},
};
