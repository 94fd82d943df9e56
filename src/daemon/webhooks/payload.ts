// What a webhook sends: an event, and a summary of its job. Fields of a job are named here one by one, so that no later field gets out by accident: never its
// environment, command, prompt, payload or result.

import { type EventDocument, eventDocument, maybeTime, rfc3339 } from "../../api/documents.ts";
import { maskedDeep } from "../../api/secrets.ts";
import type { EventRow, JobView } from "../../contracts/scheduler.ts";

export type SenderIdentity = {
	/** The id of the store: two queues may send to one receiver. */
	queue: string;
	webhook: string;
	/** Patterns of names whose values are masked. */
	secretNames: readonly string[];
};

export const deliveryId = ({ queue, webhook }: Pick<SenderIdentity, "queue" | "webhook">, seq: number | string): string =>
	`${queue}/${webhook}/${seq}`;

type SentEvent = Omit<EventDocument, "kind" | "data"> & { kind: string; data: unknown };

/** `job`: as it is now; null if the event has none, or if it is deleted. */
export function bodyOf(sending: SenderIdentity, event: EventRow, job: JobView | null): string {
	const { data, ...rest } = eventDocument(event);
	return text(sending, event.seq, { ...rest, data: sentData(event, data, sending.secretNames) }, job);
}

/** A request that only shows that requests arrive. */
export const testBody = (sending: SenderIdentity, id: string, now: number, by: string): string =>
	text(sending, id, { seq: 0, at: rfc3339(now), kind: "test", job: null, by, data: {} }, null);

const text = (sending: SenderIdentity, seq: number | string, event: SentEvent, job: JobView | null): string =>
	JSON.stringify({
		schema_version: 1,
		id: deliveryId(sending, seq),
		queue: sending.queue,
		webhook: sending.webhook,
		event,
		job: job && summaryOf(job),
	});

/** What a person answered to a question may be a key: it stays here. Other texts are masked by what they look like. */
function sentData(event: EventRow, data: object, names: readonly string[]): unknown {
	const shown = event.kind === "answered" ? Object.fromEntries(Object.entries(data).filter(([key]) => key !== "answer")) : data;
	return maskedDeep(shown, { names });
}

const summaryOf = (job: JobView) => ({
	id: job.id,
	name: job.name ?? null,
	title: job.spec.title ?? null,
	kind: job.kind,
	agent: job.agent ?? null,
	lane: job.lane,
	repo: job.repo ?? null,
	batch: job.batch ?? null,
	item: job.item ?? null,
	owner: job.owner ?? null,
	status: job.status,
	attempt: job.attempt,
	exit_kind: job.exit_kind ?? null,
	exit_code: job.exit_code ?? null,
	end_reason: job.end_reason ?? null,
	merge_status: job.merge_status ?? null,
	cost_micro: job.usage?.cost_micro ?? null,
	created_at: rfc3339(job.created_at),
	started_at: maybeTime(job.started_at),
	ended_at: maybeTime(job.ended_at),
});
