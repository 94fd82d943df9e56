// Descriptions of the commands that read jobs.

import { STATUSES } from "../../../core/job.ts";
import { flag, list, named, number, text } from "../../command.ts";
import { ID, IDS, WHERE } from "../../command-line/shared-options.ts";

export const READ = named({
	list: {
		help: "Jobs, by repo: those that have not ended, or what you ask for.",
		more: [
			"! marks a job that waits for more than its turn: a time, another job, a lock, a person, a pause, a budget, a host. `sluice why ID` says for what.",
		],
		options: [
			list("status", "STATUS", "Only these.", { choices: STATUSES, sought: ["failed", "running", "done", "pending", "state"] }),
			...WHERE,
			flag("all", "Ended ones too."),
			number("limit", "N", "Show at most N jobs, the latest of those that have ended; 0 shows all. Default on a terminal: 500."),
			text("fields", "A,B,…", "What is shown, by the names of the JSON document."),
			text("format", "HOW", "A line each, or a block each.", { choices: ["table", "block"] }),
		],
		examples: [
			["sluice list", "what has not ended"],
			["sluice list --status failed --lane code", "what went wrong there"],
			["sluice list --all --fields id,name,status,exit_code", "chosen columns"],
		],
		load: () => import("../../commands/job/list.ts"),
	},
	show: {
		help: "All that is known of a job.",
		args: [ID],
		options: [
			text("fields", "A,B,…", "What is shown, by the names of the JSON document."),
			flag("outcome", "Instead: the account of its last run, on whichever host that was."),
			number("run", "N", "With --outcome: of attempt N."),
		],
		examples: [
			["sluice show 7", "by number"],
			["sluice show 7 --outcome", "how its last run ended, and its last words"],
			["sluice show build --json", "by name, as JSON"],
		],
		load: () => import("../../commands/job/show.ts"),
	},
	why: {
		help: "Why a job does not run yet: every reason, its place in line, its priority.",
		args: [ID],
		examples: [["sluice why 7", "everything that holds it back, and what to do about it"]],
		load: () => import("../../commands/job/why.ts"),
	},
	history: {
		help: "What has happened to a job, and who did it.",
		args: [ID],
		examples: [["sluice history 7", "oldest first"]],
		load: () => import("../../commands/job/history.ts"),
	},
	logs: {
		help: "What jobs have written: stdout and stderr, in order.",
		more: [
			"With -f a log begins with its last 100 lines; -n says how many, -n all begins at the start. Several jobs: each line begins with the job's number or name.",
			"Without --raw, an agent's JSON lines are told in words, and what would move the cursor or hide text is left out; colours stay.",
			"--json prints one document of at most 1 MB; its `next_offset` is the --offset of the next one, until `eof`.",
		],
		args: [IDS],
		options: [
			flag("follow", "Stay until the job has ended.", { short: "f" }),
			text("lines", "N", "Only the last N lines; all for all.", { short: "n", sought: ["tail"] }),
			number("run", "N", "The Nth attempt; else the latest.", { sought: ["attempt"] }),
			flag("stdout", "Only what it wrote to stdout."),
			flag("stderr", "Only what it wrote to stderr."),
			flag("raw", "Exactly as it was written."),
			number("offset", "BYTE", "Begin at this byte; below zero it counts from the end."),
		],
		excludes: [
			["stdout", "stderr"],
			["lines", "offset"],
		],
		examples: [
			["sluice logs 7", "all of it"],
			["sluice logs -f 7", "watch it work"],
			["sluice logs -n 20 7 8", "the last lines of two jobs"],
			["sluice logs 7 --run 1 --stderr", "what the first attempt complained about"],
		],
		load: () => import("../../commands/job/logs.ts"),
	},
	diff: {
		help: "What a job has changed, as a patch.",
		more: ["From its worktree, committed or not; from its last run's folder when the worktree is gone."],
		args: [ID],
		examples: [["sluice diff 7 | less", "look before it is merged"]],
		load: () => import("../../commands/job/diff.ts"),
	},
	open: {
		help: "The dashboard's link; or where a job works: its worktree, its branch, its agent's session.",
		more: [
			"The link signs in one page, once, within ten minutes, without a password: keep it to yourself. The page stays signed in until the daemon stops, or until it was not used for 12 hours.",
			"Of a job with an agent's session it prints the line that goes on with it at a terminal. Where the worktree was removed, after a merge or by `prune`, the line first makes it again at its path, since agents find their sessions by their folder; and it is said how to remove it afterwards.",
		],
		args: [{ ...ID, take: "optional" }],
		options: [flag("viewer", "The page can only look.")],
		examples: [
			["sluice open", "see everything in a browser"],
			["sluice open --viewer", "for a screen on the wall"],
			["sluice open 7", "where job 7 works"],
			['cd "$(sluice open 7 -q)"', "go there"],
		],
		load: () => import("../../commands/job/open.ts"),
	},
	wait: {
		help: "Stay until jobs have ended: exit 0 if all succeeded, else 1.",
		more: [
			"Inside a run it lends the run's slot while it waits, so that the jobs can start. A job that can end only after the run has is refused with exit code 4.",
			"With --batch, --lane or --all it waits for jobs that are added meanwhile, too; of a batch those count that had ended before. Inside a run it does not wait for the run's own job.",
			"A daemon that dies meanwhile is started again.",
		],
		args: [{ ...IDS, take: "any" }],
		options: [
			text("batch", "NAME", "All jobs of this batch."),
			text("lane", "NAME", "Until nothing of this lane waits or runs.", { completes: "lane", sought: ["group"] }),
			flag("all", "Until nothing waits and nothing runs."),
			flag("exit-code", "Exit with the job's own code (one job only)."),
			text("timeout", "DURATION", "Give up after this time, with exit code 75."),
		],
		excludes: [["batch", "lane", "all"]],
		examples: [
			["sluice wait 7 8 9 && ./publish.sh", "go on when all are well"],
			["sluice wait --batch night", "until the night's work is done"],
			["sluice wait build --exit-code", "as if the job had run here"],
		],
		load: () => import("../../commands/job/wait.ts"),
	},
	graph: {
		help: "What waits for what, as a picture in text.",
		more: ["Shows the jobs that have not ended and those that are blocked. --json is the same as --format json."],
		options: [
			flag("all", "Ended ones too."),
			text("job", "ID", "One job, what it waits for, and what waits for it.", { completes: "job" }),
			text("batch", "NAME", "Only this batch."),
			text("format", "HOW", "How it is drawn; else dag.", { choices: ["dag", "json", "mermaid", "dot"] }),
			number("max-depth", "N", "How far it goes on from a job; else 3."),
		],
		excludes: [
			["all", "job"],
			["batch", "job"],
		],
		examples: [
			["sluice graph", "what has not ended"],
			["sluice graph --job 7 --max-depth 1", "one job and its neighbours"],
			["sluice graph --all --format dot | dot -Tsvg > jobs.svg", "drawn by Graphviz"],
		],
		load: () => import("../../commands/job/graph.ts"),
	},
});
