// Descriptions of the `repo` commands.

import { commandsOf, flag, number, text } from "../command.ts";

const NAME = { name: "NAME", help: "The repo.", take: "one" } as const;

export const REPO = commandsOf("repo", () => import("../commands/repo.ts"), {
	list: {
		help: "Repos: where they are, how they merge, what is wrong with them.",
		examples: [["sluice repo list", "which repos there are"]],
	},
	show: {
		help: "One repo: its settings in force and its worktrees.",
		args: [NAME],
		examples: [["sluice repo show app", "whether its sluice.yml and recipes count, too"]],
	},
	add: {
		help: "Register a git repository, by its folder or by a URL, or change one.",
		more: ["With --url no folder is given, but a name: each host that gets a job of it clones it, and work goes back there."],
		args: [
			{ name: "FOLDER", help: "A folder in it; else where you are. With --url: how it is called.", take: "optional", completes: "folder" },
		],
		options: [
			text("url", "URL", "Where it is cloned from: a URL of git's, or a whole path."),
			text("name", "NAME", "How it is called; else by its folder."),
			text("prefix", "TEXT", "Prefix of the ids of its items."),
			text(
				"base-branch",
				"BRANCH",
				"Jobs begin from this branch and merge into it; else the branch that is checked out now. It is written down.",
			),
			text("merge", "HOW", "What becomes of branches.", { choices: ["direct", "mr", "local"] }),
			number("max", "N", "Maximum concurrent runs in this repo."),
		],
		examples: [
			["sluice repo add", "the one you are in"],
			["sluice repo add ~/src/app --base-branch develop --merge mr", "requests instead of merges"],
			["sluice repo add app --url git@example.org:team/app.git", "on every host, cloned when it is needed"],
		],
	},
	trust: {
		help: "Let a repo's own sluice.yml and recipes count, as they stand now.",
		more: [
			"They can name commands that run on this machine. What is new since the last time is listed with the commands that it names; at a terminal you are asked.",
			"Each file is recorded with its digest. Once one is added, changed or removed, sluice.yml or all recipes do not count until you say this again.",
		],
		args: [NAME],
		options: [flag("off", "They count no longer."), flag("yes", "Do not ask.", { short: "y" })],
		examples: [["sluice repo trust app", "after reading them"]],
	},
	remove: {
		help: "Take a repo out of the configuration; its folder and branches stay.",
		args: [NAME],
		examples: [["sluice repo remove app", ""]],
	},
});
