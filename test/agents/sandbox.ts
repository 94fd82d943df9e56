// A home of its own for one account of an agent program: logged in with a made-up key, pointed at a fake API, with nothing of this machine's own in it.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentName, Permission } from "../../src/core/agents/profile.ts";

export type Login = "api_key" | "subscription";

/** What an account's own settings allow beyond a job's permission: the tools that the tests use, or nothing. Only Claude Code needs such: see PERMISSIONS. */
export type Allowed = "tools" | "nothing";

export type Sandbox = {
	/** The account's own folder: what the program's variable for it is set to. */
	home: string;
	/** Who it is to the fake API. */
	key: string;
	/** What the program needs beside a path and that variable. The same for all accounts of an agent in one folder. */
	env: Record<string, string>;
};

/** Prices of the models below, in dollars for a million tokens, as the programs' own tables have them or are told. */
export const PRICES: Partial<Record<AgentName, { input: number; output: number; cacheRead: number; cacheWrite: number }>> = {
	claude: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
	opencode: { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 2.5 },
};

export const MODELS: Record<AgentName, string> = {
	claude: "claude-sonnet-4-5",
	codex: "gpt-5",
	gemini: "gemini-2.5-pro",
	opencode: "fake/fake-model",
};

/** Claude Code refuses its freest mode to root; what the tests need is allowed in its settings. */
export const PERMISSIONS: Record<AgentName, Permission> = { claude: "ask", codex: "full", gemini: "full", opencode: "full" };

/** No updates, no telemetry, nothing that leaves loopback. */
const QUIET: Record<AgentName, Record<string, string>> = {
	claude: {
		CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
		DISABLE_AUTOUPDATER: "1",
		DISABLE_TELEMETRY: "1",
		DISABLE_ERROR_REPORTING: "1",
	},
	codex: {},
	gemini: { GEMINI_CLI_DISABLE_AUTO_UPDATE: "true" },
	opencode: {
		OPENCODE_DISABLE_AUTOUPDATE: "1",
		// It would sum up its context again and again.
		OPENCODE_DISABLE_AUTOCOMPACT: "1",
		OPENCODE_DISABLE_MODELS_FETCH: "1",
		OPENCODE_DISABLE_SHARE: "1",
		OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
		OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
	},
};

/** All that is not loopback goes to the fake API as to a proxy, which refuses it. */
function trap(url: string): Record<string, string> {
	const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
	const none = { NO_PROXY: "127.0.0.1,localhost,::1", no_proxy: "127.0.0.1,localhost,::1" };
	return { ...Object.fromEntries(names.flatMap((name) => [name, name.toLowerCase()]).map((name) => [name, url])), ...none };
}

function write(path: string, content: unknown): void {
	mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
	writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, "\t"), { mode: 0o600 });
}

/** Makes the account's home; `key` is what the fake API will know it by. */
export function makeSandbox(name: AgentName, folder: string, url: string, key: string, login: Login, allowed: Allowed): Sandbox {
	const home = join(folder, `${name}-${key}`);
	const user = join(folder, "user");
	const tmp = join(user, "tmp");
	for (const path of [home, tmp]) mkdirSync(path, { recursive: true, mode: 0o700 });
	const env = { HOME: user, TMPDIR: tmp, TERM: "dumb", ...trap(url), ...QUIET[name] };
	switch (name) {
		case "claude":
			write(join(home, "settings.json"), {
				env: { ANTHROPIC_BASE_URL: url, ...(login === "api_key" ? { ANTHROPIC_API_KEY: key } : {}) },
				permissions: { allow: allowed === "tools" ? ["Bash"] : [] },
			});
			if (login === "subscription") write(join(home, ".credentials.json"), credentials(key));
			return { home, key, env };
		case "codex":
			write(join(home, "config.toml"), codexConfig(url));
			write(join(home, "auth.json"), { OPENAI_API_KEY: key });
			return { home, key, env };
		case "gemini":
			write(join(home, ".gemini", "settings.json"), {
				security: { auth: { selectedType: "gemini-api-key" } },
				general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
				privacy: { usageStatisticsEnabled: false },
				telemetry: { enabled: false },
			});
			write(join(home, ".gemini", ".env"), `GEMINI_API_KEY=${key}\nGOOGLE_GEMINI_BASE_URL=${url}\n`);
			return { home, key, env };
		case "opencode": {
			const config = join(user, "opencode.json");
			write(config, opencodeConfig(url));
			write(join(home, "opencode", "auth.json"), { fake: { type: "api", key } });
			return { home, key, env: { ...env, OPENCODE_CONFIG: config } };
		}
	}
}

/** As a login leaves it; far from expiring, so that nothing is refreshed. */
function credentials(key: string): unknown {
	const claudeAiOauth = {
		accessToken: key,
		refreshToken: `${key}-refresh`,
		expiresAt: 4_102_444_800_000,
		scopes: ["user:inference", "user:profile"],
		subscriptionType: "max",
	};
	return { claudeAiOauth };
}

function codexConfig(url: string): string {
	return [
		`model = "${MODELS.codex}"`,
		'model_provider = "fake"',
		"check_for_update_on_startup = false",
		"",
		"[model_providers.fake]",
		'name = "fake"',
		`base_url = "${url}/v1"`,
		'wire_api = "responses"',
		"requires_openai_auth = true",
		"",
		"[features]",
		"plugins = false",
		"apps = false",
		"",
		"[analytics]",
		"enabled = false",
		"",
	].join("\n");
}

function opencodeConfig(url: string): unknown {
	const price = PRICES.opencode!;
	const cost = { input: price.input, output: price.output, cache_read: price.cacheRead, cache_write: price.cacheWrite };
	return {
		autoupdate: false,
		share: "disabled",
		model: MODELS.opencode,
		small_model: MODELS.opencode,
		provider: {
			fake: {
				npm: "@ai-sdk/openai-compatible",
				name: "fake",
				options: { baseURL: `${url}/v1` },
				models: { "fake-model": { name: "fake", cost, limit: { context: 128_000, output: 8_000 }, tool_call: true } },
			},
		},
	};
}
