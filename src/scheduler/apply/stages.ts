// The stages of an apply that goes in by pieces: opened before the first piece, closed when all pieces are in, dropped when the apply was cut off. The head
// of apply.ts says what each step leaves in the store.

import type { ApplyResult } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import { bucketKey } from "../../core/bucket.ts";
import { SluiceError } from "../../core/errors.ts";
import { countStaged } from "../limits/backlog.ts";
import { replaceTwin } from "../operations/add.ts";
import type { Tx } from "../transaction/tx.ts";
import { continueLater, progressOf } from "../waiting/continuation.ts";
import type { ManifestUpdate } from "./plain.ts";
import { updateJobs } from "./update.ts";

const STAGE_STALE_MS = 60_000;

/** `jobs`: how many jobs the stage will have. */
export function openStage(tx: Tx, { jobs, batches }: { jobs: number; batches: string[] }): { stage: number; from: number; to: number } {
	const from = tx.nextIds(jobs);
	const to = from + jobs - 1;
	tx.put("stage", String(from), { from, to, at: tx.now, ...(batches.length > 0 ? { batches } : {}) });
	return { stage: from, from, to };
}

/** `twins`: jobs that those of the stage replace. */
export type StageEnd = { stage: number; from: number; to: number; twins: number[]; update: ManifestUpdate | null };

/** Makes all jobs of the apply visible at once, and changes the jobs that it updates. */
export function* closeStage(tx: Tx, { stage, from, to, twins, update }: StageEnd): Op<Pick<ApplyResult, "updated" | "not_named">> {
	for (const twin of twins) yield* replaceTwin(tx, twin);
	for (const batch of tx.memory.recall("stage", String(stage))?.batches ?? []) tx.work.close(batch);
	for (const bucket of [...tx.memory.buckets.values()]) {
		if (bucket.stage !== stage) continue;
		const key = tx.memory.bucketKeys.get(bucket.id) as string;
		const { stage: _stage, ...open } = bucket;
		tx.put("bucket", key, null);
		tx.put("bucket", `${bucketKey({ ...open, ...(open.labels ? { host_labels: open.labels } : {}) })}#${bucket.id}`, open);
	}
	tx.put("stage", String(stage), null);
	countStaged(tx, stage);
	tx.event("applied", null, { from, to });
	tx.stirred = true;
	return update ? yield* updateJobs(tx, update) : {};
}

/** Renews the stage. Throws if another process has meanwhile taken this apply for dead. */
export function keepStage(tx: Tx, stage: number): void {
	const known = tx.memory.recall("stage", String(stage));
	if (!known || progressOf(tx, { do: "stage", of: stage }) !== null)
		throw new SluiceError("store", "this apply took too long between two of its steps and was taken for dead", {
			hint: "apply it again: nothing of it was kept",
		});
	tx.put("stage", String(stage), { ...known, at: tx.now });
}

/** Drops an apply that was cut off or refused half way: its jobs are removed piece by piece. */
export function dropStage(tx: Tx, stage: number): void {
	const range = tx.memory.recall("stage", String(stage));
	if (range) continueLater(tx, { do: "stage", of: stage, after: 0, from: range.from, to: range.to });
}

export function dropStaleStages(tx: Tx): void {
	for (const { from, at } of tx.memory.all("stage").values()) {
		if (at < tx.now - STAGE_STALE_MS && progressOf(tx, { do: "stage", of: from }) === null) dropStage(tx, from);
	}
}
