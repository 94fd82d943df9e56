// Descriptions of the commands for lanes, locks and artifacts, for maintenance, and of the rest.

import type { CommandSpec } from "../command.ts";
import { AGENTS } from "./agent.ts";
import { HOSTS } from "./host.ts";
import { MONEY } from "./money.ts";
import { PRUNE, REPOS } from "./repo.ts";

const list = (noun: string, help: string, says: string): CommandSpec => ({
	name: `${noun} list`,
	help,
	examples: [[`sluice ${noun} list`, says]],
	load: () => import("../commands/nouns.ts"),
});
const loadSet = () => import("../commands/noun-set.ts");

const marker = (verb: string, help: string): CommandSpec => ({
	name: `artifact ${verb}`,
	help,
	args: [{ name: "ARTIFACT", help: "custom:TYPE:KEY or sentinel:NAME.", take: "one" }],
	options: [{ name: "absent", type: "flag", help: "It is not there." }],
	examples: [[`sluice artifact ${verb} custom:review:A-12`, "jobs that need it go on"]],
	load: loadSet,
});

export const NOUNS: readonly CommandSpec[] = [
	list("lane", "Lanes with their caps and what is in them.", "how full each is"),
	{
		name: "lane set",
		help: "Change a lane, or make one; counts at once.",
		args: [{ name: "NAME", help: "The lane.", take: "one", completes: "lane" }],
		options: [
			{ name: "max", type: "text", value: "N", help: "Maximum concurrent runs; `none` removes the cap." },
			{ name: "priority", type: "number", value: "N", help: "Its base in the priority sum." },
		],
		examples: [["sluice lane set code --max 8 --priority 100", "eight at a time, before others"]],
		load: loadSet,
	},
	{
		name: "lane remove",
		help: "Take a lane out of the configuration; not while a job of it is open.",
		args: [{ name: "NAME", help: "The lane.", take: "one", completes: "lane" }],
		examples: [["sluice lane remove docs", "no job uses it any more"]],
		load: loadSet,
	},
	...AGENTS,
	...MONEY,
	list("lock", "Locks: who holds them, for whom one is kept free.", "what is taken"),
	list("artifact", "Artifacts that jobs need or produce, and whether they are there.", "what is there"),
	marker("set", "Say that an artifact is there, or is not."),
	marker("mark", "The same as artifact set."),
	...REPOS,
	...HOSTS,
];

export const UPKEEP: readonly CommandSpec[] = [
	{
		name: "gc",
		help: "Delete ended jobs with their runs and logs.",
		more: ["Never one that a job which has not ended still refers to, nor one whose merge is open."],
		options: [{ name: "days", type: "number", value: "N", help: "Delete jobs that ended more than N days ago. Default: 7." }],
		examples: [["sluice gc --days 30", "keep a month"]],
		load: () => import("../commands/scheduler/gc.ts"),
	},
	PRUNE,
	{
		name: "export",
		help: "All jobs and their events, as JSON lines.",
		examples: [["sluice export > jobs.jsonl", "each line has a `type`: job or event"]],
		load: () => import("../commands/store/export.ts"),
	},
	{
		name: "backup",
		help: "Write the queue as it is now into a file, also while the daemon works.",
		more: ["A SQLite database that can be put in the place of the home's sluice.db: see Operating. A queue in PostgreSQL has pg_dump."],
		args: [{ name: "FILE", help: "A new file.", take: "one", completes: "file" }],
		examples: [["sluice backup ~/sluice-monday.db", "jobs, events and numbers; not logs and worktrees"]],
		load: () => import("../commands/store/backup.ts"),
	},
	{
		name: "migrate-store",
		help: "Move everything from one store to another: SQLite to PostgreSQL, or back.",
		more: [
			"A store is a home, a SQLite file, or postgres://user@host/database. Jobs that wait or have ended, their events, numbers, runs and settings",
			"are kept. Refused while a job runs or a daemon works with either. All of it or nothing is moved; the old store refuses work afterwards.",
		],
		args: [
			{ name: "FROM", help: "The store that has the jobs.", take: "one", completes: "file" },
			{ name: "TO", help: "An empty one, or a place for it.", take: "one", completes: "file" },
		],
		options: [
			{ name: "check", type: "flag", help: "Only say what would be moved, and what is in the way." },
			{ name: "replace", type: "flag", help: "Delete what TO has." },
			{ name: "again", type: "flag", help: "Also if FROM was moved before." },
		],
		examples: [
			["sluice migrate-store ~/.sluice postgres://sluice@db.example/sluice", "to a database that several hosts can share"],
			["sluice migrate-store postgres://sluice@db.example/sluice ~/.sluice --replace", "and back"],
			["sluice migrate-store --check ~/.sluice postgres://sluice@db.example/sluice", "what is in the way?"],
		],
		load: () => import("../commands/store/migrate.ts"),
	},
	{
		name: "completion",
		help: "Completion for your shell, ids included.",
		args: [{ name: "SHELL", help: "bash, zsh or fish.", take: "one", completes: ["bash", "zsh", "fish"] }],
		examples: [
			["source <(sluice completion bash)", "in ~/.bashrc"],
			["sluice completion zsh > ~/.zfunc/_sluice", "in a folder of your fpath"],
			["sluice completion fish > ~/.config/fish/completions/sluice.fish", ""],
		],
		load: () => import("../commands/shell/completion.ts"),
	},
	{
		name: "version",
		help: "The version of this program, and of the daemon that runs.",
		examples: [["sluice version", ""]],
		load: () => import("../commands/scheduler/version.ts"),
	},
	{
		name: "__complete",
		help: "Words for completion.",
		args: [{ name: "KIND", help: "job, lane or host.", take: "one" }],
		examples: [["sluice __complete job", ""]],
		hidden: true,
		load: () => import("../commands/shell/complete.ts"),
	},
];
