// Words of other tools lead to the command that does the same, and never to one that destroys more.

import { describe, expect, test } from "vitest";
import { COMMANDS } from "../catalogue.ts";
import { shortHelp } from "./help.ts";
import { parse } from "./parse.ts";
import { adviceFor, meant, SYNONYMS } from "./synonyms.ts";

/** The hint of a refusal. */
function hintOf(line: string): string | undefined {
	try {
		parse(line.split(" "), COMMANDS);
	} catch (error) {
		return (error as { hint?: string }).hint;
	}
	return "taken";
}

const first = [...new Set(COMMANDS.map((command) => command.name.split(" ")[0] as string))];

describe("a word of another tool", () => {
	test.each([
		["kill 3", "did you mean: sluice cancel ID (ends a job; another signal: sluice signal ID HUP)"],
		["ps", "did you mean: sluice list"],
		["ls", "did you mean: sluice list"],
		["tail 3", "did you mean: sluice logs ID -f"],
		["follow 3", "did you mean: sluice logs ID -f"],
		["rm 3", "did you mean: sluice cancel ID (ends one job; sluice gc deletes ended ones)"],
		["restart 3", "did you mean: sluice rerun ID (runs a job again; for the daemon: sluice down, then sluice up --detach)"],
		["clean", "did you mean: sluice gc (deletes ended jobs; it cancels nothing)"],
		["group add a", "did you mean: sluice lane list (lanes are what other tools call groups)"],
		["parallel 4", "did you mean: sluice config set max_concurrent N (for one lane: sluice lane set NAME --max N)"],
		["stash 3", "did you mean: sluice hold ID (starts when you say: sluice release ID; when you add it: sluice add --hold -- COMMAND)"],
		["tail -f 3", "did you mean: sluice logs ID -f"],
		["ps --all", "did you mean: sluice list"],
		["kill --signal KILL 3", "did you mean: sluice cancel ID (ends a job; another signal: sluice signal ID HUP)"],
		["lane ls", "did you mean: sluice lane list"],
		["cron rm x", "did you mean: sluice cron remove"],
		["batch info x", "did you mean: sluice batch show"],
		["add --group a -- true", "did you mean --lane?"],
		["add --label a -- true", "did you mean --title?"],
		["add --dep 3 -- true", "did you mean --after?"],
		["add --stashed -- true", "did you mean --hold?"],
		["add --delay 5m -- true", "did you mean --in?"],
		["add ls -la", "put -- before the command: sluice add -- ls -la"],
		["add --name x ls -la", "put -- before the command: sluice add -- ls -la"],
		["run -- ls", "run is one dispatch pass; to run a command: sluice add -- ls"],
	])("%s", (line, hint) => expect(hintOf(line)).toBe(hint));

	test("every line of advice is an existing command, and no command is itself a synonym", () => {
		const sample: Record<string, string> = {
			ID: "1",
			N: "2",
			TEXT: "yes",
			NAME: "code",
			TIME: "18:30",
			KEY: "port",
			VALUE: "7500",
			"NAME=VALUE": "A=b",
		};
		for (const [word, [line]] of Object.entries(SYNONYMS)) {
			const words = (line.match(/'[^']*'|\S+/g) ?? []).slice(1).map((each) => sample[each] ?? each);
			expect([word, parse(words, COMMANDS).kind]).toEqual([word, "call"]);
			expect(first).not.toContain(word);
			expect(adviceFor(word)).toContain(line);
		}
	});
});

describe("a word that only looks like a command", () => {
	test("leads to a destructive command only for a typing error", () => {
		for (const typed of ["cancle", "cancl", "cancell", "claer", "clea", "donw"])
			expect(meant(typed, first)).toMatch(/^(cancel|clear|down)$/);
		for (const typed of ["clean", "cleat", "cancer", "town", "gg", "retro", "projects"])
			expect([typed, meant(typed, first)]).not.toEqual([typed, expect.stringMatching(/^(cancel|clear|down|gc|retry|reject)$/)]);
	});
});

test("bare sluice fits a screen of 24 lines and 80 columns", () => {
	const lines = shortHelp((_, text) => text);
	for (const line of lines.filter((one) => one.startsWith("  "))) expect(first).toContain(line.trim().split(" ")[0]);
	expect(lines.length).toBeLessThan(24);
	expect(lines.filter((line) => line.length > 80)).toEqual([]);
});
