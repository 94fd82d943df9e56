// Manifests: one job with `for_each` becomes several, and the waves in which a manifest's jobs could run. Pure.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what manifests write
//
//   for_each: [de, fr]                        ${item} is each of them
//   for_each: [{lang: de, tone: dry}, …]      ${lang} and ${tone}
//   for_each: {de: dry, fr: warm}             ${key} and ${value}
//   for_each: {de: {tone: dry}, …}            ${key} and ${tone}
//   for_each: {lang: [de, fr], os: [a, b]}    ${lang} and ${os}, every combination
//
// ${name} is filled in wherever it stands in the job's text; a name that is not there is an error, and $${ stands for ${ itself. Text that is nothing
// but one ${name} becomes its value, a number too. A job whose own name has no ${…} is called name-value for each, and `after: [name]` means all of them.

import * as check from "./check.ts";
import { SluiceError } from "./errors.ts";
import { JsonText } from "./json-text.ts";
import { nearest } from "./nearest.ts";

type Plain = Record<string, unknown>;
type Scalar = string | number | boolean;
type Vars = Map<string, Scalar>;
/** What its name ends in, and what is filled in. */
type Instance = { suffix: string; vars: Vars };
/** `from`: its place among the jobs as they were written. */
export type Expanded = { job: Plain; from: number };

const MOST = 1_000_000;
const NAME = /^[A-Za-z_]\w*$/;
const isObject = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value);

/** Yields now and then, so that a large manifest can let others go first. `fault`: is told of a job that cannot be unfolded; without it, that is thrown. */
export function* expandJobs(jobs: readonly unknown[], fault?: (error: unknown) => void): Generator<void, Expanded[], void> {
	const groups = new Map<string, string[]>();
	const expanded: Expanded[] = [];
	for (const [from, given] of jobs.entries()) {
		if (from % 2000 === 1999) yield;
		const field = `jobs[${from}]`;
		const unfold = () => {
			if (!isObject(given) || given.for_each === undefined) {
				// What is no job is said by the check of jobs.
				expanded.push({ job: given as Plain, from });
				return;
			}
			const { for_each, ...template } = given;
			const instances = instancesOf(for_each, `${field}.for_each`);
			const name = typeof template.name === "string" && !template.name.includes("${") ? template.name : undefined;
			if (name !== undefined)
				groups.set(
					name,
					instances.map(({ suffix }) => `${name}-${suffix}`),
				);
			for (const { suffix, vars } of instances) {
				const job = fill(template, vars, field) as Plain;
				expanded.push({ job: name === undefined ? job : { ...job, name: `${name}-${suffix}` }, from });
			}
			if (expanded.length > MOST)
				throw new SluiceError("limit", `${field}.for_each: more than ${MOST} jobs`, { field: `${field}.for_each` });
		};
		try {
			check.taking(field, unfold);
		} catch (error) {
			if (!fault) throw error;
			fault(error);
		}
	}
	if (groups.size === 0) return expanded;
	return expanded.map((one) =>
		isObject(one.job) && Array.isArray(one.job.after) ? { ...one, job: { ...one.job, after: gathered(one.job.after, groups) } } : one,
	);
}

/** At once, for whoever need not share. */
export function expandAll(jobs: readonly unknown[], fault?: (error: unknown) => void): Expanded[] {
	const steps = expandJobs(jobs, fault);
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
	}
}

/** `after: [build]` where build is several: each of them, with the same policy. */
function gathered(after: readonly unknown[], groups: ReadonlyMap<string, string[]>): unknown[] {
	return after.flatMap((one) => {
		if (isObject(one) && typeof one.job === "string") return groups.get(one.job)?.map((job) => ({ ...one, job })) ?? [one];
		if (typeof one !== "string") return [one];
		const [, ref = one, policy] = /^(.+?)(:(?:success|failure|any|merged))?$/s.exec(one) ?? [];
		return groups.get(ref)?.map((job) => `${job}${policy ?? ""}`) ?? [one];
	});
}

function instancesOf(value: unknown, field: string): Instance[] {
	const found = Array.isArray(value) ? ofList(value, field) : ofMap(value, field);
	if (found.length === 0) throw check.wrong(field, "is empty: there would be no job", "name at least one");
	return found;
}

function ofList(value: unknown[], field: string): Instance[] {
	return check.list(value, field).map((one, index) => {
		const at = `${field}[${index}]`;
		if (isObject(one)) return named(varsOf(one, at));
		return { suffix: String(scalar(one, at)), vars: new Map([["item", scalar(one, at)]]) };
	});
}

function ofMap(value: unknown, field: string): Instance[] {
	const entries = Object.entries(check.record(value, field));
	const lists = entries.filter(([, one]) => Array.isArray(one)).length;
	if (lists > 0 && lists < entries.length)
		throw check.wrong(field, "has lists beside other values", "either lists, for every combination, or one entry for each job");
	if (lists > 0) return combinations(entries as [string, unknown[]][], field);
	return entries.map(([key, one]) => {
		const at = `${field}.${key.slice(0, 60)}`;
		const vars: Vars = isObject(one) ? varsOf(one, at) : new Map([["value", scalar(one, at)]]);
		vars.set("key", key);
		return { suffix: key, vars };
	});
}

function combinations(entries: readonly [string, unknown[]][], field: string): Instance[] {
	const sizes = entries.reduce((product, [, values]) => product * values.length, 1);
	if (sizes > MOST) throw new SluiceError("limit", `${field}: ${sizes} combinations, at most ${MOST}`, { field });
	let found: Vars[] = [new Map()];
	for (const [name, values] of entries) {
		variable(name, field);
		found = found.flatMap((vars) => values.map((one, index) => new Map([...vars, [name, scalar(one, `${field}.${name}[${index}]`)]])));
	}
	return found.map(named);
}

const named = (vars: Vars): Instance => ({ suffix: [...vars.values()].join("-"), vars });

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

function fill(value: unknown, vars: Vars, field: string): unknown {
	if (typeof value === "string") return value.includes("$") ? fillText(value, vars, field) : value;
	// What is kept as text has no variables to fill in, or is filled in as JavaScript reads it.
	if (value instanceof JsonText) return value.text.includes("${") ? fill(value.value(), vars, field) : value;
	if (Array.isArray(value)) return value.map((one, index) => fill(one, vars, `${field}[${index}]`));
	if (!isObject(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, vars, `${field}.${key}`)]));
}

function fillText(text: string, vars: Vars, field: string): Scalar {
	const whole = /^\$\{(\w+)\}$/.exec(text)?.[1];
	if (whole !== undefined) return filling(whole, vars, field);
	return text.replace(/\$\$\{|\$\{([^}]*)\}?/g, (found, name: string | undefined) =>
		found === "$${" ? "${" : String(filling(name ?? "", vars, field)),
	);
}

function filling(name: string, vars: Vars, field: string): Scalar {
	const value = vars.get(name);
	if (value !== undefined) return value;
	const known = [...vars.keys()];
	const guess = nearest(name, known);
	throw new SluiceError("invalid", `${field}: there is no variable ${check.shown(name)} in for_each`, {
		field,
		hint: guess ? `did you mean "\${${guess}}"?` : `there are ${known.join(", ")}; write $\${…} to keep it as it is`,
	});
}

/** Jobs in the order in which they could run: each wave waits only for earlier ones. What is not in the manifest counts as there. */
export function wavesOf(jobs: readonly Plain[]): string[][] {
	const label = (job: Plain, index: number) => String(job.name ?? `jobs[${index}]`);
	const known = new Map(jobs.map((job, index) => [label(job, index), index]));
	const makers = new Map<string, number[]>();
	const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
	for (const [index, job] of jobs.entries()) for (const made of texts(job.produces)) makers.set(made, [...(makers.get(made) ?? []), index]);
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
		let now = left.filter((index) => (waits[index] as number[]).every((one) => (wave[one] ?? number) < number));
		// Artifacts may go in a circle, since one that is there already waits for nobody.
		if (now.length === 0) now = left;
		for (const index of now) wave[index] = number;
		waves.push(now.map((index) => label(jobs[index] as Plain, index)));
		left = left.filter((index) => wave[index] === undefined);
	}
	return waves;
}
