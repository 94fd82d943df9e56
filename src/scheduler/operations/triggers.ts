// Triggers add jobs at certain times or when something changes. The store keeps only what must survive a restart: since when a trigger is armed, which of
// its slots are dealt with, and the job that it added last, so that a slot gets one job at most, and none while the last one is open.

import type { FireResult, TriggerView } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import type { Draft } from "../../core/input/job.ts";
import { isTerminal } from "../../core/job.ts";
import { storedRecords } from "../transaction/record-map.ts";
import type { Tx } from "../transaction/tx.ts";
import { type AddOptions, addJob } from "./add.ts";

/** `mark`: what the trigger was armed with; a different mark arms it anew. */
export type TriggerRecord = {
	mark: string;
	since: number;
	slot: number | null;
	fired_at: number | null;
	job: number | null;
	skipped: number;
	error: string | null;
};

const viewOf = (name: string, { mark: _, ...record }: TriggerRecord): TriggerView => ({ name, ...record });

export function* arm(tx: Tx, name: string, mark: string): Op<TriggerView> {
	const known = yield* tx.get("trigger", name);
	if (known?.mark === mark) return viewOf(name, known);
	// Keep the job that the trigger added last, even if it was armed with something else then.
	const fresh = { mark, since: tx.now, slot: null, fired_at: known?.fired_at ?? null, job: known?.job ?? null, skipped: 0, error: null };
	tx.put("trigger", name, fresh);
	return viewOf(name, fresh);
}

export function* disarm(tx: Tx, name: string): Op<void> {
	if (yield* tx.get("trigger", name)) tx.put("trigger", name, null);
}

export function* triggers(): Op<TriggerView[]> {
	const rows = yield* storedRecords("trigger");
	return rows.map(([name, record]) => viewOf(name, record)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function* armed(tx: Tx, name: string): Op<TriggerRecord> {
	const record = yield* tx.get("trigger", name);
	if (!record) throw new SluiceError("not_found", `trigger: there is no trigger "${name}"`, { field: "trigger", hint: "arm it first" });
	return record;
}

const isPast = ({ since, slot: last }: TriggerRecord, slot: number | null): boolean =>
	slot !== null && slot <= Math.max(since, last ?? since);

/** Adds the trigger's job unless its last one is open. `slot` null: fired by hand, whatever the schedule says. */
export function* fire(
	tx: Tx,
	name: string,
	slot: number | null,
	whenOpen: "skip" | "wait",
	draft: Draft,
	more: AddOptions,
): Op<FireResult> {
	const record = yield* armed(tx, name);
	if (isPast(record, slot)) return { outcome: "past" };
	const last = record.job === null ? undefined : yield* tx.find(record.job);
	const isOpen = last !== undefined && !isTerminal(last.status);
	const added = isOpen ? undefined : yield* addJob(tx, draft, { ...more, limit: "none" });
	if (added?.outcome === "queued") {
		const job = added.job.id;
		tx.put("trigger", name, { ...record, slot: slot ?? record.slot, fired_at: tx.now, job, error: null });
		return { outcome: "added", job };
	}
	// The job that is in the way: the trigger's last one, or another job that has its item or unique key.
	const holder = isOpen ? last.id : added && "job" in added ? added.job : 0;
	if (slot !== null && whenOpen === "skip") tx.put("trigger", name, { ...record, slot, skipped: record.skipped + 1, error: null });
	return { outcome: "open", job: holder };
}

/** Records a slot that passes without a job: it was missed, or its job could not be added. */
export function* pass(tx: Tx, name: string, slot: number, error: string | null): Op<void> {
	const record = yield* armed(tx, name);
	if (isPast(record, slot)) return;
	tx.put("trigger", name, { ...record, slot, skipped: record.skipped + 1, error });
}
