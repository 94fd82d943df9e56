// `retry` (rewind) of one or several jobs, and `rerun`: puts ended jobs back into the queue, with everything downstream of them (`retry`) or only with the
// children that they blocked (`rerun`).

import type { RewindAllReport, RewindReport } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import { artifactKey, isMarker, isProbed, jobOfArtifact } from "../../core/fact.ts";
import { fits } from "../../core/gates/after.ts";
import { drop, isTerminal, isWaiting, type Job, WAIT_FIELDS } from "../../core/job.ts";
import { countReview } from "../limits/reviews.ts";
import { beginWaiting } from "../rollups/wait-time.ts";
import { mustFind } from "../transaction/find-job.ts";
import type { Tx } from "../transaction/tx.ts";
import { dropContinuation, wakeByFact } from "../waiting/continuation.ts";
import { allPredecessors, edgesFrom, isUntold, recount, wantFact } from "../waiting/gate-facts.ts";
import { countBatch, joinChain, reevaluate, unplace } from "../waiting/park.ts";
import { refuseNames, refuseOlder, retakeNames } from "./names.ts";
import { leftBlocked, withChildren } from "./rerun.ts";

const MAX_SET = 100_000;
/** Maximum number of job ids in an event. */
const NAMED = 1000;

export function* rewind(tx: Tx, id: number, what: "downstream" | "alone"): Op<RewindReport> {
	const root = yield* mustFind(tx, id);
	refuseKernel(root);
	const set = what === "alone" ? yield* withChildren(tx, root, refuseTakenAway) : yield* downstream(tx, root);
	refuseRunning(id, set);
	if (what === "alone" && !isTerminal(root.status) && (root.backoff_until ?? 0) <= tx.now)
		throw new SluiceError("illegal_transition", `job ${id} is ${root.status}: only an ended job, or one in back-off, can be rerun`, {
			field: "id",
		});
	yield* refuseMidMerge(tx, set);
	yield* refuseTakenAway(tx, set);
	yield* retakeItems(tx, set);
	yield* retakeNames(tx, set);
	const left_blocked = what === "alone" ? yield* leftBlocked(tx, set) : [];
	if (what === "alone") for (const job of set.values()) if (job.dependents && isTerminal(job.status)) yield* reopenEdges(tx, job);
	const reset = yield* putBack(tx, set);
	const last_successful = yield* lastSuccessful(tx, root);
	tx.event(what === "alone" ? "rerun" : "rewound", id, { reset: reset.slice(0, NAMED) });
	return { reset, restarted: [], last_successful, left_blocked };
}

/**
 * Rewinds several jobs, each with everything downstream. A job downstream of two of them is reset once. A job that cannot be rewound is skipped and
 * reported with the reason; the rest is rewound all the same.
 */
export function* rewindAll(tx: Tx, ids: readonly number[]): Op<Omit<RewindAllReport, "restarted">> {
	const all = new Map<number, Job>();
	const seen: Followers = new Map();
	const skipped: RewindAllReport["skipped"] = [];
	const roots: { id: number; reset: number[] }[] = [];
	for (const id of ids) {
		if (all.has(id)) continue;
		const fresh = new Map<number, Job>();
		try {
			const root = yield* mustFind(tx, id);
			refuseKernel(root);
			yield* refuseOlder(tx, root);
			const set = yield* downstream(tx, root, seen);
			refuseRunning(id, set);
			for (const [one, job] of set) if (!all.has(one)) fresh.set(one, job);
			yield* refuseMidMerge(tx, fresh);
			yield* refuseItems(tx, fresh);
			yield* refuseNames(tx, fresh, all);
		} catch (error) {
			if (!(error instanceof SluiceError) || error.code === "store") throw error;
			skipped.push({ job: id, reason: error.message });
			continue;
		}
		yield* retakeItems(tx, fresh);
		yield* retakeNames(tx, fresh);
		for (const [one, job] of fresh) all.set(one, job);
		roots.push({ id, reset: [...fresh.keys()].sort((a, b) => a - b) });
	}
	const reset = yield* putBack(tx, all);
	for (const { id, reset: own } of roots) tx.event("rewound", id, { reset: own.slice(0, NAMED) });
	return { reset, skipped };
}

/** Resets all jobs of the set before it re-evaluates the first: each decision depends on the new state of the others. Returns their ids. */
function* putBack(tx: Tx, set: ReadonlyMap<number, Job>): Op<number[]> {
	const order = [...set.values()].sort((a, b) => a.id - b.id);
	for (const job of order) {
		yield* reset(tx, job);
		for (const what of ["edges", "merge"] as const) dropContinuation(tx, { do: what, of: job.id });
		if (job.awaited) for (const kind of ["job", "patch"]) wakeByFact(tx, `artifact:${kind}:${job.id}`);
	}
	for (const job of order) yield* forgetProducts(tx, job);
	for (const job of order) {
		yield* reevaluate(tx, job, yield* recount(tx, job));
	}
	tx.stirred = true;
	return order.map((job) => job.id);
}

function refuseKernel({ id, kind }: Job): void {
	if (kind === "kernel")
		throw new SluiceError("illegal_transition", `job ${id} is an entry of the kernel's queue, which is not run again`, {
			field: "id",
			hint: "enqueue another like it: sluice kernel enqueue PID",
		});
}

function refuseRunning(id: number, set: ReadonlyMap<number, Job>): void {
	const running = [...set.values()].filter((job) => job.status === "running");
	if (running.length > 0)
		throw new SluiceError(
			"conflict",
			`cannot rewind job ${id}: ${running.map((job) => job.id).join(", ")} ${running.length > 1 ? "are" : "is"} running`,
			{ field: "id", hint: "cancel or wait for them first" },
		);
}

/** Direct successors by job id: cached while several jobs are rewound, because their downstream sets may overlap. */
type Followers = Map<number, number[]>;

/** The root, and every job that can be reached from it over after-edges and from products to their consumers. */
function* downstream(tx: Tx, root: Job, seen: Followers = new Map()): Op<Map<number, Job>> {
	const found = new Map<number, Job>([[root.id, root]]);
	const open = [root];
	for (let at = 0; at < open.length; at++) {
		const job = nth(open, at);
		const next = seen.get(job.id) ?? (yield* followers(tx, job));
		seen.set(job.id, next);
		for (const id of next) {
			const one = tx.peek(id);
			if (!one || found.has(id)) continue;
			found.set(id, one);
			open.push(one);
		}
		if (found.size > MAX_SET)
			throw new SluiceError("limit", `more than ${MAX_SET} jobs come after job ${root.id}`, {
				field: "id",
				hint: "rerun takes one job alone",
			});
	}
	return found;
}

function* followers(tx: Tx, job: Job): Op<number[]> {
	const next = (yield* edgesFrom(tx, job)).map((edge) => edge.job);
	const keys = [
		...(job.produces ?? []).map((artifact) => artifactKey(artifact, job.repo)),
		`artifact:job:${job.id}`,
		`artifact:patch:${job.id}`,
	];
	for (const key of keys) next.push(...(yield* ask({ read: "links", key, role: "needs", after: 0, limit: 10_000 })));
	yield* tx.load(next);
	return next;
}

/** Counts the edge from a job that runs again as open: its waiting dependents had counted it as satisfied. */
function* reopenEdges(tx: Tx, root: Job): Op<void> {
	for (const edge of yield* edgesFrom(tx, root)) {
		const job = tx.peek(edge.job);
		if (!job || isTerminal(job.status) || isUntold(tx, { job: root.id, policy: edge.policy }, job.id)) continue;
		if (fits(edge.policy, root.status, root.merge_status) !== "met") continue;
		// A running dependent goes on. If it comes back to the queue, `recount` counts its predecessors again.
		const isRunning = job.status === "running";
		job.deps_left = isRunning ? 1 : (job.deps_left ?? 0) + 1;
		tx.touch(job);
		if (!isRunning) tx.work.reevaluate(job);
	}
}

function* refuseMidMerge(tx: Tx, set: ReadonlyMap<number, Job>): Op<void> {
	const repos = new Set([...set.values()].flatMap((job) => (job.repo === undefined ? [] : [job.repo])));
	for (const repo of repos) {
		const busy = yield* tx.get("fact", `busy:${repo}`);
		if (typeof busy?.value === "string")
			throw new SluiceError("conflict", `repo ${repo} is in the middle of a ${busy.value}`, {
				field: "id",
				hint: `finish it (git ${busy.value} --continue) or abort it (git ${busy.value} --abort), then retry`,
			});
	}
}

function* refuseTakenAway(tx: Tx, set: ReadonlyMap<number, Job>): Op<void> {
	yield* refuseItems(tx, set);
	yield* refuseNames(tx, set);
}

/** Ended jobs with an item: they left the item's chain when they ended. */
const leftItems = (set: ReadonlyMap<number, Job>) =>
	[...set.values()].flatMap((job) => (job.item !== undefined && isTerminal(job.status) ? [{ job, item: job.item }] : []));

/** Refuses the rewind if another chain has an item that it needs; the error names that chain's job. */
function* refuseItems(tx: Tx, set: ReadonlyMap<number, Job>): Op<void> {
	const again = leftItems(set);
	for (const { job, item } of again) {
		const chain = yield* tx.get("chain", item);
		if (chain && chain.chain !== job.chain)
			throw new SluiceError("conflict", `item ${item} belongs to job ${chain.chain} now`, {
				field: "id",
				hint: `wait for job ${chain.chain}, or cancel it`,
			});
	}
	const taken = new Map<string, number>();
	for (const { job, item } of again) {
		const other = taken.get(item);
		if (other !== undefined && other !== job.chain)
			throw new SluiceError("conflict", `jobs of two chains of item ${item} cannot be rewound together`, { field: "id" });
		taken.set(item, job.chain ?? job.id);
	}
}

function* retakeItems(tx: Tx, set: ReadonlyMap<number, Job>): Op<void> {
	for (const { job, item } of leftItems(set)) tx.put("chain", item, joinChain(yield* tx.get("chain", item), job));
}

/** What its runs and its waits have left in a job. */
const OF_RUNS = [
	...WAIT_FIELDS,
	...([
		"ready_at",
		"waited_on",
		"run",
		"last_run",
		"started_at",
		"ended_at",
		"exit_code",
		"raw_exit_code",
		"exit_kind",
		"end_reason",
	] as const),
	...([
		"merge_report",
		"session",
		"prefer",
		"failures",
		"dispatch_failures",
		"outage",
		"last_failure",
		"question",
		"answer",
		"asked",
		"told",
	] as const),
	...(["verdict", "result", "granted", "denied", "closing_question"] as const),
];

/** Resets a job as if it had never run, except that attempt numbers go on. */
function* reset(tx: Tx, job: Job): Op<void> {
	const was = job.status;
	if (isWaiting(was)) unplace(tx, job);
	else {
		if (job.batch !== undefined) yield* countBatch(tx, job.batch, "again");
		if (job.last_run)
			tx.changes.runs.push({
				job: job.id,
				...job.last_run,
				account: job.last_run.account ?? null,
				ended_at: job.ended_at ?? tx.now,
				exit_kind: job.exit_kind ?? "failed",
				exit_code: job.exit_code ?? null,
				message: job.last_failure ?? null,
			});
	}
	drop(job, OF_RUNS);
	if (job.will_merge) job.merge_status = "none";
	job.parked_on = "end";
	job.bucket = tx.bucketFor(job).id;
	if (isTerminal(was)) beginWaiting(tx, job);
	if (isTerminal(was)) tx.move(job, "queued", "reset", {});
	else tx.touch(job);
	if (job.will_merge) countReview(tx, job);
}

/** Ids of predecessors, and of producers of what the job needs, that succeeded. */
function* lastSuccessful(tx: Tx, root: Job): Op<number[]> {
	const ids = (yield* allPredecessors(tx, root)).map((pred) => pred.job);
	for (const artifact of root.needs ?? []) {
		const number = jobOfArtifact(artifact);
		if (number !== undefined) ids.push(number);
		else ids.push(...(yield* ask({ read: "links", key: artifactKey(artifact, root.repo), role: "makes", after: 0, limit: 1000 })));
	}
	yield* tx.load(ids);
	return [...new Set(ids)].filter((id) => id !== root.id && tx.peek(id)?.status === "succeeded");
}

/** Invalidates the facts about what the job produced and deletes its markers. Re-evaluates the jobs that need any of them. */
function* forgetProducts(tx: Tx, job: Job): Op<void> {
	for (const artifact of job.produces ?? []) {
		const key = artifactKey(artifact, job.repo);
		if (isMarker(artifact)) {
			if (yield* tx.get("fact", key)) tx.put("fact", key, null);
		} else if (isProbed(key) && jobOfArtifact(artifact) === undefined && (yield* tx.get("fact", key))) wantFact(tx, key);
		wakeByFact(tx, key);
	}
}
