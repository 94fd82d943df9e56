// Pruning: worktrees of jobs that have ended go, by themselves after a while or when somebody asks. What must stay is said, with the reason.

import { isTerminal } from "../core/job.ts";
import { troubleOf } from "../disk.ts";
import type { PruneReport } from "../workspace.ts";
import { codeOf, type Yard } from "./parts.ts";
import { allRecords, type WorktreeRecord, worktreeOf } from "./record.ts";
import { removeWorktree } from "./removal.ts";
import { STATUS } from "./staging.ts";

export type Which = { what: "ended" | "long over"; act: "remove" | "only look" };

export async function prune(yard: Yard, { what, act }: Which): Promise<PruneReport> {
	const report: PruneReport = { removed: [], kept: [] };
	for (const record of allRecords(yard)) {
		const path = worktreeOf(yard, record.repo, record.job);
		const { job, branch } = record;
		try {
			const why = await reasonToStay(yard, record, what);
			if (why !== null) report.kept.push({ job, path, why });
			else if (act === "only look") report.removed.push({ job, path, branch, rescued: await wouldRescue(yard, path) });
			else {
				const { rescued, why: stays } = await yard.line(record.root, () => removeWorktree(yard, yard.repo(record.repo), record));
				if (stays === null) report.removed.push({ job, path, branch, rescued });
				else report.kept.push({ job, path, why: stays });
			}
		} catch (error) {
			report.kept.push({ job, path, why: troubleOf(error) });
		}
		await yard.host.turn();
	}
	return report;
}

const OPEN = ["pending", "base_dirty", "conflict", "verify_failed"];

async function reasonToStay(yard: Yard, record: WorktreeRecord, what: Which["what"]): Promise<string | null> {
	if (yard.isLive(record.job)) return "its job is running";
	try {
		const { status, merge_status, ended_at } = await yard.scheduler.show(record.job);
		if (!isTerminal(status)) return `its job is ${status}`;
		const merges = record.strategy === "direct" || record.strategy === "mr";
		if (status === "succeeded" && merges && OPEN.includes(merge_status ?? "")) return `its merge is open (${merge_status})`;
		const keep = yard.retentionMs();
		if (what === "long over" && (keep === null || (ended_at ?? 0) > yard.clock.now() - keep)) return "its job has ended not long ago";
	} catch (error) {
		if (codeOf(error) !== "not_found") throw error;
	}
	const users = yard.usersOf(worktreeOf(yard, record.repo, record.job));
	return users.length > 0 ? `a process works in it: ${users.slice(0, 5).join(", ")}` : null;
}

async function wouldRescue(yard: Yard, path: string): Promise<string | null> {
	if (yard.disk.size(`${path}/.git`) === null) return null;
	const changes = await yard.git.ask(path, [...STATUS, "--untracked-files=normal"]);
	return changes === "" ? null : "a rescue ref";
}
