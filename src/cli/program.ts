// One call of the program: reads the command line, loads the one command it names, and turns whatever happens into words and an exit code.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "./catalogue.ts";
import type { CommandSpec } from "./command.ts";
import { CliFailure, EXIT, exitOf, failureOf } from "./failure.ts";
import { inTypedWords } from "./field-words.ts";
import type { Connection, Document, Io, World } from "./io.ts";
import { type Globals, type Parsed, parse } from "./parse.ts";
import { createPrinter, type Printer } from "./print.ts";
import { printable } from "./sequences.ts";

/** Resolves with the exit code; never rejects. */
export async function program(argv: readonly string[], world: World): Promise<number> {
	// Until the line is read, only a look at it says how to complain about it.
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
		if (parsed.kind !== "call") return await tell(parsed, world, print);
		command = parsed.call.command;
		const { run } = await command.load();
		return (await run(parsed.call, createIo(parsed.globals, world, print, connections, command.name))) ?? EXIT.done;
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

/** Commands that only look, or act on what is there already. */
const LOOKS =
	/^(?:list|show|why|history|logs|wait|top|graph|forecast|diff|open|export|cancel|retry|rerun|approve|reject|answer|promote|demote|priority|run-now|merge|clear|prune|gc|\w+ (?:list|show|get|remove))$/;

/** A home that was named and is not there is a slip of the pen: a look would make an empty one, with a daemon. The usual home is made when it is needed. */
function mustBeThere(command: string, given: string | undefined, world: World): void {
	const named = given ?? (world.env.SLUICE_HOME || undefined);
	if (named === undefined || !LOOKS.test(command)) return;
	const home = world.homeOf(given);
	if (existsSync(home)) return;
	throw new CliFailure(
		"not_found",
		`there is no home at ${home}`,
		`to make one there: sluice --home ${/^[\w@%+=:,./-]+$/.test(home) ? home : JSON.stringify(home)} up --detach`,
	);
}

const printerFor = ({ quiet, json, noColor }: Globals, { stdout, stderr, env }: World): Printer =>
	createPrinter({ stdout, stderr, env, quiet, json, noColor });

/** Help and version. Asked for, they are data; nothing to do at all is a mistake. */
async function tell(parsed: Exclude<Parsed, { kind: "call" }>, world: World, print: Printer): Promise<number> {
	if (parsed.kind === "version") {
		const version = await world.version();
		print.out(parsed.globals.json ? JSON.stringify({ schema_version: 1, version }) : version);
		return EXIT.done;
	}
	const { commandHelp, groupHelp, shortHelp, wholeHelp } = await import("./help.ts");
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

/** Asked again, of the next daemon, when one goes away in the middle: they only look, or may be said twice. */
export const AGAIN: readonly string[] = [
	"job.wait",
	"job.logs",
	"job.list",
	"job.show",
	"job.history",
	"job.why",
	"job.graph",
	"scheduler.status",
	// Said twice, it is the same word.
	"run.verdict",
	"run.result",
];
/** How long and how often a daemon that has gone is looked for: it may be on its way back. After `own` tries without it, one that died is started again. */
export const PATIENCE = { tries: 40, own: 4, everyMs: 250 };

/** A daemon that has not answered for this long may be stuck: the caller is told, and goes on waiting. */
const SILENT_MS = 5000;
/** Those that the daemon answers late on purpose. */
const HELD = ["job.wait", "job.logs"];

/** Not the end of what was asked about: jobs that run go on, and the same command can be given again. */
const goneAway = (why: string) => new CliFailure("daemon_gone", why, "jobs that run go on; sluice up starts a daemon, then try again");

/** Those that a command has made. Once they are closed, the command has ended, and no question of it is asked again. */
type Connections = { made: Connection[]; closed: boolean };

function createIo(globals: Globals, world: World, print: Printer, connections: Connections, command: string): Io {
	let open: Promise<Connection | undefined> | undefined;
	/** Once a daemon has answered, only one that died is started again: one that was stopped shall stay so. */
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
	const call = async (connection: Connection, method: string, params: Document) => {
		const say = () =>
			print.warn(
				`sluice: the daemon has not answered for ${SILENT_MS / 1000} s; it may be busy or stopped. ${join(world.homeOf(globals.home), "daemon.log")} says more`,
			);
		// A line on stderr would spoil the screen of top.
		const answered = HELD.includes(method) || command === "top" ? () => {} : world.after(SILENT_MS, say);
		return connection.call(method, { ...params, by: world.user() }).finally(answered);
	};
	const next = async (tries: number): Promise<Connection | undefined> => {
		if (!reached) return reach("start");
		if (tries < PATIENCE.own) return reach("if_running");
		return reach("revive").catch((error) => {
			throw goneAway(failureOf(error).message);
		});
	};
	const ask = async (method: string, params: Document): Promise<Document> => {
		for (let tries = 0; ; tries++) {
			const connection = (await open) ?? (await next(tries));
			try {
				if (connection) return await call(connection, method, params);
			} catch (error) {
				if ((error as { code?: unknown }).code !== "disconnected") throw error;
				open = undefined;
				if (!AGAIN.includes(method)) throw error;
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
		ask: (method, params = {}) => ask(method, params),
		askIfRunning: async (method, params = {}) => {
			const connection = (await open) ?? (await reach("if_running"));
			return connection && call(connection, method, params);
		},
		gone: async () => (await open)?.closed,
	};
}
