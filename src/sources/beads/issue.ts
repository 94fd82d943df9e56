// Issues as beads keeps them, and what blocks one. The same rules for a whole `.beads/issues.jsonl` and for the answers of `bd`. Pure.

import * as check from "../../core/check.ts";
import { SluiceError } from "../../core/errors.ts";
import type { Item, ItemKind } from "../../source.ts";

/** `id` depends on `on`. */
export type Dependency = { on: string; type: string /** As `bd show` tells it beside the id. */; status?: string };

export type Issue = {
	id: string;
	title: string;
	text: string;
	status: string;
	type: string;
	labels: string[];
	priority: number;
	close_reason: string;
	owner: string | null;
	parent: string | null;
	/** In epoch milliseconds; null where it is not deferred to a day. */
	defer_until: number | null;
	pinned: boolean;
	dependencies: Dependency[];
	mark: string;
};

const CLOSED = ["closed", "tombstone", "done", "resolved"];
export const isClosed = (status: string): boolean => CLOSED.includes(status);
const TAKEN = ["in_progress", "hooked"];
/** Types that `bd ready` leaves out: what they stand for is not work. */
const NOT_WORK = ["merge-request", "gate", "molecule", "message", "agent", "role", "rig"];
/** The blocker must be closed. (`parent-child` blocks as the parent is blocked; `merge-blocks` until it is merged.) */
const BLOCKING = ["blocks", "conditional-blocks", "waits-for"];

export function issueOf(value: unknown): Issue {
	const given = check.record(value, "issue");
	const text = (key: string, max = check.MAX_TEXT) =>
		given[key] === undefined || given[key] === null ? "" : check.text(given[key], key, { max });
	const id = check.word(given.id, "id");
	const priority = given.priority === undefined || given.priority === null ? 2 : check.integer(given.priority, "priority", 0, 100);
	const sections = [
		["", text("description")],
		["## Design", text("design")],
		["## Acceptance criteria", text("acceptance_criteria")],
		["## Notes", text("notes")],
	];
	return {
		id,
		title: text("title", 10_000).replace(/\s+/g, " ").trim() || id,
		text: sections.flatMap(([heading, body]) => (body?.trim() ? [[heading, body.trim()].filter(Boolean).join("\n\n")] : [])).join("\n\n"),
		status: text("status", 100) || "open",
		type: text("issue_type", 100) || "task",
		labels: given.labels === undefined || given.labels === null ? [] : check.list(given.labels, "labels", 1000).map(String),
		priority,
		close_reason: text("close_reason"),
		owner: text("assignee", 1000) || null,
		parent: text("parent", 1000) || null,
		defer_until: timeOf(text("defer_until", 100)),
		pinned: given.pinned === true,
		dependencies: dependenciesOf(given),
		mark: `${text("updated_at", 100)} ${text("status", 100)}`,
	};
}

const timeOf = (text: string): number | null => (Number.isNaN(Date.parse(text)) ? null : Date.parse(text));

/** In the file `{depends_on_id, type}`, from `bd show` whole issues with a `dependency_type`. */
function dependenciesOf(given: Record<string, unknown>): Dependency[] {
	if (given.dependencies === undefined || given.dependencies === null) return [];
	return check.list(given.dependencies, "dependencies", 100_000).flatMap((one, index) => {
		const edge = check.record(one, `dependencies[${index}]`);
		const on = edge.depends_on_id ?? edge.id;
		const type = edge.type ?? edge.dependency_type;
		if (typeof on !== "string" || typeof type !== "string") return [];
		// `external:<project>:<id>`: an issue of another database.
		const id = /^external:[^:]*:(.+)$/.exec(on)?.[1] ?? on;
		return [{ on: id, type, ...(typeof edge.status === "string" ? { status: edge.status } : {}) }];
	});
}

/** Gas Town makes convoys as tasks with a label; older ones are of a type of their own. */
export const isConvoy = (type: string, labels: readonly string[]): boolean => type === "convoy" || labels.includes("gt:convoy");
export const kindOf = ({ type, labels }: Issue): ItemKind => (isConvoy(type, labels) ? "batch" : type === "epic" ? "epic" : "task");

export const parentsOf = ({ parent, dependencies }: Issue): string[] => [
	...new Set([...dependencies.flatMap(({ on, type }) => (type === "parent-child" ? [on] : [])), ...(parent ? [parent] : [])]),
];

/** "hooked by ann"; null where it is free. */
export const takenBy = ({ status, owner }: Issue): string | null =>
	TAKEN.includes(status) ? `${status}${owner === null ? "" : ` by ${owner}`}` : null;

/** Why its own state keeps an open issue out of `bd ready`, in words; null where it does not. */
export function heldBecause(issue: Issue, find: Find, now: number): string | null {
	const isLater = ({ defer_until }: Issue) => defer_until !== null && defer_until > now;
	const until = ({ defer_until }: Issue) => `deferred until ${new Date(defer_until ?? 0).toISOString().replace(".000Z", "Z")}`;
	if (isClosed(issue.status) || TAKEN.includes(issue.status) || issue.status === "blocked") return null;
	if (isLater(issue)) return until(issue);
	if (issue.status !== "open") return `its status is ${issue.status}`;
	if (issue.pinned) return "pinned";
	if (NOT_WORK.includes(issue.type)) return `its type is ${issue.type}`;
	for (const id of parentsOf(issue)) {
		const parent = find(id);
		if (parent && isLater(parent)) return `its parent ${id} is ${until(parent)}`;
	}
	return null;
}

/** A town's own notes: never work by themselves. */
export const isCoordination = (id: string): boolean => id.startsWith("hq-");

/** Finds an issue, here or in another source; undefined when nobody knows it. */
export type Find = (id: string) => Issue | undefined;

/** Everything that must be done before it. `path`: parents that were come through, since they may go in a circle. */
export function blockersOf(issue: Issue, find: Find, children: (id: string) => readonly Issue[], path: readonly string[] = []): string[] {
	const found = new Set<string>();
	const statusOf = ({ on, status }: Dependency) => find(on)?.status ?? status;
	for (const edge of issue.dependencies) {
		const status = statusOf(edge);
		if (BLOCKING.includes(edge.type)) {
			if (status === undefined) found.add(`${edge.on} (no source knows it)`);
			else if (!isClosed(status)) found.add(edge.on);
			// A fan-out: all that came out of it must be done, too.
			if (edge.type === "waits-for") for (const child of children(edge.on)) if (!isClosed(child.status)) found.add(child.id);
		} else if (edge.type === "merge-blocks") {
			const other = find(edge.on);
			if (status === undefined) found.add(`${edge.on} (no source knows it)`);
			else if (!isClosed(status)) found.add(edge.on);
			else if (other && !/^merged\b/i.test(other.close_reason)) found.add(`${edge.on} (not merged)`);
		}
	}
	for (const id of parentsOf(issue)) {
		const parent = find(id);
		if (!parent || path.includes(id) || isClosed(parent.status)) continue;
		for (const blocker of blockersOf(parent, find, children, [...path, issue.id])) found.add(blocker);
	}
	found.delete(issue.id);
	return [...found];
}

export function itemOf(
	source: string,
	issue: Issue,
	more: { blocked_by: string[]; held: string | null; members: string[]; batch: string | null },
): Item {
	const kind = kindOf(issue);
	const open = !isClosed(issue.status);
	const isFree = issue.status === "open" && more.blocked_by.length === 0 && more.held === null;
	return {
		source,
		id: issue.id,
		kind,
		title: issue.title,
		text: issue.text,
		status: issue.status,
		open,
		in_progress: TAKEN.includes(issue.status),
		taken: takenBy(issue),
		held: more.held,
		blocked_by: issue.status === "blocked" && more.blocked_by.length === 0 ? ["its status: blocked"] : more.blocked_by,
		members: more.members,
		batch: more.batch,
		phase: null,
		flow: null,
		parallelizable: null,
		// 0 is the most urgent of beads, 2 the usual.
		priority: (2 - issue.priority) * 10,
		branch: null,
		owner: issue.owner,
		eligible: kind === "task" && open && isFree && !isCoordination(issue.id),
		place: issue.id,
		mark: issue.mark,
	};
}

export const tooLong = (id: string, error: unknown): SluiceError =>
	error instanceof SluiceError ? error : new SluiceError("invalid", `${id}: ${error instanceof Error ? error.message : String(error)}`);
