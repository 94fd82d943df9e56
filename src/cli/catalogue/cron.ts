// Descriptions of the `cron` commands.

import { type ArgSpec, commandsOf, list, number, text } from "../command.ts";

const NAME: ArgSpec = { name: "NAME", help: "The trigger; watch:NAME for one that watches files.", take: "one" };

export const CRON = commandsOf("cron", () => import("../commands/cron.ts"), {
	list: {
		help: "Triggers by time and by files: when each comes next, when it came last.",
		examples: [["sluice cron list", "what will be added, and when"]],
	},
	show: { help: "One trigger.", args: [NAME], examples: [["sluice cron show nightly", "all that is known of it"]] },
	add: {
		help: "Add a job at certain times from now on.",
		more: [
			"Kept under `cron` in the configuration file, where it can also have every other field of a job. Triggers by files stand under `watches` there.",
			"A slot adds no job while the last one is still open. What was missed (the machine slept) is skipped, made up for once (one), or each in turn (all).",
		],
		args: [
			{ name: "NAME", help: "A name for it.", take: "one" },
			{ name: "SCHEDULE", help: "Minute, hour, day, month, weekday; six fields begin with seconds. Or @daily and the like.", take: "one" },
			{ name: "PROMPT", help: "What the agent shall do.", take: "optional" },
		],
		rest: { name: "CMD…", help: "The command, taken word by word: no shell reads it." },
		options: [
			text(
				"timezone",
				"ZONE",
				"IANA name, such as Europe/Berlin; else the setting `timezone`: this machine's own, unless it says otherwise.",
			),
			text("catch-up", "WHAT", "What becomes of missed slots; else skip.", { choices: ["skip", "one", "all"] }),
			text("agent", "NAME", "Run this agent with PROMPT."),
			text("lane", "NAME", "The class of work it belongs to.", { completes: "lane" }),
			number("priority", "N", "Added to its lane's; higher starts sooner."),
			number("retries", "N", "Maximum number of retries after a failure."),
			text("timeout", "DURATION", "Stop a run that takes longer."),
			list("lock", "KEY[:shared]", "Hold this lock while it runs."),
			text("batch", "NAME", "Track its jobs together."),
			text("repo", "NAME", "The repo it works in."),
			text("owner", "NAME", "The owner whose budget pays for it."),
			list("env", "NAME[=VALUE]", "Set a variable, or take over yours."),
			text("cwd", "FOLDER", "Where it runs; else where you are.", { completes: "folder" }),
		],
		examples: [
			["sluice cron add nightly '30 2 * * *' --timezone Europe/Berlin -- make all", "at half past two, there"],
			["sluice cron add tidy @weekly --agent claude --catch-up one 'Remove dead code'", "made up for once if the machine slept"],
		],
	},
	remove: { help: "Take a trigger away; jobs that it has added stay.", args: [NAME], examples: [["sluice cron remove nightly", ""]] },
	run: {
		help: "Add a trigger's job now, unless the last one is still open.",
		args: [NAME],
		examples: [["sluice cron run nightly", "once, by hand"]],
	},
});
