// A configuration with several mistakes: each of them is reported, with its line and what to write instead.

import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { problemsIn } from "./file.ts";

const told = (text: string, env: Record<string, string> = {}) =>
	problemsIn({ path: join(makeFolder(), "config.yml"), env }, text).map(({ message, hint }) => `${message} | ${hint ?? ""}`);

test("each mistake once, in the file and around it, with what was meant", () => {
	expect(
		told(
			`max_concurent: 8
lanes:
  default: {mx: 3}
  code: {max: many}
retry: {max: 2, on: [failed, sometimes]}
repos:
  app: {path: relative}
sources:
  cards: {kind: cards}
timezone: Mars/Olympus
`,
			{ SLUICE_PORT: "99999" },
		),
	).toEqual([
		'config.yml:1:1: max_concurent: there is no such key | did you mean "max_concurrent"?',
		expect.stringContaining('config.yml:3:13: lanes.default.mx: there is no such key | did you mean "max"?'),
		expect.stringContaining("config.yml:4:10: lanes.code.max: "),
		expect.stringContaining("config.yml:5:30: retry.on[1]: "),
		expect.stringContaining("config.yml:7:9: repos.app.path: "),
		expect.stringContaining("config.yml:9:3: sources.cards.root: is missing"),
		expect.stringContaining('config.yml:10:1: timezone: "Mars/Olympus" is not a time zone'),
		expect.stringContaining("SLUICE_PORT: port: "),
	]);
	expect(told("max_concurrent: 8\n")).toEqual([]);
});

test("text that is no YAML: every place", () => {
	expect(told("a: [1\nb: }\n").length).toBeGreaterThan(1);
});

test("a file of the loops scheduler: what each of its keys is called here", () => {
	expect(
		told(`scheduler:
  poll_interval_secs: 1
  priority: {plan: 40}
concurrency:
  max_loops: 50
  max_api_calls: 10
  per_type: {plan: 2}
  other: 1
`),
	).toEqual([
		"config.yml:2:3: scheduler.poll_interval_secs: there is no such key | write poll_interval: 1s",
		expect.stringMatching(/^config\.yml:3:3: scheduler\.priority: .* \| write lanes\.<name>\.priority .*preset: loops/),
		"config.yml:5:3: concurrency.max_loops: there is no such key | write max_concurrent: 50",
		"config.yml:6:3: concurrency.max_api_calls: there is no such key | write accounts.<name>.max_api_calls: 10",
		expect.stringMatching(/per_type.*lanes\.<name>\.max/),
		"config.yml:8:3: concurrency.other: there is no such key | docs/reference/config.md lists every key",
	]);
});

test("fewer mistakes of a large file are reported, since each costs a read of the whole file", () => {
	const wrong = (count: number) => told(Array.from({ length: count }, (_, n) => `zz${n}: 1`).join("\n")).length;
	expect([wrong(90), wrong(500), wrong(9000)]).toEqual([90, 100, 11]);
});
