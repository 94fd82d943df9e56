// Help, from the commands' descriptions.

import { COMMANDS, SECTIONS } from "../catalogue.ts";
import { type CommandSpec, GLOBAL_OPTIONS, type OptionSpec } from "../command.ts";
import type { Paint } from "../printing/print.ts";
import { pad, wrap } from "../printing/table.ts";
import { usageLine } from "./parse.ts";

export const optionName = (option: OptionSpec): string =>
	`--${option.name}${option.type === "flag" ? "" : ` ${option.value ?? "VALUE"}`}${option.short ? `, -${option.short}` : ""}`;

/** The help text of an option, with its choices. */
export const optionHelp = (option: OptionSpec): string =>
	`${option.help}${option.choices ? ` (${option.choices.join(", ")})` : ""}${option.type === "list" ? " May be given again." : ""}`;

const visible = (commands: readonly CommandSpec[]) => commands.filter((command) => !command.hidden);

function columns(rows: readonly (readonly [string, string])[], width: number): string[] {
	const left = Math.min(32, Math.max(0, ...rows.map(([name]) => name.length)));
	return rows.flatMap(([name, says]) => {
		const [first = "", ...more] = wrap(says, Math.max(20, width - left - 4));
		const head = name.length > left ? [`  ${name}`, `  ${pad("", left)}  ${first}`] : [`  ${pad(name, left)}  ${first}`];
		return [...head, ...more.map((line) => `  ${pad("", left)}  ${line}`)].map((line) => line.trimEnd());
	});
}

/** The most common commands, each in a few words: together they fit a screen of 24 lines. */
const DAILY: readonly (readonly [name: string, says: string])[] = [
	["add", "Add a job: a command, or an agent with a prompt."],
	["apply", "Add all jobs of a manifest."],
	["list", "Jobs that wait or run, and what failed lately."],
	["why", "Why a job has not started: every reason, and what to do."],
	["logs", "What a job has written; -f follows it."],
	["wait", "Wait until jobs have ended."],
	["cancel", "End jobs, waiting or running."],
	["retry", "Run a job again, with everything that came after it."],
	["answer", "Answer what a job's agent asks."],
	["pause", "Start nothing new; resume goes on."],
	["status", "Queue, caps, holds and hosts at a glance."],
	["top", "A live screen of all that runs and waits."],
	["open", "The link of the dashboard."],
	["doctor", "Look for what could be wrong on this machine."],
];

/** What `sluice` without arguments and `sluice --help` print. */
export function shortHelp(paint: Paint): string[] {
	return [
		"Sluice decides when each job runs, and says why the others wait.",
		"",
		`${paint("bold", "Usage")}  sluice COMMAND [options]        for example: sluice add -- make test`,
		"",
		...columns(DAILY, 80),
		"",
		"sluice COMMAND --help   its options, with examples",
		"sluice help --all       every command",
	];
}

export function wholeHelp(paint: Paint): string[] {
	return [
		"Sluice decides when each job runs, and says why the others wait.",
		"",
		`${paint("bold", "Usage")}  sluice COMMAND [options]`,
		...SECTIONS.flatMap(([title, commands]) => [
			"",
			paint("bold", title),
			...columns(
				visible(commands).map(({ name, help }) => [name, help]),
				100,
			),
		]),
		"",
		paint("bold", "Everywhere"),
		...columns(
			GLOBAL_OPTIONS.map((option) => [optionName(option), option.help]),
			100,
		),
		"",
		"sluice COMMAND --help shows its options, with examples.",
	];
}

export function groupHelp(group: string, paint: Paint): string[] {
	const commands = visible(COMMANDS).filter((command) => command.name.startsWith(`${group} `));
	return [
		`${paint("bold", "Usage")}  sluice ${group} ${commands.map((command) => command.name.slice(group.length + 1)).join("|")}`,
		"",
		...columns(
			commands.map(({ name, help }) => [name, help]),
			100,
		),
	];
}

export function commandHelp(command: CommandSpec, width: number, paint: Paint): string[] {
	const { args = [], options = [], rest, examples, more = [] } = command;
	const given = [...args.map((arg) => [arg.name, arg.help] as const), ...(rest ? [[`-- ${rest.name}`, rest.help] as const] : [])];
	const example = Math.max(0, ...examples.map(([line]) => line.length));
	return [
		...wrap(command.help, width),
		"",
		`${paint("bold", "Usage")}  ${usageLine(command)}`,
		...more.flatMap((line) => ["", ...wrap(line, width)]),
		...(given.length > 0 ? ["", paint("bold", "Arguments"), ...columns(given, width)] : []),
		...(options.length > 0
			? [
					"",
					paint("bold", "Options"),
					...columns(
						options.map((option) => [optionName(option), optionHelp(option)]),
						width,
					),
				]
			: []),
		"",
		paint("bold", "Examples"),
		...examples.flatMap(([line, says]) => {
			if (says === "") return [`  ${line}`];
			const short = 2 + example + 2 + 2 + says.length <= width;
			return short ? [`  ${pad(line, example)}  ${paint("dim", `# ${says}`)}`] : [`  ${paint("dim", `# ${says}`)}`, `  ${line}`];
		}),
		"",
		paint("dim", `Also everywhere: ${GLOBAL_OPTIONS.map((option) => `--${option.name}`).join(" ")}`),
	];
}
