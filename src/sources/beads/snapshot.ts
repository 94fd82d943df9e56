// A snapshot of one beads database, and what several snapshots together say of an issue. Pure.

import type { Item, ItemFault } from "../../contracts/source.ts";
import { isObject } from "../../core/agents/stream/json.ts";
import { SluiceError } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";
import { blockersOf, heldBecause, type Issue, isClosed, issueOf, itemOf, kindOf, parentsOf, tooLong } from "./issue.ts";

export type Snapshot = {
	issues: Map<string, Issue>;
	/** By the id of the parent, which may be in another database. */
	children: Map<string, Issue[]>;
	/** Children that are not closed: `waits-for` reads these alone. */
	openChildren: Map<string, Issue[]>;
	/** Convoys, by the id of what they track, which may be an issue of another database. */
	trackers: Map<string, Issue[]>;
	faults: ItemFault[];
	/** The ids that `bd ready` lists; null if bd was not called. */
	ready: Set<string> | null;
};

/** Issues as bd or its file returns them. `ready`: the ids that `bd ready` lists. */
export type Values = { values: unknown[]; faults: ItemFault[]; ready?: Set<string> };

export function snapshotOf(source: string, root: string, { values, faults, ready }: Values): Snapshot {
	const snapshot: Snapshot = {
		issues: new Map(),
		children: new Map(),
		openChildren: new Map(),
		trackers: new Map(),
		faults,
		ready: ready ?? null,
	};
	const twice = new Set<string>();
	for (const value of values) {
		const id = isObject(value) && typeof value.id === "string" ? value.id.slice(0, check.MAX_NAME) : null;
		try {
			const issue = issueOf(value);
			if (snapshot.issues.has(issue.id)) twice.add(issue.id);
			snapshot.issues.set(issue.id, issue);
		} catch (error) {
			faults.push(faultOf(source, id, id ?? root, tooLong(id ?? "an issue", error)));
		}
	}
	for (const id of twice) {
		snapshot.issues.delete(id);
		faults.push(faultOf(source, id, id, new SluiceError("conflict", "stands there twice", { hint: "give each issue an id of its own" })));
	}
	for (const issue of snapshot.issues.values()) {
		for (const id of parentsOf(issue)) {
			push(snapshot.children, id, issue);
			if (!isClosed(issue.status)) push(snapshot.openChildren, id, issue);
		}
		for (const { on, type } of issue.dependencies) if (type === "tracks") push(snapshot.trackers, on, issue);
	}
	return snapshot;
}

function push(map: Map<string, Issue[]>, key: string, issue: Issue): void {
	const all = map.get(key) ?? [];
	// All entries of one issue come in a row, so comparing with the last one removes duplicates.
	if (all.at(-1) !== issue) all.push(issue);
	map.set(key, all);
}

export const faultOf = (source: string, id: string | null, place: string, error: SluiceError): ItemFault => ({
	source,
	id,
	place,
	code: error.code,
	message: `${place}: ${error.message}`,
	hint: error.hint ?? null,
});

/** The item for an issue of `own`. `others`: the other beads databases; blockers, parents, children and convoys may be in those. */
export function judged(source: string, issue: Issue, own: Snapshot, others: readonly Snapshot[], now: number): Item {
	const all = [own, ...others];
	const find = (id: string) => all.find((one) => one.issues.has(id))?.issues.get(id);
	const children = (id: string) => all.flatMap((one) => one.children.get(id) ?? []);
	const openChildren = function* (id: string) {
		for (const one of all) yield* one.openChildren.get(id) ?? [];
	};
	const kind = kindOf(issue);
	const tracked = issue.dependencies.flatMap(({ on, type }) => (type === "tracks" ? [on] : []));
	const members = kind === "batch" ? tracked : kind === "epic" ? children(issue.id).map(({ id }) => id) : [];
	const trackers = all.flatMap((one) => one.trackers.get(issue.id) ?? []);
	const tracker = trackers.find((one) => kindOf(one) === "batch" && !isClosed(one.status));
	const { blocked_by, held } = readiness(issue, own, { find, openChildren, now });
	return itemOf(source, issue, { blocked_by, held, members: [...new Set(members)], batch: tracker?.id ?? null });
}

/** If `bd ready` was called, its answer counts for its own database. It knows neither merges nor issues of other databases. */
function readiness(
	issue: Issue,
	own: Snapshot,
	{ find, openChildren, now }: { find: (id: string) => Issue | undefined; openChildren: (id: string) => Iterable<Issue>; now: number },
): { blocked_by: string[]; held: string | null } {
	const blocked_by = blockersOf(issue, find, openChildren);
	const held = heldBecause(issue, find, now);
	if (own.ready === null) return { blocked_by, held };
	const isElsewhere = (blocker: string) => blocker.endsWith("(not merged)") || (!own.issues.has(blocker) && find(blocker) !== undefined);
	if (own.ready.has(issue.id)) return { blocked_by: blocked_by.filter(isElsewhere), held };
	const isUnexplained = blocked_by.length === 0 && held === null && issue.status === "open" && kindOf(issue) === "task";
	return { blocked_by, held: isUnexplained ? "bd ready does not list it" : held };
}
