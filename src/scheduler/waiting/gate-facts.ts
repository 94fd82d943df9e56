// Fetches what the job gates look at for one job. Most jobs need no lookup: they share one empty set of facts.

import { ask, type Op, type Replies } from "../../contracts/store.ts";
import { assert, nth } from "../../core/errors.ts";
import { artifactKey, conditionKey, headKey, isProbed, itemKey, jobOfArtifact } from "../../core/fact.ts";
import { fits } from "../../core/gates/after.ts";
import { askBatch } from "../../core/gates/buckets/batch-hold.ts";
import {
	FREE_LOCK,
	type JobFacts,
	type LockState,
	type NeededArtifact,
	type ObservedFact,
	type Predecessor,
} from "../../core/gates/gate.ts";
import { shut } from "../../core/gates/index.ts";
import { FACT_GATES } from "../../core/gates/job-gates.ts";
import { locks } from "../../core/gates/locks.ts";
import { isMerging, isTerminal, type Job, type Lock, type Status } from "../../core/job.ts";
import type { Tx } from "../transaction/tx.ts";
import { progressOf } from "./continuation.ts";
import { fetchHolders, holdersIn } from "./lock-reads.ts";

/** What is known of a fact. `asked`: a host should probe it; until it answers, the value is in doubt. */
export type FactRecord = { value?: unknown; error?: string; at: number; asked?: true };
/** A key that is reserved for an overdue waiter. `next`: jobs that became overdue for it since, oldest first. */
export type Reservation = { job: number; since: number; mode: Lock["mode"]; next?: number[] };

/** Memory knows that none of these locks is held, and that no reservation exists. */
const areFree = ({ memory }: Tx, wanted: readonly Lock[]): boolean =>
	memory.all("reserve").size === 0 && wanted.every(({ key }) => memory.recall("lock", key) === null);

/** Facts of a plain job, without a read; undefined for other jobs. A job whose locks are known to be free needs no facts about them. */
export function plainFacts(tx: Tx, job: Job): JobFacts | undefined {
	for (const gate of FACT_GATES) if (gate.concerns(job) && !(gate === locks && areFree(tx, job.locks ?? []))) return undefined;
	return tx.plainFacts;
}

/**
 * `which`: "all" predecessors, for `why`, or those of edges that were already read; "next": only the next open one, which is enough to decide where the job
 * waits, because a dead end is handled when it happens.
 */
export function* factsOf(tx: Tx, job: Job, which: "all" | "next" | Edges = "next"): Op<JobFacts> {
	const plain = which === "next" ? plainFacts(tx, job) : undefined;
	if (plain) return plain;
	const facts: JobFacts = {
		now: tx.now,
		after: which === "next" ? yield* nextPredecessor(tx, job) : yield* allPredecessors(tx, job, which === "all" ? undefined : which),
		artifacts: yield* neededArtifacts(tx, job),
		conditions: yield* observed(
			tx,
			(job.conditions ?? []).map((condition) => conditionKey(condition, job)),
		),
		lock: yield* lockStates(
			tx,
			(job.locks ?? []).map((lock) => lock.key),
		),
	};
	if (job.item !== undefined) {
		const [item] = yield* observed(tx, [itemKey(job.item)]);
		if (item) facts.item = item;
		if ((yield* tx.get("chain", job.item))?.begun) facts.chain_begun = true;
	}
	if (job.pinned_head) {
		const [head] = yield* observed(tx, [headKey(job)]);
		if (head) facts.head = head;
	}
	return facts;
}

function* observed(tx: Tx, keys: readonly string[]): Op<ObservedFact[]> {
	if (keys.length === 0) return [];
	yield* tx.fetch("fact", keys);
	const found: ObservedFact[] = [];
	for (const key of keys) {
		const fact = yield* tx.get("fact", key);
		if (!fact || (fact.asked && fact.value === undefined && fact.error === undefined)) {
			if (!fact && isProbed(key)) wantFact(tx, key);
			found.push(undefined);
		} else found.push({ value: fact.value, observed_at: fact.at, ...(fact.error === undefined ? {} : { error: fact.error }) });
	}
	return found;
}

/** Records durably that a host should probe the fact: after a restart the probe is requested again. */
export function wantFact(tx: Tx, key: string): void {
	tx.put("fact", key, { at: tx.now, asked: true });
	tx.probes.add(key);
}

/** Discards the known value of a fact, and the result of a probe that is under way. */
export function* doubtFact(tx: Tx, key: string): Op<void> {
	if (yield* tx.get("fact", key)) wantFact(tx, key);
	else tx.doubted.add(key);
}

function* neededArtifacts(tx: Tx, job: Job): Op<NeededArtifact[]> {
	if (!job.needs) return [];
	const found: NeededArtifact[] = [];
	for (const artifact of job.needs) found.push(yield* neededArtifact(tx, artifact, job));
	return found;
}

function* neededArtifact(tx: Tx, artifact: string, job: Job): Op<NeededArtifact> {
	const key = artifactKey(artifact, job.repo);
	const { statuses: producers, merging } = yield* producersOf(tx, key, artifact, job.id);
	const number = jobOfArtifact(artifact);
	if (number !== undefined && producers[0] === "succeeded") return { artifact, present: true, producers };
	if (artifact.startsWith("job:")) return { artifact, present: false, producers };
	// The patch of a job counts only when the job has ended: while the job runs again, the patch of an earlier attempt is out of date.
	if (number !== undefined && producers.some((status) => !isTerminal(status))) return { artifact, present: false, producers };
	if (!isProbed(key)) {
		const fact = yield* tx.get("fact", key);
		return { artifact, present: fact?.value === true, producers, ...(fact ? { observed_at: fact.at } : {}) };
	}
	const [fact] = yield* observed(tx, [key]);
	if (!fact) return { artifact, present: undefined, producers };
	if (fact.error !== undefined) return { artifact, present: undefined, error: fact.error, observed_at: fact.observed_at, producers };
	// A producer is merging: only a probe that begins after the merge can say that the artifact is absent.
	if (fact.value !== true && merging) return { artifact, present: undefined, observed_at: fact.observed_at, producers };
	return { artifact, present: fact.value === true, observed_at: fact.observed_at, producers };
}

/** Producers of an artifact, without the consumer itself: it cannot make what it waits for. */
function* producersOf(tx: Tx, key: string, artifact: string, consumer: number): Op<{ statuses: Status[]; merging: boolean }> {
	const number = jobOfArtifact(artifact);
	const ids = number === undefined ? yield* ask({ read: "links", key, role: "makes", after: 0, limit: 1000 }) : [number];
	yield* tx.load(ids);
	const jobs = ids.flatMap((id) => (id === consumer ? [] : (tx.peek(id) ?? [])));
	return { statuses: jobs.map((job) => job.status), merging: number === undefined && jobs.some(isMerging) };
}

/** The active jobs that produce an artifact for this job. */
export function* makersOf(tx: Tx, job: Job, artifact: string): Op<number[]> {
	const number = jobOfArtifact(artifact);
	const key = artifactKey(artifact, job.repo);
	const ids: number[] = number === undefined ? yield* ask({ read: "links", key, role: "makes", after: 0, limit: 1000 }) : [number];
	yield* tx.load(ids);
	return ids.filter((id) => id !== job.id && !isTerminal(tx.peek(id)?.status ?? "succeeded"));
}

function predecessor(tx: Tx, pred: number, policy: Predecessor["policy"]): Predecessor {
	const job = tx.peek(pred);
	if (job?.broken !== undefined) return { job: pred, policy, status: { error: job.broken } };
	const merge = job?.merge_status === undefined ? {} : { merge_status: job.merge_status };
	return { job: pred, policy, status: job?.status ?? "missing", ...merge };
}

export type Edges = Replies["preds"];

/** Edges from a job to its predecessors. */
export const edgesOf = (job: Job): Op<Edges> => ask({ read: "preds", job: job.id, from: 0, limit: 1_000_000 });

const DEPENDENTS = 1000;

/** Edges from a job to its dependents, which are loaded. */
export function* edgesFrom(tx: Tx, job: Job): Op<Replies["edges"]> {
	const found: Replies["edges"] = [];
	for (let after = 0; job.dependents; after = nth(found, -1).job) {
		const some = yield* ask({ read: "edges", pred: job.id, after, limit: DEPENDENTS });
		found.push(...some);
		if (some.length < DEPENDENTS) break;
	}
	yield* tx.load(found.map((edge) => edge.job));
	return found;
}

export function* allPredecessors(tx: Tx, job: Job, known?: Edges): Op<Predecessor[]> {
	const edges = known ?? (yield* edgesOf(job));
	yield* tx.load(edges.map((edge) => edge.pred));
	return edges.map((edge) => predecessor(tx, edge.pred, edge.policy));
}

/** The first predecessor that is not satisfied yet: the job's `wait_reason` names it. */
function* nextPredecessor(tx: Tx, job: Job): Op<Predecessor[]> {
	if (!job.deps_left) return [];
	for (let from = 0; ; ) {
		const edges = yield* ask({ read: "preds", job: job.id, from, limit: 64 });
		yield* tx.load(edges.map((edge) => edge.pred));
		for (const edge of edges) {
			const found = predecessor(tx, edge.pred, edge.policy);
			if (typeof found.status !== "string" || found.status === "missing") return [found];
			if (fits(edge.policy, found.status, found.merge_status) === "open") return [found];
			if (isUntold(tx, found, job.id)) return [{ ...found, status: "running" }];
		}
		const last = edges[edges.length - 1];
		assert(last && edges.length === 64, `job ${job.id} waits for ${job.deps_left} predecessors, but all of them fit`);
		from = last.seq + 1;
	}
}

/**
 * Whether the predecessor has ended, or its merge for a job that waits for that, but `job` has not been told: their edge is still to be counted down. Until
 * then the predecessor counts as running.
 */
export function isUntold(tx: Tx, { job: pred, policy }: Pick<Predecessor, "job" | "policy">, job: number): boolean {
	const isAhead = (what: "edges" | "merge") => job > (progressOf(tx, { do: what, of: pred })?.after ?? Number.POSITIVE_INFINITY);
	return tx.work.untold.has(pred) || isAhead("edges") || (policy === "merged" && isAhead("merge"));
}

/** Counts the open predecessors of a job that comes back to the queue, and fetches all its facts. */
export function* recount(tx: Tx, job: Job): Op<JobFacts> {
	const isOpen = (pred: Predecessor) =>
		isUntold(tx, pred, job.id) ||
		typeof pred.status !== "string" ||
		pred.status === "missing" ||
		fits(pred.policy, pred.status, pred.merge_status) === "open";
	const open = (yield* allPredecessors(tx, job)).filter(isOpen).length;
	job.deps_left = open > 0 ? open : undefined;
	tx.touch(job);
	return yield* factsOf(tx, job, "all");
}

export function* lockStates(tx: Tx, keys: readonly string[]): Op<(key: string) => LockState> {
	if (keys.length === 0) return tx.plainFacts.lock;
	yield* fetchHolders(tx, keys);
	const states = new Map<string, LockState>();
	for (const key of keys) {
		const holders = holdersIn(tx, key).map(([job, mode]) => ({ job, mode }));
		const reserved = yield* reservedFor(tx, key);
		states.set(key, reserved ? { holders, reserved: reserved.job, reserved_mode: reserved.mode } : { holders });
	}
	return (key) => states.get(key) ?? FREE_LOCK;
}

/** The reservation of a key, as long as nothing but locks keeps its job from starting. */
function* reservedFor(tx: Tx, key: string): Op<Reservation | undefined> {
	const reservation = tx.memory.recall("reserve", key);
	if (!reservation) return undefined;
	const job = yield* tx.find(reservation.job);
	return job && !isHeldBack(tx, job) ? reservation : undefined;
}

/** Whether the job's bucket or batch, not its own gates, keeps it from starting. A key reserved for such a job would lie idle. */
export const isHeldBack = (tx: Tx, job: Job): boolean => shut(tx.bucketOf(job), tx.world()) !== null || askBatch(job, tx.world()) !== null;
