// Description of `sluice sling`.

import { AGENT_NAMES } from "../../../core/agents/profile.ts";
import type { CommandSpec } from "../../command.ts";

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
		{ name: "on", type: "text", value: "ITEM", help: "The item; then ID is the recipe." },
		{ name: "repo", type: "text", value: "NAME", help: "The repo, instead of as the last argument." },
		{ name: "recipe", type: "text", value: "NAME", help: "The recipe; else the source's, the repo's, or work." },
		{ name: "var", type: "list", value: "KEY=VALUE", help: "A variable of the recipe." },
		{ name: "args", type: "text", value: "TEXT", help: "Instructions for the agent, in plain words." },
		{
			name: "agent",
			type: "text",
			value: "NAME",
			help: "Another agent than the recipe names.",
			completes: AGENT_NAMES,
		},
		{ name: "account", type: "text", value: "NAME", help: "The provider account whose quota it uses." },
		{ name: "lane", type: "text", value: "NAME", help: "Another lane.", completes: "lane" },
		{ name: "priority", type: "number", value: "N", help: "Added to its lane's; higher starts sooner." },
		{ name: "merge", type: "text", value: "HOW", help: "How branches are merged.", choices: ["direct", "mr", "local"] },
		{ name: "base-branch", type: "text", value: "BRANCH", help: "What their branches begin from." },
		{ name: "no-merge", type: "flag", help: "Do not merge." },
		{ name: "raw", type: "flag", help: "The item's own text is the prompt: no recipe." },
		{ name: "owned", type: "flag", help: "Keep the batch open when its jobs have ended, until you run sluice batch close." },
		{ name: "mode", type: "text", value: "MODE", help: "How it works: ralph begins each step with a fresh context.", choices: ["ralph"] },
		{ name: "batch", type: "text", value: "NAME", help: "The batch; else a new one, or the one they belong to." },
		{ name: "no-batch", type: "flag", help: "No batch." },
		{ name: "dry-run", type: "flag", help: "Only say what would be added." },
		{ name: "force", type: "flag", help: "Even if the id has another repo's prefix, or the item is in progress elsewhere." },
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
