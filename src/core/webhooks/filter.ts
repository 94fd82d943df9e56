// Which events a webhook wants: by kind, by the lane, batch and repo of the event's job, and by the status that the job got. An empty list wants all.

import type { EventKind } from "../event.ts";
import type { Status } from "../job.ts";

/** Every kind of event; a kind that is missing here does not compile. */
const KINDS: Record<EventKind, true> = {
	added: true,
	ready: true,
	parked: true,
	started: true,
	requeued: true,
	ended: true,
	reset: true,
	launched: true,
	stop_asked: true,
	backoff_over: true,
	rewound: true,
	rerun: true,
	updated: true,
	edited: true,
	promoted: true,
	demoted: true,
	run_now: true,
	wait_began: true,
	wait_ended: true,
	verdict: true,
	result: true,
	results_handed: true,
	prioritised: true,
	held: true,
	released: true,
	frozen: true,
	thawed: true,
	signalled: true,
	approval_asked: true,
	approved: true,
	answered: true,
	told: true,
	told_given: true,
	merge: true,
	merge_asked: true,
	reserved: true,
	unreserved: true,
	refunded: true,
	breaker_opened: true,
	breaker_closed: true,
	applied: true,
	batch_closed: true,
	paused: true,
	resumed: true,
	limited: true,
	limit_over: true,
	outage: true,
	outage_over: true,
	account_closed: true,
	account_cleared: true,
	granted: true,
	budget_warned: true,
	budget_breached: true,
	marked: true,
	configured: true,
	gc: true,
	host_joined: true,
	host_drained: true,
	host_undrained: true,
	host_left: true,
	host_stale: true,
	host_back: true,
	store_restored: true,
	host_lost: true,
	host_removed: true,
	host_offers: true,
	people_changed: true,
	webhook_retried: true,
};
export const EVENT_KINDS = Object.keys(KINDS) as EventKind[];

export type WebhookFilter = {
	events: readonly EventKind[];
	lanes: readonly string[];
	batches: readonly string[];
	repos: readonly string[];
	statuses: readonly Status[];
};

type EventSeen = { kind: EventKind; job: number | null; data: object };
/** The event's job; null if the event has none, or if `gc` has deleted it. */
type JobSeen = { lane: string; batch?: string | undefined; repo?: string | undefined } | null;

const allows = (wanted: readonly string[], value: unknown): boolean =>
	wanted.length === 0 || (typeof value === "string" && wanted.includes(value));

/** What can be judged without the job: the sender reads the job only of events that pass. */
export function mayMatch({ events, statuses }: WebhookFilter, { kind, data }: EventSeen): boolean {
	return allows(events, kind) && allows(statuses, "to" in data ? data.to : undefined);
}

/** Whether the webhook wants the event. An event about a batch counts for that batch, although it has no job. */
export function matches(filter: WebhookFilter, event: EventSeen, job: JobSeen): boolean {
	if (!mayMatch(filter, event)) return false;
	const batch = job?.batch ?? ("batch" in event.data ? event.data.batch : undefined);
	return allows(filter.lanes, job?.lane) && allows(filter.batches, batch) && allows(filter.repos, job?.repo);
}
