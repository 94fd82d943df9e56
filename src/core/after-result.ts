// The result of a job before this one, in its prompt. Pure.
//
//   {{after.NAME.result}}       the result that job NAME reported; NAME is one that this job comes after, by its name or number
//   {{after.NAME.result.key}}   a member of it; members of members with further dots
//   \{{after.…}}                these words as they are
//
// A text is put in as it is, everything else as JSON. It is put in once: nothing in it is looked at again.

import * as check from "./check.ts";
import { nearest } from "./nearest.ts";

/** What is between the braces, without spaces around it. */
export const AFTER_PLACE = "after\\.[^{}]*?";
const PLACE = new RegExp(`\\\\?\\{\\{\\s*(${AFTER_PLACE})\\s*\\}\\}`, "g");

/** A job whose result a prompt may ask for. `result`: JSON, null where it left none. */
export type Source = { job: number; name: string | null; result: string | null };

/** The places of a prompt that are to be filled in, each once. */
export function placesIn(prompt: string): string[] {
	if (!prompt.includes("after.")) return [];
	const found = new Set<string>();
	for (const [whole, body] of prompt.matchAll(PLACE)) if (body !== undefined && !whole.startsWith("\\")) found.add(body);
	return [...found];
}

/** Text of an item or of a result: its braces stay as they are. */
export const withoutPlaces = (text: string): string => text.replace(PLACE, (whole) => `\\${whole}`);

type Split = { name: string; path: string[] };

/** A name may have dots: it is one of the known ones. */
function splitPlace(place: string, names: readonly string[]): Split | null {
	const body = place.slice("after.".length);
	for (const name of [...names].sort((a, b) => b.length - a.length)) {
		if (body === `${name}.result`) return { name, path: [] };
		if (body.startsWith(`${name}.result.`)) return { name, path: body.slice(name.length + ".result.".length).split(".") };
	}
	return null;
}

/** What the place asks for; null where it names none of these jobs. */
export function resultOf<S extends Source>(place: string, sources: readonly S[]): { source: S; path: string[] } | null {
	for (const source of [...sources].reverse()) {
		const split = splitPlace(place, [String(source.job), ...(source.name === null ? [] : [source.name])]);
		if (split) return { source, path: split.path };
	}
	return null;
}

/** The words that stand in its place. */
export function wordsOf(place: string, sources: readonly Source[]): string | null {
	const found = resultOf(place, sources);
	if (found === null) return null;
	const { source, path } = found;
	const called = source.name ?? source.job;
	if (source.result === null) return `(job ${called} left no result)`;
	let value: unknown = JSON.parse(source.result);
	for (const key of path) {
		const isHolder = value !== null && typeof value === "object" && Object.hasOwn(value, key);
		if (!isHolder) return `(the result of job ${called} has no ${path.join(".")})`;
		value = (value as Record<string, unknown>)[key];
	}
	return typeof value === "string" ? value : JSON.stringify(value);
}

/** Each place filled in, each `\{{after.` without its backslash; nothing else is touched. A place that names no job before this one stays. */
export const fillPlaces = (prompt: string, sources: readonly Source[]): string =>
	prompt.replace(PLACE, (whole, place: string) => (whole.startsWith("\\") ? whole.slice(1) : (wordsOf(place, sources) ?? whole)));

/** `known`: what the job comes after, as its names or numbers were given. `before`: all that comes before it, as far as the caller knows. */
export function refusePlaces(
	prompt: string,
	known: readonly (string | number)[],
	field: string,
	before: ReadonlySet<string> = new Set(),
): void {
	const names = known.map(String);
	for (const place of placesIn(prompt)) {
		const shown = `{{${place.slice(0, 100)}}}`;
		const literally = "to have these words as they are, write \\{{after.";
		const split = splitPlace(place, names);
		if (split?.path.includes("")) {
			const meant = ["after", split.name, "result", ...split.path.filter((key) => key !== "")].join(".");
			const fault = split.path.at(-1) === "" ? "names no member after its last dot" : "has two dots in a row";
			throw check.wrong(field, `${shown} ${fault}`, `write {{${meant.slice(0, 100)}}}; ${literally}`);
		}
		if (split) continue;
		const name = nameIn(place);
		if (name === null) throw check.wrong(field, `${shown} is not how a result is asked for`, `write {{after.NAME.result}}; ${literally}`);
		if (before.has(name))
			throw check.wrong(
				field,
				`${shown}: this step comes after ${check.shown(name)}, but not directly`,
				`put ${name} under after, too: after: [${[...names, name].join(", ")}]; ${literally}`,
			);
		const guess = nearest(name, names);
		const hint = guess
			? `did you mean {{after.${guess}.result}}?`
			: names.length > 0
				? `it comes after: ${names.slice(0, 20).join(", ")};`
				: `put ${name} under after (--after ${name});`;
		throw check.wrong(field, `${shown}: this job does not come after ${check.shown(name)}`, `${hint} ${literally}`);
	}
}

/** What was meant as a name, before `.result`. */
function nameIn(place: string): string | null {
	const body = place.slice("after.".length);
	const at = body.endsWith(".result") ? body.length - ".result".length : body.lastIndexOf(".result.");
	return at > 0 ? body.slice(0, at) : null;
}

/** Names of steps become names of jobs. */
export const renamePlaces = (prompt: string, names: ReadonlyMap<string, string>): string =>
	prompt.replace(PLACE, (whole, place: string) => {
		const split = whole.startsWith("\\") ? null : splitPlace(place, [...names.keys()]);
		return split ? `{{${["after", names.get(split.name), "result", ...split.path].join(".")}}}` : whole;
	});
