// The login of a Gemini account that has a home of its own. Gemini CLI reads one `.env` file, the first that it finds: it walks up from the work folder, through
// `.gemini/.env` and `.env` of each folder, and looks into its home only when there is none. So `~/.gemini/.env` would count for every worktree below `~`, whatever
// the account. It leaves variables alone that are set, also to nothing. So a run on such an account is started with them.

import type { Reveal } from "../env-reference.ts";

/** What says who calls the API, and where it is. Set to nothing, Gemini CLI takes each of them as absent. */
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

/** The `.env` file that Gemini CLI reads in its home; empty when there is none. */
export function dotenvOfGeminiHome(home: string, reveal: Reveal): string {
	for (const path of [`${home}/.gemini/.env`, `${home}/.env`]) {
		const found = reveal(`file:${path}`);
		if ("value" in found) return found.value;
	}
	return "";
}

/**
 * `dotenv`: the text of the account's own file; `env`: what the run has besides. The account's login counts over both what the job brought and what other files
 * would bring; of the rest of the file, what is not set yet.
 */
export function geminiAccountEnv(dotenv: string, env: Readonly<Record<string, string>>): Record<string, string> {
	const own = parseDotenv(dotenv);
	const rest = Object.entries(own).filter(([name]) => !Object.hasOwn(env, name));
	const login = LOGIN.map((name): [string, string] => [name, own[name] ?? env[name] ?? ""]);
	return Object.fromEntries([...rest, ...login]);
}

/** As the library `dotenv` does, which Gemini CLI reads such files with. */
export function parseDotenv(text: string): Record<string, string> {
	const line =
		/^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm;
	const found: [string, string][] = [];
	for (const [, name = "", written = ""] of text.replace(/\r\n?/g, "\n").matchAll(line)) {
		const trimmed = written.trim();
		const value = trimmed.replace(/^(['"`])([\s\S]*)\1$/gm, "$2");
		found.push([name, trimmed.startsWith('"') ? value.replaceAll("\\n", "\n").replaceAll("\\r", "\r") : value]);
	}
	return Object.fromEntries(found);
}
