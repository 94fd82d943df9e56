// Description of `edit`.

import { type CommandSpec, list } from "../../command.ts";
import { ID } from "../../command-line/shared-options.ts";
import { ADD } from "./add.ts";

/** Options of `add` that have no meaning for a job that is there: what it is made of, how it was added, what is done meanwhile. */
const ONLY_WHEN_ADDED = [
	...["item", "source", "parent", "trigger", "recipe", "var", "capture-diff"],
	...["hold", "force", "wait", "follow"],
];

const elsewhere = {
	...Object.fromEntries(
		["item", "source", "parent", "trigger", "recipe", "var"].map((name) => [
			name,
			"it stays as it was added; cancel the job and add another one",
		]),
	),
	hold: "sluice hold ID, and sluice release ID",
};

export const EDIT: CommandSpec = {
	name: "edit",
	help: "Change a waiting job: any of its fields, by options or in your editor.",
	more: [
		"Without options, $VISUAL or $EDITOR opens with the job's fields; an unchanged or empty file changes nothing.",
		"An option that can be given several times replaces the whole list; --env adds to the job's variables.",
		"The job keeps its number, its age, and what comes after it. What a running or ended job was given cannot be changed.",
	],
	args: [ID, { name: "PROMPT", help: "What the agent shall do instead; - reads it from stdin.", take: "optional" }],
	rest: { name: "CMD…", help: "Another command, taken word by word." },
	options: [
		...(ADD.options ?? []).filter(({ name }) => !ONLY_WHEN_ADDED.includes(name)),
		list("unset", "FIELD", "Take a field away: the job then has the default. The name of an option, or of a manifest's key."),
	],
	elsewhere,
	excludes: ADD.excludes ?? [],
	requires: [["unique-for", "unique"]],
	examples: [
		["sluice edit 7 --lane slow --priority 5", "another lane, and sooner there"],
		["sluice edit 7 --after 3 --unset deadline", "comes after job 3 alone, and never expires"],
		["sluice edit 7 -- make test", "another command"],
		["sluice edit 7", "all its fields, in your editor"],
	],
	load: () => import("../../commands/job/edit.ts"),
};
