// Repos, and what their jobs leave behind: described.

import type { CommandSpec } from "../command.ts";
import { ID } from "./shared.ts";

const load = () => import("../commands/repo.ts");
const NAME = { name: "NAME", help: "The repo.", take: "one" } as const;

export const REPOS: readonly CommandSpec[] = [
	{
		name: "repo list",
		help: "Repos: where they are, how they merge, what is wrong with them.",
		examples: [["sluice repo list", "which repos there are"]],
		load: () => import("../commands/nouns.ts"),
	},
	{
		name: "repo show",
		help: "One repo: its settings in force and its worktrees.",
		args: [NAME],
		examples: [["sluice repo show app", "whether its sluice.yml counts, too"]],
		load,
	},
	{
		name: "repo add",
		help: "Register a git repository, by its folder or by a URL, or change one.",
		more: ["With --url no folder is given, but a name: each host that gets a job of it clones it, and work goes back there."],
		args: [
			{ name: "FOLDER", help: "A folder in it; else where you are. With --url: how it is called.", take: "optional", completes: "folder" },
		],
		options: [
			{ name: "url", type: "text", value: "URL", help: "Where it is cloned from: a URL of git's, or a whole path." },
			{ name: "name", type: "text", value: "NAME", help: "How it is called; else by its folder." },
			{ name: "prefix", type: "text", value: "TEXT", help: "Prefix of the ids of its items." },
			{
				name: "base-branch",
				type: "text",
				value: "BRANCH",
				help: "Jobs begin from this branch and merge into it; else the branch that is checked out now. It is written down.",
			},
			{ name: "merge", type: "text", value: "HOW", help: "What becomes of branches.", choices: ["direct", "mr", "local"] },
			{ name: "max", type: "number", value: "N", help: "Maximum concurrent runs in this repo." },
		],
		examples: [
			["sluice repo add", "the one you are in"],
			["sluice repo add ~/src/app --base-branch develop --merge mr", "requests instead of merges"],
			["sluice repo add app --url git@example.org:team/app.git", "on every host, cloned when it is needed"],
		],
		load,
	},
	{
		name: "repo trust",
		help: "Let a repo's own sluice.yml count, as it stands now.",
		more: ["It can name commands that run on this machine. When it changes, it has to be trusted again."],
		args: [NAME],
		options: [{ name: "off", type: "flag", help: "It counts no longer." }],
		examples: [["sluice repo trust app", "after reading it"]],
		load,
	},
	{
		name: "repo remove",
		help: "Take a repo out of the configuration; its folder and branches stay.",
		args: [NAME],
		examples: [["sluice repo remove app", ""]],
		load,
	},
];

export const DIFF: CommandSpec = {
	name: "diff",
	help: "What a job has changed, as a patch.",
	more: ["From its worktree, committed or not; from its last run's folder when the worktree is gone."],
	args: [ID],
	examples: [["sluice diff 7 | less", "look before it is merged"]],
	load: () => import("../commands/diff.ts"),
};

export const OPEN: CommandSpec = {
	name: "open",
	help: "The dashboard's link; or where a job works: its worktree, its branch, its agent's session.",
	more: [
		"The link signs in without a password: keep it as you keep the token in it.",
		"Of a job with an agent's session it prints the line that goes on with it at a terminal. Where the worktree was removed, after a merge or by `prune`, the line first makes it again at its path, since agents find their sessions by their folder; and it is said how to remove it afterwards.",
	],
	args: [{ ...ID, take: "optional" }],
	options: [{ name: "viewer", type: "flag", help: "A link that can only look." }],
	examples: [
		["sluice open", "see everything in a browser"],
		["sluice open --viewer", "for a screen on the wall"],
		["sluice open 7", "where job 7 works"],
		['cd "$(sluice open 7 -q)"', "go there"],
	],
	load: () => import("../commands/open.ts"),
};

export const PRUNE: CommandSpec = {
	name: "prune",
	help: "Remove worktrees of ended jobs; unsaved work goes to a rescue ref first.",
	more: ["Worktrees of merged jobs go by themselves. What stays is named, with the reason."],
	options: [{ name: "dry-run", type: "flag", help: "Only say what would be done." }],
	examples: [["sluice prune --dry-run", "look first"]],
	load: () => import("../commands/prune.ts"),
};
