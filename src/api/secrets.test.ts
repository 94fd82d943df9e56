// What is masked: variables by their names, addresses by their form, and for viewers the fields of payloads and results.

import { expect, test } from "vitest";
import { JsonText } from "../core/text/json-text.ts";
import { withoutCredentials } from "../core/text/repo-url.ts";
import { forViewer, looksSecret, maskedDeep, SECRET_NAMES } from "./secrets.ts";

const MASK = { names: SECRET_NAMES };

test.each([
	"GH_PAT",
	"PASSPHRASE",
	"AUTH",
	"DATABASE_PWD",
	"DB_PASS",
	"TOKEN",
	"API_KEY",
	"OPENAI_APIKEY",
	"npm_token",
	"CLIENT_SECRET_V2",
	"X_PASSWORD",
	"MYSQL_PASSWD",
	"PASS",
	"HTTP_AUTHORIZATION",
	"AWS_CREDENTIALS",
	"SESSION_COOKIE",
])("%s is the name of a secret", (name) => expect(looksSecret(name, "x")).toBe(true));
test.each(["PWD", "OLDPWD", "PATH", "AUTHOR", "KEYBOARD", "MAX_TOKENS", "PATTERN"])("%s is not", (name) =>
	expect(looksSecret(name, "x")).toBe(false),
);

test.each([
	["https://u:hush@h/x", "https://***@h/x"],
	["https://u:pa'hush@h/x", "https://***@h/x"],
	["https://u:p@hush@h/x", "https://***@h/x"],
	["https://hush@h/x", "https://***@h/x"],
	["ssh://u:hush@h/x", "ssh://***@h/x"],
	["ssh://git@h/x", "ssh://git@h/x"],
	["fatal: unable to access 'https://u:hush@h/x': no", "fatal: unable to access 'https://***@h/x': no"],
	["https://h/x?access_token=hush&page=2", "https://h/x?access_token=***&page=2"],
	["https://h/x?page=2&X-Amz-Signature=hush#end", "https://h/x?page=2&X-Amz-Signature=***#end"],
	["mail ann@h.org, then https://h/x", "mail ann@h.org, then https://h/x"],
])("%s is shown as %s", (text, shown) => expect(withoutCredentials(text)).toBe(shown));

test("a viewer sees payload and result with secret fields masked by their keys, at any depth", () => {
	const answer = {
		jobs: [
			{
				id: 1,
				payload: { password: "hush", pin_token: 7, list: [{ apiKey: "hush", fine: 1, url: "https://u:hush@h" }] },
				result: { "x-auth": "hush" },
			},
			{ id: 2, payload: new JsonText('{"n": 12345678901234567890}'), command: ["say", "password"] },
			{ id: 3, payload: new JsonText('{"n": 12345678901234567890, "secret": ["hush"]}'), result: null },
		],
	};
	const shown = forViewer(answer, MASK);
	expect(JSON.stringify(shown)).not.toContain("hush");
	expect(shown.jobs[0]).toEqual({
		id: 1,
		payload: { password: "***", pin_token: "***", list: [{ apiKey: "***", fine: 1, url: "https://***@h" }] },
		result: { "x-auth": "***" },
	});
	// With nothing to mask, the exact text stays.
	expect(shown.jobs[1]).toEqual(answer.jobs[1]);
	expect(JSON.stringify(answer)).toContain("hush");
});

test("a webhook is shown without its path, a configured payload is masked by its keys", () => {
	expect(maskedDeep([{ kind: "webhook", url: "https://hooks.example/services/hush" }], MASK, "notify")).toEqual([
		{ kind: "webhook", url: "https://hooks.example/***" },
	]);
	expect(maskedDeep("hush", MASK, "cron.c.add.payload.db.password")).toBe("***");
	expect(maskedDeep({ env: { A_KEY: "env:A_KEY", B_KEY: "hush" } }, MASK)).toEqual({ env: { A_KEY: "env:A_KEY", B_KEY: "***" } });
});
