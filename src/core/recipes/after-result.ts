// Inserts results of predecessor jobs into a prompt. Pure.
//
//   {{after.NAME.result}}       the result that job NAME reported; NAME is the name or number of a job that this one comes after
//   {{after.NAME.result.key}}   a member of that result; further dots reach members of members
//   \{{after.…}}                escaped: stays as written, without the backslash
//
// A string is inserted as it is, every other value as JSON. Inserted text is not scanned for placeholders again.

import { SluiceError } from "../errors.ts";
import * as check from "../input/check.ts";
import { nearest } from "../input/nearest.ts";

/** Maximum placeholders in one prompt; repeated ones count each time. */
export const MAX_PLACES = 1000;
/** Maximum characters of a filled-in prompt. Without it, a short prompt could insert a long result a thousand times. */
export const MAX_FILLED = 4_000_000;

/** What stands between the braces, without the spaces around it. */
export const AFTER_PLACE = "after\\.[^{}\\s]*(?:\\s+[^{}\\s]+)*";
const PLACE = new RegExp(`\\\\?\\{\\{\\s*(${AFTER_PLACE})\\s*\\}\\}`, "g");

/** A job whose result a prompt may insert. `result`: JSON, or null if the job reported none. */
export type ResultSource = { job: number; name: string | null; result: string | null };

/** The distinct placeholders of a prompt. */
export function placesIn(prompt: string): string[] {
	if (!prompt.includes("after.")) return [];
	const found = new Set<string>();
	for (const [whole, body] of prompt.matchAll(PLACE)) if (body !== undefined && !whole.startsWith("\\")) found.add(body);
	return [...found];
}

/** Escapes placeholders in text that comes from an item or a result, so that they are not filled in. */
export const withoutPlaces = (text: string): string => text.replace(PLACE, (whole) => `\\${whole}`);

type Split = { name: string; path: string[] };

const RESULT = ".result";

/** Splits a placeholder into job name and path. Names may contain dots: the longest known name wins. */
function splitPlace(place: string, isKnown: (name: string) => boolean): Split | null {
	const body = place.slice("after.".length);
	for (let at = body.lastIndexOf(RESULT, check.MAX_NAME); at > 0; at = body.lastIndexOf(RESULT, at - 1)) {
		const rest = body.slice(at + RESULT.length);
		const name = body.slice(0, at);
		if ((rest === "" || rest.startsWith(".")) && isKnown(name)) return { name, path: rest === "" ? [] : rest.slice(1).split(".") };
	}
	return null;
}

/** Jobs by number and by name; the last job with a name wins. */
const bySaidName = <S extends ResultSource>(sources: readonly S[]): Map<string, S> =>
	new Map(
		sources.flatMap((one): [string, S][] => [[String(one.job), one], ...(one.name === null ? [] : [[one.name, one] as [string, S]])]),
	);

/** The jobs whose results the placeholders use. */
export function askedOf<S extends ResultSource>(places: readonly string[], sources: readonly S[]): S[] {
	const known = bySaidName(sources);
	const asked = new Set(places.map((place) => known.get(splitPlace(place, (name) => known.has(name))?.name ?? "")));
	return sources.filter((one) => asked.has(one));
}

/** Returns a function that fills in one placeholder, or returns null if it names none of the jobs. Each result is parsed once. */
export function createFilling(sources: readonly ResultSource[]): (place: string) => string | null {
	const known = bySaidName(sources);
	const values = new Map<ResultSource, unknown>();
	return (place) => {
		const split = splitPlace(place, (name) => known.has(name));
		const source = split === null ? undefined : known.get(split.name);
		if (split === null || source === undefined) return null;
		const called = source.name ?? source.job;
		if (source.result === null) return `(job ${called} left no result)`;
		if (!values.has(source)) values.set(source, JSON.parse(source.result));
		let value = values.get(source);
		for (const key of split.path) {
			const isHolder = value !== null && typeof value === "object" && Object.hasOwn(value, key);
			if (!isHolder) return `(the result of job ${called} has no ${split.path.join(".")})`;
			value = (value as Record<string, unknown>)[key];
		}
		return typeof value === "string" ? value : JSON.stringify(value);
	};
}

/** Returns a function that counts inserted text; text that would make the prompt longer than MAX_FILLED is replaced by a note that says so. */
export function createRoom(prompt: string): (text: string) => string {
	let left = MAX_FILLED - prompt.length;
	return (text) => {
		const put = text.length <= left ? text : `(left out: the prompt would be longer than ${MAX_FILLED} characters)`;
		left -= put.length;
		return put;
	};
}

/** Fills in every placeholder and removes the backslash of escaped ones. A placeholder that names no predecessor is left as it is. */
export function fillPlaces(prompt: string, sources: readonly ResultSource[]): string {
	const [filling, room] = [createFilling(sources), createRoom(prompt)];
	return prompt.replace(PLACE, (whole, place: string) => {
		if (whole.startsWith("\\")) return whole.slice(1);
		const words = filling(place);
		return words === null ? whole : room(words);
	});
}

/** `known`: the job's predecessors, by the names or numbers that the caller gave. `before`: all its ancestors, as far as the caller knows them. */
export function refusePlaces(
	prompt: string,
	known: readonly (string | number)[],
	field: string,
	before: ReadonlySet<string> = new Set(),
): void {
	const count = prompt.includes("after.") ? (prompt.match(PLACE)?.length ?? 0) : 0;
	if (count === 0) return;
	if (count > MAX_PLACES)
		throw new SluiceError("limit", `${field}: asks for results ${count} times; the limit is ${MAX_PLACES}`, {
			field,
			hint: "put a result into the prompt once, and refer to it",
		});
	const names = known.map(String);
	const isKnown = new Set(names);
	for (const place of placesIn(prompt)) {
		const shown = `{{${place.slice(0, 100)}}}`;
		const literally = "to have these words as they are, write \\{{after.";
		const split = splitPlace(place, (name) => isKnown.has(name));
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

/** The part that was meant as a job's name: everything before `.result`. */
function nameIn(place: string): string | null {
	const body = place.slice("after.".length);
	const at = body.endsWith(".result") ? body.length - ".result".length : body.lastIndexOf(".result.");
	return at > 0 ? body.slice(0, at) : null;
}

/** Replaces names of steps by names of jobs. */
export const renamePlaces = (prompt: string, names: ReadonlyMap<string, string>): string =>
	prompt.replace(PLACE, (whole, place: string) => {
		const split = whole.startsWith("\\") ? null : splitPlace(place, (name) => names.has(name));
		return split ? `{{${["after", names.get(split.name), "result", ...split.path].join(".")}}}` : whole;
	});
