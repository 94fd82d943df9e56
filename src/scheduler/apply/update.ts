// `apply --update`: a waiting job becomes what its manifest says now. It keeps its number, its history, its attempts and its dependents.

import type { ApplyResult } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import { artifactKey } from "../../core/fact.ts";
import { factKeys } from "../../core/gates/job-gates.ts";
import { drop, isTerminal, type Job, WAIT_FIELDS } from "../../core/job.ts";
import { INPUT_KEYS, type JobKey } from "../../core/schema/job.ts";
import { isOneOf } from "../../core/text/one-of.ts";
import { linkFacts, markPredecessors, predecessors } from "../operations/add.ts";
import type { Tx } from "../transaction/tx.ts";
import { wakeByFact } from "../waiting/continuation.ts";
import { recount } from "../waiting/gate-facts.ts";
import { giveUpReservations } from "../waiting/lock-records.ts";
import { countBatch, reevaluate, unplace } from "../waiting/park.ts";
import { notNamed } from "./known.ts";
import type { ManifestUpdate, NumberedNode } from "./plain.ts";

/** Fields of the input that `change` treats apart, or that `refuseIdentity` protects. */
const APART = ["name", "item", "owner", "runnable_at", "hold"] as const satisfies readonly (JobKey & keyof Job)[];
/** The fields that come from a job's input; fields that its runs have changed are kept. The job has a part of the input's fields: the rest change nothing. */
const TAKEN: readonly string[] = [...INPUT_KEYS.filter((key) => !isOneOf(key, APART)), "kind", "will_merge"];

const PLACED = [...WAIT_FIELDS, "ready_at", "timely"] as const;

/** Changes the jobs that still wait; also reports the open jobs of the batch that the manifest does not name. */
export function* updateJobs(tx: Tx, update: ManifestUpdate): Op<Required<Pick<ApplyResult, "updated" | "not_named">>> {
	return { updated: yield* changeWaiting(tx, update), not_named: yield* notNamed(tx, update) };
}

/** A job that has started or ended meanwhile is left as it is. */
function* changeWaiting(tx: Tx, { nodes, edges }: ManifestUpdate): Op<{ name: string; job: number }[]> {
	if (nodes.length === 0) return [];
	yield* tx.load(nodes.map(({ job }) => job));
	const waiting: NumberedNode[] = [];
	const left = new Map(edges);
	for (const node of nodes) {
		const job = tx.peek(node.job);
		if (!job || isTerminal(job.status) || job.status === "running") left.delete(node.job);
		else {
			refuseIdentity(node, job);
			waiting.push(node);
		}
	}
	yield* refuseCircle(left, waiting);
	// All jobs are changed before the first is decided: one may produce what another needs.
	const changed: Job[] = [];
	for (const node of waiting) {
		changed.push(yield* change(tx, node));
		tx.event("updated", node.job, {});
	}
	for (const job of changed) yield* reevaluate(tx, job, yield* recount(tx, job));
	tx.stirred = true;
	return changed.map((job) => ({ name: job.name as string, job: job.id }));
}

/** Refuses to change a job's item or parent. */
function refuseIdentity({ draft, field }: NumberedNode, job: Job): void {
	const parent = job.path?.[job.path.length - 1];
	const key = draft.job.item !== job.item ? "item" : draft.parent !== parent ? "parent" : undefined;
	if (key === undefined) return;
	throw new SluiceError("conflict", `${field}.${key}: the ${key} of job ${job.id} cannot be changed`, {
		field: `${field}.${key}`,
		hint: `sluice cancel ${job.id}, then apply it again`,
	});
}

/** Gives a waiting job the fields of a draft. Where it waits is decided by the caller, once all jobs of its call are changed. */
export function* change(tx: Tx, node: NumberedNode): Op<Job> {
	const { draft } = node;
	const job = tx.peek(node.job) as Job;
	const now = { ...draft.job };
	if (node.needs) now.needs = node.needs;
	unplace(tx, job);
	giveUpReservations(tx, job);
	for (const key of factKeys(job)) tx.changes.unlinks.push({ key, role: "needs", job: job.id });
	forgetProducts(tx, job);
	if (job.lane !== now.lane) {
		tx.count("depth", job.lane, -1);
		tx.count("depth", now.lane, 1);
	}
	if (job.batch !== now.batch) yield* changeBatch(tx, job.batch, now.batch);
	if (job.agent !== now.agent) drop(job, ["session", "prefer"]);
	const loose: Record<string, unknown> = job;
	const wanted: Record<string, unknown> = now;
	for (const key of TAKEN) if (loose[key] !== wanted[key]) loose[key] = wanted[key];
	if (now.owner !== undefined) job.owner = now.owner;
	else if (!job.path) job.owner = undefined;
	job.runnable_at = now.runnable_at === now.created_at ? job.created_at : now.runnable_at;
	if (!job.will_merge) job.merge_status = undefined;
	else job.merge_status ??= "none";
	job.approval = now.approval && job.approval === "given" ? "given" : now.approval;
	drop(job, PLACED);
	yield* linkFacts(tx, job);
	yield* changeEdges(tx, job, node);
	const before = (yield* tx.specs([job.id])).get(job.id);
	tx.putSpec(job.id, { ...draft.spec, enqueued_at: before?.enqueued_at ?? draft.spec.enqueued_at });
	const { unique } = draft;
	if (unique) tx.put("unique", unique.key, { job: job.id, at: tx.now, window_ms: unique.window_ms ?? null });
	job.parked_on = "end";
	job.bucket = tx.bucketFor(job).id;
	tx.touch(job);
	return job;
}

/** Removes the job's `makes` links; the consumers of what it was to produce are decided again. */
function forgetProducts(tx: Tx, job: Job): void {
	for (const artifact of job.produces ?? []) {
		const key = artifactKey(artifact, job.repo);
		tx.changes.unlinks.push({ key, role: "makes", job: job.id });
		wakeByFact(tx, key);
	}
}

function* changeBatch(tx: Tx, from: string | undefined, to: string | undefined): Op<void> {
	const record = from === undefined ? null : yield* tx.get("batch", from);
	if (from !== undefined && record) {
		tx.put("batch", from, record.total > 1 ? { ...record, open: record.open - 1, total: record.total - 1 } : null);
		tx.work.close(from);
	}
	if (to !== undefined) yield* countBatch(tx, to, "added");
}

/** Replaces the job's edges, including the gate on its parent. */
function* changeEdges(tx: Tx, job: Job, node: NumberedNode): Op<void> {
	const edges = node.after.map(({ job: pred, policy }) => ({ job: pred, policy }));
	const parent = job.path?.[job.path.length - 1];
	if (parent !== undefined && node.draft.parent_gate && !edges.some((edge) => edge.job === parent))
		edges.push({ job: parent, policy: "success" });
	tx.changes.unedges.push(job.id);
	for (const [seq, edge] of edges.entries()) tx.changes.edges.push({ pred: edge.job, job: job.id, policy: edge.policy, seq });
	markPredecessors(tx, yield* predecessors(tx, edges));
}

const MOST = 100_000;

/** Refuses a circle of jobs that would wait for each other. It may lead through jobs outside the manifest. */
export function* refuseCircle(edges: ReadonlyMap<number, readonly number[]>, updated: readonly NumberedNode[]): Op<void> {
	const state = new Map<number, "open" | "done">();
	function* before(id: number): Op<number[]> {
		const given = edges.get(id);
		if (given) return [...given];
		return (yield* ask({ read: "preds_of", jobs: [id] })).map(({ pred }) => pred);
	}
	for (const root of updated) {
		if (state.has(root.job)) continue;
		const path: { id: number; left: number[] }[] = [{ id: root.job, left: yield* before(root.job) }];
		state.set(root.job, "open");
		while (path.length > 0 && state.size < MOST) {
			const top = nth(path, -1);
			const next = top.left.pop();
			if (next === undefined) {
				state.set(top.id, "done");
				path.pop();
			} else if (state.get(next) === "open") {
				const circle = [...path.slice(path.findIndex(({ id }) => id === next)).map(({ id }) => id), next];
				throw new SluiceError("cycle", `after: jobs ${circle.join(" → ")} would wait for each other`, {
					field: root.field === "" ? "after" : `${root.field}.after`,
					hint: "take one of these edges out",
				});
			} else if (!state.has(next)) {
				state.set(next, "open");
				path.push({ id: next, left: yield* before(next) });
			}
		}
	}
}
