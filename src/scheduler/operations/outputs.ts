// What hosts keep and ask of each other in the store.
//
//   record               holds                                        deleted
//   output/<job>.<n>     output of attempt n, kept for other hosts;   with its job, or when attempt n + 20 is kept
//                        large
//   ask/<id>             asking and asked host, deadline; small,      when the answer is collected, or after the deadline
//                        in every process's memory
//   reply/<id>           the answer; large                            with its question
//   webhook/<name>       how far its events are sent                  never: a webhook that comes back goes on from there

import type { OutputRequest, RunOutput } from "../../contracts/output.ts";
import { ask, type Op } from "../../contracts/store.ts";
import type { WebhookRecord } from "../../contracts/webhook.ts";
import { SluiceError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { mustFind } from "../transaction/find-job.ts";
import { storedRecords } from "../transaction/record-map.ts";
import type { Tx } from "../transaction/tx.ts";

// ---- kept output ----------------------------------------------------------------------------------------------------------------

/** Number of attempts of one job whose output is kept. */
const KEPT_ATTEMPTS = 20;
const keyOf = (job: number, attempt: number) => `${job}.${attempt}`;

/** Deletes the kept output of a job that is being forgotten. */
export function dropOutputs(tx: Tx, job: number, attempts: number): void {
	if (tx.memory.meta("outputs") === null) return;
	for (let attempt = attempts; attempt > Math.max(0, attempts - KEPT_ATTEMPTS); attempt--) tx.putAside("output", keyOf(job, attempt), null);
}

export function* keepOutput(tx: Tx, id: number, attempt: number, output: RunOutput): Op<void> {
	const job = yield* tx.find(id);
	if (!job || attempt > job.attempt) return;
	if (tx.memory.meta("outputs") === null) tx.putMeta("outputs", true);
	tx.putAside("output", keyOf(id, attempt), output);
	if (attempt > KEPT_ATTEMPTS) tx.putAside("output", keyOf(id, attempt - KEPT_ATTEMPTS), null);
}

export function* readOutput(job: number, attempt: number): Op<RunOutput | null> {
	const [kept] = yield* storedRecords("output", [keyOf(job, attempt)]);
	return kept?.[1] ?? null;
}

/** The runs of these of which no output is kept although their job exists. */
export function* missingOutputs<T extends { job: number; attempt: number }>(tx: Tx, runs: readonly T[]): Op<T[]> {
	yield* tx.load(runs.map(({ job }) => job));
	const there = runs.filter(({ job }) => tx.peek(job) !== undefined);
	const wanted = there.map(({ job, attempt }) => keyOf(job, attempt));
	const kept = new Map(yield* storedRecords("output", wanted));
	return there.filter(({ job, attempt }) => !kept.has(keyOf(job, attempt)));
}

/** The host that a run was assigned to; null if there was no such run. */
export function* ranOn(tx: Tx, id: number, attempt: number): Op<string | null> {
	const job = yield* mustFind(tx, id);
	for (const run of [job.run, job.last_run]) if (run?.attempt === attempt) return run.host ?? null;
	const runs = yield* ask({ read: "runs", job: id });
	return runs.find((run) => run.attempt === attempt)?.host ?? null;
}

// ---- questions ------------------------------------------------------------------------------------------------------------------

export type AskRecord = { id: string; from: string; to: string; until: number; question: OutputRequest; replied?: true };

/** Maximum number of open questions. */
const MOST_ASKS = 500;
/** How long an answer that was not collected is kept after the question's deadline. */
export const SPARE_MS = 10_000;
const asksIn = (tx: Tx) => [...tx.memory.all("ask").values()];

function drop(tx: Tx, id: string): void {
	tx.put("ask", id, null);
	tx.putAside("reply", id, null);
}

/** Deletes questions past their deadline, with their answers. */
export function dropOldAsks(tx: Tx): void {
	for (const { id, until } of asksIn(tx)) if (until + SPARE_MS < tx.now) drop(tx, id);
}

type Asking = { from: string; to: string; question: OutputRequest; wait_ms: number };

/** Stores a question; returns its id. */
export function askHost(tx: Tx, { wait_ms, ...question }: Asking): string {
	dropOldAsks(tx);
	if (tx.memory.all("ask").size >= MOST_ASKS)
		throw new SluiceError("limit", `${MOST_ASKS} questions between hosts are open already`, { hint: "try again in a moment" });
	const id = String(tx.nextId("token"));
	tx.put("ask", id, { id, ...question, until: tx.now + wait_ms });
	return id;
}

export function* replyTo(tx: Tx, id: string, reply: unknown): Op<void> {
	dropOldAsks(tx);
	const open = yield* tx.get("ask", id);
	if (!open || open.replied) return;
	tx.putAside("reply", id, reply);
	tx.put("ask", id, { ...open, replied: true });
}

/** Whether a question waits for its answer. */
export function isOpenAsk(tx: Tx, id: string): boolean {
	const asked = tx.memory.recall("ask", id);
	return asked !== null && !asked.replied;
}

/** Null while the question is open; otherwise the question is closed. */
export function* collectReply(tx: Tx, id: string, otherwise: "wait" | "give up"): Op<{ answer: unknown } | null> {
	const asked = yield* tx.get("ask", id);
	if (asked && !asked.replied && otherwise === "wait") return null;
	const [kept] = asked?.replied ? yield* storedRecords("reply", [id]) : [];
	drop(tx, id);
	return { answer: kept?.[1] ?? null };
}

// ---- webhooks -------------------------------------------------------------------------------------------------------------------

export function* keepWebhook(tx: Tx, { name, record }: { name: string; record: WebhookRecord }): Op<void> {
	yield* tx.get("webhook", name);
	tx.put("webhook", name, record);
}

/** The leader's sender acts on the event. The record is changed as well, in case the leader dies before it does. */
export function* retryWebhook(tx: Tx, { webhook, from }: { webhook: string; from?: number | undefined }): Op<void> {
	const record = yield* tx.get("webhook", webhook);
	if (record && from !== undefined) {
		const pending = record.pending.filter(([seq]) => seq < from);
		tx.put("webhook", webhook, { ...record, pending, cursor: Math.min(record.cursor, from - 1) });
	}
	tx.event("webhook_retried", null, { webhook, ...given({ from }) });
}

export function* webhookRecords(): Op<Record<string, WebhookRecord>> {
	return Object.fromEntries(yield* storedRecords("webhook"));
}
