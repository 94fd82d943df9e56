// Adding many jobs at once, all or nothing. Few go in one transaction. Many go in pieces that nobody sees, so that others are never held up:
//
//   reserve   a run of ids and a `stage` record: jobs in that run are hidden, their buckets shut
//   insert    a few hundred at a time, in their final form
//   open      the buckets' marks and the stage record go, in one small transaction: from here on all of them are there
//
// A crash before `open` leaves a stage record; whoever opens the store next takes those jobs out again.

import type { Predecessor } from "../core/answer.ts";
import { SluiceError } from "../core/errors.ts";
import { Faults } from "../core/faults.ts";
import type { Job, Status } from "../core/job.ts";
import type { Facts } from "../host.ts";
import type { ApplyResult } from "../scheduler.ts";
import { ask, type Op } from "../store.ts";
import { arrive, checkJob, findTwin, markPredecessors, openChain, refuseUnmergeable, storeJob } from "./add.ts";
import { type Node, noSuchJob, type Prepared } from "./apply-prepare.ts";
import { jobNamed, openHolder } from "./names.ts";
import type { Tx } from "./tx.ts";

/** Up to here an apply is one transaction; also the size of a piece, unless the scheduler was opened with another. */
export const PIECE = 300;

/** What an edge leads to: a job of this manifest that is new, or the number of one that exists. */
export function targetOf({ node, job }: Node["after"][number]): Node | number {
	const target = node?.alias ?? node;
	return target && !target.skip && !target.updates ? target : (target?.job ?? (job as number));
}

const shownTarget = (target: Node | number): string =>
	typeof target === "number" ? `job ${target}` : `"${target.draft.job.name ?? target.field}"`;

/** Left for the moment when all of them come into sight. */
const toReplace = (node: Node) => (twin: number) => {
	node.twin = twin;
};

/**
 * Against the store: items and unique keys that are taken, predecessors that are not there. What becomes of names that are known was decided before
 * (apply-known.ts). All mistakes are told at once. `look`: changes nothing, not even a twin that is to be replaced, and counts what a host has just seen.
 */
export function* screen(tx: Tx, prepared: Prepared, force: boolean, look?: { seen: Facts }): Op<ApplyResult["skipped"]> {
	const skipped: ApplyResult["skipped"] = [];
	const faults = new Faults();
	for (const node of prepared.nodes) {
		if (node.skip) {
			if (node.known) skipped.push({ name: nameOf(node), job: node.job, reason: node.skip });
			continue;
		}
		try {
			const taken = yield* takenBy(tx, node, prepared, look);
			if (taken) skipped.push(taken);
			else yield* checkNode(tx, node, prepared, force, look);
		} catch (error) {
			faults.keep(error);
		}
	}
	faults.throwIfAny();
	return skipped;
}

const nameOf = (node: Node): string => node.draft.job.name ?? node.field;

/** Its item or its unique key is taken, in the store or by a job of the same manifest. */
function* takenBy(
	tx: Tx,
	node: Node,
	{ byUnique }: Prepared,
	look: { seen: Facts } | undefined,
): Op<ApplyResult["skipped"][number] | undefined> {
	if (node.updates) return undefined;
	const { job, unique } = node.draft;
	const taken = (yield* openChain(tx, job)) ?? (yield* findTwin(tx, node.draft, `${node.field}.unique`, look && toReplace(node)));
	if (taken !== undefined && taken !== null) {
		node.job = taken;
		node.skip = job.item !== undefined ? "already_running" : "duplicate";
		return { name: nameOf(node), job: taken, reason: node.skip };
	}
	const first = unique && byUnique.get(unique.key);
	if (first && unique.policy === "error")
		throw new SluiceError("conflict", `${node.field}.unique: ${first.field} has the key "${unique.key}" too`, {
			field: `${node.field}.unique.key`,
			hint: "use the policy skip",
		});
	if (first) {
		node.alias = first;
		first.leads ||= node.leads;
		node.skip = "duplicate";
		return { name: nameOf(node), job: 0, reason: node.skip };
	}
	if (unique) byUnique.set(unique.key, node);
	return undefined;
}

function* checkNode(tx: Tx, node: Node, { coming }: Prepared, force: boolean, look: { seen: Facts } | undefined): Op<void> {
	if (!node.updates) yield* checkJob(tx, node.draft, force, node.field, coming, look?.seen);
	for (const [index, edge] of node.after.entries()) {
		const ref = node.draft.after[index]?.ref;
		if (edge.node) continue;
		const found = typeof ref === "string" ? yield* jobNamed(tx, ref) : (edge.job as number);
		if (found === null || !(yield* tx.find(found))) throw noSuchJob(`${node.field}.after[${index}]`, ref);
		edge.job = found;
	}
	refuseUnmergeable(
		tx,
		node.after.flatMap((edge) =>
			edge.node && !edge.node.skip ? [] : [{ job: edge.node?.job ?? (edge.job as number), policy: edge.policy }],
		),
		`${node.field}.after`,
	);
	const known = new Set<number | Node>();
	for (const edge of node.after) {
		const target = targetOf(edge);
		if (known.has(target))
			throw new SluiceError("invalid", `${node.field}.after: names ${shownTarget(target)} a second time`, {
				field: `${node.field}.after`,
				hint: "name each predecessor once",
			});
		known.add(target);
	}
	// A parent gate is an edge that checkJob added. What the caller says of its parent counts, not the gate.
	for (const edge of node.draft.after.slice(node.after.length))
		if (!known.has(edge.ref as number)) node.after.push({ job: edge.ref as number, policy: edge.policy });
}

/** Stores some nodes; predecessors stand before them. `ended` = jobs of this apply that have come to an end already. */
export function* insertNodes(
	tx: Tx,
	nodes: readonly Node[],
	ended: ReadonlySet<number>,
	stage?: { stage: number; from: number; to: number },
): Op<void> {
	if (stage) yield* refuseOvertaken(tx, nodes, stage);
	const outside = new Set<number>();
	for (const node of nodes)
		for (const edge of node.after)
			if (!edge.node || edge.node.updates || (edge.node.skip && !edge.node.alias)) outside.add(edge.node?.job ?? (edge.job as number));
	yield* tx.load([...outside, ...ended]);
	const stored: { job: Job; preds: Predecessor[] }[] = [];
	for (const node of nodes) {
		// A copy: if this transaction has to be run again, the draft is still as it was.
		const draft = { ...node.draft, job: { ...node.draft.job, id: node.job, created_at: tx.now } };
		numberMates(draft.job, node);
		if (node.draft.job.runnable_at === node.draft.job.created_at) draft.job.runnable_at = tx.now;
		if (node.leads) draft.job.dependents = true;
		const preds: Predecessor[] = node.after.map((edge) => {
			const { policy } = edge;
			const target = targetOf(edge);
			const isOwn = typeof target !== "number";
			const id = isOwn ? target.job : target;
			const known = tx.peek(id);
			const status: Status | "missing" = isOwn && !known ? "queued" : (known?.status ?? "missing");
			return { job: id, policy, status, ...(known?.merge_status === undefined ? {} : { merge_status: known.merge_status }) };
		});
		const strangers = preds.filter((pred) => outside.has(pred.job));
		if (strangers.length > 0) markPredecessors(tx, strangers);
		stored.push({ job: draft.job, preds: yield* storeJob(tx, draft, preds, { stage: stage?.stage, chain: node.chain }) });
	}
	// All are there before the first is decided: one may produce what another needs.
	for (const { job, preds } of stored) yield* arrive(tx, job, preds, stage ? "quiet" : "announce");
	// Nobody asks for them before the stage is closed.
	if (stage) for (const { job } of stored) tx.over.push(job.id);
}

/** `patch:build`, where build is a job of the same manifest: its number is known by now. */
export function numberMates(job: Job, { mates }: Node): void {
	if (mates.size > 0)
		job.needs = job.needs?.map((artifact) => (mates.has(artifact) ? numbered(artifact, mates.get(artifact) as Node) : artifact));
}

const numbered = (artifact: string, mate: Node): string => `${artifact.slice(0, artifact.indexOf(":"))}:${numberOf(mate)}`;

const numberOf = (node: Node): number => node.alias?.job ?? node.job;

/** Between being screened and going in, somebody else may have come first. */
function* refuseOvertaken(tx: Tx, nodes: readonly Node[], range: { from: number; to: number }): Op<void> {
	yield* tx.fetch(
		"name",
		nodes.flatMap((node) => node.draft.job.name ?? []),
	);
	for (const { draft, field } of nodes) {
		const { job } = draft;
		const named = job.name === undefined ? null : yield* openHolder(tx, job.name);
		const chain = yield* openChain(tx, job);
		const foreign = chain !== undefined && (chain < range.from || chain > range.to) ? chain : undefined;
		const taken = named ?? foreign;
		if (taken !== undefined && taken !== null)
			throw new SluiceError("conflict", `${field}: job ${taken} came first, with the same ${named === null ? "item" : "name"}`, {
				field,
				hint: "apply it again: nothing of it was kept",
			});
	}
}

export function* endedIn(from: number, to: number): Op<Set<number>> {
	return new Set(yield* ask({ read: "ended_in", from, to }));
}

export function* resultOf({ nodes, byName, full }: Prepared, skipped: ApplyResult["skipped"]): Generator<void, ApplyResult, void> {
	const jobs: number[] = [];
	const names: Record<string, number> = {};
	let count = 0;
	for (const node of nodes) if (!node.skip && !node.updates) jobs.push(node.job);
	for (const one of skipped) if (one.job === 0) one.job = aliasOf(one.name, nodes);
	yield;
	jobs.sort((a, b) => a - b);
	for (const [name, node] of byName) {
		if (++count % 1000 === 0) yield;
		names[name] = numberOf(node);
	}
	return { jobs, names, skipped, ...(full ? { deferred: full } : {}) };
}

const aliasOf = (name: string, nodes: readonly Node[]): number =>
	nodes.find((node) => (node.draft.job.name ?? node.field) === name)?.alias?.job ?? 0;

export const fresh = ({ nodes }: Prepared): Node[] => nodes.filter((node) => !node.skip && !node.updates);

/** Numbers for all that are new, in the manifest's order: that is the order of equals. */
export function number(tx: Tx, nodes: readonly Node[]): { from: number; to: number } {
	const from = tx.nextIds(nodes.length);
	const slots: Node[] = [];
	for (const node of nodes) slots[node.index] = node;
	let next = from;
	const chains = new Map<string, number>();
	for (const node of slots) {
		if (!node) continue;
		node.job = next++;
		const { item } = node.draft.job;
		if (item === undefined) continue;
		node.chain = chains.get(item) ?? node.job;
		chains.set(item, node.chain);
	}
	return { from, to: from + nodes.length - 1 };
}
