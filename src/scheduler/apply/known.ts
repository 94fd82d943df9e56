// Names in a manifest that existing jobs have: finds those jobs, and decides by the table in core/reapply.ts what `apply` does with them.

import type { ApplyResult } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { isTerminal, isWaiting } from "../../core/job.ts";
import { type ReapplyOptions, reapply } from "../../core/reapply.ts";
import type { Tx } from "../transaction/tx.ts";
import type { ManifestUpdate } from "./plain.ts";
import type { ManifestNode, PreparedManifest } from "./prepare.ts";

/** Looks up the jobs that have these nodes' names. */
export function* lookUpNames(tx: Tx, nodes: readonly ManifestNode[]): Op<void> {
	const named = nodes.filter((node) => node.draft.job.name !== undefined);
	yield* tx.fetch(
		"name",
		named.map((node) => node.draft.job.name as string),
	);
	const found: { node: ManifestNode; id: number }[] = [];
	for (const node of named) {
		delete node.known;
		const id = yield* tx.get("name", node.draft.job.name as string);
		if (id !== null) found.push({ node, id });
	}
	if (found.length === 0) return;
	const ids = found.map(({ id }) => id);
	yield* tx.load(ids);
	const specs = yield* tx.specs(ids);
	for (const { node, id } of found) {
		const job = tx.peek(id);
		if (!job) continue;
		node.known = { job: id, status: job.status, same: specs.get(id)?.applied === node.draft.spec.applied };
	}
}

/** Decides for the whole manifest which nodes are added, which stand for existing jobs, and which change them. */
export function decideNames({ nodes }: PreparedManifest, options: ReapplyOptions): void {
	const named = nodes
		.filter((node) => node.draft.job.name !== undefined)
		.sort((a, b) => a.index - b.index)
		.map((node) => ({ name: node.draft.job.name as string, ...(node.known ? { known: node.known } : {}) }));
	const decision = reapply(named, options);
	if (decision !== "add_all") standIn(nodes);
}

/** The same for `apply --check`: returns a refusal instead of throwing it, so that the rest is still checked. */
export function foreseeNames(prepared: PreparedManifest, options: ReapplyOptions): ApplyResult["refusal"] {
	try {
		decideNames(prepared, options);
		return undefined;
	} catch (error) {
		if (!(error instanceof SluiceError)) throw error;
		standIn(prepared.nodes);
		return { message: error.message, hint: error.hint ?? null };
	}
}

/** Lets nodes whose names are taken stand for the jobs that have these names. */
function standIn(nodes: readonly ManifestNode[]): void {
	for (const node of nodes) {
		const { known } = node;
		if (!known) {
			// Whether a job without a name was added before cannot be known. The manifest as a whole was, so skip it.
			if (node.draft.job.name === undefined) node.skip = "unnamed";
			continue;
		}
		node.job = known.job;
		if (isTerminal(known.status)) node.skip = "ended";
		else if (known.same) node.skip = "exists";
		else if (isWaiting(known.status)) node.updates = true;
		else node.skip = "running";
	}
}

const LISTED = 1000;

/** Open jobs of the manifest's batch that the manifest does not name. */
export function* notNamed(
	tx: Tx,
	{ batch, names, jobs }: Pick<ManifestUpdate, "batch" | "names" | "jobs">,
): Op<NonNullable<ApplyResult["not_named"]>> {
	if (batch === undefined) return [];
	const [own, named] = [new Set(jobs), new Set(names)];
	const open = yield* ask({ read: "active", filter: { batch }, after: 0, limit: LISTED });
	return open
		.filter(({ id, name }) => !own.has(id) && !tx.isComing(id) && (name === undefined || !named.has(name)))
		.map(({ id, name }) => ({ name: name ?? null, job: id }));
}
