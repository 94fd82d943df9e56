// Adding many jobs at once, all or nothing. Few go in one transaction. Many go in pieces that nobody sees, so that others are never held up:
//
//   reserve   a run of ids and a `stage` record: jobs in that run are hidden, their buckets shut
//   insert    a few hundred at a time, in their final form
//   open      the buckets' marks and the stage record go, in one small transaction: from here on all of them are there
//
// A crash before `open` leaves a stage record; whoever opens the store next takes those jobs out again.

import type { Deferred } from "../adding.ts";
import type { Predecessor } from "../core/answer.ts";
import * as check from "../core/check.ts";
import type { Config } from "../core/config.ts";
import { SluiceError } from "../core/errors.ts";
import { artifactKey } from "../core/fact.ts";
import { type Sorted, sortGraph } from "../core/graph.ts";
import { type Draft, type DraftOptions, draftJob } from "../core/input.ts";
import type { Job, JobInput, Policy, Status } from "../core/job.ts";
import { expandJobs } from "../core/manifest.ts";
import type { Facts } from "../host.ts";
import type { ApplyResult, Manifest } from "../scheduler.ts";
import { ask, type Op } from "../store.ts";
import { arrive, checkJob, findTwin, markPredecessors, openChain, refuseUnmergeable, storeJob } from "./add.ts";
import type { Tx } from "./tx.ts";

export const MAX_MANIFEST = 1_000_000;
/** Up to here an apply is one transaction; also the size of a piece, unless the scheduler was opened with another. */
export const PIECE = 300;

/** One job of the manifest on its way in. `job` is its number once it has one, or the existing job it stands for. */
export type Node = {
	draft: Draft;
	index: number;
	field: string;
	job: number;
	skip?: string;
	/** The job of the same manifest that has its unique key already. */
	alias?: Node;
	/** A waiting job that this one replaces, by its unique key. */
	twin?: number;
	leads: boolean;
	/** The first job of the manifest with the same item: they are one chain, also when one has ended before the other goes in. */
	chain?: number;
	after: { node?: Node; job?: number; policy: Policy }[];
};
export type Prepared = {
	/** Predecessors stand before those who wait for them, and producers too, unless these go in a circle. */
	nodes: Node[];
	circular: boolean;
	byName: Map<string, Node>;
	byUnique: Map<string, Node>;
	coming: Map<number, number>;
	/** Items that the hard limit lets in, as far as they were looked at; `full` once it has kept one out. */
	admitted: Set<string>;
	full?: Deferred;
};

/** Checks each job for itself; yields now and then so that the caller can let others go first. */
export function* prepare(manifest: Manifest, config: Config, options: Omit<DraftOptions, "field">): Generator<void, Prepared, void> {
	const { inputs, defaults, batch } = check.taking("manifest", () => {
		const given = check.record(manifest, "manifest") as Manifest;
		check.knownKeys(given as Record<string, unknown>, ["defaults", "jobs", "batch"], "");
		return {
			inputs: check.list(given.jobs, "jobs", MAX_MANIFEST),
			defaults:
				given.defaults === undefined ? undefined : check.taking("defaults", () => ({ ...check.record(given.defaults, "defaults") })),
			batch: given.batch === undefined ? undefined : check.label(given.batch, "batch"),
		};
	});
	if (defaults) checkDefaults(defaults, config, options);
	const nodes: Node[] = [];
	const byName = new Map<string, Node>();
	const expanded = yield* expandJobs(inputs);
	for (const [index, { job: input, from }] of expanded.entries()) {
		if (index % 200 === 199) yield;
		const field = `jobs[${from}]`;
		const merged = check.taking(field, () => {
			const own = check.record(input, field);
			return { ...(batch === undefined ? {} : { batch }), ...defaultsFor(own, defaults), ...own } as JobInput;
		});
		const draft = draftJob(merged, config, { ...options, field });
		const node: Node = { draft, index, field, job: 0, leads: false, after: [] };
		nodes.push(node);
		const { name } = draft.job;
		if (name === undefined) continue;
		if (byName.has(name))
			throw new SluiceError("conflict", `${field}.name: "${name}" stands twice in the manifest`, {
				field: `${field}.name`,
				hint: "give each job a name of its own",
			});
		byName.set(name, node);
	}
	for (const [index, node] of nodes.entries()) {
		if (index % 2000 === 1999) yield;
		for (const { ref, policy } of node.draft.after) node.after.push(link(node, ref, policy, byName));
	}
	const sorted: Sorted<Node> = yield* sortGraph(nodes, (node) => node.after.flatMap((edge) => edge.node ?? []));
	if ("cycle" in sorted) {
		const names = sorted.cycle.map((node) => node.draft.job.name ?? node.field);
		const path = names.length > 20 ? [...names.slice(0, 18), "…", names[names.length - 1]] : names;
		throw new SluiceError("cycle", `after: ${path.join(" → ")} is a cycle`, {
			field: `${(sorted.cycle[0] as Node).field}.after`,
			hint: "take one of these edges out",
		});
	}
	const ordered = yield* producersFirst(sorted.order);
	return {
		nodes: ordered ?? sorted.order,
		circular: ordered === null,
		byName,
		byUnique: new Map(),
		coming: new Map(),
		admitted: new Set(),
	};
}

/** A consumer is decided when it goes in: what produces for it must be there by then. Null when they go in a circle. */
function* producersFirst(nodes: Node[]): Generator<void, Node[] | null, void> {
	const makers = new Map<string, Node[]>();
	for (const node of nodes)
		for (const artifact of node.draft.job.produces ?? []) {
			const key = artifactKey(artifact, node.draft.job.repo);
			makers.set(key, [...(makers.get(key) ?? []), node]);
		}
	if (makers.size === 0) return nodes;
	const before = (node: Node) => [
		...node.after.flatMap((edge) => edge.node ?? []),
		...(node.draft.job.needs ?? [])
			.flatMap((artifact) => makers.get(artifactKey(artifact, node.draft.job.repo)) ?? [])
			.filter((maker) => maker !== node),
	];
	const sorted: Sorted<Node> = yield* sortGraph(nodes, before);
	return "order" in sorted ? sorted.order : null;
}

/** A job that says itself what it runs takes nothing over about that: a command among agents, an agent among commands. */
function defaultsFor(own: Record<string, unknown>, defaults: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
	if (defaults === undefined) return undefined;
	if (own.command !== undefined && own.agent === undefined && defaults.agent !== undefined) {
		const { agent: _, prompt: __, model: ___, permission: ____, ...rest } = defaults;
		return rest;
	}
	if (own.agent !== undefined && own.command === undefined && defaults.command !== undefined) {
		const { command: _, ...rest } = defaults;
		return rest;
	}
	return defaults;
}

/** Faults of the defaults are said to be there. They need not be a job by themselves: what is missing is filled in for the check. */
function checkDefaults(defaults: Record<string, unknown>, config: Config, options: Omit<DraftOptions, "field">): void {
	const filled: Record<string, unknown> = { prompt: "", ...defaults };
	if (filled.command === undefined && filled.agent === undefined && filled.payload === undefined) filled.payload = null;
	draftJob(filled, config, { ...options, field: "defaults" });
}

function link(node: Node, ref: number | string, policy: Policy, byName: Map<string, Node>): Node["after"][number] {
	const found = typeof ref === "string" ? byName.get(ref) : undefined;
	if (!found) return typeof ref === "number" ? { job: ref, policy } : { policy, job: Number.NaN };
	found.leads = true;
	if (policy === "merged" && !found.draft.job.will_merge)
		throw new SluiceError("impossible", `${node.field}.after: "${ref}" will not merge, so nothing can wait for its merge`, {
			field: `${node.field}.after`,
			hint: "use the policy success, or give that job a repo",
		});
	return { node: found, policy };
}

/** What an edge leads to: a job of this manifest that is new, or the number of one that exists. */
function targetOf({ node, job }: Node["after"][number]): Node | number {
	const target = node?.alias ?? node;
	return target && !target.skip ? target : (target?.job ?? (job as number));
}

const shownTarget = (target: Node | number): string =>
	typeof target === "number" ? `job ${target}` : `"${target.draft.job.name ?? target.field}"`;

/** Left for the moment when all of them come into sight. */
const toReplace = (node: Node) => (twin: number) => {
	node.twin = twin;
};

/**
 * Against the store: names that exist already, items and unique keys that are taken. `look`: changes nothing, not even a twin that is to be
 * replaced, and counts what a host has just seen.
 */
export function* screen(tx: Tx, { nodes, coming, byUnique }: Prepared, force: boolean, look?: { seen: Facts }): Op<ApplyResult["skipped"]> {
	const skipped: ApplyResult["skipped"] = [];
	yield* tx.fetch(
		"name",
		nodes.flatMap((node) => node.draft.job.name ?? []),
	);
	for (const node of nodes) {
		const { job } = node.draft;
		const name = job.name ?? node.field;
		const existing = job.name === undefined ? null : yield* tx.get<number>("name", job.name);
		const taken =
			existing ?? (yield* openChain(tx, job)) ?? (yield* findTwin(tx, node.draft, `${node.field}.unique`, look && toReplace(node)));
		if (taken !== undefined && taken !== null) {
			node.job = taken;
			node.skip = existing !== null ? "exists" : job.item !== undefined ? "already_running" : "duplicate";
			skipped.push({ name, job: taken, reason: node.skip });
			continue;
		}
		const { unique } = node.draft;
		const first = unique && byUnique.get(unique.key);
		if (first) {
			if (unique.policy === "error")
				throw new SluiceError("conflict", `${node.field}.unique: ${first.field} has the key "${unique.key}" too`, {
					field: `${node.field}.unique.key`,
					hint: "use the policy skip",
				});
			node.alias = first;
			first.leads ||= node.leads;
			node.skip = "duplicate";
			skipped.push({ name, job: 0, reason: node.skip });
			continue;
		}
		if (unique) byUnique.set(unique.key, node);
		yield* checkJob(tx, node.draft, force, node.field, coming, look?.seen);
		for (const [index, edge] of node.after.entries()) {
			const ref = node.draft.after[index]?.ref;
			if (edge.node) continue;
			const found = typeof ref === "string" ? yield* tx.get<number>("name", ref) : (edge.job as number);
			if (found === null || !(yield* tx.find(found)))
				throw new SluiceError("not_found", `${node.field}.after[${index}]: there is no job ${check.shown(ref)}`, {
					field: `${node.field}.after[${index}]`,
					hint: "name a job of this manifest, or one that exists",
				});
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
	return skipped;
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
			if (!edge.node || (edge.node.skip && !edge.node.alias)) outside.add(edge.node?.job ?? (edge.job as number));
	yield* tx.load([...outside, ...ended]);
	const stored: { job: Job; preds: Predecessor[] }[] = [];
	for (const node of nodes) {
		// A copy: if this transaction has to be run again, the draft is still as it was.
		const draft = { ...node.draft, job: { ...node.draft.job, id: node.job, created_at: tx.now } };
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

const numberOf = (node: Node): number => node.alias?.job ?? node.job;

/** Between being screened and going in, somebody else may have come first. */
function* refuseOvertaken(tx: Tx, nodes: readonly Node[], range: { from: number; to: number }): Op<void> {
	yield* tx.fetch(
		"name",
		nodes.flatMap((node) => node.draft.job.name ?? []),
	);
	for (const { draft, field } of nodes) {
		const { job } = draft;
		const named = job.name === undefined ? null : yield* tx.get<number>("name", job.name);
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
	for (const node of nodes) if (!node.skip) jobs.push(node.job);
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

export const fresh = ({ nodes }: Prepared): Node[] => nodes.filter((node) => !node.skip);

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
