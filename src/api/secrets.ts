// Masks values that nobody should read in a document: by the name of their variable, and by what they look like.

import { envReferenceOf } from "../core/env-reference.ts";
import { withoutCredentials } from "../core/repo-url.ts";

export type Mask = { names: readonly string[] };

/** Name patterns whose values are masked when the configuration says nothing else; `*` is any run of characters, case does not count. */
export const SECRET_NAMES = ["*_KEY", "*_TOKEN", "*SECRET*", "*PASSWORD*", "*PASSPHRASE*", "*_PASS", "*_PWD", "*_PAT", "*AUTH"] as const;
export const MASKED = "***";

/** Keys of well-known providers, private keys, and addresses with a password in them. */
const LOOKS_SECRET =
	/^(?:sk-|gh[pousr]_|github_pat_|xox[abp]-|AKIA[0-9A-Z]{12}|eyJ[\w-]{10,}\.)|-----BEGIN [A-Z ]*PRIVATE KEY|:\/\/[^/\s:@]+:[^/\s@]+@/;

/** Whether a variable with this name and value should not be written where others can read it. */
export const looksSecret = (name: string, value: string, names: readonly string[] = SECRET_NAMES): boolean =>
	names.some((pattern) => matcher(pattern)(name)) || LOOKS_SECRET.test(value);

export function masked(env: Record<string, string>, mask: Mask): Record<string, string> {
	const patterns = mask.names.map(matcher);
	return Object.fromEntries(
		Object.entries(env).map(([name, value]) => [
			name,
			patterns.some((matches) => matches(name)) || LOOKS_SECRET.test(value) ? MASKED : value,
		]),
	);
}

/**
 * A whole document, such as a part of the configuration (`key`: where it stands) or a recipe: variables are masked by their names in every `env` and `vars`,
 * everything else by what it looks like. A reference to where a secret is kept stays.
 */
export function maskedDeep(value: unknown, mask: Mask, key = ""): unknown {
	const patterns = mask.names.map(matcher);
	const walk = (one: unknown, path: readonly string[]): unknown => {
		if (typeof one === "string") {
			const text = withoutCredentials(one);
			return hides(text, path) ? MASKED : text;
		}
		if (Array.isArray(one)) return one.map((inner) => walk(inner, path));
		if (typeof one !== "object" || one === null) return one;
		return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, walk(member, [...path, name])]));
	};
	const hides = (text: string, path: readonly string[]) => {
		const [parent = "", name = ""] = path.slice(-2);
		const isVariable = parent === "env" || parent === "vars";
		if (envReferenceOf(text) !== null || text === "") return false;
		return (isVariable && patterns.some((matches) => matches(name))) || LOOKS_SECRET.test(text);
	};
	return walk(value, key === "" ? [] : key.split("."));
}

/** Without a regular expression made from somebody's text: the pieces between stars must follow each other. */
export function matcher(pattern: string): (name: string) => boolean {
	const [first = "", ...rest] = pattern.toUpperCase().split("*");
	return (name) => {
		const word = name.toUpperCase();
		if (rest.length === 0) return word === first;
		if (!word.startsWith(first)) return false;
		let at = first.length;
		const last = rest[rest.length - 1] as string;
		for (const piece of rest.slice(0, -1)) {
			const found = word.indexOf(piece, at);
			if (found < 0) return false;
			at = found + piece.length;
		}
		return word.length - last.length >= at && word.endsWith(last);
	};
}
