// Which worktrees hold the files that jobs declare as artifacts. Kept in memory because facts are probed every second: records are read once, then updated by
// `note`.

import type { WorkspaceContext } from "./context.ts";
import { allRecords, type WorktreeRecord, worktreeOf } from "./record.ts";

export type Makers = ReturnType<typeof createMakers>;

export function createMakers(context: Pick<WorkspaceContext, "disk" | "worktrees">) {
	let known: Map<number, WorktreeRecord> | undefined;
	/** Leaves out jobs that merge directly: their files count once they are on the base, because a job that starts from the base cannot see them earlier. */
	const holds = (record: WorktreeRecord) => record.makes !== undefined && record.strategy !== "direct";
	const all = () => {
		known ??= new Map(allRecords(context).flatMap((record) => (holds(record) ? [[record.job, record] as const] : [])));
		return known;
	};
	return {
		note(record: WorktreeRecord): void {
			if (holds(record)) all().set(record.job, record);
			else known?.delete(record.job);
		},
		of(repo: string, artifact: string): string[] {
			const found: string[] = [];
			for (const [job, record] of all()) {
				if (record.repo !== repo || !record.makes?.includes(artifact)) continue;
				const path = worktreeOf(context, repo, job);
				if (context.disk.changedAt(path) === null) all().delete(job);
				else found.push(path);
			}
			return found;
		},
	};
}
