// Events: every kind, and the data that belongs to it. docs/reference/events.md says when each is appended; a test compares the page with this file, which it
// reads as text: one line a kind.

import type { Granted } from "./agents/permissions/allowing.ts";
import type { ExitKind, Job, MergeReport, MergeStatus, StartedBy, Status, StopKind } from "./job.ts";
import type { Burns } from "./outcome.ts";
import type { Reason } from "./reason.ts";
import type { RunVerdict } from "./runs/verdict.ts";
import { isKeyOf } from "./text/one-of.ts";
import type { PeopleChange } from "./trust/people.ts";

type Usage = Record<string, number>;
type Empty = Record<never, never>;
type WaitReason = NonNullable<Job["wait_reason"]>;

/** A job moves: besides these, the data has the two statuses, `from` and `to`. */
export type MoveMap = {
	/** `kind`: a kernel entry, which has no other field. */
	added: { lane?: string; name?: string; reason?: WaitReason; end_reason?: string; kind?: "kernel" };
	ready: Empty;
	parked: { reason: Reason };
	started: { attempt: number; worker: string; waited_ms: number; account?: string; started_by?: StartedBy };
	requeued: { exit_kind: ExitKind; attempt: number; burns?: Burns; retry_at?: number; message?: string; usage?: Usage };
	ended: { exit_kind?: ExitKind; exit_code: number | null; raw_exit_code?: number; end_reason?: string; attempt: number; usage?: Usage };
	reset: Empty;
};
export type MoveKind = keyof MoveMap;
type Move = { from: Status | null; to: Status };

type OtherMap = {
	launched: { attempt: number };
	stop_asked: { kind?: StopKind; reason: string };
	backoff_over: Empty;
	rewound: { reset: number[] };
	rerun: { reset: number[] };
	updated: Empty;
	edited: { fields: string[] };
	promoted: Empty;
	demoted: Empty;
	run_now: { force: boolean };
	wait_began: { attempt: number; for: number[] };
	wait_ended: { attempt: number; waited_ms: number };
	verdict: { attempt: number; verdict: RunVerdict["verdict"]; text?: string };
	result: { attempt: number; bytes: number };
	results_handed: { attempt: number; of_jobs?: number[]; missing_of_jobs?: number[] };
	prioritised: { priority: number };
	held: { reason?: string };
	released: Empty;
	frozen: { attempt: number; reason?: string };
	thawed: { attempt: number };
	signalled: { attempt: number; signal: string };
	approval_asked: Empty;
	approved: Empty;
	answered: { question: string; answer: string; granted?: Granted };
	told: { number: number; text: string };
	told_given: { numbers: number[]; attempt: number };
	merge: { merge_status: MergeStatus } & MergeReport;
	merge_asked: Empty;
	reserved: { key: string };
	unreserved: { key: string };
	refunded: { failures: number };
	breaker_opened: { scope: string; reason: string; until: number };
	breaker_closed: { scope: string };

	applied: { from: number; to: number };
	batch_closed: { batch: string; total: number };
	paused: { scope: string; reason: string; until?: number };
	resumed: { scope: string };
	limited: { account: string; until: number; hits: number };
	limit_over: { account: string };
	outage: { account: string; agent: string | null; reason: string; since: number; until: number; hits: number };
	outage_over: { account: string; agent: string | null; since: number };
	account_closed: { account: string; reason: string };
	account_cleared: { account: string };
	granted: { subject: string; dim: string; limit: number | null };
	budget_warned: { subject: string; dim: string; used: number; limit: number | null };
	budget_breached: { subject: string; dim: string; used: number; limit: number | null };
	marked: { artifact: string; state: "present" | "absent" };
	configured: { keys: string[] };
	gc: { deleted: number };
	host_joined: { host: string; labels: string[] };
	host_drained: { host: string; reason?: string };
	host_undrained: { host: string };
	host_left: { host: string };
	host_stale: { host: string; heartbeat_at: number };
	host_back: { host: string };
	store_restored: { job: number; seq: number; seen_job: number; seen_seq: number };
	host_lost: { host: string; runs: number };
	host_removed: { host: string };
	host_offers: { host: string; repos: string[] | null };
	people_changed: { person: string; change: PeopleChange["do"] };
	webhook_retried: { webhook: string; from?: number };
};

/** Kind → data. */
export type EventMap = { [K in MoveKind | keyof OtherMap]: K extends MoveKind ? Move & MoveMap[K] : OtherMap[K & keyof OtherMap] };
export type EventKind = keyof EventMap;

/** An event as it is stored; `kind` says which data it has. Events that another version wrote may lack fields that were added since. */
export type EventRow = {
	[K in EventKind]: { seq: number; at: number; kind: K; job: number | null; by: string; data: EventMap[K] };
}[EventKind];
export type EventOf<K extends EventKind> = Extract<EventRow, { kind: K }>;

const MOVES: Record<MoveKind, true> = { added: true, ready: true, parked: true, started: true, requeued: true, ended: true, reset: true };

/** Whether a job moves in this event: its data has the two statuses. */
export const isMove = <E extends { kind: string; data: object }>(event: E): event is Extract<E, { kind: MoveKind }> =>
	isKeyOf(event.kind, MOVES) && "to" in event.data;
