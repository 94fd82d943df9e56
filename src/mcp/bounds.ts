// Limits answers to a size that an agent can read: cuts long lists and texts, and adds a note on how to get the rest. Nothing is cut silently.

import { JsonText } from "../api/client.ts";
import type { ToolDocument } from "../api/mcp-client.ts";

/** Maximum jobs of a list; bytes of a log. */
export const LIST_ITEMS = 100;
export const LOG_BYTES = { usual: 16_000, most: 40_000 } as const;
/** Maximum characters of a whole answer as JSON, and of one text inside it. */
const ANSWER_CHARACTERS = 40_000;
const TEXT_CHARACTERS = 4_000;
const PART_CHARACTERS = 10_000;

export type Bounded = { document: ToolDocument; notes: string[] };

/** The list that an answer consists of, and how to get the rest; `last` is the last entry that was kept. */
const LISTS: Record<string, { key: string; rest(last: unknown, document: ToolDocument): string }[]> = {
	"job.list": [
		{
			key: "jobs",
			rest: (last) => `ask again with \`after: ${isObject(last) ? last.id : 0}\`, or narrow it by status, lane, repo or batch`,
		},
	],
	"job.why": [{ key: "reasons", rest: (_, { job }) => `\`sluice why ${isObject(job) ? job.id : "ID"}\` in a shell prints all` }],
	"job.wait": [{ key: "jobs", rest: () => "wait for fewer at once" }],
	"job.graph": [
		{ key: "nodes", rest: () => "narrow it by `job` with `max_depth`, or by `batch`" },
		{ key: "edges", rest: () => "narrow it by `job` with `max_depth`, or by `batch`" },
	],
	"scheduler.forecast": [{ key: "jobs", rest: () => "narrow it by `batch`" }],
	"stats.show": [{ key: "groups", rest: () => "take a shorter time" }],
	"job.cancel": [
		{ key: "cancelled", rest: () => "`job_list` with status cancelled shows them" },
		{ key: "requested", rest: () => "`job_list` with status running shows them" },
		{ key: "ended", rest: () => "`job_show` of each tells more" },
		{ key: "refused", rest: () => "`job_show` of each tells how it had ended" },
	],
	"job.retry": [
		{ key: "reset", rest: () => "`job_list` shows them" },
		{ key: "restarted", rest: () => "`job_list` shows them" },
		{ key: "last_successful", rest: () => "`job_show` of each tells more" },
	],
	"budget.list": [{ key: "budgets", rest: () => "`sluice budget list` in a shell prints all" }],
	"account.list": [{ key: "accounts", rest: () => "`sluice account list` in a shell prints all" }],
};

/** `limit`: the requested length of a list; if the list is that long, there may be more. */
export function bounded(method: string, answer: ToolDocument, limit?: unknown): Bounded {
	const notes: string[] = [];
	const whole = method === "job.logs" || (method === "job.graph" && typeof answer.text === "string");
	let document = whole ? cutWhole(method, answer, notes) : cutFields(answer, notes);
	const lists = LISTS[method] ?? [];
	document = said(document);
	for (const { key, rest } of lists) {
		const all = document[key];
		if (!Array.isArray(all) || all.length === 0) continue;
		if (all.length === limit) notes.push(`There may be more ${key}: ${rest(all.at(-1), document)}.`);
		const room = (ANSWER_CHARACTERS - sizeOf({ ...document, [key]: [] })) / (lists.length > 1 ? 2 : 1);
		const kept = fitting(all, Math.max(room, 2_000));
		if (kept === all.length) continue;
		const last: unknown = all[kept - 1];
		if (all.length === limit) notes.pop();
		notes.push(`${kept} of ${all.length} ${key} are shown: ${rest(last, document)}.`);
		document = { ...document, [key]: all.slice(0, kept) };
	}
	return { document: sizeOf(document) > ANSWER_CHARACTERS ? cutParts(document, notes) : document, notes };
}

/** Still too long: cut secondary lists and the large fields of a job as well. */
function cutParts(document: ToolDocument, notes: string[]): ToolDocument {
	const cut = ([key, value]: [string, unknown]): [string, unknown] => {
		if (sizeOf(value) <= PART_CHARACTERS) return [key, value];
		if (isObject(value) && key === "job") return [key, Object.fromEntries(Object.entries(value).map(cut))];
		if (Array.isArray(value)) {
			const kept = fitting(value, PART_CHARACTERS);
			notes.push(`${kept} of ${value.length} ${key} are shown.`);
			return [key, value.slice(0, kept)];
		}
		return [key, typeof value === "string" ? value : cutTexts(JSON.stringify(value), notes)];
	};
	return Object.fromEntries(Object.entries(document).map(cut));
}

const sizeOf = (value: unknown) => JSON.stringify(value ?? null).length;

/** How many entries from the front fit; at least one. */
function fitting(all: readonly unknown[], room: number): number {
	let used = 0;
	for (const [index, one] of all.entries()) {
		used += sizeOf(one) + 1;
		if (used > room) return Math.max(1, index);
	}
	return all.length;
}

/** A job has seventy fields, most of them null: leaves out null fields and empty lists of a job and of list entries. */
const said = (document: ToolDocument): ToolDocument =>
	Object.fromEntries(
		Object.entries(document).map(([key, value]) => [key, Array.isArray(value) ? value.map(spare) : key === "job" ? spare(value) : value]),
	);
const spare = (one: unknown): unknown =>
	isObject(one) ? Object.fromEntries(Object.entries(one).filter(([, value]) => !(value === null || isEmpty(value)))) : one;
const isEmpty = (value: unknown) => typeof value === "object" && value !== null && Object.keys(value).length === 0;
export const isObject = (value: unknown): value is ToolDocument => value !== null && typeof value === "object" && !Array.isArray(value);

/** Cuts long texts anywhere inside: prompts, payloads, failures. */
function cutTexts(value: unknown, notes: string[]): unknown {
	if (typeof value === "string" && value.length > TEXT_CHARACTERS) {
		const left = value.length - TEXT_CHARACTERS;
		const note = "Texts that end in `… (N more characters)` were cut; `sluice show ID --json` in a shell has them whole.";
		if (!notes.includes(note)) notes.push(note);
		return `${value.slice(0, TEXT_CHARACTERS)}… (${left} more characters)`;
	}
	if (value instanceof JsonText) return value.text.length > TEXT_CHARACTERS ? cutTexts(value.text, notes) : value;
	if (Array.isArray(value)) return value.map((one) => cutTexts(one, notes));
	return isObject(value) ? cutFields(value, notes) : value;
}

const cutFields = (document: ToolDocument, notes: string[]): ToolDocument =>
	Object.fromEntries(Object.entries(document).map(([key, one]) => [key, cutTexts(one, notes)]));

/** A log was limited by the request; a drawing is cut at a line end. */
function cutWhole(method: string, answer: ToolDocument, notes: string[]): ToolDocument {
	const text = String(answer.text ?? "");
	if (method === "job.logs" || text.length <= ANSWER_CHARACTERS) return answer;
	const cut = text.slice(0, text.lastIndexOf("\n", ANSWER_CHARACTERS) + 1);
	notes.push(
		`The drawing is cut after ${cut.length} of ${text.length} characters: narrow it by \`job\` with \`max_depth\`, or by \`batch\`.`,
	);
	return { ...answer, text: cut };
}
