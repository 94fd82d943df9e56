// sluice agent list, show, judge.

import { closeSync, openSync, readSync } from "node:fs";
import type { AgentDocument } from "../../api/context.ts";
import { createJudging, type JudgedProfile } from "../../api/documents/judgement.ts";
import { ADAPTERS, isFormat } from "../../core/agents/index.ts";
import { FORMATS } from "../../core/agents/profile.ts";
import { messageOf } from "../../core/errors.ts";
import { systemTimezone } from "../../host/local.ts";
import { asCaller, newerWords } from "../caller/agents.ts";
import { keyHints } from "../caller/handed-over.ts";
import { byVerb, type Call } from "../command.ts";
import { usage } from "../failure.ts";
import { absolutePath, answer, type Io } from "../io.ts";
import { shellWord } from "../printing/job-lines.ts";
import { type ListColumn, printList } from "../printing/list.ts";
import { plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";

export const run = byVerb({ list, show, judge });

const COLUMNS: readonly ListColumn<AgentDocument>[] = [
	{ title: "AGENT", cell: ({ name }) => printable(name) },
	{ title: "VERSION", shrink: 8, cell: ({ version }) => plain(version) },
	{ title: "LOGIN", cell: ({ logged_in }) => loginWords(logged_in) },
	{ title: "RESUMES", cell: ({ resumes }) => (resumes ? "yes" : "no") },
	{
		title: "PROGRAM",
		shrink: 12,
		cell: ({ problem, path, program }, { print }) =>
			problem === null ? plain(path ?? program ?? "any command") : print.paint("yellow", plain(problem)),
	},
];

async function list(_call: Call, io: Io): Promise<undefined> {
	const listed = await io.ask("agent.list");
	const agents = listed.agents.map((one) => asCaller(one, io.world.env));
	answer(io, { ...listed, agents }, () => {
		printList(io, agents, COLUMNS, "");
		for (const one of agents) {
			for (const note of [newerWords(one), one.note]) if (note) io.print.say(printable(note));
			if (one.logged_in === false) for (const hint of keyHints(one, io.world.env)) io.print.say(printable(hint));
		}
	});
}

/** The keys that its runs get. */
const keysIn = (keys: AgentDocument["keys"] = []): string =>
	keys
		.filter((key) => key.handed)
		.map((key) => key.name)
		.join(", ");

const loginWords = (found: boolean | null) => (found === null ? "" : found ? "yes" : "not found");

async function show(call: Call, io: Io): Promise<undefined> {
	const shown = await io.ask("agent.show", { name: call.arg("NAME") });
	const { profile } = shown.agent;
	const found = asCaller(shown.agent, io.world.env);
	answer(io, { ...shown, agent: found }, () => {
		const { accounts, ...agent } = found;
		const words = (argv: readonly string[]) => argv.map(shellWord).join(" ");
		const rows: [string, string][] = [
			["agent", agent.name],
			["program", agent.path ?? agent.program ?? ""],
			["version", versionWords(agent)],
			["login", loginWords(agent.logged_in)],
			...accounts.map((one): [string, string] => [
				`account ${one.account}`,
				`${one.home === null ? "" : `${one.home}, `}login ${loginWords(one.logged_in)}`,
			]),
			["keys", keysIn(agent.keys)],
			["problem", agent.problem ?? ""],
			["note", agent.note ?? ""],
			["output", profile.output],
			["command", words(profile.command)],
			["resume", words(profile.resume)],
			["model", words(profile.model)],
			...Object.entries(profile.permissions).map(([mode, argv]): [string, string] => [`permission ${mode}`, words(argv)]),
			["stop signal", profile.stop_signal],
			[
				"env",
				Object.entries(profile.env)
					.map(([name, value]) => `${name}=${value}`)
					.join(" "),
			],
			["home", profile.home_variable ?? ""],
			...(profile.outcomes ?? []).map((rule, index): [string, string] => [`outcome ${index}`, ruleWords(rule)]),
			["usage", profile.usage === undefined ? "" : ruleWords(profile.usage)],
			["session", profile.session ?? ""],
		];
		for (const [name, value] of rows) if (value !== "") io.print.out(`${io.print.paint("dim", name.padEnd(16))} ${printable(value)}`);
	});
}

function versionWords({
	version,
	tested,
	tested_older,
	newer,
}: Pick<AgentDocument, "version" | "tested" | "tested_older" | "newer">): string {
	const versions = [tested, tested_older].filter(Boolean).join(" and ");
	const words = tested === null ? null : newer ? `newer than ${tested}, which Sluice was tested with` : `tested with ${versions}`;
	return [version, words].filter(Boolean).join(", ");
}

const ruleWords = (rule: object): string =>
	Object.entries(rule)
		.map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
		.join(", ");

async function judge(call: Call, io: Io): Promise<undefined> {
	const name = call.arg("NAME");
	const [stdout, stderr, exit, format] = [call.text("stdout"), call.text("stderr"), call.number("exit"), call.text("format")];
	// An unknown agent is reported before missing options.
	const profile = await readAs(name, io);
	if (stdout === undefined) throw usage("--stdout is missing", "the file with what it wrote, or - for standard input");
	if (exit === undefined) throw usage("--exit is missing", "its exit code: 0, 1 …");
	if (exit < 0 || exit > 255) throw usage("--exit goes from 0 to 255", "128 + n for a signal");
	if (format !== undefined && !isFormat(format))
		throw usage(`--format: there is no ${JSON.stringify(format)}`, `one of: ${FORMATS.join(", ")}`);
	const judging = createJudging(name, format === undefined ? profile : { ...profile, output: format });
	if (stdout === "-") for await (const part of io.world.stdin) judging.push(typeof part === "string" ? Buffer.from(part) : part);
	else forEachPiece(absolutePath(io.world, stdout), "stdout", (bytes) => judging.push(bytes));
	let said = "";
	if (stderr !== undefined)
		// Keeps only the end, where reasons are.
		forEachPiece(absolutePath(io.world, stderr), "stderr", (bytes) => {
			said = (said + bytes.toString("utf8")).slice(-STDERR_CHARACTERS);
		});
	const found = judging.end({ exit, stderr: said, now: io.world.now(), timezone: systemTimezone() });
	answer(io, { schema_version: 1, ...found }, () => {
		const { usage: used, ...rest } = found;
		for (const [key, value] of [...Object.entries(rest), ["tokens", used.tokens] as const])
			io.print.out(`${io.print.paint("dim", key.padEnd(14))} ${printable(String(value))}`);
	});
}

/** Without a daemon a built-in agent as shipped; else as configured. */
async function readAs(name: string, io: Io): Promise<JudgedProfile> {
	if (isFormat(name)) {
		const here = await io.askIfRunning("agent.show", { name }).catch(() => undefined);
		return here === undefined ? ADAPTERS[name].profile : here.agent.profile;
	}
	return (await io.ask("agent.show", { name })).agent.profile;
}

const STDERR_CHARACTERS = 64 * 1024;
const PIECE_BYTES = 1024 * 1024;

/** Reads a file of any size in pieces. */
function forEachPiece(path: string, option: string, call: (bytes: Buffer) => void): void {
	const buffer = Buffer.alloc(PIECE_BYTES);
	let file: number | undefined;
	try {
		file = openSync(path, "r");
		for (;;) {
			const length = readSync(file, buffer);
			if (length === 0) return;
			call(buffer.subarray(0, length));
		}
	} catch (error) {
		throw usage(`--${option}: ${messageOf(error)}`);
	} finally {
		if (file !== undefined) closeSync(file);
	}
}
