// Issues as beads stores them, and what blocks one. The same rules for a whole `.beads/issues.jsonl` and for answers of `bd`. Pure.

import { type Item, type ItemKind, plainItem } from "../../contracts/source.ts";
import { messageOf, SluiceError } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";

/** `id` depends on `on`. */
type Dependency = { on: string; type: string /** As `bd show` prints it beside the id. */; status?: string };

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
	/** Epoch milliseconds; null if it is not deferred to a day. */
	defer_until: number | null;
	pinned: boolean;
	dependencies: Dependency[];
	mark: string;
};

const CLOSED = ["closed", "tombstone", "done", "resolved"];
export const isClosed = (status: string): boolean => CLOSED.includes(status);
const TAKEN = ["in_progress", "hooked"];
/** Types that `bd ready` leaves out: they are not work. */
const NOT_WORK = ["merge-request", "gate", "molecule", "message", "agent", "role", "rig"];
/** The blocker must be closed. (`parent-child` blocks as long as the parent is blocked; `merge-blocks` until the blocker is merged.) */
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

/** In the file `{depends_on_id, type}`; from `bd show` whole issues with a `dependency_type`. */
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

/** Gas Town creates convoys as tasks with a label; older convoys have their own type. */
export const isConvoy = (type: string, labels: readonly string[]): boolean => type === "convoy" || labels.includes("gt:convoy");
export const kindOf = ({ type, labels }: Issue): ItemKind => (isConvoy(type, labels) ? "batch" : type === "epic" ? "epic" : "task");

export const parentsOf = ({ parent, dependencies }: Issue): string[] => [
	...new Set([...dependencies.flatMap(({ on, type }) => (type === "parent-child" ? [on] : [])), ...(parent ? [parent] : [])]),
];

/** "hooked by ann"; null if it is free. */
export const takenBy = ({ status, owner }: Issue): string | null =>
	TAKEN.includes(status) ? `${status}${owner === null ? "" : ` by ${owner}`}` : null;

/** Why an open issue's own state keeps it out of `bd ready`; null if it does not. */
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

/** A town's own notes, which are never work. */
const isCoordination = (id: string): boolean => id.startsWith("hq-");

/** Finds an issue in this source or another; undefined if no source has it. */
export type Find = (id: string) => Issue | undefined;

/** Maximum levels of parents that are followed. */
const MAX_ABOVE = 100;
/** Maximum blockers of one issue that are named. */
const MAX_BLOCKERS = 200;

/**
 * Everything that must be done first: the blockers of the issue, and those of each open issue above it, except for the issues in between. Visits each issue
 * above once, however many paths lead to it: two parents on each of thirty levels make a billion paths.
 */
export function blockersOf(issue: Issue, find: Find, openChildren: (id: string) => Iterable<Issue>): string[] {
	const above = new Map<string, Issue>([[issue.id, issue]]);
	const found = new Set<string>();
	const seen = new Set<string>();
	for (const one of above.values()) {
		seen.add(one.id);
		for (const blocker of ownBlockers(one, find, openChildren)) {
			if (one === issue ? blocker === issue.id : seen.has(blocker)) continue;
			if (found.size >= MAX_BLOCKERS) return [...found, "and more"];
			found.add(blocker);
		}
		for (const id of parentsOf(one)) {
			const parent = find(id);
			if (!parent || above.has(id) || isClosed(parent.status)) continue;
			if (above.size > MAX_ABOVE) return [...found, `more than ${MAX_ABOVE} issues are above it`];
			above.set(id, parent);
		}
	}
	return [...found];
}

/** What must be done before this issue by its own dependencies. */
function* ownBlockers(issue: Issue, find: Find, openChildren: (id: string) => Iterable<Issue>): Generator<string> {
	const statusOf = ({ on, status }: Dependency) => find(on)?.status ?? status;
	for (const edge of issue.dependencies) {
		const status = statusOf(edge);
		if (BLOCKING.includes(edge.type)) {
			if (status === undefined) yield `${edge.on} (no source knows it)`;
			else if (!isClosed(status)) yield edge.on;
			// A fan-out: all that came out of it must be done, too.
			if (edge.type === "waits-for") for (const child of openChildren(edge.on)) yield child.id;
		} else if (edge.type === "merge-blocks") {
			const other = find(edge.on);
			if (status === undefined) yield `${edge.on} (no source knows it)`;
			else if (!isClosed(status)) yield edge.on;
			else if (other && !/^merged\b/i.test(other.close_reason)) yield `${edge.on} (not merged)`;
		}
	}
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
		...plainItem(source, issue.id),
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
		// In beads 0 is the most urgent and 2 the default.
		priority: (2 - issue.priority) * 10,
		owner: issue.owner,
		eligible: kind === "task" && open && isFree && !isCoordination(issue.id),
		mark: issue.mark,
	};
}

export const tooLong = (id: string, error: unknown): SluiceError =>
	error instanceof SluiceError ? error : new SluiceError("invalid", `${id}: ${messageOf(error)}`);
