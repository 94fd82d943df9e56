// Description of `sluice sling`.

import { AGENT_NAMES } from "../../../core/agents/profile.ts";
import { type CommandSpec, flag, list, number, text } from "../../command.ts";

const inRecipe = (field: string) => `the recipe sets the ${field} of its jobs; sluice recipe show NAME prints it`;

export const SLING: CommandSpec = {
	name: "sling",
	help: "Schedule items of a source: single ones, all children of an epic, all that a batch tracks.",
	more: [
		"The repo is found from an id's prefix when it is not named; one that does not fit is refused, with the right command. What is closed or worked on already is skipped.",
		"In direct mode it starts at once, in deferred mode it waits for a slot: as max_concurrent says. `sluice sling RECIPE --on ITEM` names the recipe first.",
	],
	args: [{ name: "ID", help: "Items, epics or batches; the last may name the repo.", take: "many" }],
	options: [
		text("on", "ITEM", "The item; then ID is the recipe."),
		text("repo", "NAME", "The repo, instead of as the last argument."),
		text("recipe", "NAME", "The recipe; else the source's, the repo's, or work."),
		list("var", "KEY=VALUE", "A variable of the recipe."),
		text("args", "TEXT", "Instructions for the agent, in plain words."),
		text("agent", "NAME", "Another agent than the recipe names.", { completes: AGENT_NAMES }),
		text("account", "NAME", "The provider account whose quota it uses."),
		text("lane", "NAME", "Another lane.", { completes: "lane" }),
		number("priority", "N", "Added to its lane's; higher starts sooner."),
		text("merge", "HOW", "How branches are merged.", { choices: ["direct", "mr", "local"] }),
		text("base-branch", "BRANCH", "What their branches begin from."),
		flag("no-merge", "Do not merge."),
		flag("raw", "The item's own text is the prompt: no recipe."),
		flag("owned", "Keep the batch open when its jobs have ended, until you run sluice batch close."),
		text("mode", "MODE", "How it works: ralph begins each step with a fresh context.", { choices: ["ralph"] }),
		text("batch", "NAME", "The batch; else a new one, or the one they belong to."),
		flag("no-batch", "No batch."),
		flag("dry-run", "Only say what would be added."),
		flag("force", "Even if the id has another repo's prefix, or the item is in progress elsewhere."),
	],
	elsewhere: { permission: inRecipe("permission"), model: inRecipe("model"), timeout: inRecipe("timeout"), allow: inRecipe("allow list") },
	excludes: [
		["merge", "no-merge"],
		["batch", "no-batch"],
		["raw", "recipe"],
		["raw", "on"],
	],
	examples: [
		["sluice sling gt-abc gastown", "one item, in the repo gastown"],
		["sluice sling gt-abc gt-def be-ghi", "several, each in the repo of its prefix"],
		["sluice sling gt-epic-123 --dry-run", "what all children of an epic would become"],
		["sluice sling implement-review-merge --on gt-abc", "a recipe for an item"],
	],
	load: () => import("../../commands/job/sling.ts"),
};
