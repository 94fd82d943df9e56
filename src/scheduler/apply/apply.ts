// Adding many jobs at once, all or nothing. Few jobs go in one transaction. Many go in pieces that stay hidden until the last one is in, so that other calls
// never wait for long:
//
//   reserve   a run of ids and a `stage` record: jobs in that run are hidden, their buckets shut
//   insert    a few hundred at a time, in their final form
//   open      removes the buckets' marks and the stage record in one small transaction: from here on all jobs are visible
//
// A crash before `open` leaves a stage record; the next process that opens the store removes its jobs again.

import type { OfItems } from "../../contracts/adding.ts";
import type { Facts } from "../../contracts/host.ts";
import type { ApplyResult } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import type { Config } from "../../core/config.ts";
import { SluiceError } from "../../core/errors.ts";
import type { Predecessor } from "../../core/gates/gate.ts";
import { Faults } from "../../core/input/mistakes.ts";
import type { Job, Status } from "../../core/job.ts";
import { isBelow, refuseStranger } from "../../core/trust/run-bounds.ts";
import { deferItems } from "../limits/backlog.ts";
import { arrive, checkJob, findTwin, limitFor, markPredecessors, openChain, refuseUnmergeable, storeJob } from "../operations/add.ts";
import { jobNamed, numberNames, openHolder } from "../operations/names.ts";
import { learn, type ProbedFacts } from "../operations/observe.ts";
import type { Tx } from "../transaction/tx.ts";
import { decideNames, lookUpNames } from "./known.ts";
import { manifestOf, manifestUpdate, type NumberedNode, numberedNode, numberOf, type PlainManifest, targetOf } from "./plain.ts";
import { type ManifestNode, noSuchJob, outsideNames, type PreparedManifest, putNumbers } from "./prepare.ts";
import { keepStage } from "./stages.ts";
import { updateJobs } from "./update.ts";

/** A manifest of at most this many jobs is one transaction; also the size of a piece, unless the scheduler was opened with another. */
export const PIECE = 300;

const shownTarget = (target: ManifestNode | number): string =>
	typeof target === "number" ? `job ${target}` : `"${target.draft.job.name ?? target.field}"`;

/** Records the job to be replaced; it is replaced when all new jobs become visible. */
const toReplace = (node: ManifestNode) => (twin: number) => {
	node.twin = twin;
};

/**
 * Checks a manifest against the store: items and unique keys that are taken, predecessors that do not exist. What becomes of names that are already taken was
 * decided before (apply-known.ts). Reports all errors at once. `look`: changes nothing, not even a job that is to be replaced, and uses the facts that a host
 * has just probed.
 */
export function* screen(tx: Tx, prepared: PreparedManifest, force: boolean, look?: { seen: Facts }): Op<ApplyResult["skipped"]> {
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

/** Reasons to skip a node that `screen` and `deferItems` find. */
const SCREENED: readonly (string | undefined)[] = ["already_running", "duplicate", "deferred"];

/** To be called before some nodes are screened: returns a function that discards what screening them has noted, so that they can be screened again. */
export function beforeScreening(prepared: PreparedManifest, nodes: readonly ManifestNode[]): () => void {
	const { byUnique, admitted, full } = prepared;
	const coming = new Map(prepared.coming);
	const admittedBefore = admitted.size;
	return () => {
		for (const node of nodes) {
			const { unique } = node.draft;
			if (unique && byUnique.get(unique.key) === node) byUnique.delete(unique.key);
			delete node.alias;
			delete node.twin;
			if (!SCREENED.includes(node.skip)) continue;
			delete node.skip;
			node.job = 0;
		}
		prepared.coming.clear();
		for (const [root, count] of coming) prepared.coming.set(root, count);
		for (const item of [...admitted].slice(admittedBefore)) admitted.delete(item);
		if (full) prepared.full = full;
		else delete prepared.full;
	};
}

const nameOf = (node: ManifestNode): string => node.draft.job.name ?? node.field;

/** Whether the item or unique key of a node is taken, in the store or by a job of the same manifest. */
function* takenBy(
	tx: Tx,
	node: ManifestNode,
	{ byUnique }: PreparedManifest,
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

function* checkNode(tx: Tx, node: ManifestNode, { coming }: PreparedManifest, force: boolean, look: { seen: Facts } | undefined): Op<void> {
	if (node.updates) yield* refuseForeignUpdate(tx, node);
	else yield* checkJob(tx, node.draft, force, node.field, coming, look?.seen);
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
	const known = new Set<number | ManifestNode>();
	for (const edge of node.after) {
		const target = targetOf(edge);
		if (known.has(target))
			throw new SluiceError("invalid", `${node.field}.after: names ${shownTarget(target)} a second time`, {
				field: `${node.field}.after`,
				hint: "name each predecessor once",
			});
		known.add(target);
	}
	// A parent gate is an edge that checkJob added. If the caller named its parent explicitly, that policy counts, not the gate.
	for (const edge of node.draft.after.slice(node.after.length))
		if (!known.has(edge.ref as number)) node.after.push({ job: edge.ref as number, policy: edge.policy });
}

/** A run may change only jobs below its own job. */
function* refuseForeignUpdate(tx: Tx, { draft: { within }, job: id, field }: ManifestNode): Op<void> {
	const job = within === undefined ? undefined : yield* tx.find(id);
	if (within !== undefined && job && !isBelow(job, within)) throw refuseStranger({ field, run: within, job: id, act: "update" });
}

type Range = { stage: number; from: number; to: number };

/** Stores some nodes; predecessors come before the jobs that wait for them. `ended`: jobs of this apply that have already ended. */
function* insertNodes(tx: Tx, nodes: readonly NumberedNode[], ended: ReadonlySet<number>, stage?: Range): Op<void> {
	if (stage) yield* refuseOvertaken(tx, nodes, stage);
	const outside = new Set<number>();
	for (const node of nodes) for (const edge of node.after) if (edge.outside) outside.add(edge.job);
	yield* tx.load([...outside, ...ended]);
	const stored: { job: Job; preds: Predecessor[] }[] = [];
	for (const node of nodes) {
		// A copy: if this transaction has to run again, the draft is unchanged.
		const draft = { ...node.draft, job: { ...node.draft.job, id: node.job, created_at: tx.now } };
		if (node.needs) draft.job.needs = node.needs;
		if (node.draft.job.runnable_at === node.draft.job.created_at) draft.job.runnable_at = tx.now;
		if (node.leads) draft.job.dependents = true;
		const preds: Predecessor[] = node.after.map(({ job: id, policy, own }) => {
			const known = tx.peek(id);
			const status: Status | "missing" = own && !known ? "queued" : (known?.status ?? "missing");
			return { job: id, policy, status, ...(known?.merge_status === undefined ? {} : { merge_status: known.merge_status }) };
		});
		const strangers = preds.filter((pred) => outside.has(pred.job));
		if (strangers.length > 0) markPredecessors(tx, strangers);
		stored.push({ job: draft.job, preds: yield* storeJob(tx, draft, preds, { stage: stage?.stage, chain: node.chain }) });
	}
	// All jobs are stored before the first is decided: one may produce what another needs.
	for (const { job, preds } of stored) yield* arrive(tx, job, preds, stage ? "quiet" : "announce");
	// No operation reads these jobs before the stage is closed: do not keep them in memory.
	if (stage) for (const { job } of stored) tx.over.push(job.id);
}

/** Stores one piece of a stage. */
export function* insertPiece(tx: Tx, { nodes, ...stage }: Range & { nodes: NumberedNode[] }): Op<void> {
	keepStage(tx, stage.stage);
	yield* insertNodes(tx, nodes, new Set(yield* ask({ read: "ended_in", from: stage.from, to: stage.to })), stage);
}

/** A manifest that is added in one transaction. */
export type WholeApply = {
	manifest: PlainManifest;
	seen: ProbedFacts;
	force?: boolean | undefined;
	update?: boolean | undefined;
	again?: boolean | undefined;
	items?: OfItems | undefined;
};

export function* applyWhole(tx: Tx, { manifest, seen, ...options }: WholeApply): Op<ApplyResult> {
	const prepared = manifestOf(manifest);
	yield* learn(tx, seen);
	putNumbers(prepared, yield* numberNames(tx, outsideNames(prepared)));
	yield* lookUpNames(tx, prepared.nodes);
	decideNames(prepared, options);
	const skipped = yield* screen(tx, prepared, options.force === true);
	if (isLimited(options, tx.config)) skipped.push(...deferItems(tx, prepared));
	const nodes = fresh(prepared);
	if (nodes.length > 0) {
		const range = number(nodes, tx.nextIds(nodes.length));
		yield* insertNodes(tx, nodes.map(numberedNode), new Set());
		tx.event("applied", null, range);
	}
	const updates = options.update ? yield* updateJobs(tx, manifestUpdate(prepared)) : {};
	noteUpdates(prepared, updates);
	return { ...runToEnd(resultOf(prepared, skipped)), ...updates };
}

/** The queue's hard limit applies only to items of a source, never to a manifest that a caller wrote. */
export const isLimited = ({ items }: { items?: OfItems | undefined }, config: Config): boolean =>
	items !== undefined && limitFor(items, config).limit !== "none";

/** Skips the nodes whose jobs have started or ended before they could be changed. */
export function noteUpdates({ nodes }: PreparedManifest, { updated = [] }: Pick<ApplyResult, "updated">): void {
	const changed = new Set(updated.map(({ job }) => job));
	for (const node of nodes) if (node.updates && !changed.has(node.job)) node.skip = "ended";
}

export function runToEnd<T>(steps: Generator<void, T, void>): T {
	let step = steps.next();
	while (!step.done) step = steps.next();
	return step.value;
}

/** Refuses jobs whose name or item another caller took between `screen` and this transaction. */
function* refuseOvertaken(tx: Tx, nodes: readonly NumberedNode[], range: { from: number; to: number }): Op<void> {
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

export function* resultOf({ nodes, byName, full }: PreparedManifest, skipped: ApplyResult["skipped"]): Generator<void, ApplyResult, void> {
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
	const warnings = warningsOf(nodes);
	return { jobs, names, skipped, ...(full ? { deferred: full } : {}), ...(warnings.length > 0 ? { warnings } : {}) };
}

const MOST_WARNINGS = 5;

/** The warnings of all nodes, without duplicates. */
function warningsOf(nodes: readonly ManifestNode[]): string[] {
	const all = [...new Set(nodes.flatMap(({ skip, draft }) => (skip ? [] : draft.warnings)))];
	return all.length <= MOST_WARNINGS ? all : [...all.slice(0, MOST_WARNINGS), `and ${all.length - MOST_WARNINGS} more like these`];
}

const aliasOf = (name: string, nodes: readonly ManifestNode[]): number =>
	nodes.find((node) => (node.draft.job.name ?? node.field) === name)?.alias?.job ?? 0;

export const fresh = ({ nodes }: PreparedManifest): ManifestNode[] => nodes.filter((node) => !node.skip && !node.updates);

/** Numbers the new jobs from `from` on, in the manifest's order, which is also the dispatch order of equal jobs. */
export function number(nodes: readonly ManifestNode[], from: number): { from: number; to: number } {
	const slots: ManifestNode[] = [];
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
