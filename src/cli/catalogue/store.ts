// Descriptions of the commands for what the store holds: export, back-up, move.

import { flag, named } from "../command.ts";

export const STORE = named({
	export: {
		help: "All jobs and their events, as JSON lines.",
		examples: [["sluice export > jobs.jsonl", "each line has a `type`: job or event"]],
		load: () => import("../commands/store/export.ts"),
	},
	backup: {
		help: "Write the queue as it is now into a file, also while the daemon works.",
		more: ["A SQLite database that can be put in the place of the home's sluice.db: see Operating. A queue in PostgreSQL has pg_dump."],
		args: [{ name: "FILE", help: "A new file.", take: "one", completes: "file" }],
		examples: [["sluice backup ~/sluice-monday.db", "jobs, events and numbers; not logs and worktrees"]],
		load: () => import("../commands/store/backup.ts"),
	},
	"migrate-store": {
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
			flag("check", "Only say what would be moved, and what is in the way."),
			flag("replace", "Delete what TO has."),
			flag("again", "Also if FROM was moved before."),
		],
		examples: [
			["sluice migrate-store ~/.sluice postgres://sluice@db.example/sluice", "to a database that several hosts can share"],
			["sluice migrate-store postgres://sluice@db.example/sluice ~/.sluice --replace", "and back"],
			["sluice migrate-store --check ~/.sluice postgres://sluice@db.example/sluice", "what is in the way?"],
		],
		load: () => import("../commands/store/migrate.ts"),
	},
});
