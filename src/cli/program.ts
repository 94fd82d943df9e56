// One call of the program: parses the command line, loads the command it names, and turns the result or error into text and an exit code.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { MethodName, Params, Result } from "../api/protocol.ts";
import { codeOf } from "../core/errors.ts";
import { COMMANDS } from "./catalogue.ts";
import type { Call, CommandSpec } from "./command.ts";
import { inTypedWords } from "./command-line/field-words.ts";
import { type Globals, type Parsed, parse } from "./command-line/parse.ts";
import { CliFailure, EXIT, exitOf, failureOf } from "./failure.ts";
import type { CliEnvironment, DaemonConnection, Io } from "./io.ts";
import { PATIENCE, REPEATABLE } from "./patience.ts";
import { createPrinter, type Printer } from "./printing/print.ts";
import { printable } from "./printing/sequences.ts";

/** Resolves with the exit code; never rejects. */
export async function program(argv: readonly string[], world: CliEnvironment): Promise<number> {
	// Before the line is parsed, only a rough look at it says how to print an error about it.
	const before = argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
	const guessed: Globals = { json: before.includes("--json"), quiet: false, noColor: before.includes("--no-color"), home: undefined };
	let print = printerFor(guessed, world);
	let json = guessed.json;
	const connections: Connections = { made: [], closed: false };
	let command: CommandSpec | undefined;
	try {
		const parsed = parse(argv, COMMANDS);
		print = printerFor(parsed.globals, world);
		json = parsed.globals.json;
		if (parsed.kind !== "call") return await printHelp(parsed, world, print);
		command = parsed.call.command;
		const { run } = await command.load();
		return (await run(parsed.call, createIo(parsed.globals, world, print, connections, parsed.call))) ?? EXIT.done;
	} catch (error) {
		const failure = failureOf(error);
		if (json) world.stderr.write(`${JSON.stringify({ schema_version: 1, error: { ...failure, hint: failure.hint ?? null } })}\n`);
		else {
			const first = { ...failure, message: inTypedWords(failure.message, (error as { field?: string } | null)?.field, command) };
			for (const { message, hint } of [first, ...(failure.also ?? [])]) {
				print.warn(`${print.paintTalk("red", "sluice:")} ${message.split("\n").map(printable).join("\n")}`);
				if (hint) print.warn(print.paintTalk("dim", `        ${printable(hint)}`));
			}
		}
		return exitOf(failure.code);
	} finally {
		connections.closed = true;
		for (const connection of connections.made) connection.close();
	}
}

/** Commands that only read, or act on existing jobs. */
const WITHOUT_NEW_HOME =
	/^(?:list|show|why|history|logs|wait|top|graph|forecast|stats|diff|open|export|cancel|retry|rerun|approve|reject|answer|promote|demote|priority|run-now|edit|hold|release|freeze|thaw|signal|merge|clear|prune|gc|\w+ (?:list|show|get|remove))$/;

/** A home that was named and does not exist is a typo: a read would create an empty one, with a daemon. The default home is created when it is needed. */
function mustBeThere(command: string, given: string | undefined, world: CliEnvironment): void {
	const named = given ?? (world.env.SLUICE_HOME || undefined);
	if (named === undefined || !WITHOUT_NEW_HOME.test(command)) return;
	const home = world.homeOf(given);
	if (existsSync(home)) return;
	throw new CliFailure(
		"not_found",
		`there is no home at ${home}`,
		`to make one there: sluice --home ${/^[\w@%+=:,./-]+$/.test(home) ? home : JSON.stringify(home)} up --detach`,
	);
}

const printerFor = ({ quiet, json, noColor }: Globals, { stdout, stderr, env }: CliEnvironment): Printer =>
	createPrinter({ stdout, stderr, env, quiet, json, noColor });

/** Help and version. On request they are data; no command at all is a mistake. */
async function printHelp(parsed: Exclude<Parsed, { kind: "call" }>, world: CliEnvironment, print: Printer): Promise<number> {
	if (parsed.kind === "version") {
		const version = await world.version();
		print.out(parsed.globals.json ? JSON.stringify({ schema_version: 1, version }) : version);
		return EXIT.done;
	}
	const { commandHelp, groupHelp, shortHelp, wholeHelp } = await import("./command-line/help.ts");
	if (parsed.kind === "nothing") {
		for (const line of shortHelp(print.paintTalk)) print.warn(line);
		return EXIT.usage;
	}
	const width = world.stdout.isTTY ? Math.max(60, world.stdout.columns ?? 80) : 100;
	const lines = parsed.command
		? commandHelp(parsed.command, width, print.paint)
		: parsed.group
			? groupHelp(parsed.group, print.paint)
			: parsed.all
				? wholeHelp(print.paint)
				: shortHelp(print.paint);
	for (const line of lines) print.out(line);
	return EXIT.done;
}

/** A daemon that has not answered for this long may be stuck: prints that, and continues to wait. */
const SILENT_MS = 5000;
/** A command that only reads gives up after this long. */
const GIVE_UP_MS = 60_000;
const READING_COMMANDS = /^(?:status|list|show|why|history|graph|stats|version|doctor|audit|\w+ (?:list|show|get))$/;

/** Whether giving up loses nothing: the command only reads, and was not asked to stay. */
const mayGiveUp = (line: Call): boolean =>
	READING_COMMANDS.test(line.command.name) && !(line.command.name === "status" && line.flag("watch"));
/** Methods that the daemon answers late on purpose. */
const LATE_ANSWERS: readonly MethodName[] = ["job.wait", "job.logs"];

/** The jobs themselves are not affected: running ones continue, and the command can be repeated. */
const goneAway = (why: string) => new CliFailure("daemon_gone", why, "jobs that run go on; sluice up starts a daemon, then try again");

const silent = () =>
	new CliFailure("timeout", `the daemon has not answered for ${GIVE_UP_MS / 1000} s`, "it may be busy or stopped; try again later");

/** Of the daemon, as it has written it into its home; null where it has not. */
function pidIn(home: string): number | null {
	try {
		const { pid } = JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")) as { pid?: unknown };
		return typeof pid === "number" ? pid : null;
	} catch {
		return null;
	}
}

/** Says once what to type while a daemon does not answer. A run is not told to end its daemon. */
function silenceNotice(globals: Globals, world: CliEnvironment, print: Printer): () => void {
	let isSaid = false;
	return () => {
		if (isSaid) return;
		isSaid = true;
		const home = world.homeOf(globals.home);
		print.warn(
			`sluice: the daemon has not answered for ${SILENT_MS / 1000} s; it may be busy or stopped. ${join(home, "daemon.log")} says more, and sluice doctor checks it`,
		);
		const pid = world.insideOf(globals.home) === undefined ? pidIn(home) : null;
		if (pid !== null)
			print.warn(print.paintTalk("dim", `        to end it: kill -9 ${pid} (jobs that run go on), then sluice up --detach`));
	};
}

/** The connections that a command has made. Once they are closed, the command has ended, and none of its requests is repeated. */
type Connections = { made: DaemonConnection[]; closed: boolean };

function createIo(globals: Globals, world: CliEnvironment, print: Printer, connections: Connections, line: Call): Io {
	const command = line.command.name;
	let open: Promise<DaemonConnection | undefined> | undefined;
	/** Once a daemon has answered, only a daemon that died is restarted: one that was stopped must stay stopped. */
	let reached = false;
	const reach = async (how: "start" | "if_running" | "revive") => {
		if (how === "start") mustBeThere(command, globals.home, world);
		const opening = world.connect(globals.home, how).then((connection) => {
			if (connection) connections.made.push(connection);
			else open = undefined;
			reached ||= connection !== undefined;
			return connection;
		});
		open = opening;
		opening.catch(() => {
			open = undefined;
		});
		return opening;
	};
	const saySilent = silenceNotice(globals, world, print);
	const call = async <M extends MethodName>(connection: DaemonConnection, method: M, params: Params<M> | undefined): Promise<Result<M>> => {
		// A line on stderr would spoil the screen of top.
		const isQuiet = LATE_ANSWERS.includes(method) || command === "top";
		const said = isQuiet ? () => {} : world.after(SILENT_MS, saySilent);
		const asked = connection.call(method, { ...params, by: world.user() } as Params<M>);
		if (!mayGiveUp(line)) return asked.finally(said);
		let left = () => {};
		const givenUp = new Promise<never>((_, reject) => {
			left = world.after(GIVE_UP_MS, () => reject(silent()));
		});
		return Promise.race([asked, givenUp]).finally(() => {
			said();
			left();
		});
	};
	const next = async (tries: number): Promise<DaemonConnection | undefined> => {
		if (!reached) return reach("start");
		if (tries < PATIENCE.own) return reach("if_running");
		return reach("revive").catch((error) => {
			throw goneAway(failureOf(error).message);
		});
	};
	const ask = async <M extends MethodName>(method: M, params: Params<M> | undefined): Promise<Result<M>> => {
		for (let tries = 0; ; tries++) {
			const connection = (await open) ?? (await next(tries));
			try {
				if (connection) return await call(connection, method, params);
			} catch (error) {
				if (codeOf(error) !== "disconnected") throw error;
				open = undefined;
				if (!REPEATABLE.includes(method)) throw error;
			}
			if (tries >= PATIENCE.tries || connections.closed) throw goneAway("the daemon was stopped");
			await new Promise<void>((resolve) => world.after(PATIENCE.everyMs, resolve));
		}
	};
	return {
		world,
		print,
		json: globals.json,
		quiet: globals.quiet,
		home: globals.home,
		commands: COMMANDS,
		ask: (method, ...[params]) => ask(method, params),
		askIfRunning: async (method, ...[params]) => {
			const connection = (await open) ?? (await reach("if_running"));
			return connection && call(connection, method, params);
		},
		gone: async () => (await open)?.closed,
	};
}
