// Recipes: a job, or several that come after each other, with variables to be filled in. Reading and rendering are strict: anything missing, misspelt or
// unknown is an error before a job is added. Pure.
//
//   {{name}}    a variable of the recipe, or one of BUILT_IN; in a prompt also one of RUN_TIME, filled in at each start (prompt-context.ts)
//   {{after.STEP.result}}   in a prompt: what an earlier step reported, filled in at each start (after-result.ts)
//   \{{         two literal braces

import { nth, SluiceError } from "../errors.ts";
import { given } from "../given.ts";
import * as check from "../input/check.ts";
import { nearest } from "../input/nearest.ts";
import { type JobInput, POLICIES, type Policy } from "../job.ts";
import { JOB, keysMarked } from "../schema/job.ts";
import { isOneOf } from "../text/one-of.ts";
import { type Budget, compilePattern, MAX_STEPS, type Pattern } from "../text/pattern.ts";
import { PatternFault } from "../text/pattern-chars.ts";
import { refusePlaces } from "./after-result.ts";
import { isAfterPlace, isRunTime, RUN_TIME } from "./prompt-context.ts";

/** Variables that the code that adds the job fills in. `args` may be absent; using any other that has no value is an error. */
export const BUILT_IN = ["item", "title", "text", "source", "repo", "phase", "branch", "base_branch", "batch", "args"] as const;
export type BuiltIn = (typeof BUILT_IN)[number];

export type RecipeVar = { name: string; about: string; required: boolean; default: string | null; pattern: string | null };
/** `after`: steps of the same recipe. `name` is empty if the recipe is a single job. */
export type RecipeStep = { name: string; after: { step: string; policy: Policy }[]; template: JobInput };
export type Recipe = { name: string; description: string; vars: RecipeVar[]; steps: RecipeStep[] };

const TEMPLATE_KEYS = keysMarked("recipe");

const MOST_STEPS = 200;
const MOST_VARS = 100;
export const VARIABLE = /\\\{\{|\{\{([^{}]*)\}\}/g;
const NAME = /^[A-Za-z_][\w-]*$/;

/** Checks everything that can be checked without values: keys, steps and edges, and that every variable is declared. */
export function readRecipe(value: unknown, name: string): Recipe {
	return check.taking("recipe", () => {
		const given = check.record(value, "recipe");
		check.knownKeys(given, ["description", "vars", "steps", ...TEMPLATE_KEYS], "");
		const recipe: Recipe = {
			name: check.label(name, "name"),
			description: given.description === undefined ? "" : check.text(given.description, "description", { max: 10_000 }).trim(),
			vars: varsOf(given.vars),
			steps: [],
		};
		const shared = templateOf(given, "");
		if (given.steps === undefined) recipe.steps = [{ name: "", after: [], template: whole(shared, "") }];
		else recipe.steps = stepsOf(given.steps, shared);
		for (const step of recipe.steps) {
			for (const use of usesOf(step)) mustBeDeclared(recipe, use);
			refuseUnknownSteps(step, recipe.steps);
		}
		return recipe;
	});
}

function varsOf(value: unknown): RecipeVar[] {
	if (value === undefined) return [];
	const entries: [string, unknown][] = Array.isArray(value)
		? value.map((one, index) => {
				const given = check.record(one, `vars[${index}]`);
				return [String(given.name ?? ""), Object.fromEntries(Object.entries(given).filter(([key]) => key !== "name"))];
			})
		: Object.entries(check.record(value, "vars"));
	if (entries.length > MOST_VARS)
		throw new SluiceError("limit", `vars: ${entries.length} variables; the limit is ${MOST_VARS}`, { field: "vars" });
	const budget: Budget = { steps: MAX_STEPS };
	const vars = entries.map(([name, one]): RecipeVar => {
		const field = `vars.${name.slice(0, 40)}`;
		if (!NAME.test(name) || name === "__proto__") throw check.wrong(field, `${check.shown(name)} is not the name of a variable`);
		if (isOneOf(name, BUILT_IN) || isRunTime(name))
			throw check.wrong(field, "is filled in by itself", `take another name; these are: ${[...BUILT_IN, ...RUN_TIME].join(", ")}`);
		// `vars: {port: 80}` is short for a default.
		const given = one === null || typeof one !== "object" ? (one === null ? {} : { default: one }) : check.record(one, field);
		check.knownKeys(given, ["about", "required", "default", "pattern"], field);
		const usual = given.default === undefined || given.default === null ? null : plain(given.default, `${field}.default`);
		const pattern = given.pattern === undefined ? null : check.text(given.pattern, `${field}.pattern`, { max: 1000, lines: "one" });
		const required = given.required === undefined ? usual === null : check.flag(given.required, `${field}.required`);
		if (required && usual !== null) throw check.wrong(field, "is required and has a default", "leave one of them out");
		const found: RecipeVar = {
			name,
			about: given.about === undefined ? "" : check.text(given.about, `${field}.about`, { max: 1000, lines: "one" }),
			required,
			default: usual,
			pattern,
		};
		if (pattern !== null) compiled(pattern, `${field}.pattern`, budget);
		if (usual !== null) mustFit(found, usual, `${field}.default`, budget);
		return found;
	});
	const names = new Set<string>();
	const twice = vars.find(({ name }) => names.size === names.add(name).size);
	if (twice) throw check.wrong(`vars.${twice.name}`, "stands there twice");
	return vars;
}

const plain = (value: unknown, field: string): string =>
	typeof value === "number" || typeof value === "boolean" ? String(value) : check.text(value, field, { max: 131_072 });

function compiled(pattern: string, field: string, budget: Budget): Pattern {
	try {
		return compilePattern(pattern, { whole: true, budget });
	} catch (error) {
		if (error instanceof PatternFault)
			throw check.wrong(field, `is no pattern that can be used: ${error.message}`, `at character ${error.at + 1} of ${pattern}`);
		throw error;
	}
}

/** `budget`: matching steps that all values of a recipe share. */
export function mustFit({ name, pattern }: RecipeVar, value: string, field: string, budget: Budget): void {
	if (pattern === null) return;
	if (value.length > MAX_MATCHED) throw check.wrong(field, `is longer than ${MAX_MATCHED} characters, and ${name} has a pattern`);
	if (!compiled(pattern, field, budget).test(value))
		throw check.wrong(field, `${check.shown(value)} does not fit ${name}'s pattern ${pattern}`);
}

/** A value with a pattern is a name, a number or a choice, so it is short. */
const MAX_MATCHED = 2000;

const CHECKED = keysMarked("recipe").filter((key) => JOB[key].kind === "choice" || key === "allow");
const STRICT = keysMarked("strict");

/** A value with `{{…}}` is known only when the job is added. */
const hasVariable = (value: unknown): boolean => JSON.stringify(value).includes("{{");

/** Checks values that contain no variable, so that the error names step and key: the job would refuse them later without either. `at` gives a key its full name: `steps.build.expect`. */
function checkFields(template: JobInput, at: (key: string) => string): void {
	for (const key of CHECKED) if (template[key] !== undefined && !hasVariable(template[key])) JOB[key].read(template[key], at(key));
}

/** `expect` and `allow` are for agents: the exit code of a command says how it went. */
function refuseForCommands(template: JobInput, at: (key: string) => string): void {
	if (template.command === undefined) return;
	for (const key of STRICT)
		if (template[key] !== undefined) throw check.wrong(at(key), "is for agents, and this runs a command", "leave it out");
}

function templateOf(given: Record<string, unknown>, field: string): JobInput {
	const at = (key: string) => (field === "" ? key : `${field}.${key}`);
	const template: Record<string, unknown> = {};
	for (const key of TEMPLATE_KEYS) if (given[key] !== undefined) template[key] = check.json(given[key], at(key));
	checkFields(template, at);
	return template as JobInput;
}

/** A step must have something to run. */
function whole(template: JobInput, field: string): JobInput {
	const at = (key: string) => (field === "" ? key : `${field}.${key}`);
	const { agent, command, prompt, payload } = template;
	if (command === undefined && agent === undefined && payload === undefined && prompt === undefined)
		throw check.wrong(at("prompt"), "nothing to run", "give a prompt for an agent, or a command");
	if (command !== undefined && (agent !== undefined || prompt !== undefined))
		throw check.wrong(at("command"), "a job has a command or a prompt, not both", "leave one out");
	if (command !== undefined && !Array.isArray(command))
		throw check.wrong(at("command"), "must be a list of words", 'for example ["make", "test"]: no shell reads it');
	refuseForCommands(template, at);
	return template;
}

function stepsOf(value: unknown, shared: JobInput): RecipeStep[] {
	const entries: [string, unknown][] = Array.isArray(value)
		? value.map((one, index) => [String(check.record(one, `steps[${index}]`).name ?? ""), one])
		: Object.entries(check.record(value, "steps"));
	if (entries.length === 0 || entries.length > MOST_STEPS) throw check.wrong("steps", `${entries.length} steps`, `from 1 to ${MOST_STEPS}`);
	const names = entries.map(([name], index) => {
		const field = name === "" ? `steps[${index}].name` : `steps.${name.slice(0, 40)}`;
		if (entries.findIndex(([other]) => other === name) !== index) throw check.wrong(field, "stands there twice");
		return check.label(name, field);
	});
	const known = (step: unknown, field: string): string => {
		if (typeof step === "string" && names.includes(step)) return step;
		const guess = typeof step === "string" ? nearest(step, names) : undefined;
		throw check.wrong(field, `there is no step ${check.shown(step)}`, guess ? `did you mean "${guess}"?` : `known: ${names.join(", ")}`);
	};
	const saysAfter = (index: number) => (entries[index] as [string, { after?: unknown }])[1].after !== undefined;
	/** Steps that run only after another step's failure: they wait for that alone. */
	const routed = new Map<string, string[]>();
	const steps = entries.map(([, one], index): RecipeStep => {
		const name = nth(names, index);
		const field = `steps.${name}`;
		const written = check.record(one, field);
		check.knownKeys(written, ["name", "after", "on", ...TEMPLATE_KEYS], field);
		const own = templateOf(written, field);
		// A step inherits all shared fields, but a step with its own command inherits no prompt, agent, allow or expect.
		const { command, prompt, agent, allow, expect, ...rest } = shared;
		const base = own.command !== undefined ? rest : { ...rest, ...given({ allow, expect, agent, prompt }) };
		const runs = own.command === undefined && own.prompt === undefined && command !== undefined ? { ...rest, command } : base;
		if (written.on !== undefined) {
			const on = check.record(written.on, `${field}.on`);
			check.knownKeys(on, ["failed"], `${field}.on`);
			const target = known(on.failed, `${field}.on.failed`);
			if (target === name) throw check.wrong(`${field}.on.failed`, "leads to itself", "a step that should be tried again has retry");
			routed.set(target, [...(routed.get(target) ?? []), name]);
		}
		return { name, after: afterOf(written.after, field, known, names[index - 1]), template: whole({ ...runs, ...own }, field) };
	});
	for (const [target, from] of routed) {
		const step = steps.find(({ name }) => name === target) as RecipeStep;
		const index = names.indexOf(target);
		const said = saysAfter(index);
		if (from.length > 1)
			throw check.wrong(`steps.${target}`, `the failure of ${from.join(" and of ")} leads here`, "make one step for each");
		step.after = [
			...(said ? step.after.filter(({ step: one }) => !from.includes(one)) : []),
			...from.map((one) => ({ step: one, policy: "failure" as const })),
		];
	}
	// A step without `after` never comes after a step that only a failure leads to.
	for (const [index, step] of steps.entries()) {
		const said = saysAfter(index);
		const before = step.after[0]?.step;
		if (said || routed.has(step.name) || before === undefined || !routed.has(before)) continue;
		const usual = names.slice(0, index).findLast((one) => !routed.has(one));
		step.after = usual === undefined ? [] : [{ step: usual, policy: "success" }];
	}
	refuseCircles(steps);
	return steps;
}

/** If `after` is absent, the previous step. */
function afterOf(
	value: unknown,
	field: string,
	known: (step: unknown, field: string) => string,
	before: string | undefined,
): RecipeStep["after"] {
	if (value === undefined) return before === undefined ? [] : [{ step: before, policy: "success" }];
	const all = Array.isArray(value) ? value : [value];
	return all.map((one, index) => {
		const at = `${field}.after[${index}]`;
		const [, step, policy] = typeof one === "string" ? (/^(.+?)(?::([a-z]+))?$/s.exec(one) ?? []) : [];
		return { step: known(step ?? one, at), policy: policy === undefined ? "success" : check.oneOf(policy, POLICIES, at) };
	});
}

function refuseCircles(steps: readonly RecipeStep[]): void {
	const done = new Set<string>();
	for (let left = steps; left.length > 0; ) {
		const next = left.filter(({ after }) => !after.every(({ step }) => done.has(step)));
		if (next.length === left.length)
			throw new SluiceError("cycle", `steps: ${next.map(({ name }) => name).join(", ")} wait for each other`, {
				field: "steps",
				hint: "take one of their edges out",
			});
		for (const { name } of left.filter((one) => !next.includes(one))) done.add(name);
		left = next;
	}
}

type Use = { variable: string; field: string };

/** Every variable that a step's texts use, and where. */
function usesOf({ name, template }: RecipeStep): Use[] {
	const uses: Use[] = [];
	const at = name === "" ? "" : `steps.${name}.`;
	for (const [key, value] of Object.entries(template))
		walk(value, `${at}${key}`, (text, field) => {
			for (const [, variable] of text.matchAll(VARIABLE)) if (variable !== undefined) uses.push({ variable: variable.trim(), field });
			return text;
		});
	return uses;
}

export function walk(value: unknown, field: string, change: (text: string, field: string) => string): unknown {
	if (typeof value === "string") return change(value, field);
	if (Array.isArray(value)) return value.map((one, index) => walk(one, `${field}[${index}]`, change));
	if (value === null || typeof value !== "object") return value;
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one, `${field}.${key}`, change)]));
}

/** A step without earlier steps comes after the jobs that its caller names; `add` checks those. */
function refuseUnknownSteps({ name, after, template }: RecipeStep, steps: readonly RecipeStep[]): void {
	if (after.length === 0 || typeof template.prompt !== "string") return;
	const known = after.map(({ step }) => step);
	const before = new Set(known);
	for (const one of before) for (const { step } of steps.find((other) => other.name === one)?.after ?? []) before.add(step);
	refusePlaces(template.prompt, known, `steps.${name}.prompt`, before);
}

export const isPrompt = (field: string): boolean => /(?:^|\.)prompt$/.test(field);

function mustBeDeclared({ vars }: Recipe, { variable, field }: Use): void {
	if (isRunTime(variable) || isAfterPlace(variable)) {
		if (isPrompt(field)) return;
		throw check.wrong(
			field,
			`{{${variable.slice(0, 60)}}} is known only when a run starts`,
			isRunTime(variable)
				? "a prompt can have it; commands find it in SLUICE_PRIOR_FILE"
				: "a prompt can have it; a command asks for it with sluice show NAME --json",
		);
	}
	const known = [...BUILT_IN, ...vars.map(({ name }) => name), ...RUN_TIME];
	if (known.includes(variable)) return;
	const guess = nearest(variable, known);
	throw check.wrong(
		field,
		`there is no variable {{${variable.slice(0, 60)}}}`,
		guess ? `did you mean {{${guess}}}?` : "declare it under vars",
	);
}
