// The login of a Gemini account that has its own home folder. Gemini CLI reads one `.env` file, the first that it finds: it walks up from the work folder,
// tries `.gemini/.env` and `.env` of each folder, and tries its home only if it found none. So `~/.gemini/.env` would apply to every worktree below `~`,
// whatever the account. But it never overwrites variables that are set, even to an empty string. So the supervisor starts a run on such an account with
// these variables set.

import { nth } from "../../errors.ts";
import type { Reveal } from "../../input/env-reference.ts";

/** Variables that select the API's credentials and address. Gemini CLI treats an empty one as absent. */
const LOGIN = [
	"GEMINI_API_KEY",
	"GOOGLE_API_KEY",
	"GOOGLE_APPLICATION_CREDENTIALS",
	"GOOGLE_CLOUD_ACCESS_TOKEN",
	"GOOGLE_CLOUD_LOCATION",
	"GOOGLE_CLOUD_PROJECT",
	"GOOGLE_CLOUD_PROJECT_ID",
	"GOOGLE_CLOUD_QUOTA_PROJECT",
	"GOOGLE_GEMINI_BASE_URL",
	"GOOGLE_GENAI_USE_GCA",
	"GOOGLE_GENAI_USE_VERTEXAI",
	"GOOGLE_VERTEX_BASE_URL",
];

/** The text of the `.env` file in Gemini CLI's home; empty if there is none. */
export function dotenvOfGeminiHome(home: string, reveal: Reveal): string {
	for (const path of [`${home}/.gemini/.env`, `${home}/.env`]) {
		const found = reveal(`file:${path}`);
		if ("value" in found) return found.value;
	}
	return "";
}

/**
 * `dotenv`: the text of the account's own file. `env`: the run's other variables. The account's login overrides both the job's variables and other `.env`
 * files; the rest of the account's file only adds variables that are not set yet.
 */
export function geminiAccountEnv(dotenv: string, env: Readonly<Record<string, string>>): Record<string, string> {
	const own = parseDotenv(dotenv);
	const rest = Object.entries(own).filter(([name]) => !Object.hasOwn(env, name));
	const login = LOGIN.map((name): [string, string] => [name, own[name] ?? env[name] ?? ""]);
	return Object.fromEntries([...rest, ...login]);
}

/** Parses like the library `dotenv`, which Gemini CLI uses. */
export function parseDotenv(text: string): Record<string, string> {
	const file = text.replace(/\r\n?/g, "\n");
	const found: [string, string][] = [];
	const names = /^[^\S\n]*(?:export\s+)?([\w.-]+)(?:\s*=|:\s)/gm;
	for (let at = names.exec(file); at !== null; at = names.exec(file)) {
		const [, name = ""] = at;
		const from = names.lastIndex;
		const written = VALUES.map((value) => matchAt(value, file, from)).find((one) => one !== null) ?? "";
		names.lastIndex = from + written.length;
		const trimmed = written.trim();
		const isQuoted = trimmed.length > 1 && /^['"`]/.test(trimmed) && trimmed.endsWith(nth(trimmed, 0));
		const value = isQuoted ? trimmed.slice(1, -1) : trimmed;
		found.push([name, trimmed.startsWith('"') ? value.replaceAll("\\n", "\n").replaceAll("\\r", "\r") : value]);
	}
	return Object.fromEntries(found);
}

/** A value in quotes, followed by nothing but a comment; or the rest of the line. */
const VALUES = [
	/\s*'(?:\\'|[^'])*'(?=\s*(?:#.*)?$)/my,
	/\s*"(?:\\"|[^"])*"(?=\s*(?:#.*)?$)/my,
	/\s*`(?:\\`|[^`])*`(?=\s*(?:#.*)?$)/my,
	/[^#\n]+/y,
];

function matchAt(value: RegExp, text: string, from: number): string | null {
	value.lastIndex = from;
	return value.exec(text)?.[0] ?? null;
}
