// Commands as data: parsing, help, completion and the reference page all read the same description.

import type { JobKey } from "../core/schema/job.ts";
import type { Io } from "./io.ts";

/** What the shell completes after an option or for an argument. */
export type Completes = "job" | "file" | "folder" | "lane" | "host" | "command" | readonly string[];

export type OptionSpec = {
	name: string;
	short?: string;
	/** flag: present or not · text, number: one value · list: may be repeated */
	type: "flag" | "text" | "number" | "list";
	/** The name of the value in help: `--lane NAME`. */
	value?: string;
	help: string;
	/** The only valid values. */
	choices?: readonly string[];
	completes?: Completes;
	/** Other words that people try for it, such as a manifest's key: not accepted, but the error suggests this option. */
	sought?: readonly string[];
	/** The field of a job that it sets to its value, as given. */
	field?: JobKey | "capture_diff";
};

/** `more`: what an option has besides its name, the name of its value, and its help. */
type More = Omit<OptionSpec, "name" | "type" | "value" | "help">;
const valued =
	(type: "text" | "number" | "list") =>
	(name: string, value: string, help: string, more: More = {}): OptionSpec => ({ name, type, value, help, ...more });
export const text = valued("text");
export const number = valued("number");
export const list = valued("list");
export const flag = (name: string, help: string, more: More = {}): OptionSpec => ({ name, type: "flag", help, ...more });

export type ArgSpec = { name: string; help: string; take: "one" | "optional" | "many" | "any"; completes?: Completes } & {
	/** From where this argument may begin, no token is an option: `-x`, `--json` and an empty word are its text. */
	verbatim?: true;
};

export type CommandSpec = {
	/** One or two words: `add`, `lane set`. */
	name: string;
	/** One line. */
	help: string;
	/** Further lines, for `--help` and the reference. */
	more?: readonly string[];
	args?: readonly ArgSpec[];
	/** What may follow `--`. */
	rest?: { name: string; help: string };
	options?: readonly OptionSpec[];
	/** Options that people try and this command does not have: where each is set instead. */
	elsewhere?: Readonly<Record<string, string>>;
	/** At most one of each set may be given. */
	excludes?: readonly (readonly string[])[];
	/** The first option requires the second. */
	requires?: readonly (readonly [string, string])[];
	examples: readonly (readonly [line: string, says: string])[];
	/** Not in help: for our own scripts. */
	hidden?: true;
	load(): Promise<{ run: CommandRun }>;
};

export type VerbSpec = Omit<CommandSpec, "name" | "load">;

/** Commands that have a file each, by name. */
export const named = (specs: Readonly<Record<string, Omit<CommandSpec, "name">>>): readonly CommandSpec[] =>
	Object.entries(specs).map(([name, spec]) => ({ ...spec, name }));

/** The commands of a noun, all done by one file: `lane set` is the verb `set` of `lane`. Commands of one word have an empty noun. */
export const commandsOf = (noun: string, load: CommandSpec["load"], verbs: Readonly<Record<string, VerbSpec>>): readonly CommandSpec[] =>
	Object.entries(verbs).map(([verb, spec]) => ({ ...spec, name: `${noun} ${verb}`.trim(), load }));

export type Value = true | string | number | readonly string[];

/** A parsed command line. Reading an option that the command does not declare throws: it is a bug of ours. */
export class Call {
	readonly command: CommandSpec;
	readonly #options: ReadonlyMap<string, Value>;
	readonly #args: ReadonlyMap<string, readonly string[]>;
	/** What followed `--`; undefined if there was none. */
	readonly rest: readonly string[] | undefined;

	constructor(
		command: CommandSpec,
		options: ReadonlyMap<string, Value>,
		args: ReadonlyMap<string, readonly string[]>,
		rest: readonly string[] | undefined,
	) {
		this.command = command;
		this.#options = options;
		this.#args = args;
		this.rest = rest;
	}

	#option(name: string): Value | undefined {
		if (!this.command.options?.some((option) => option.name === name)) throw new Error(`${this.command.name} has no --${name}`);
		return this.#options.get(name);
	}

	/** In the form of its type; undefined if it was not given. */
	value(name: string): Value | undefined {
		return this.#option(name);
	}
	flag(name: string): boolean {
		return this.#option(name) === true;
	}
	text(name: string): string | undefined {
		const value = this.#option(name);
		return typeof value === "string" ? value : undefined;
	}
	/** One of the option's declared choices. */
	choice<const T extends string>(name: string, choices: readonly T[]): T | undefined {
		const value = this.text(name);
		const found = choices.find((one) => one === value);
		if (value !== undefined && found === undefined) throw new Error(`${this.command.name} does not expect --${name} ${value}`);
		return found;
	}
	number(name: string): number | undefined {
		const value = this.#option(name);
		return typeof value === "number" ? value : undefined;
	}
	list(name: string): readonly string[] {
		const value = this.#option(name);
		return typeof value === "object" ? value : [];
	}
	/** Whether the option was given at all. */
	has(name: string): boolean {
		return this.#option(name) !== undefined;
	}
	args(name: string): readonly string[] {
		if (!this.command.args?.some((arg) => arg.name === name)) throw new Error(`${this.command.name} has no ${name}`);
		return this.#args.get(name) ?? [];
	}
	/** A required argument; parsing has made sure that it is there. */
	arg(name: string): string {
		const [value] = this.args(name);
		if (value === undefined) throw new Error(`${this.command.name} was parsed without ${name}`);
		return value;
	}
}

/** What a command's file exports as `run`: resolves with an exit code, undefined is 0. */
export type CommandRun = (call: Call, io: Io) => Promise<number | undefined>;

/** The `run` of a noun with several commands: `lane set` is done by `set`. */
export const byVerb =
	(verbs: Readonly<Record<string, CommandRun>>): CommandRun =>
	(call, io) => {
		const verb = call.command.name.slice(call.command.name.indexOf(" ") + 1);
		const run = verbs[verb];
		if (!run) throw new Error(`nothing does ${call.command.name}`);
		return run(call, io);
	};

/** Options that every command takes, anywhere before `--`. */
export const GLOBAL_OPTIONS = [
	{ name: "json", type: "flag", help: "Print the result as one JSON document; errors as JSON on stderr." },
	{ name: "quiet", short: "q", type: "flag", help: "Say nothing beside the result." },
	{ name: "no-color", type: "flag", help: "No colours; so does NO_COLOR, or output that is no terminal." },
	{ name: "home", type: "text", value: "FOLDER", help: "Home folder; else SLUICE_HOME, else ~/.sluice.", completes: "folder" },
	{ name: "help", short: "h", type: "flag", help: "Show help, with examples." },
	{ name: "version", type: "flag", help: "Show the version." },
] as const satisfies readonly OptionSpec[];
