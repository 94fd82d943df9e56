// Names of a manifest that jobs have already: what those jobs are, and what `apply` does about them by the table in core/reapply.ts.

import { SluiceError } from "../core/errors.ts";
import { isTerminal, isWaiting } from "../core/job.ts";
import { type ReapplyOptions, reapply } from "../core/reapply.ts";
import type { ApplyResult } from "../scheduler.ts";
import { ask, type Op } from "../store.ts";
import type { Node, Prepared } from "./apply-prepare.ts";
import type { Tx } from "./tx.ts";

/** Looks up the jobs that have these nodes' names. */
export function* lookUpNames(tx: Tx, nodes: readonly Node[]): Op<void> {
	const named = nodes.filter((node) => node.draft.job.name !== undefined);
	yield* tx.fetch(
		"name",
		named.map((node) => node.draft.job.name as string),
	);
	const found: { node: Node; id: number }[] = [];
	for (const node of named) {
		delete node.known;
		const id = yield* tx.get<number>("name", node.draft.job.name as string);
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

/** Decides for the whole manifest: which nodes are added, which stand for jobs that exist, which change them. */
export function decideNames({ nodes }: Prepared, options: ReapplyOptions): void {
	const named = nodes
		.filter((node) => node.draft.job.name !== undefined)
		.sort((a, b) => a.index - b.index)
		.map((node) => ({ name: node.draft.job.name as string, ...(node.known ? { known: node.known } : {}) }));
	const decision = reapply(named, options);
	if (decision !== "add_all") standIn(nodes);
}

/** The same for a manifest that is only checked: what would be refused is told, and the rest is checked all the same. */
export function foreseeNames(prepared: Prepared, options: ReapplyOptions): ApplyResult["refusal"] {
	try {
		decideNames(prepared, options);
		return undefined;
	} catch (error) {
		if (!(error instanceof SluiceError)) throw error;
		standIn(prepared.nodes);
		return { message: error.message, hint: error.hint ?? null };
	}
}

/** Nodes whose names are known stand for the jobs that have them. */
function standIn(nodes: readonly Node[]): void {
	for (const node of nodes) {
		const { known } = node;
		if (!known) {
			// It cannot be told whether a job without a name is there already: the file as a whole is.
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
export function* notNamed(tx: Tx, { batch, byName, nodes }: Prepared): Op<NonNullable<ApplyResult["not_named"]>> {
	if (batch === undefined) return [];
	const own = new Set(nodes.map(({ job }) => job));
	const open = yield* ask({ read: "active", filter: { batch }, after: 0, limit: LISTED });
	return open
		.filter(({ id, name }) => !own.has(id) && !tx.isComing(id) && (name === undefined || !byName.has(name)))
		.map(({ id, name }) => ({ name: name ?? null, job: id }));
}
