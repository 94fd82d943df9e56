// Descriptions of the commands that control the scheduler and its daemon.

import type { CommandSpec } from "../command.ts";
import { REASON, SCOPE, SCOPE_NAMES } from "./shared.ts";

const PRESETS = ["cards", "town", "dag", "loops", "kernel"] as const;

export const CONTROL: readonly CommandSpec[] = [
	{
		name: "up",
		help: "Start the daemon here, in the foreground.",
		more: [
			"Other commands start it by themselves, in the background, when they need it.",
			"Exit code 4 if this home has a daemon already (--detach is content with it), or if its host name is held by another home.",
		],
		options: [
			{ name: "detach", type: "flag", help: "In the background; returns once it is ready." },
			{
				name: "port",
				type: "text",
				value: "N",
				help: "Port of its HTTP side on 127.0.0.1: 0 is any free one, none is none; one that is taken is refused. Else the setting `port`, 7420, or the next free one.",
			},
			{
				name: "store",
				type: "text",
				value: "PLACE",
				help: "A store that several hosts share: a SQLite file or postgres://… Else the setting `store`, SLUICE_STORE, or the home's own.",
				completes: "file",
			},
			{
				name: "name",
				type: "text",
				value: "NAME",
				help: "What this host is called there; else the setting `host.name`, or the machine's name.",
			},
			{
				name: "label",
				type: "list",
				value: "LABEL",
				help: "What this host has, for jobs that ask for it; else the setting `host.labels`.",
			},
			{
				name: "accept-loss",
				type: "flag",
				help: "Start although acknowledged jobs are missing from the queue's file: a start without it is refused, so that a back-up can be put back.",
			},
			{ name: "install", type: "flag", help: "Make it a service of yours that starts at login (systemd or launchd)." },
		],
		excludes: [
			["detach", "install"],
			["install", "store"],
			["install", "name"],
			["install", "label"],
			["install", "accept-loss"],
		],
		examples: [
			["sluice up --detach", "in the background"],
			["sluice up --store postgres://db.example/sluice --label gpu", "one more host for a queue that others have"],
			["sluice up --install", "from now on at every login"],
		],
		load: () => import("../commands/scheduler/up.ts"),
	},
	{
		name: "down",
		help: "Stop the daemon. What runs goes on, and is found again by the next one.",
		options: [{ name: "stop-runs", type: "flag", help: "Stop what runs, too; it is run again later, and no retry is burned." }],
		examples: [
			["sluice down", "runs go on"],
			["sluice down --stop-runs", "leave nothing behind"],
		],
		load: () => import("../commands/scheduler/down.ts"),
	},
	{
		name: "run",
		help: "One dispatch pass by hand, or its plan.",
		more: ["It does not wait for the next cycle; caps, the batch size, locks and holds count as ever."],
		options: [{ name: "dry-run", type: "flag", help: "Start nothing: what would start, what is skipped, which bound holds." }],
		examples: [["sluice run --dry-run", "what would start now"]],
		load: () => import("../commands/scheduler/run.ts"),
	},
	{
		name: "pause",
		help: "Start nothing new: at all, or in one scope.",
		more: ["What runs goes on. Entries of the kernel's queue are not paused: workers of your own claim them."],
		options: [
			...SCOPE,
			{ name: "freeze", type: "flag", help: "Stop what runs in its tracks, too (SIGSTOP)." },
			REASON,
			{ name: "for", type: "text", value: "DURATION", help: "Resume automatically after this time." },
		],
		excludes: [SCOPE_NAMES],
		examples: [
			["sluice pause --reason 'release day'", "everything"],
			["sluice pause --lane code --for 2h", "one lane, until it passes"],
		],
		load: () => import("../commands/scheduler/pause.ts"),
	},
	{
		name: "resume",
		help: "End a pause; frozen runs go on; an open breaker is closed.",
		more: ["The breaker of an agent or a repo opens when several launches in a row fail, and closes by itself with a probe that works."],
		options: [...SCOPE, { name: "agent", type: "text", value: "NAME", help: "Close the breaker of this agent." }],
		excludes: [[...SCOPE_NAMES, "agent"]],
		examples: [
			["sluice resume", "everything"],
			["sluice resume --lane code", "what was paused as a lane"],
			["sluice resume --agent claude", "it is installed now: do not wait for the probe"],
		],
		load: () => import("../commands/scheduler/pause.ts"),
	},
	{
		name: "clear",
		help: "End all jobs that do not run, or one item's.",
		options: [
			{ name: "item", type: "text", value: "ID", help: "Only the jobs of this item." },
			{ name: "yes", short: "y", type: "flag", help: "Do not ask." },
		],
		examples: [
			["sluice clear", "asks first"],
			["sluice clear --item A-12 --yes", "one item's, without asking"],
		],
		load: () => import("../commands/scheduler/clear.ts"),
	},
	{
		name: "init",
		help: "Write a first configuration into the home.",
		options: [{ name: "preset", type: "text", value: "NAME", help: "The defaults of another scheduler.", choices: PRESETS }],
		examples: [
			["sluice init", "with comments, everything at its default"],
			["sluice init --preset loops", "lanes plan, spec, phase and code"],
		],
		load: () => import("../commands/init.ts"),
	},
	{
		name: "config get",
		help: "One setting.",
		args: [{ name: "KEY", help: "Such as max_concurrent or lanes.code.max.", take: "one" }],
		examples: [["sluice config get max_concurrent", ""]],
		load: () => import("../commands/config.ts"),
	},
	{
		name: "config set",
		help: "Change a setting, in the file and at once; `port`, `store` and `host` count from the next start.",
		args: [
			{ name: "KEY", help: "Such as max_concurrent or lanes.code.max.", take: "one" },
			{ name: "VALUE", help: "As it stands in YAML: 8, true, 30s, null, [a, b].", take: "one" },
		],
		examples: [
			["sluice config set max_concurrent 8", "starts more at once"],
			["sluice config set lanes.code.max null", "no cap"],
		],
		load: () => import("../commands/config.ts"),
	},
	{
		name: "config unset",
		help: "Take a setting out of the file: its default counts again.",
		args: [{ name: "KEY", help: "Such as max_concurrent or lanes.code.max.", take: "one" }],
		examples: [["sluice config unset max_concurrent", ""]],
		load: () => import("../commands/config.ts"),
	},
	{
		name: "config list",
		help: "All settings.",
		options: [{ name: "origin", type: "flag", help: "And where each comes from." }],
		examples: [["sluice config list --origin", "default, file, flag or environment"]],
		load: () => import("../commands/config.ts"),
	},
	{
		name: "config check",
		help: "Is the configuration file right?",
		examples: [["sluice config check", "names the line of each mistake"]],
		load: () => import("../commands/config.ts"),
	},
	{
		name: "doctor",
		help: "Look for what could be wrong on this machine.",
		options: [
			{ name: "store", type: "text", value: "URL", help: "Look at this database, too, instead of the one that the settings name." },
		],
		examples: [
			["sluice doctor", "each finding says what to do"],
			["sluice doctor --store postgres://sluice@db.example/sluice", "could this database be a store?"],
		],
		load: () => import("../commands/doctor.ts"),
	},
];
