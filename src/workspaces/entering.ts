// Gives a run its worktree: made or taken up again, brought up to date, with variables and words about what happened in it before.

import type { Claimed } from "../contracts/scheduler.ts";
import type { EnteredWorkspace } from "../contracts/workspace.ts";
import { messageOf, SluiceError } from "../core/errors.ts";
import type { Repo, WorkspaceContext } from "./context.ts";
import { runHook, variablesOf } from "./hooks.ts";
import type { Makers } from "./makers.ts";
import { readRecord, type WorktreeRecord, worktreeOf } from "./record.ts";
import { ensureWorktree } from "./worktree.ts";

/** Returns `refused` with the reason if there can be no worktree. */
export async function enterWorktree(
	context: WorkspaceContext,
	repo: Repo,
	claimed: Claimed,
	dir: string,
	makers: Makers,
): Promise<EnteredWorkspace | { refused: string; fault?: "job" }> {
	try {
		await bringUpToDate(context, repo, claimed.job.id);
		const record = await context.line(repo.path, () => ensureWorktree(context, repo, claimed, dir));
		makers.note(record);
		const fault = await runHook(context, repo, "before_run", record, dir);
		if (fault !== null) return { refused: fault };
		return {
			cwd: worktreeOf(context, record.repo, record.job),
			env: { ...variablesOf(context, record), ...priorOf(record), SLUICE_ATTEMPT: String(claimed.run.attempt) },
			feedback: feedbackIn(record),
			allow: repo.allow,
			verify: repo.verify,
		};
	} catch (error) {
		const refused = `no worktree in repo ${repo.name}: ${messageOf(error)}`;
		return error instanceof SluiceError && error.field === "job" ? { refused, fault: "job" } : { refused };
	}
}

/** An existing worktree can continue when origin cannot be reached; a new one must not start from an outdated base. */
async function bringUpToDate(context: WorkspaceContext, repo: Repo, job: number): Promise<void> {
	try {
		await context.freshen(repo);
	} catch (error) {
		if (readRecord(context, repo.name, job)?.state !== "ready") throw error;
		context.log.warn("a run goes on with what was fetched before", { job, error: messageOf(error) });
	}
}

/** Variables about the past: the branch of the previous run, unless this run starts with a new worktree, and what blocked the merge. */
function priorOf(record: WorktreeRecord): Record<string, string> {
	const { told, attempt, named, begun_by = 1 } = record;
	return {
		...(attempt > (named ? 1 : begun_by) ? { SLUICE_PRIOR_BRANCH: record.branch } : {}),
		...(told ? { SLUICE_MERGE_STATUS: told.status, SLUICE_MERGE_FILES: told.files.join("\n"), SLUICE_MERGE_MESSAGE: told.message } : {}),
	};
}

function feedbackIn({ told, branch, base_branch }: WorktreeRecord): string | null {
	if (!told) return null;
	const how =
		told.status === "conflict"
			? `Your earlier work on branch ${branch} could not be merged into ${base_branch}: ${told.message}.`
			: `Your earlier work on branch ${branch}, put on top of ${base_branch}, did not pass: ${told.message}.`;
	const files = told.files.length > 0 ? `Files concerned:\n${told.files.map((file) => `- ${file}`).join("\n")}` : "";
	return [how, `Merge ${base_branch} into this branch, solve it, and commit.`, files].filter((part) => part !== "").join("\n\n");
}
