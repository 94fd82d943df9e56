// Pruning: removes worktrees of ended jobs, automatically after the retention time or on request. The report gives a reason for each worktree that stays.

import type { PruneReport } from "../contracts/workspace.ts";
import { messageOf } from "../core/errors.ts";
import { isTerminal } from "../core/job.ts";
import type { WorkspaceContext } from "./context.ts";
import { jobOf } from "./merging/merge-step.ts";
import { STATUS } from "./merging/staging.ts";
import { allRecords, type WorktreeRecord, worktreeOf } from "./record.ts";
import { removeWorktree } from "./removal.ts";

export type Which = { what: "ended" | "long over"; act: "remove" | "only look" };

export async function prune(context: WorkspaceContext, { what, act }: Which): Promise<PruneReport> {
	const report: PruneReport = { removed: [], kept: [] };
	for (const record of allRecords(context)) {
		const path = worktreeOf(context, record.repo, record.job);
		const { job, branch } = record;
		try {
			const why = await reasonToStay(context, record, what);
			if (why !== null) report.kept.push({ job, path, why });
			else if (act === "only look") report.removed.push({ job, path, branch, rescued: await wouldRescue(context, path) });
			else {
				const { rescued, why: stays } = await context.line(record.root, () => removeWorktree(context, context.repo(record.repo), record));
				if (stays === null) report.removed.push({ job, path, branch, rescued });
				else report.kept.push({ job, path, why: stays });
			}
		} catch (error) {
			report.kept.push({ job, path, why: messageOf(error) });
		}
		await context.host.turn();
	}
	return report;
}

const OPEN = ["pending", "base_dirty", "conflict", "verify_failed"];

async function reasonToStay(context: WorkspaceContext, record: WorktreeRecord, what: Which["what"]): Promise<string | null> {
	if (context.isLive(record.job)) return "its job is running";
	const job = await jobOf(context, record.job);
	if (job !== null) {
		const { status, merge_status, ended_at } = job;
		if (!isTerminal(status)) return `its job is ${status}`;
		const merges = record.strategy === "direct" || record.strategy === "mr";
		if (status === "succeeded" && merges && OPEN.includes(merge_status ?? "")) return `its merge is open (${merge_status})`;
		const keep = context.retentionMs();
		if (what === "long over" && (keep === null || (ended_at ?? 0) > context.clock.now() - keep)) return "its job has ended not long ago";
	}
	const users = context.usersOf(worktreeOf(context, record.repo, record.job));
	return users.length > 0 ? `a process works in it: ${users.slice(0, 5).join(", ")}` : null;
}

async function wouldRescue(context: WorkspaceContext, path: string): Promise<string | null> {
	if (context.disk.size(`${path}/.git`) === null) return null;
	const changes = await context.git.ask(path, [...STATUS, "--untracked-files=normal"]);
	return changes === "" ? null : "a rescue ref";
}
