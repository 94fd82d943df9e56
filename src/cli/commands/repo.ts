// sluice repo show, add, trust and remove.

import type { Call } from "../command.ts";
import { usage } from "../failure.ts";
import { answer, type Document, type Io, placeOf } from "../io.ts";
import { plain } from "../print.ts";
import { pad } from "../table.ts";

type Repo = Record<string, unknown> & { name: string; path: string | null; problem: string | null; file: string; worktrees: Worktree[] };
type Worktree = { job: number; path: string; branch: string };

export async function run(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask(...requestOf(call, io));
	answer(io, document, () => {
		if (document.removed !== undefined)
			return io.print.say(`${plain(document.removed)} is no longer registered; its folder and branches stay`);
		const repo = document.repo as Repo;
		if (call.command.name === "repo show") return show(repo, io);
		io.print.say(`repo ${repo.name} at ${plain(repo.path ?? repo.url)}${repo.base ? `, base ${plain(repo.base)}` : ""}`);
		const word = FILE_WORDS[repo.file];
		if (word) io.print.say(`${word(repo.name)}${repo.file_problem ? `: ${plain(repo.file_problem)}` : ""}`);
		if (repo.problem) io.print.say(io.print.paintTalk("yellow", plain(repo.problem)));
	});
	return undefined;
}

const FILE_WORDS: Record<string, (name: string) => string> = {
	untrusted: (name) => `its sluice.yml does not count yet; read it, then: sluice repo trust ${name}`,
	changed: (name) => `its sluice.yml has changed and does not count; read it, then: sluice repo trust ${name}`,
	bad: () => "its sluice.yml has a mistake and does not count",
	trusted: () => "its sluice.yml counts",
};

function requestOf(call: Call, io: Io): [method: string, params: Document] {
	const method = call.command.name.replace(" ", ".");
	if (method === "repo.trust") return [method, { name: call.arg("NAME"), ...(call.flag("off") ? { off: true } : {}) }];
	if (method !== "repo.add") return [method, { name: call.arg("NAME") }];
	const url = call.text("url");
	const [place] = call.args("FOLDER");
	if (url !== undefined && place !== undefined && call.text("name") !== undefined && call.text("name") !== place)
		throw usage("--url takes one name: the argument, or --name", "leave one of them out");
	const given = Object.entries({
		url,
		path: url === undefined ? placeOf(io.world, place ?? ".") : undefined,
		name: call.text("name") ?? (url === undefined ? undefined : place),
		prefix: call.text("prefix"),
		base_branch: call.text("base-branch"),
		merge: call.text("merge"),
		max: call.number("max"),
	});
	return [method, Object.fromEntries(given.filter(([, value]) => value !== undefined))];
}

function show(repo: Repo, io: Io): void {
	const { worktrees, name: _name, ...rest } = repo;
	const rows = Object.entries(rest).flatMap(([key, value]) => {
		const text = key === "hooks" ? hooksIn(value as Record<string, string[]>) : plain(value);
		return text === "" ? [] : [[key.replaceAll("_", " "), text] as const];
	});
	const width = Math.max(...rows.map(([key]) => key.length));
	for (const [key, value] of rows) io.print.out(`${io.print.paint("dim", pad(key, width))}  ${value}`);
	for (const { job, path, branch } of worktrees)
		io.print.out(`${io.print.paint("dim", pad("worktree", width))}  ${job}  ${plain(branch)}  ${plain(path)}`);
}

const hooksIn = (hooks: Record<string, string[]>) =>
	Object.entries(hooks)
		.filter(([, argv]) => argv.length > 0)
		.map(([name, argv]) => `${name}: ${plain(argv)}`)
		.join("; ");
