// sluice repo show, add, trust and remove.

import type { Call } from "../command.ts";
import { EXIT, usage } from "../failure.ts";
import { type AnswerDocument, absolutePath, answer, firstLine, type Io } from "../io.ts";
import { plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { cut, pad } from "../printing/table.ts";

type Repo = Record<string, unknown> & {
	name: string;
	path: string | null;
	problem: string | null;
	file: string;
	worktrees: Worktree[];
	changes?: Change[];
};
type Change = { file: string; change: string; commands: string[][] };
type Worktree = { job: number; path: string; branch: string };

export async function run(call: Call, io: Io): Promise<number | undefined> {
	const shown = call.command.name === "repo trust" && !call.flag("off") ? await seen(call, io) : {};
	if (shown === null) return EXIT.failed;
	const [method, params] = requestOf(call, io);
	const document = await io.ask(method, { ...params, ...shown });
	answer(io, document, () => {
		if (document.removed !== undefined)
			return io.print.say(`${plain(document.removed)} is no longer registered; its folder and branches stay`);
		const repo = document.repo as Repo;
		if (call.command.name === "repo show") return show(repo, io);
		io.print.say(`repo ${repo.name} at ${plain(repo.path ?? repo.url)}${repo.base ? `, base ${plain(repo.base)}` : ""}`);
		const word = FILE_WORDS[repo.file];
		if (word) io.print.say(`${word}${repo.file_problem ? `: ${plain(repo.file_problem)}` : ""}`);
		if (repo.recipes === "trusted") io.print.say("its recipes count");
		if (repo.trust_problem) io.print.say(plain(repo.trust_problem));
		if (repo.problem) io.print.say(io.print.paintTalk("yellow", plain(repo.problem)));
	});
	return undefined;
}

/** `trust_problem` has the details. */
const FILE_WORDS: Record<string, string> = {
	bad: "its sluice.yml has a mistake and does not count",
	trusted: "its sluice.yml counts",
};

/** Shows what is about to be trusted, and asks at a terminal. Returns the digest of what was shown; null if the answer is no. */
async function seen(call: Call, io: Io): Promise<AnswerDocument | null> {
	const { repo } = (await io.ask("repo.show", { name: call.arg("NAME") })) as { repo: Repo };
	const { changes = [], digest } = repo;
	if (!io.json) for (const change of changes) for (const line of changeLines(change)) io.print.say(line);
	if (changes.length > 0 && io.world.stdin.isTTY && !io.json && !call.flag("yes")) {
		io.world.stderr.write(`Trust ${changes.length === 1 ? "it" : "them"}? [y/N] `);
		if (!/^y(?:es)?$/i.test((await firstLine(io.world.stdin)).trim())) {
			io.print.say("nothing was changed");
			return null;
		}
	}
	return typeof digest === "string" ? { digest } : {};
}

const changeLines = ({ file, change, commands }: Change): string[] => [
	`${plain(file)} (${change})`,
	...commands.slice(0, MOST_COMMANDS).map((argv) => `  runs ${printable(cut(shellLine(argv), WIDEST_COMMAND))}`),
	...(commands.length > MOST_COMMANDS ? [`  runs ${commands.length - MOST_COMMANDS} more`] : []),
];
const MOST_COMMANDS = 10;
const WIDEST_COMMAND = 300;
const shellLine = (argv: readonly string[]) =>
	argv.map((word) => (/^[\w.:@%+=/,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");

function requestOf(call: Call, io: Io): [method: string, params: AnswerDocument] {
	const method = call.command.name.replace(" ", ".");
	if (method === "repo.trust") return [method, { name: call.arg("NAME"), ...(call.flag("off") ? { off: true } : {}) }];
	if (method !== "repo.add") return [method, { name: call.arg("NAME") }];
	const url = call.text("url");
	const [place] = call.args("FOLDER");
	if (url !== undefined && place !== undefined && call.text("name") !== undefined && call.text("name") !== place)
		throw usage("--url takes one name: the argument, or --name", "leave one of them out");
	const given = Object.entries({
		url,
		path: url === undefined ? absolutePath(io.world, place ?? ".") : undefined,
		name: call.text("name") ?? (url === undefined ? undefined : place),
		prefix: call.text("prefix"),
		base_branch: call.text("base-branch"),
		merge: call.text("merge"),
		max: call.number("max"),
	});
	return [method, Object.fromEntries(given.filter(([, value]) => value !== undefined))];
}

function show(repo: Repo, io: Io): void {
	const { worktrees, changes = [], name: _name, ...rest } = repo;
	const rows = Object.entries(rest).flatMap(([key, value]) => {
		const text = key === "hooks" ? hooksIn(value as Record<string, string[]>) : plain(value);
		return text === "" ? [] : [[key.replaceAll("_", " "), text] as const];
	});
	const width = Math.max(...rows.map(([key]) => key.length));
	for (const [key, value] of rows) io.print.out(`${io.print.paint("dim", pad(key, width))}  ${value}`);
	for (const change of changes) {
		const [first = "", ...more] = changeLines(change);
		io.print.out(`${io.print.paint("dim", pad("since trust", width))}  ${first}`);
		for (const line of more) io.print.out(`${pad("", width)}  ${line}`);
	}
	for (const { job, path, branch } of worktrees)
		io.print.out(`${io.print.paint("dim", pad("worktree", width))}  ${job}  ${plain(branch)}  ${plain(path)}`);
}

const hooksIn = (hooks: Record<string, string[]>) =>
	Object.entries(hooks)
		.filter(([, argv]) => argv.length > 0)
		.map(([name, argv]) => `${name}: ${plain(argv)}`)
		.join("; ");
