// The filter language of the search box. Pure.
//
//   words            every word must occur: in number, name, title, prompt, command, lane, repo, batch, agent, owner, reason
//   "two words"      side by side
//   -word  -lane:x   not
//   lane:code,docs   one of these; values with spaces in quotes: lane:"a b"
//   a OR b           one of both sides
//   #7               the job of this number

import { STATUSES } from "../../src/core/job.ts";
import { columnOf } from "./column.ts";
import type { PageRow } from "./row.ts";

export const QUERY_KEYS = ["status", "lane", "repo", "batch", "agent", "model", "owner", "host", "account", "is"] as const;
export type QueryKey = (typeof QUERY_KEYS)[number];

/** What `is:` can say. */
export const STATES: Record<string, (row: PageRow) => boolean> = {
	held: (row) => row.held,
	ready: (row) => row.ready,
	asking: (row) => row.asks !== null,
	waiting: (row) => row.endedAt === null && row.status !== "running",
	running: (row) => row.status === "running",
	blocked: (row) => columnOf(row) === "blocked" || row.status === "blocked_by_dependency",
	queued: (row) => row.status === "queued",
	failed: (row) => columnOf(row) === "failed",
	done: (row) => columnOf(row) === "done",
	cancelled: (row) => row.status === "cancelled",
	ended: (row) => row.endedAt !== null,
	retried: (row) => row.attempt > 1,
};

type Term = { not: boolean; key: QueryKey | "word" | "number"; values: string[] };
export type ParsedQuery = { groups: Term[][]; problems: string[] };

const TOKEN = /(-?)(?:([A-Za-z_]+):)?((?:"[^"]*"?|[^\s"])+)|\S+/g;

/** A query that says nothing fits every job. */
export function parseQuery(text: string): ParsedQuery {
	const groups: Term[][] = [[]];
	const problems: string[] = [];
	for (const [whole, minus = "", word, rest = ""] of text.matchAll(TOKEN)) {
		if (whole === "OR" || whole === "|") groups.push([]);
		else {
			const term = termOf(whole, minus, word, rest, problems);
			if (term) groups.at(-1)?.push(term);
		}
	}
	const said = groups.filter((group) => group.length > 0);
	return { groups: said, problems };
}

function termOf(whole: string, minus: string, word: string | undefined, rest: string, problems: string[]): Term | null {
	const not = minus === "-";
	const number = /^-?#(\d+)$/.exec(whole)?.[1];
	if (number) return { not, key: "number", values: [number] };
	const key = word === undefined ? undefined : QUERY_KEYS.find((one) => one === word.toLowerCase());
	if (key) {
		const values = valuesOf(rest);
		if (values.length === 0) return null;
		const unknown = key === "is" || key === "status" ? values.filter((one) => !isState(one)) : [];
		const known = key === "is" ? Object.keys(STATES) : [...STATUSES];
		for (const one of unknown) problems.push(`“${key}:${one}” is not known${meant(one, known, `${key}:`)}. There are ${known.join(", ")}.`);
		return { not, key, values };
	}
	// Half typed: `lane:`.
	if (word === undefined && QUERY_KEYS.some((one) => rest.toLowerCase() === `${one}:`)) return null;
	// Addresses and times have colons, too.
	if (word !== undefined && !rest.startsWith("//") && !/^\d/.test(rest))
		problems.push(`“${word}:” is no key${meant(word.toLowerCase(), QUERY_KEYS, "", ":")}. Keys are ${QUERY_KEYS.join(", ")}.`);
	const bare = (word === undefined ? rest : whole.slice(minus.length)).replaceAll('"', "").toLowerCase();
	return bare === "" ? null : { not, key: "word", values: [bare] };
}

const isState = (value: string): boolean => Object.hasOwn(STATES, value) || STATUSES.some((one) => one === value);

/** `code,"two words"` as its values, in lower case. */
const valuesOf = (text: string): string[] =>
	[...text.matchAll(/"([^"]*)"?|[^,"]+/g)].map(([all, quoted]) => (quoted ?? all).trim().toLowerCase()).filter(Boolean);

function meant(word: string, known: readonly string[], before: string, after = ""): string {
	const near = known.find((one) => one.startsWith(word) || word.startsWith(one)) ?? known.find((one) => distance(one, word) <= 2);
	return near === undefined ? "" : `: did you mean ${before}${near}${after}?`;
}

/** How many letters differ. */
function distance(a: string, b: string): number {
	let row = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++)
			next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1));
		row = next;
	}
	return row[b.length] ?? 0;
}

function fits({ key, values }: Term, row: PageRow): boolean {
	if (key === "word") return values.every((word) => row.text.includes(word));
	if (key === "number") return row.id === Number(values[0]);
	if (key === "is" || key === "status")
		return values.some((value) => STATES[value]?.(row) || row.status === value || columnOf(row) === value);
	const own = row[key]?.toLowerCase();
	return values.some((value) => own === value);
}

export function queryMatcher({ groups }: ParsedQuery): (row: PageRow) => boolean {
	if (groups.length === 0) return () => true;
	return (row) => groups.some((group) => group.every((term) => fits(term, row) !== term.not));
}

/** Most searches that one query makes the daemon do. */
const SEARCHES = 3;
/** Keys whose values the daemon's search looks through. */
const SEARCHED: readonly string[] = ["word", "lane", "repo", "batch", "agent", "owner", "number"];

/** What the daemon is asked for: for each side of an OR the words that must occur. */
export function searchesOf({ groups }: ParsedQuery): string[] {
	const found = groups.map((group) =>
		group
			.filter(({ not, key, values }) => !not && values.length === 1 && SEARCHED.includes(key))
			.map(({ values }) => values[0])
			.join(" "),
	);
	return [...new Set(found.filter((one) => one !== ""))].slice(0, SEARCHES);
}
