// Parsing by example: what a line means, and the message for a wrong one.

import { describe, expect, test } from "vitest";
import { INPUT_KEYS } from "../../core/schema/job.ts";
import { COMMANDS } from "../catalogue.ts";
import { GLOBAL_OPTIONS } from "../command.ts";
import { CliFailure } from "../failure.ts";
import { parse } from "./parse.ts";

const read = (line: string) => parse(line.split(" ").filter(Boolean), COMMANDS);
function callOf(line: string) {
	const parsed = read(line);
	if (parsed.kind !== "call") throw new Error(`${line} is ${parsed.kind}`);
	return parsed.call;
}
/** `message | hint` of a refusal. */
function refusal(line: string | string[]): string {
	try {
		parse(typeof line === "string" ? line.split(" ").filter(Boolean) : line, COMMANDS);
	} catch (error) {
		if (error instanceof CliFailure && error.code === "usage") return [error.message, error.hint].filter(Boolean).join(" | ");
		throw error;
	}
	return "taken";
}

describe("a line is read", () => {
	test("a command, its options in any order, its arguments", () => {
		const call = callOf("logs --run 2 7 --stderr -f");
		expect([call.command.name, call.arg("ID"), call.number("run"), call.flag("stderr"), call.flag("follow"), call.flag("raw")]).toEqual([
			"logs",
			"7",
			2,
			true,
			true,
			false,
		]);
	});

	test("values after a space or after =", () => {
		expect(callOf("add --lane code --name=a=b -- x").text("lane")).toBe("code");
		expect(callOf("add --lane code --name=a=b -- x").text("name")).toBe("a=b");
		expect(callOf("add --title=--force -- x").text("title")).toBe("--force");
	});

	test("the value of a short option may follow it directly", () => {
		expect(callOf("logs -n5 7").text("lines")).toBe("5");
		expect(callOf("logs -n 5 7").text("lines")).toBe("5");
	});

	test("lists collect", () => {
		expect(callOf("add --after 3 --after 4:any -- x").list("after")).toEqual(["3", "4:any"]);
		expect(callOf("add -- x").list("after")).toEqual([]);
	});

	test("what follows -- is not parsed", () => {
		const call = callOf("add --lane a -- make --json --help -- x");
		expect(call.rest).toEqual(["make", "--json", "--help", "--", "x"]);
	});

	test("for a command without a rest, -- only ends the options", () => {
		expect(callOf("show -- -x").arg("ID")).toBe("-x");
	});

	test("negative numbers and - are words", () => {
		expect(callOf("priority 7 -5").arg("N")).toBe("-5");
		expect(callOf("add --priority -5 -- x").number("priority")).toBe(-5);
		expect(callOf("apply -").arg("FILE")).toBe("-");
	});

	test("two words make a command, with options anywhere", () => {
		expect(callOf("lane list").command.name).toBe("lane list");
		expect(callOf("--home /h lane --json set code --max 3").command.name).toBe("lane set");
	});

	test("options of all commands", () => {
		const parsed = read("--json list -q --no-color --home /somewhere");
		expect(parsed.globals).toEqual({ json: true, quiet: true, noColor: true, home: "/somewhere" });
	});

	test("help and version", () => {
		expect(read("")).toMatchObject({ kind: "nothing" });
		expect(read("--help")).toMatchObject({ kind: "help", command: undefined });
		expect(read("help add")).toMatchObject({ kind: "help", command: { name: "add" } });
		expect(read("add --help")).toMatchObject({ kind: "help", command: { name: "add" } });
		expect(read("lane set -h")).toMatchObject({ kind: "help", command: { name: "lane set" } });
		expect(read("lane --help")).toMatchObject({ kind: "help", group: "lane" });
		expect(read("--version")).toMatchObject({ kind: "version" });
	});
});

describe("a wrong line is refused", () => {
	test.each([
		["lst", 'there is no command "lst" | did you mean: sluice list'],
		["--json", "no command given | see sluice --help"],
		["-- x", "no command given | see sluice --help"],
		["xyzzyxyzzy", 'there is no command "xyzzyxyzzy" | see sluice --help'],
		["lane", "lane needs one of list, set, remove | for example: sluice lane list"],
		["lane lst", 'lane does not know "lst"; it knows list, set, remove | did you mean: sluice lane list'],
		["help lst", 'there is no command "lst" | did you mean: sluice list'],
		["list --stats queued", "list: there is no option --stats | did you mean --status?"],
		["list --zzzzzzzzzzzz", "list: there is no option --zzzzzzzzzzzz | see sluice list --help"],
		["add --retry 2 -- x", "add: there is no option --retry | did you mean --retries?"],
		["add --requires_approval -- x", "add: there is no option --requires_approval | did you mean --needs-approval?"],
		["add --no_merge -- x", "add: there is no option --no_merge | did you mean --no-merge?"],
		["add --parallelizable=false -- x", "add: there is no option --parallelizable | did you mean --serial?"],
		["add --depends-on 3 -- x", "add: there is no option --depends-on | did you mean --after?"],
		[
			"sling gt-1 --permission full",
			"sling: there is no option --permission | the recipe sets the permission of its jobs; sluice recipe show NAME prints it",
		],
		[
			"sling gt-1 --model=x",
			"sling: there is no option --model | the recipe sets the model of its jobs; sluice recipe show NAME prints it",
		],
		["list -x", "list: there is no option -x | see sluice list --help"],
		["--jsn list", "list: there is no option --jsn | did you mean --json?"],
		["list --all=yes", "--all takes no value"],
		["list --lane", "--lane needs a value: --lane NAME"],
		["list --lane --all", "--lane needs a value: --lane NAME | if --all is meant to be the value, write --lane=--all"],
		["list --lane a --lane b", "--lane is given twice | give it once"],
		["list --limit many", '--limit must be a whole number, not "many"'],
		[
			"list --status quued",
			'--status must be one of queued, waiting_on_deps, waiting_on_locks, running, succeeded, failed, cancelled, blocked_by_dependency, expired, not "quued" | did you mean "queued"?',
		],
		["show", "show: which job? Give a number or a name | sluice show [options] ID"],
		["show 1 2", 'show does not take "2" | sluice show [options] ID'],
		["freeze", "freeze: which job? Give a number or a name | sluice freeze [options] ID…"],
		["status now", 'status does not take "now" | sluice status [options]'],
		["status -- now", 'status does not take "now" | sluice status [options]'],
		["completion bsh", 'SHELL must be one of bash, zsh, fish, not "bsh" | did you mean "bash"?'],
		["add make test", 'add does not take "test" | put -- before the command: sluice add -- make test'],
		["add --at 1:00 --in 5m -- x", "--at and --in contradict each other | give one of them"],
		["add --merge direct --no-merge -- x", "--merge and --no-merge contradict each other | give one of them"],
		["add --unique-for 1h -- x", "--unique-for needs --unique | see sluice add --help"],
		["pause --lane a --repo b", "--lane and --repo contradict each other | give one of them"],
		["up --detach --install", "--detach and --install contradict each other | give one of them"],
	])("%s", (line, said) => {
		expect(refusal(line)).toBe(said);
	});

	test("an empty argument", () => {
		expect(refusal(["show", ""])).toBe("ID is empty | sluice show [options] ID");
	});
});

describe("every command", () => {
	const visible = COMMANDS.filter((command) => !command.hidden);

	test("has one line of help, examples, and a name of its own", () => {
		expect(new Set(COMMANDS.map(({ name }) => name)).size).toBe(COMMANDS.length);
		for (const { name, help, examples } of visible) {
			expect([name, help]).toEqual([name, expect.stringMatching(/^[A-Z].*[.?]$/)]);
			expect([name, examples.length > 0]).toEqual([name, true]);
		}
	});

	test("describes each option once, and no global one", () => {
		for (const { name, options = [], excludes = [], requires = [] } of COMMANDS) {
			const names = options.map((option) => option.name);
			const all = [...names, ...GLOBAL_OPTIONS.map((option) => option.name)];
			expect([name, new Set(all).size]).toEqual([name, all.length]);
			for (const option of options)
				expect([name, option.name, option.help]).toEqual([name, option.name, expect.stringMatching(/^[A-Z].*\.$/)]);
			for (const used of [...excludes.flat(), ...requires.flat()]) expect(names).toContain(used);
		}
	});

	test("can be loaded", async () => {
		for (const command of COMMANDS) expect(typeof (await command.load()).run).toBe("function");
	});

	test("has examples that can be parsed", () => {
		for (const { name, examples } of visible)
			for (const [line] of examples) {
				// In a line such as `claude mcp add sluice -- sluice mcp`, only our own command is parsed.
				const inner = /sluice (?!-- |sluice)[^|>&)]*?(?= --env|$|[|>&)])/.exec(line)?.[0] ?? "";
				const words = [...inner.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, one, two, three]) => one ?? two ?? three ?? "");
				expect([name, refusal(words.slice(1))]).toEqual([name, "taken"]);
			}
	});

	test("add suggests the option for a manifest's key", () => {
		/** Fields of a job's document that the command line does not have, or not as an option. */
		const none = ["command", "prompt", "worktree", "mode", "owned", "raw"];
		const add = COMMANDS.find(({ name }) => name === "add");
		for (const key of INPUT_KEYS.filter((one) => !none.includes(one))) {
			if (add?.options?.some(({ name }) => name === key)) continue;
			expect([key, refusal(`add --${key} 1 -- x`)]).toEqual([key, expect.stringContaining("did you mean --")]);
		}
	});

	test.each(visible.map(({ name }) => name))("%s refuses an unknown option", (name) => {
		expect(refusal(`${name} --no-such-thing`)).toContain(`${name}: there is no option --no-such-thing`);
	});

	test.each(visible.filter(({ args = [] }) => args.some(({ take }) => take === "one" || take === "many")).map(({ name }) => name))(
		"%s says what is missing",
		(name) => {
			expect(refusal(name)).toMatch(new RegExp(`^${name}(?: needs |: which job\\? )`));
		},
	);
});
