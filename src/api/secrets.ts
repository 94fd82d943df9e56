// Masks secret values in documents: by the name of their variable, and by what they look like.

import { envReferenceOf } from "../core/input/env-reference.ts";
import { JsonText } from "../core/text/json-text.ts";
import { withoutCredentials } from "../core/text/repo-url.ts";
import { matchesStars } from "../core/text/stars.ts";
import type { JobDocument } from "./documents.ts";

export type Mask = { names: readonly string[] };

/** Name patterns whose values are masked when the configuration says nothing else; `*` is any run of characters, case does not count. */
export const SECRET_NAMES = [
	"*_KEY",
	"*APIKEY",
	"*TOKEN",
	"*SECRET*",
	"*PASSWORD*",
	"*PASSPHRASE*",
	"*PASSWD*",
	"PASS",
	"*_PASS",
	"*_PWD",
	"*_PAT",
	"*AUTH",
	"*AUTHORIZATION",
	"*CREDENTIAL*",
	"*COOKIE*",
] as const;
export const MASKED = "***";

/** `apiKey` and `api-key` are read as `api_key`. */
const variableOf = (key: string): string => key.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replaceAll("-", "_");

/** Whether a variable or a field has the name of a secret. */
export function secretNames(names: readonly string[]): (name: string) => boolean {
	const patterns = names.map(matcher);
	return (name) => patterns.some((matches) => matches(variableOf(name)));
}

/** Keys of well-known providers, private keys, and addresses with a password in them. */
const LOOKS_SECRET =
	/^(?:sk-|gh[pousr]_|github_pat_|xox[abp]-|AKIA[0-9A-Z]{12}|eyJ[\w-]{10,}\.)|-----BEGIN [A-Z ]*PRIVATE KEY|:\/\/[^/\s:@]+:[^/\s@]+@/;

type Rule = {
	isSecretName(name: string): boolean;
	hides(name: string | null, value: string): boolean;
	shown(name: string | null, value: string): string;
};

/**
 * The one rule behind every document: a value is masked for its name (`null`: it has none that counts) or for what it looks like; a reference to where a secret
 * is kept stays, and of any other text its credentials go.
 */
function ruleOf(names: readonly string[]): Rule {
	const isSecretName = secretNames(names);
	const hides = (name: string | null, value: string) =>
		value !== "" && envReferenceOf(value) === null && ((name !== null && isSecretName(name)) || LOOKS_SECRET.test(value));
	const shown = (name: string | null, value: string) => {
		const text = withoutCredentials(value);
		return hides(name, text) ? MASKED : text;
	};
	return { isSecretName, hides, shown };
}

/** Whether a variable with this name and value should not be written where others can read it. */
export const looksSecret = (name: string, value: string, names: readonly string[] = SECRET_NAMES): boolean =>
	ruleOf(names).hides(name, value);

export function masked(env: Record<string, string>, mask: Mask): Record<string, string> {
	const { shown } = ruleOf(mask.names);
	return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, shown(name, value)]));
}

/**
 * A whole document, such as a part of the configuration (`key`: where it stands) or a recipe: variables are masked by their names in every `env`, `vars` and `headers`,
 * fields by their keys at any depth of a `payload`, everything else by what it looks like. Of a webhook's address its path may be the secret.
 */
export function maskedDeep(value: unknown, mask: Mask, key = ""): unknown {
	const { shown } = ruleOf(mask.names);
	const walk = (one: unknown, path: readonly string[]): unknown => {
		if (typeof one === "string") {
			const [parent = "", name = ""] = path.slice(-2);
			const isWebhook = parent === "notify" || path.at(-3) === "webhooks";
			if (isWebhook && name === "url") return withoutCredentials(one).replace(/^(\w+:\/\/[^/]*)\/.+$/, `$1/${MASKED}`);
			const isNamed = parent === "env" || parent === "vars" || parent === "headers" || path.slice(0, -1).includes("payload");
			return shown(isNamed ? name : null, one);
		}
		if (Array.isArray(one)) return one.map((inner) => walk(inner, path));
		if (typeof one !== "object" || one === null) return one;
		return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, walk(member, [...path, name])]));
	};
	return walk(value, key === "" ? [] : key.split("."));
}

/** Keys whose values a job's owner or its run wrote as they liked. */
const FREE_FORM = ["payload", "result"];

/**
 * What a viewer sees of an answer: in every `payload` and `result`, fields are masked by their keys and by what they look like. An operator sees them as they
 * are: a worker needs them, and an operator may start any program with them. A run sees those of `open` jobs as they are (run-bounds.ts), all others masked.
 */
export function forViewer<T>(answer: T, mask: Mask, open: ReadonlySet<number> = new Set()): T {
	const { isSecretName, shown } = ruleOf(mask.names);
	const hidden = (value: unknown, name: string): unknown => {
		if (value === null || typeof value === "boolean") return value;
		if (typeof value === "string") return shown(name, value);
		if (isSecretName(name)) return MASKED;
		if (value instanceof JsonText) return hiddenText(value, name);
		if (Array.isArray(value)) return value.map((one) => hidden(one, name));
		if (typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hidden(one, key)]));
		return value;
	};
	/** Its exact text stays where nothing in it is masked. */
	const hiddenText = (text: JsonText, name: string): unknown => {
		try {
			const value = text.value();
			const shown = hidden(value, name);
			return JSON.stringify(shown) === JSON.stringify(value) ? text : shown;
		} catch {
			return MASKED;
		}
	};
	const walk = (value: unknown, name: string): unknown => {
		if (FREE_FORM.includes(name)) return hidden(value, name);
		if (typeof value !== "object" || value === null || value instanceof JsonText) return value;
		if (Array.isArray(value)) return value.map((one) => walk(one, name));
		if (isJobDocument(value) && open.has(value.id)) return value;
		return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one, key)]));
	};
	return walk(answer, "") as T;
}

type FreeForm = Pick<JobDocument, "id" | "parent" | "payload" | "result">;
const isJobDocument = (value: object): value is FreeForm =>
	"id" in value && typeof value.id === "number" && ["parent", ...FREE_FORM].every((key) => Object.hasOwn(value, key));

/** The jobs of an answer that carry a payload or a result. */
export function jobsWithFreeForm(answer: unknown): FreeForm[] {
	if (typeof answer !== "object" || answer === null || answer instanceof JsonText) return [];
	if (isJobDocument(answer)) return answer.payload === null && answer.result === null ? [] : [answer];
	return Object.entries(answer).flatMap(([key, one]) => (FREE_FORM.includes(key) ? [] : jobsWithFreeForm(one)));
}

/** Case does not count. */
export function matcher(pattern: string): (name: string) => boolean {
	const wanted = pattern.toUpperCase();
	return (name) => matchesStars(wanted, name.toUpperCase());
}
