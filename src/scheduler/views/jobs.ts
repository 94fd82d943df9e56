// Read-only views: one job, its position, its reasons, the whole queue at a glance.

import type { JobView, Scheduler, StatusReport, Why } from "../../contracts/scheduler.ts";
import { ask, type ListFilter, type Op } from "../../contracts/store.ts";
import { bucketOf } from "../../core/bucket.ts";
import { hardLimit, laneOf } from "../../core/config.ts";
import { pausedReason } from "../../core/gates/buckets/holds.ts";
import { refuse } from "../../core/gates/gate.ts";
import { allReasons, heldBy } from "../../core/gates/index.ts";
import { HIDDEN_FIELDS, isWaiting, type Job, type JobSpec } from "../../core/job.ts";
import { HOLD_KINDS, type Hold } from "../../core/limits-view.ts";
import { ageBoost, depthOf, type QueueOrder } from "../../core/order.ts";
import { outageWords } from "../../core/outage.ts";
import { READY } from "../../core/parked.ts";
import type { ReadyJob } from "../../core/planning/ready-rows.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { copy } from "../../core/text/copy.ts";
import { addTo } from "../../core/text/lists-by-key.ts";
import { kernelCounts } from "../kernel/queue.ts";
import { backlog, delayWarning } from "../limits/backlog.ts";
import { viewBudget } from "../limits/budgets.ts";
import { viewHosts } from "../operations/hosts.ts";
import { awaitedBy, waitersOf } from "../operations/waits.ts";
import { mustFind } from "../transaction/find-job.ts";
import type { Tx } from "../transaction/tx.ts";
import { type Edges, edgesOf, factsOf } from "../waiting/gate-facts.ts";
import { MANY } from "../waiting/ready-queue.ts";
import { heldByPeople } from "./held-by-people.ts";

/** `known`: the edges to its predecessors, if they were already read. */
export function* viewJob(tx: Tx, job: Job, known?: Edges): Op<JobView> {
	const spec =
		tx.spec(job.id) ?? (yield* tx.specs([job.id])).get(job.id) ?? ({ version: 1, enqueued_at: job.created_at } satisfies JobSpec);
	const edges =
		known ?? (job.created_at === tx.now && job.deps_left === undefined && tx.changes.edges.length === 0 ? [] : yield* edgesOf(job));
	return toView(
		job,
		spec,
		edges.map(({ pred, policy }) => ({ job: pred, policy })),
		{ held: heldOf(tx, job), waits_for: awaitedBy(tx, job.id) },
	);
}

/** The hold, the budget or the lack of a host that keeps a ready job from being dispatched. */
export function heldOf(tx: Tx, job: Job): JobView["held"] {
	if (job.parked_on !== READY || job.status !== "queued" || !queuePolicy(job.kind).isListed) return undefined;
	const bucket = tx.memory.buckets.get(job.bucket);
	const reason = bucket ? heldBy(bucket, tx.world()) : null;
	return reason ? { kind: reason.code, detail: reason.detail } : undefined;
}

/** The same for many jobs, by bucket: computed once for all ready jobs of a bucket. */
function heldOfAll(tx: Tx, jobs: readonly Job[]): Map<number, JobView["held"]> {
	const held = new Map<number, JobView["held"]>();
	for (const job of jobs)
		if (job.parked_on === READY && job.status === "queued" && !held.has(job.bucket)) held.set(job.bucket, heldOf(tx, job));
	return held;
}

const HIDDEN: ReadonlySet<string> = new Set(HIDDEN_FIELDS);

type Beside = { held?: JobView["held"] | undefined; waits_for?: number[] | undefined };

export function toView(job: Job, spec: JobSpec, after: JobView["after"], { held, waits_for }: Beside): JobView {
	const view: Record<string, unknown> = {};
	for (const key in job) {
		const value = job[key as keyof Job];
		if (value !== undefined && !HIDDEN.has(key)) view[key] = typeof value === "object" ? copy(value) : value;
	}
	view.spec = copy(spec);
	view.after = after;
	view.parent = job.path?.[job.path.length - 1] ?? null;
	view.depth = depthOf(job);
	view.blocked = isWaiting(job.status) && job.parked_on !== READY;
	if (held) view.held = copy(held);
	if (waits_for) view.waits_for = waits_for;
	return view as JobView;
}

/** The job's position among the ready jobs of its lane, exact up to a thousand; null beyond that, or while it is not ready. */
export function* position(tx: Tx, job: Job): Op<number | null> {
	if (job.parked_on !== READY || job.status !== "queued") return null;
	const { order } = tx.config;
	const mine = tx.headOf(job);
	const policy = queuePolicy(job.kind);
	const boost = policy.order.ages ? ageBoost(mine.age_at, tx.now, tx.config) : 0;
	let before = 0;
	const buckets = [...tx.memory.buckets.values()].filter(
		(bucket) => bucket.ready > 0 && bucket.stage === undefined && bucket.lane === job.lane && queuePolicy(bucket.kind) === policy,
	);
	// The only ready job of its lane: no read needed.
	if (buckets.length === 1 && buckets[0]?.ready === 1) return 1;
	for (const bucket of buckets) {
		const window = tx.window(bucket);
		const known = bucket.id === job.bucket ? window.beforeLast(mine) : undefined;
		if (known !== undefined) {
			before += known;
			if (before > MANY) return null;
			continue;
		}
		for (const level of yield* window.levelsDownTo(bucket, { rank: mine.rank, level: mine.level - order.age_boost_max })) {
			if (level.rank < mine.rank) continue;
			const bound =
				level.rank > mine.rank
					? { age_at: Number.MAX_SAFE_INTEGER, id: 0 }
					: boundFor(mine, mine.level + boost - level.level, policy.order, tx);
			const own = bucket.id === job.bucket && level.rank === mine.rank && level.level === mine.level;
			if (bound) before += yield* window.ahead(bucket, level, bound, own ? mine : undefined);
			if (before > MANY) return null;
		}
	}
	return before < MANY ? before + 1 : null;
}

/**
 * The jobs of a level that come before `mine` are those up to a certain age (core/order.ts); this returns that bound. `gap`: the boost that makes both
 * priorities equal.
 */
function boundFor(mine: ReadyJob, gap: number, { ages }: QueueOrder, tx: Tx): { age_at: number; id: number } | undefined {
	const { age_boost_per_minute, age_boost_max } = ages ? tx.config.order : { age_boost_per_minute: 0, age_boost_max: 0 };
	/** The latest age_at whose boost is at least this much. */
	const latest = (boost: number): number => {
		if (boost <= 0) return Number.MAX_SAFE_INTEGER - 1;
		if (boost > age_boost_max || age_boost_per_minute === 0) return -1;
		return tx.now - Math.ceil(boost / age_boost_per_minute) * 60_000;
	};
	const [better, equal] = [latest(gap + 1), latest(gap)];
	if (equal < 0) return undefined;
	if (mine.age_at > equal) return { age_at: equal + 1, id: 0 };
	if (mine.age_at <= better) return { age_at: better + 1, id: 0 };
	return { age_at: mine.age_at, id: mine.id };
}

/** The reason of a payload job that waits for nothing else. */
export const FOR_WORKERS = "waits for a worker to claim it: no host starts a job that only carries a payload";

export function* why(tx: Tx, id: number): Op<Omit<Why, "results">> {
	const job = yield* mustFind(tx, id);
	const edges = yield* edgesOf(job);
	const view = yield* viewJob(tx, job, edges);
	const bucket = tx.memory.buckets.get(job.bucket) ?? bucketOf(job, job.bucket);
	const reasons = isWaiting(job.status) ? allReasons(job, bucket, yield* factsOf(tx, job, edges), tx.world()) : [];
	const place = yield* position(tx, job);
	if (isWaiting(job.status) && reasons.length === 0) {
		const detail = place === null ? "eligible; waiting for its turn" : `eligible; number ${place} of its lane`;
		if (job.kind === "payload") reasons.push(refuse("capacity", "worker", `lane:${job.lane}`, FOR_WORKERS));
		else reasons.push(refuse("capacity", "turn", `lane:${job.lane}`, detail));
	}
	return {
		job: view,
		reasons,
		position: place,
		priority: queuePolicy(job.kind).order.priorityTerms(job, tx.now, tx.config),
		waiters: waitersOf(tx, id),
	};
}

export function* status(tx: Tx): Op<StatusReport> {
	const { memory, config } = tx;
	const paused = memory.holds.get("paused/all");
	const isPaused = pausedReason("all", tx.world()) !== undefined;
	const lanes: StatusReport["lanes"] = {};
	for (const name of new Set([...Object.keys(config.lanes), ...memory.depth.keys()]))
		lanes[name] = {
			queued: memory.depth.get(name) ?? 0,
			running: memory.usage.get(`lane:${name}`) ?? 0,
			lending: memory.usage.get(`lent:lane:${name}`) ?? 0,
			max: laneOf(config, name).max,
		};
	const delay = delayWarning(tx);
	const total = [...memory.depth.values()].reduce((sum, count) => sum + count, 0);
	return {
		paused: isPaused,
		paused_by: isPaused ? (paused?.by ?? null) : null,
		paused_at: isPaused ? (paused?.since ?? null) : null,
		queued_total: total,
		queued_ready: memory.ready,
		...heldJobs(tx, yield* heldByPeople(tx)),
		running: memory.usage.get("all") ?? 0,
		lending: memory.usage.get("lent:all") ?? 0,
		max_concurrent: config.max_concurrent,
		lanes,
		holds: [...memory.holds.values()]
			.map((hold) => ({
				scope: hold.scope,
				kind: hold.kind,
				...(hold.kind === "outage" && hold.agent !== undefined ? { agent: hold.agent } : {}),
				since: hold.since,
				until: "until" in hold ? (hold.until ?? null) : null,
				by: hold.by,
				reason: holdWords(hold, tx.now),
			}))
			.sort((a, b) => HOLD_KINDS.indexOf(a.kind) - HOLD_KINDS.indexOf(b.kind) || (a.scope < b.scope ? -1 : 1)),
		hosts: viewHosts(tx),
		backpressure: delay === null ? null : `${delay}${backlog(tx) >= hardLimit(config) ? "; new jobs are deferred" : ""}`,
		last_dispatch_at: tx.getPace().last_dispatch_at,
		kernel: yield* kernelCounts(tx),
		recent_failures: { since: tx.now - RECENT_MS, ...(yield* ask({ read: "failures", since: tx.now - RECENT_MS, limit: MOST_FAILURES })) },
		denied: (yield* ask({ read: "recent", before: NEWEST, limit: DENIED_AMONG })).flatMap(({ id, name = null, denied, ended_at = 0 }) =>
			denied === undefined || ended_at < tx.now - RECENT_MS ? [] : [{ job: id, name, denied }],
		),
		needs_human: yield* waitingForPeople(tx),
		budgets: [...memory.ledgers.values()].flat().flatMap((ledger) => {
			const view = viewBudget(tx, ledger);
			const near = view.limit !== null && view.used + view.reserved >= view.limit * view.warn_at;
			return near && !view.subject.startsWith("pid:") ? [view] : [];
		}),
	};
}

function holdWords(hold: Hold, now: number): string {
	if (hold.kind === "outage") return `${outageWords(hold)}${hold.probe === undefined ? "" : `; job ${hold.probe} is trying it`}`;
	const isOver = hold.kind === "rate_limited" && hold.until <= now;
	return isOver ? `${hold.reason}; it is over, starts are spaced until one succeeds` : hold.reason;
}

const RECENT_MS = 86_400_000;
const MOST_FAILURES = 10_000;
const DENIED_AMONG = 100;

/** Most reasons that `status` lists; a longer list would not be read. */
const HELD = 100;

/** Counts the ready jobs that wait for something other than their turn, by reason, most frequent first; and the jobs that people hold. Costs one step per bucket, not per ready job. */
function heldJobs(tx: Tx, people: readonly StatusReport["held"][number][]): Pick<StatusReport, "queued_held" | "held"> {
	const held = new Map<string, StatusReport["held"][number]>();
	let all = 0;
	for (const bucket of tx.memory.buckets.values()) {
		if (bucket.ready === 0 || !queuePolicy(bucket.kind).isListed || bucket.stage !== undefined) continue;
		const reason = heldBy(bucket, tx.world());
		if (!reason) continue;
		all += bucket.ready;
		const key = `${reason.code}/${reason.subject}`;
		const found = held.get(key);
		if (found) found.jobs += bucket.ready;
		else held.set(key, { kind: reason.code, subject: reason.subject, detail: reason.detail, jobs: bucket.ready });
	}
	const byPeople = people.map(({ kind, subject, detail, jobs }) => ({ kind, subject, detail, jobs }));
	const most = [...byPeople, ...held.values()].sort((a, b) => b.jobs - a.jobs || (a.subject < b.subject ? -1 : 1));
	return { queued_held: all, held: most.slice(0, HELD) };
}

const PEOPLE = 100;

function* waitingForPeople(tx: Tx): Op<StatusReport["needs_human"]> {
	const ids: number[] = [];
	for (const bucket of yield* ask({ read: "buckets", line: "human" }))
		ids.push(...(yield* ask({ read: "line", line: "human", bucket, limit: PEOPLE })).map(({ id }) => id));
	yield* tx.load(ids);
	return ids
		.flatMap((id) => {
			const job = tx.isComing(id) ? undefined : tx.peek(id);
			if (job === undefined) return [];
			const { name = null, agent = null, question = null, denied = [], since = job.created_at } = job;
			return [{ job: id, name, agent, question, denied, since }];
		})
		.sort((a, b) => a.since - b.since || a.job - b.job)
		.slice(0, PEOPLE);
}

type Filter = NonNullable<Parameters<Scheduler["list"]>[0]>;
const NEWEST = { ended_at: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER };

function* paged({ all, status, before, after = 0 }: Filter, only: ListFilter, limit: number): Op<Job[]> {
	const page = { filter: only, after, limit, ...(before === undefined ? {} : { before }) };
	const found = yield* ask({ read: "active", ...page });
	if (all || status !== undefined) found.push(...(yield* ask({ read: "ended", ...page })));
	return found;
}

/** The jobs with these numbers, or the last ones that ended. */
function* picked({ ids = [], recent }: Filter): Op<Job[]> {
	if (recent !== undefined) return yield* ask({ read: "recent", before: NEWEST, limit: recent });
	return [...(yield* ask({ read: "jobs", ids })), ...(yield* ask({ read: "done", ids }))];
}

export function* list(tx: Tx, filter: Filter): Op<JobView[]> {
	const { status, lane, repo, batch, limit = 1000 } = filter;
	const given = Object.entries({ status, lane, repo, batch }).filter(([, value]) => value !== undefined);
	const only: ListFilter = Object.fromEntries(given);
	const found = yield* filter.ids === undefined && filter.recent === undefined ? paged(filter, only, limit) : picked(filter);
	const fits = (job: Job) =>
		given.every(([key, value]) => (Array.isArray(value) ? value.includes(job.status) : job[key as "lane"] === value));
	const jobs = found
		.filter((job) => fits(job) && queuePolicy(job.kind).isListed && !tx.isComing(job.id))
		.sort((a, b) => a.id - b.id)
		.slice(...(filter.before === undefined ? [0, limit] : [-limit]));
	const specs = yield* tx.specs(jobs.map((job) => job.id));
	const after = new Map<number, JobView["after"]>();
	for (const { job, pred, policy } of yield* ask({ read: "preds_of", jobs: jobs.map((job) => job.id) }))
		addTo(after, job, { job: pred, policy });
	const held = heldOfAll(tx, jobs);
	return jobs.map((job) => {
		const spec = specs.get(job.id) ?? { version: 1, enqueued_at: job.created_at };
		return toView(job, spec, after.get(job.id) ?? [], {
			held: job.parked_on === READY ? held.get(job.bucket) : undefined,
			waits_for: job.run && awaitedBy(tx, job.id),
		});
	});
}
