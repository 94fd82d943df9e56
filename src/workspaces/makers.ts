// Which worktrees hold files that jobs say they make. In memory, since facts are asked for every second: records are read once, then told of.

import type { Yard } from "./parts.ts";
import { allRecords, type WorktreeRecord, worktreeOf } from "./record.ts";

export type Makers = { note(record: WorktreeRecord): void; of(repo: string, artifact: string): string[] };

export function createMakers(yard: Pick<Yard, "disk" | "worktrees">): Makers {
	let known: Map<number, WorktreeRecord> | undefined;
	/** What is merged is on the base when it counts; before that nobody who begins there could see it. */
	const holds = (record: WorktreeRecord) => record.makes !== undefined && record.strategy !== "direct";
	const all = () => {
		known ??= new Map(allRecords(yard).flatMap((record) => (holds(record) ? [[record.job, record] as const] : [])));
		return known;
	};
	return {
		note(record) {
			if (holds(record)) all().set(record.job, record);
			else known?.delete(record.job);
		},
		of(repo, artifact) {
			const found: string[] = [];
			for (const [job, record] of all()) {
				if (record.repo !== repo || !record.makes?.includes(artifact)) continue;
				const path = worktreeOf(yard, repo, job);
				if (yard.disk.changedAt(path) === null) all().delete(job);
				else found.push(path);
			}
			return found;
		},
	};
}
