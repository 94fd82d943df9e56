// Parses a command line to a call, driven by the commands' descriptions. Every error names what is wrong and the nearest right word.

import { nearest, suggest } from "../../core/input/nearest.ts";
import { type ArgSpec, Call, type CommandSpec, GLOBAL_OPTIONS, type OptionSpec, type Value } from "../command.ts";
import { usage } from "../failure.ts";
import { shellWord } from "../printing/job-lines.ts";
import { adviceFor, meant, VERB_SYNONYMS } from "./synonyms.ts";

export type Globals = { json: boolean; quiet: boolean; noColor: boolean; home: string | undefined };

export type Parsed =
	| { kind: "call"; call: Call; globals: Globals }
	| { kind: "help"; command: CommandSpec | undefined; group: string | undefined; all: boolean; globals: Globals }
	| { kind: "nothing"; globals: Globals }
	| { kind: "version"; globals: Globals };

/**
 * | token                    | is                                                                 |
 * |--------------------------|--------------------------------------------------------------------|
 * | `--`                     | the end of options; what follows is the rest, or plain arguments   |
 * | `--name`, `--name=value` | an option; its value is the next token unless `=` gives it         |
 * | `-f`, `-n5`              | a short option, also with its value                                |
 * | `-`, `-5`                | an argument: stdin, a negative number                              |
 * | `- x`, `---`, `-- x`     | an argument: a text that cannot be an option                       |
 * | anything else            | the command's words first, then its arguments                      |
 *
 * From the beginning of a `verbatim` argument on, every token is its text; only a `--` in front of it is left out.
 */
export function parse(argv: readonly string[], commands: readonly CommandSpec[]): Parsed {
	const from = verbatimFrom(argv, commands);
	const typed = argv.slice(0, from);
	const verbatim = argv.slice(argv[from] === "--" ? from + 1 : from);
	const end = typed.indexOf("--");
	const before = end < 0 ? typed : typed.slice(0, end);
	const found = findCommand(before, commands);
	const known: OptionSpec[] = [...GLOBAL_OPTIONS, ...(found.command?.options ?? (before.includes("help") ? [ALL_HELP] : []))];
	const { options, words } = readOptions(before, known, found.command, end < 0, commands);
	const home = options.get("home");
	const globals: Globals = {
		json: options.get("json") === true,
		quiet: options.get("quiet") === true,
		noColor: options.get("no-color") === true,
		home: typeof home === "string" ? home : undefined,
	};
	if (options.get("version") === true && !found.command) return { kind: "version", globals };
	if (options.get("help") === true || words[0] === "help")
		return helpFor(words, commands, globals, options.get("all") === true && !found.command);
	if (words.length === 0 && end < 0 && !globals.json) return { kind: "nothing", globals };
	if (!found.command) throw unknownCommand(words, commands);
	const { command } = found;
	const rest = end < 0 ? undefined : argv.slice(end + 1);
	const plain = [...words.slice(command.name.split(" ").length), ...(command.rest || rest === undefined ? [] : rest), ...verbatim];
	const args = readArgs(command, plain);
	for (const set of command.excludes ?? []) {
		const given = set.filter((name) => options.has(name));
		if (given.length > 1) throw usage(`--${given[0]} and --${given[1]} contradict each other`, "give one of them");
	}
	for (const [one, other] of command.requires ?? [])
		if (options.has(one) && !options.has(other)) throw usage(`--${one} needs --${other}`, helpHint(command));
	return { kind: "call", call: new Call(command, options, args, command.rest ? rest : undefined), globals };
}

/** `sluice help --all`: every command, not only the most common ones. */
const ALL_HELP: OptionSpec = { name: "all", type: "flag", help: "Every command." };

const helpHint = (command: CommandSpec | undefined) => `see sluice ${command ? `${command.name} ` : ""}--help`;
const isWord = (token: string) => !token.startsWith("-") || token === "-" || /^-\d/.test(token) || /^--?\s|^---/.test(token);

/** The index of the first token that a `verbatim` argument takes; the length of `argv` if the command has none, or if `--` comes first. */
function verbatimFrom(argv: readonly string[], commands: readonly CommandSpec[]): number {
	const end = argv.indexOf("--");
	const { command } = findCommand(end < 0 ? argv : argv.slice(0, end), commands);
	const place = command?.args?.findIndex((arg) => arg.verbatim) ?? -1;
	if (!command || place < 0) return argv.length;
	let left = command.name.split(" ").length + place;
	for (let index = 0; index < argv.length; index++) {
		const token = argv[index] ?? "";
		if (token === "--") return argv.length;
		if (isWord(token)) left--;
		else if (token === "--home") index++;
		if (left === 0) return index + 1;
	}
	return argv.length;
}

/** The command's words are the first tokens that are not options; an option's value before them can only belong to a global option. */
function findCommand(tokens: readonly string[], commands: readonly CommandSpec[]): { command: CommandSpec | undefined } {
	const words: string[] = [];
	for (let index = 0; index < tokens.length && words.length < 2; index++) {
		const token = tokens[index] ?? "";
		if (isWord(token)) words.push(token);
		else if (token === "--home") index++;
	}
	const two = commands.find((command) => command.name === words.join(" "));
	return { command: two ?? commands.find((command) => command.name === words[0]) };
}

function readOptions(
	tokens: readonly string[],
	known: readonly OptionSpec[],
	command: CommandSpec | undefined,
	/** True if no `--` was typed: an unknown option after a plain word may belong to the command that the caller wants to run. */
	open: boolean,
	commands: readonly CommandSpec[],
) {
	const options = new Map<string, Value>();
	const words: string[] = [];
	for (let index = 0; index < tokens.length; index++) {
		const token = tokens[index] ?? "";
		if (isWord(token)) {
			words.push(token);
			continue;
		}
		const long = token.startsWith("--");
		const equals = long ? token.indexOf("=") : -1;
		const glued = !long && known.some(({ short, type }) => short === token[1] && type !== "flag") ? token.slice(2) : "";
		const written = glued !== "" ? token.slice(0, 2) : equals < 0 ? token : token.slice(0, equals);
		const option = known.find((one) => (long ? one.name === written.slice(2) : one.short === written.slice(1)));
		if (!option) {
			if (!command && words.length > 0 && words[0] !== "help") throw unknownCommand(words, commands);
			const takesWords = command?.rest !== undefined && !command.args?.some(({ take }) => take === "one");
			const own = open && takesWords ? wantedCommand(tokens, words, command) : undefined;
			throw unknownOption(written, known, command, own);
		}
		let value: string | undefined = equals < 0 ? glued || undefined : token.slice(equals + 1);
		if (option.type === "flag") {
			if (value !== undefined) throw usage(`--${option.name} takes no value`);
			options.set(option.name, true);
			continue;
		}
		if (value === undefined) {
			value = tokens[index + 1];
			if (value === undefined || !isWord(value))
				throw usage(
					`--${option.name} needs a value: --${option.name} ${option.value ?? "VALUE"}`,
					value === undefined ? undefined : `if ${value} is meant to be the value, write --${option.name}=${value}`,
				);
			index++;
		}
		take(options, option, value);
	}
	return { options, words };
}

function take(options: Map<string, Value>, option: OptionSpec, value: string): void {
	if (option.choices && !option.choices.includes(value)) throw notOne(`--${option.name}`, option.choices, value);
	if (option.type === "list") {
		const before = options.get(option.name);
		options.set(option.name, [...(typeof before === "object" ? before : []), value]);
		return;
	}
	if (options.has(option.name)) throw usage(`--${option.name} is given twice`, "give it once");
	if (option.type === "number") {
		if (!/^-?\d{1,15}$/.test(value)) throw usage(`--${option.name} must be a whole number, not ${JSON.stringify(value)}`);
		options.set(option.name, Number(value));
	} else options.set(option.name, value);
}

const notOne = (name: string, words: readonly string[], given: string) =>
	usage(`${name} must be one of ${words.join(", ")}, not ${JSON.stringify(given)}`, suggest(given, words, undefined));

function readArgs(command: CommandSpec, words: readonly string[]): Map<string, readonly string[]> {
	const args = new Map<string, readonly string[]>();
	let at = 0;
	for (const arg of command.args ?? []) {
		const left = words.slice(at);
		const taken = arg.take === "one" || arg.take === "optional" ? left.slice(0, 1) : left;
		if (taken.length === 0 && (arg.take === "one" || arg.take === "many")) throw usage(missing(command, arg), usageLine(command));
		const word = taken.find((one) => Array.isArray(arg.completes) && !arg.completes.includes(one));
		if (word !== undefined && Array.isArray(arg.completes)) throw notOne(arg.name, arg.completes, word);
		if (!arg.verbatim && taken.some((word) => word === "")) throw usage(`${arg.name} is empty`, usageLine(command));
		args.set(arg.name, taken);
		at += taken.length;
	}
	if (at < words.length) throw usage(`${command.name} does not take ${JSON.stringify(words[at])}`, surplusHint(command, words));
	return args;
}

/** What follows the required arguments is probably the command to run. */
function surplusHint(command: CommandSpec, words: readonly string[]): string {
	const typed = words
		.slice((command.args ?? []).filter(({ take }) => take === "one").length)
		.map(shellWord)
		.join(" ");
	if (command.name === "run") return `run is one dispatch pass; to run a command: sluice add -- ${typed}`;
	return command.rest ? `put -- before the command: sluice ${command.name} -- ${typed}` : usageLine(command);
}
const missing = ({ name }: CommandSpec, arg: ArgSpec): string =>
	arg.completes === "job"
		? `${name}: which job? Give a number or a name`
		: `${name} needs ${arg.take === "many" ? "at least one " : ""}${arg.name}: ${arg.help.replace(/\.$/, "")}`;

/** `sluice logs [options] ID` */
export function usageLine(command: CommandSpec): string {
	const args = (command.args ?? []).map(
		(arg) => ({ one: arg.name, optional: `[${arg.name}]`, many: `${arg.name}…`, any: `[${arg.name}…]` })[arg.take],
	);
	const options = (command.options?.length ?? 0) > 0 ? ["[options]"] : [];
	return ["sluice", command.name, ...options, ...args, ...(command.rest ? [`[-- ${command.rest.name}]`] : [])].join(" ");
}

const visible = (commands: readonly CommandSpec[]) => commands.filter((command) => !command.hidden);

function unknownCommand(words: readonly string[], commands: readonly CommandSpec[]) {
	const [first = "", second] = words;
	const inGroup = visible(commands).filter((command) => command.name.startsWith(`${first} `));
	const verbs = inGroup.map((command) => command.name.slice(first.length + 1));
	if (inGroup.length > 0) {
		if (second === undefined) return usage(`${first} needs one of ${verbs.join(", ")}`, `for example: sluice ${first} ${verbs[0]}`);
		const guess = [VERB_SYNONYMS[second], meant(second, verbs)].find((verb) => verb !== undefined && verbs.includes(verb));
		return usage(
			`${first} does not know ${JSON.stringify(second)}; it knows ${verbs.join(", ")}`,
			guess && `did you mean: sluice ${first} ${guess}`,
		);
	}
	if (first === "") return usage("no command given", "see sluice --help");
	const guess = meant(first, [...new Set(visible(commands).map((command) => command.name.split(" ")[0] ?? ""))]);
	const advice = adviceFor(first) ?? (guess ? `did you mean: sluice ${guess}` : "see sluice --help");
	return usage(`there is no command ${JSON.stringify(first)}`, advice);
}

/** `ls -la` of `add ls -la`: everything after the command's own words. */
function wantedCommand(tokens: readonly string[], words: readonly string[], command: CommandSpec): string | undefined {
	const first = words[command.name.split(" ").length];
	if (first === undefined) return undefined;
	return tokens.slice(tokens.indexOf(first)).map(shellWord).join(" ");
}

function unknownOption(written: string, known: readonly OptionSpec[], command: CommandSpec | undefined, own?: string) {
	if (own !== undefined && command)
		return usage(`${command.name}: there is no option ${written}`, `put -- before the command: sluice ${command.name} -- ${own}`);
	const name = written.startsWith("--") ? written.slice(2).replaceAll("_", "-") : undefined;
	const where = name !== undefined && command?.elsewhere && Object.hasOwn(command.elsewhere, name) ? command.elsewhere[name] : undefined;
	const guess = name === undefined || where !== undefined ? undefined : nearestOption(name, known);
	return usage(
		`${command ? `${command.name}: ` : ""}there is no option ${written}`,
		where !== undefined ? where : guess ? `did you mean --${guess}?` : helpHint(command),
	);
}

/** A word that is known to be tried for an option takes precedence over one that only looks similar. */
function nearestOption(word: string, known: readonly OptionSpec[]): string | undefined {
	const sought = known.find((option) => option.name === word || option.sought?.includes(word));
	// Compared with their dashes, which make short names similar enough.
	return (
		sought?.name ??
		nearest(
			`--${word}`,
			known.map((option) => `--${option.name}`),
		)?.slice(2)
	);
}

function helpFor(words: readonly string[], commands: readonly CommandSpec[], globals: Globals, all: boolean): Parsed {
	const [first, second] = words[0] === "help" ? words.slice(1) : words;
	if (first === undefined) return { kind: "help", command: undefined, group: undefined, all, globals };
	const command = commands.find((one) => one.name === `${first} ${second}`) ?? commands.find((one) => one.name === first);
	if (command) return { kind: "help", command, group: undefined, all, globals };
	if (visible(commands).some((one) => one.name.startsWith(`${first} `)))
		return { kind: "help", command: undefined, group: first, all, globals };
	throw unknownCommand([first], commands);
}
