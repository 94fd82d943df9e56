// Manifests: expands one job with `for_each` to several, and computes the waves in which a manifest's jobs could run. Pure.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what manifests write
//
//   for_each: [de, fr]                        ${item} is each of them
//   for_each: [{lang: de, tone: dry}, …]      ${lang} and ${tone}
//   for_each: {de: dry, fr: warm}             ${key} and ${value}
//   for_each: {de: {tone: dry}, …}            ${key} and ${tone}
//   for_each: {lang: [de, fr], os: [a, b]}    ${lang} and ${os}, every combination
//
// ${name} is replaced everywhere in the job's text; an unknown name is an error, and $${ stands for a literal ${. Text that consists of one ${name} alone
// becomes its value, which may be a number. A job whose own name has no ${…} is called name-value for each value, and `after: [name]` means all of them.

import { nth, SluiceError } from "../errors.ts";
import { JsonText } from "../text/json-text.ts";
import * as check from "./check.ts";
import { nearest } from "./nearest.ts";

type Plain = Record<string, unknown>;
type Scalar = string | number | boolean;
type Vars = Map<string, Scalar>;
/** The suffix of the job's name, and its variables. */
type Instance = { suffix: string; vars: Vars };
/** Created lazily: there may be very many combinations. */
type Instances = { count: number; each: Iterable<Instance> };
/** `from`: index in the list of jobs as written. */
export type Expanded = { job: Plain; from: number };

const MAX_JOBS = 1_000_000;
/**
 * Maximum characters of all jobs that `for_each` creates, and of the names that `after` lists because of it: without a limit, a short manifest could
 * exhaust memory.
 */
const MAX_EXPANDED = 100_000_000;
/** Maximum number of variables in all combinations. */
const MAX_VALUES = 5_000_000;
const NAME = /^[A-Za-z_]\w*$/;
const isObject = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Yields now and then, so that other work can run during a large manifest. `fault` receives the error of a job that cannot be expanded; without it, the
 * error is thrown.
 */
export function* expandJobs(jobs: readonly unknown[], fault?: (error: unknown) => void): Generator<void, Expanded[], void> {
	const groups: Groups = new Map();
	const expanded: Expanded[] = [];
	const room = createRoom();
	const mark = { left: room.left };
	for (const [from, given] of jobs.entries()) {
		if (from % 2000 === 1999) yield;
		const field = `jobs[${from}]`;
		try {
			if (!check.taking(field, () => isObject(given) && given.for_each !== undefined)) {
				// If this is not a job at all, the check of jobs reports it.
				expanded.push({ job: given as Plain, from });
				continue;
			}
			const { template, name, instances } = check.taking(field, () => templateOf(given as Plain, field, room));
			if (expanded.length + instances.count > MAX_JOBS)
				throw new SluiceError("limit", `${field}.for_each: more than ${MAX_JOBS} jobs`, { field: `${field}.for_each` });
			const group = { jobs: [] as string[], characters: 0 };
			for (const { suffix, vars } of iterated(instances.each, field)) {
				const job = check.taking(field, () => fill(template, vars, field, room) as Plain);
				const own = `${name}-${suffix}`;
				expanded.push({ job: name === undefined ? job : { ...job, name: own }, from });
				if (name !== undefined) group.characters += own.length + 2;
				if (name !== undefined) group.jobs.push(own);
				if (mark.left - room.left > YIELD_AFTER) {
					mark.left = room.left;
					yield;
				}
			}
			if (name !== undefined) groups.set(name, group);
		} catch (error) {
			if (!fault) throw error;
			fault(error);
		}
	}
	if (groups.size === 0) return expanded;
	for (const [index, one] of expanded.entries()) {
		if (index % 2000 === 1999) yield;
		const { job, from } = one;
		if (!isObject(job) || !Array.isArray(job.after)) continue;
		try {
			expanded[index] = { from, job: { ...job, after: gathered(job.after, groups, `jobs[${from}].after`, room) } };
		} catch (error) {
			if (!fault) throw error;
			fault(error);
		}
	}
	return expanded;
}

/** Yields after this many characters. */
const YIELD_AFTER = 200_000;

/** An exception thrown by the caller's own values (getters, proxies) is reported as the caller's mistake. */
function* iterated(each: Iterable<Instance>, field: string): Generator<Instance> {
	const all = each[Symbol.iterator]();
	for (;;) {
		const next = check.taking(field, () => all.next());
		if (next.done) return;
		yield next.value;
	}
}

/** The names of the jobs that a job with `for_each` became, and their total length. */
type Groups = Map<string, { jobs: string[]; characters: number }>;
type Room = { left: number; take(count: number, field: string): void };

/** Counts the characters that are created, plus two for each value; throws once there are too many. */
function createRoom(): Room {
	const room: Room = {
		left: MAX_EXPANDED,
		take(count, field) {
			room.left -= count + 2;
			if (room.left < 0)
				throw new SluiceError("limit", `${field}: for_each makes more than ${MAX_EXPANDED} characters`, {
					field,
					hint: "put what the jobs share into a file, or split the manifest",
				});
		},
	};
	return room;
}

function templateOf({ for_each, ...template }: Plain, field: string, room: Room) {
	const instances = instancesOf(for_each, `${field}.for_each`, room);
	const name = typeof template.name === "string" && !template.name.includes("${") ? template.name : undefined;
	return { template, name, instances };
}

/** Expands without yielding, for callers that need not share the thread. */
export function expandAll(jobs: readonly unknown[], fault?: (error: unknown) => void): Expanded[] {
	const steps = expandJobs(jobs, fault);
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
	}
}

/** `after: [build]` where build has become several jobs: each of them, with the same policy. */
function gathered(after: readonly unknown[], groups: Groups, field: string, room: Room): unknown[] {
	const group = (name: string) => {
		const found = groups.get(name);
		if (found) room.take(found.characters, field);
		return found?.jobs;
	};
	return after.flatMap((one) => {
		if (isObject(one) && typeof one.job === "string") return group(one.job)?.map((job) => ({ ...one, job })) ?? [one];
		if (typeof one !== "string") return [one];
		const [, ref = one, policy] = /^(.+?)(:(?:success|failure|any|merged))?$/s.exec(one) ?? [];
		return group(ref)?.map((job) => `${job}${policy ?? ""}`) ?? [one];
	});
}

function instancesOf(value: unknown, field: string, room: Room): Instances {
	const found = Array.isArray(value) ? listed(ofList(value, field, room)) : ofMap(value, field, room);
	if (found.count === 0) throw check.wrong(field, "is empty: there would be no job", "name at least one");
	return found;
}

const listed = (each: Instance[]): Instances => ({ count: each.length, each });

function ofList(value: unknown[], field: string, room: Room): Instance[] {
	return check.list(value, field).map((one, index) => {
		const at = `${field}[${index}]`;
		if (isObject(one)) return named(varsOf(one, at), field, room);
		return { suffix: String(scalar(one, at)), vars: new Map([["item", scalar(one, at)]]) };
	});
}

function ofMap(value: unknown, field: string, room: Room): Instances {
	const entries = Object.entries(check.record(value, field));
	const lists = entries.filter(([, one]) => Array.isArray(one)).length;
	if (lists > 0 && lists < entries.length)
		throw check.wrong(field, "has lists beside other values", "either lists, for every combination, or one entry for each job");
	if (lists > 0) return combinations(entries as [string, unknown[]][], field, room);
	const each = entries.map(([key, one]): Instance => {
		const at = `${field}.${key.slice(0, 60)}`;
		const vars: Vars = isObject(one) ? varsOf(one, at) : new Map([["value", scalar(one, at)]]);
		vars.set("key", key);
		return { suffix: key, vars };
	});
	return listed(each);
}

function combinations(entries: readonly [string, unknown[]][], field: string, room: Room): Instances {
	const sizes = entries.reduce((product, [, values]) => product * values.length, 1);
	if (sizes > MAX_JOBS) throw new SluiceError("limit", `${field}: ${sizes} combinations, at most ${MAX_JOBS}`, { field });
	if (sizes * entries.length > MAX_VALUES)
		throw new SluiceError("limit", `${field}: ${sizes} combinations of ${entries.length} variables; the limit is ${MAX_VALUES} values`, {
			field,
		});
	const lists = entries.map(([name, values]) => {
		variable(name, field);
		return { name, values: values.map((one, index) => scalar(one, `${field}.${name}[${index}]`)) };
	});
	// The last variable changes fastest.
	const one = (number: number): Instance => {
		const vars: [string, Scalar][] = [];
		let rest = number;
		for (const { name, values } of lists.toReversed()) {
			vars.push([name, nth(values, rest % values.length)]);
			rest = Math.floor(rest / values.length);
		}
		return named(new Map(vars.reverse()), field, room);
	};
	function* each() {
		for (let number = 0; number < sizes; number++) yield one(number);
	}
	return { count: sizes, each: each() };
}

function named(vars: Vars, field: string, room: Room): Instance {
	const parts = [...vars.values()].map(String);
	for (const { length } of parts) room.take(length, field);
	return { suffix: parts.join("-"), vars };
}

function varsOf(given: Plain, field: string): Vars {
	return new Map(Object.entries(given).map(([name, one]) => [variable(name, field), scalar(one, `${field}.${name}`)]));
}

function variable(name: string, field: string): string {
	if (!NAME.test(name)) throw check.wrong(field, `${check.shown(name)} is not the name of a variable`, "letters, digits and _");
	return name;
}

function scalar(value: unknown, field: string): Scalar {
	if (typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return value;
	throw check.wrong(field, `must be text, a number, true or false, not ${check.shown(value)}`);
}

function fill(value: unknown, vars: Vars, field: string, room: Room): unknown {
	room.take(typeof value === "string" ? value.length : value instanceof JsonText ? value.text.length : 0, field);
	if (typeof value === "string") return value.includes("$") ? fillText(value, vars, field, room) : value;
	// A JsonText without variables stays as it is; otherwise it is filled in as JavaScript parses it.
	if (value instanceof JsonText) return value.text.includes("${") ? fill(value.value(), vars, field, room) : value;
	if (Array.isArray(value)) return value.map((one, index) => fill(one, vars, `${field}[${index}]`, room));
	if (!isObject(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, vars, `${field}.${key}`, room)]));
}

function fillText(text: string, vars: Vars, field: string, room: Room): Scalar {
	const whole = /^\$\{(\w+)\}$/.exec(text)?.[1];
	if (whole !== undefined) return filling(whole, vars, field);
	return text.replace(/\$\$\{|\$\{([^}]*)\}?/g, (found, name: string | undefined) => {
		if (found === "$${") return "${";
		const value = String(filling(name ?? "", vars, field));
		room.take(value.length, field);
		return value;
	});
}

function filling(name: string, vars: Vars, field: string): Scalar {
	const value = vars.get(name);
	if (value !== undefined) return value;
	const known = [...vars.keys()];
	const guess = nearest(name, known);
	const hint = guess ? `did you mean "\${${guess}}"?` : `there are ${known.join(", ")}; write $\${…} to keep it as it is`;
	throw check.wrong(field, `there is no variable ${check.shown(name)} in for_each`, hint);
}

/** Jobs in the order in which they could run: each wave depends only on earlier ones. Jobs and artifacts outside the manifest count as present. */
export function wavesOf(jobs: readonly Plain[]): string[][] {
	const label = (job: Plain, index: number) => String(job.name ?? `jobs[${index}]`);
	const known = new Map(jobs.map((job, index) => [label(job, index), index]));
	const makers = new Map<string, number[]>();
	const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
	for (const [index, job] of jobs.entries())
		for (const made of texts(job.produces)) {
			const others = makers.get(made);
			if (others) others.push(index);
			else makers.set(made, [index]);
		}
	const waits = jobs.map((job, own) => [
		...(Array.isArray(job.after) ? job.after : []).flatMap((one): number[] => {
			const text = String(isObject(one) ? one.job : one);
			const found = known.get(text) ?? known.get(text.replace(/:(?:success|failure|any|merged)$/, ""));
			return found === undefined ? [] : [found];
		}),
		...texts(job.needs).flatMap((needed) => (makers.get(needed) ?? []).filter((index) => index !== own)),
	]);
	const wave: number[] = [];
	const waves: string[][] = [];
	let left = jobs.map((_, index) => index);
	for (let number = 0; left.length > 0; number++) {
		let now = left.filter((index) => nth(waits, index).every((one) => (wave[one] ?? number) < number));
		// Artifacts may form a cycle, because no job waits for an artifact that is already present.
		if (now.length === 0) now = left;
		for (const index of now) wave[index] = number;
		waves.push(now.map((index) => label(nth(jobs, index), index)));
		left = left.filter((index) => wave[index] === undefined);
	}
	return waves;
}
