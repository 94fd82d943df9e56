// sluice repo list, show, add, trust and remove.

import type { RepoDocument } from "../../api/context.ts";
import type { Params, Result } from "../../api/protocol.ts";
import { byVerb, type Call } from "../command.ts";
import { EXIT, usage } from "../failure.ts";
import { absolutePath, answer, firstLine, type Io } from "../io.ts";
import { named, nothing, oneMethod, optionsOf } from "../one-method.ts";
import { cap, field, type ListColumn, printList, right } from "../printing/list.ts";
import { plain } from "../printing/print.ts";
import { printable, shellWord } from "../printing/sequences.ts";
import { cut, pad } from "../printing/table.ts";

export const run = byVerb({
	list: oneMethod("repo.list", nothing, ({ repos }, io) => {
		printList(io, repos, COLUMNS, "no repos; sluice repo add registers one");
		for (const { trust_problem } of repos ?? [])
			if (trust_problem) io.print.warn(`${io.print.paintTalk("yellow", "warning:")} ${plain(trust_problem)}`);
	}),
	show: oneMethod("repo.show", named, ({ repo }, io) => printRepo(repo, io)),
	add: oneMethod("repo.add", repoOf, printChange),
	trust,
	remove: oneMethod("repo.remove", named, ({ removed }) => `${plain(removed)} is no longer registered; its folder and branches stay`),
});

const COLUMNS: readonly ListColumn<ShownRepo>[] = [
	field("name", "REPO"),
	{ title: "PLACE", shrink: 12, cell: ({ path, url }) => plain(path ?? url ?? "") },
	{ title: "HOSTS", cell: ({ hosts }) => plain(hosts) },
	field("base"),
	field("merge"),
	cap("max", "MAX"),
	{ title: "WORKTREES", ...right, cell: ({ worktrees }) => String(worktrees.length) },
	{ title: "SLUICE.YML", cell: ({ file }) => (file === "none" ? "" : plain(file)) },
	{ title: "RECIPES", cell: ({ recipes = "none" }) => (recipes === "none" ? "" : plain(recipes)) },
	{
		title: "STATE",
		shrink: 12,
		cell: ({ problem, busy }, { print }) =>
			problem ? print.paint("red", plain(problem)) : busy ? print.paint("yellow", `in the middle of a ${plain(busy)}`) : "ok",
	},
];

/** An older daemon does not send all of it. */
type ShownRepo = Omit<RepoDocument, "changes" | "recipes"> & Partial<Pick<RepoDocument, "changes" | "recipes">>;

async function trust(call: Call, io: Io): Promise<number | undefined> {
	const off = call.flag("off") || undefined;
	const digest = off ? undefined : await seen(call, io);
	if (digest === null) return EXIT.failed;
	const document = await io.ask("repo.trust", { ...named(call), off, digest });
	answer(io, document, () => printChange(document, io));
	return undefined;
}

function printChange({ repo }: Result<"repo.add">, io: Io): undefined {
	io.print.say(`repo ${repo.name} at ${plain(repo.path ?? repo.url)}${repo.base ? `, base ${plain(repo.base)}` : ""}`);
	const word = FILE_WORDS[repo.file];
	if (word) io.print.say(`${word}${repo.file_problem ? `: ${plain(repo.file_problem)}` : ""}`);
	if (repo.recipes === "trusted") io.print.say("its recipes count");
	if (repo.trust_problem) io.print.say(plain(repo.trust_problem));
	if (repo.problem) io.print.say(io.print.paintTalk("yellow", plain(repo.problem)));
}

/** `trust_problem` has the details. */
const FILE_WORDS: Record<string, string> = { bad: "its sluice.yml has a mistake and does not count", trusted: "its sluice.yml counts" };

/** Shows what is about to be trusted, and asks at a terminal. Returns the digest of what was shown, if the daemon has one; null if the answer is no. */
async function seen(call: Call, io: Io): Promise<string | undefined | null> {
	const { repo } = await io.ask("repo.show", { name: call.arg("NAME") });
	const { changes = [], digest } = repo;
	if (!io.json) for (const change of changes) for (const line of changeLines(change)) io.print.say(line);
	if (changes.length > 0 && io.world.stdin.isTTY && !io.json && !call.flag("yes")) {
		io.world.stderr.write(`Trust ${changes.length === 1 ? "it" : "them"}? [y/N] `);
		if (!/^y(?:es)?$/i.test((await firstLine(io.world.stdin)).trim())) {
			io.print.say("nothing was changed");
			return null;
		}
	}
	return digest ?? undefined;
}

const changeLines = ({ file, change, commands }: RepoDocument["changes"][number]): string[] => [
	`${plain(file)} (${change})`,
	...commands.slice(0, MOST_COMMANDS).map((argv) => `  runs ${printable(cut(argv.map(shellWord).join(" "), WIDEST_COMMAND))}`),
	...(commands.length > MOST_COMMANDS ? [`  runs ${commands.length - MOST_COMMANDS} more`] : []),
];
const MOST_COMMANDS = 10;
const WIDEST_COMMAND = 300;

function repoOf(call: Call, io: Io): Params<"repo.add"> {
	const url = call.text("url");
	const [place] = call.args("FOLDER");
	if (url !== undefined && place !== undefined && call.text("name") !== undefined && call.text("name") !== place)
		throw usage("--url takes one name: the argument, or --name", "leave one of them out");
	return {
		...optionsOf<"repo.add">(call),
		path: url === undefined ? absolutePath(io.world, place ?? ".") : undefined,
		name: call.text("name") ?? (url === undefined ? undefined : place),
	};
}

function printRepo(repo: ShownRepo, io: Io): undefined {
	const { worktrees, changes = [], name: _name, ...rest } = repo;
	const rows = Object.entries(rest).flatMap(([key, value]) => {
		const text = key === "hooks" ? hooksIn(repo.hooks) : plain(value);
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
