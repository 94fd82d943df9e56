// The login of a Gemini account that has its own home folder.

import { expect, test } from "vitest";
import { dotenvOfGeminiHome, geminiAccountEnv, parseDotenv } from "./gemini-env.ts";

test("a .env file is read as Gemini CLI reads it", () => {
	const text = [
		"# the work account",
		"GEMINI_API_KEY=key-a  # mine",
		"  export GOOGLE_CLOUD_PROJECT = 'my project'",
		'LINES="one\\ntwo"',
		"EMPTY=",
		"URL=http://127.0.0.1:80/x=y",
		"not a variable",
		"AGAIN=1\r\nAGAIN=2",
	].join("\n");
	expect(parseDotenv(text)).toEqual({
		GEMINI_API_KEY: "key-a",
		GOOGLE_CLOUD_PROJECT: "my project",
		LINES: "one\ntwo",
		EMPTY: "",
		URL: "http://127.0.0.1:80/x=y",
		AGAIN: "2",
	});
});

test("the account's login overrides the job's; variables that it does not name come from no other file", () => {
	const env = geminiAccountEnv("GEMINI_API_KEY=key-a\nGEMINI_MODEL=flash\nDEBUG=1\n", {
		GEMINI_API_KEY: "the job's",
		GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1",
		DEBUG: "0",
	});
	expect(env).toMatchObject({
		GEMINI_API_KEY: "key-a",
		GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1",
		GOOGLE_API_KEY: "",
		GOOGLE_GENAI_USE_VERTEXAI: "",
		GEMINI_MODEL: "flash",
	});
	expect(env).not.toHaveProperty("DEBUG");
});

test("an account that is logged in with Google has no key at all", () => {
	expect(geminiAccountEnv("", {}).GEMINI_API_KEY).toBe("");
});

test(".gemini/.env takes precedence over .env", () => {
	const files: Record<string, string> = { "/a/.gemini/.env": "A=1", "/a/.env": "A=2", "/b/.env": "B=2" };
	const reveal = (text: string) => {
		const value = files[text.slice("file:".length)];
		return value === undefined ? { problem: "ENOENT" } : { value };
	};
	expect(["/a", "/b", "/c"].map((home) => dotenvOfGeminiHome(home, reveal))).toEqual(["A=1", "B=2", ""]);
});
