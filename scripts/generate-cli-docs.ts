// Writes docs/reference/cli.md from the commands' descriptions: `node dist/scripts/generate-cli-docs.js`. A test compares the two.

import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SECTIONS } from "../src/cli/catalogue.ts";
import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec } from "../src/cli/command.ts";
import { optionHelp, optionName } from "../src/cli/command-line/help.ts";
import { usageLine } from "../src/cli/command-line/parse.ts";

const cell = (text: string) => text.replaceAll("|", "\\|");
const optionRow = (option: OptionSpec) => `| \`${cell(optionName(option))}\` | ${cell(optionHelp(option))} |`;

function commandPart(command: CommandSpec): string[] {
	const { name, help, more = [], args = [], rest, options = [], examples } = command;
	const given = [
		...args.map((arg) => `| \`${arg.name}\` | ${cell(arg.help)} |`),
		...(rest ? [`| \`-- ${cell(rest.name)}\` | ${cell(rest.help)} |`] : []),
		...options.map(optionRow),
	];
	const width = Math.max(...examples.map(([line]) => line.length));
	return [
		`### ${name}`,
		"",
		help,
		"",
		"```",
		usageLine(command),
		"```",
		...more.flatMap((line) => ["", line]),
		...(given.length > 0 ? ["", "| | |", "|---|---|", ...given] : []),
		"",
		"```sh",
		...examples.map(([line, says]) => (says === "" ? line : `${line.padEnd(width)}  # ${says}`)),
		"```",
		"",
	];
}

export function cliReference(): string {
	const sections = SECTIONS.map(([title, commands]) => [title, commands.filter((command) => !command.hidden)] as const);
	return [
		"<!-- Made by scripts/generate-cli-docs.ts from src/cli/catalogue: change it there. -->",
		"",
		"# The command line",
		"",
		"`sluice COMMAND [options]`; `sluice COMMAND --help` shows the same as this page. Data goes to stdout, talk to stderr. The daemon starts by itself",
		"when a command needs it. Wherever an id is asked for, a job's name will do.",
		"",
		"| command | does |",
		"|---|---|",
		...sections.flatMap(([, commands]) =>
			commands.map(({ name, help }) => `| [\`${name}\`](#${name.replaceAll(" ", "-")}) | ${cell(help)} |`),
		),
		"",
		"## Everywhere",
		"",
		"| option | does |",
		"|---|---|",
		...GLOBAL_OPTIONS.map(optionRow),
		"",
		"A list option may be given again and again. `--name=value` and `--name value` are the same. What stands after `--` is not looked at.",
		"",
		"## Exit codes",
		"",
		"| code | means |",
		"|---|---|",
		"| 0 | done |",
		"| 1 | failed |",
		"| 2 | the command line or a value is wrong |",
		"| 3 | not found |",
		"| 4 | not possible in the state it is in |",
		"| 75 | deferred or limited, not yet ended (`wait --timeout`), the daemon has gone and cannot be started again, or it has not answered a command that only reads for 60 s: try later |",
		"| 130, 143 | ended by SIGINT, SIGTERM |",
		"",
		"With `--json` a result is one document on stdout with `schema_version`; fields may be added without changing it. An error is",
		'`{"schema_version": 1, "error": {"code", "message", "hint"}}` on stderr, and stdout stays empty.',
		"",
		...sections.flatMap(([title, commands]) => [`## ${title}`, "", ...commands.flatMap(commandPart)]),
	]
		.join("\n")
		.replace(/\n+$/, "\n");
}

const here = fileURLToPath(import.meta.url);
if (process.argv[1] === here) {
	// Built files are one folder deeper than their sources.
	const root = join(dirname(here), here.includes(join("dist", "scripts")) ? "../.." : "..");
	writeFileSync(join(root, "docs/reference/cli.md"), cliReference());
}
