// Descriptions of the commands that act on jobs.

import { SIGNALS } from "../../../core/runs/signals.ts";
import { commandsOf, flag, text } from "../../command.ts";
import { FILTER, ID, IDS, REASON, SOME_IDS } from "../../command-line/shared-options.ts";

const BY_FILTER =
	"With a filter instead of jobs: all that match. If it finds several, you are asked first; --yes skips that, and is needed without a terminal.";

export const ACT = commandsOf("", () => import("../../commands/job/act.ts"), {
	cancel: {
		help: "End jobs: waiting ones at once, running ones after a stop.",
		more: [
			"Each is tried; exit code 4 if one of them had ended already. A number or name that does not exist: nothing is done, exit code 3.",
			BY_FILTER,
		],
		args: [SOME_IDS],
		options: [flag("subtree", "And everything that comes after them, and their children; else those go on."), REASON, ...FILTER],
		examples: [
			["sluice cancel 7", "one"],
			["sluice cancel --lane slow --status queued", "all of a lane that have not started"],
			["sluice cancel 7 --subtree --reason 'wrong branch'", "and what comes after it"],
		],
	},
	retry: {
		help: "Run jobs again, and everything that comes after them.",
		more: [BY_FILTER, "A filter without --status means jobs that failed, expired or were blocked."],
		args: [SOME_IDS],
		options: [flag("failed", "All that failed."), text("since", "DURATION", "Only what ended within this time: 12h, 1d."), ...FILTER],
		examples: [
			["sluice retry 7", "rewind to job 7"],
			["sluice retry --failed --since 1d --yes", "all that failed since yesterday"],
		],
	},
	rerun: {
		help: "Run this one job again, counters cleared, without the jobs that come after it.",
		more: [
			"Its children that its end had blocked come back with it. Other jobs that it had blocked stay blocked and are named: retry brings them back, too.",
		],
		args: [ID],
		examples: [["sluice rerun 7", "also ends its back-off"]],
	},
	merge: {
		help: "Try a job's merge once more, without a run; or give it up.",
		more: [
			"What is merged is its branch as it stands now: fix and commit it in its worktree first (sluice open ID).",
			"With --drop nothing is merged: the job stays succeeded, its branch stays, and what waits for its merge is blocked.",
		],
		args: [ID],
		options: [flag("drop", "Give it up."), REASON],
		examples: [
			["sluice merge 7", "after a conflict was solved by hand"],
			["sluice merge 7 --drop --reason 'done otherwise'", "it is not wanted any more"],
		],
	},
	promote: {
		help: "First in its lane.",
		more: [BY_FILTER],
		args: [SOME_IDS],
		options: FILTER,
		examples: [
			["sluice promote 7", "next in its lane"],
			["sluice promote 9 7", "job 9 first, then job 7"],
		],
	},
	demote: { help: "Last in its lane.", args: [ID], examples: [["sluice demote 7", "after all others of its lane"]] },
	priority: {
		help: "Set a job's own priority.",
		args: [ID, { name: "N", help: "A whole number; higher starts sooner.", take: "one" }],
		examples: [["sluice priority 7 50", "fifty more than its lane gives"]],
	},
	"run-now": {
		help: "Start it first of all, now: no delay, no back-off. Locks, holds, pauses, approval and dependencies still count.",
		args: [ID],
		options: [flag("force", "Past max_concurrent and its lane's cap; never past locks, holds or the safety cap.")],
		examples: [
			["sluice run-now 7", "do not wait for its time"],
			["sluice run-now 7 --force", "at once, even if all slots are taken"],
		],
	},
	hold: {
		help: "Keep waiting jobs from starting until they are released.",
		more: ["run-now does not start a held job. A running job cannot be held: freeze stops it for a while, cancel ends it.", BY_FILTER],
		args: [SOME_IDS],
		options: [REASON, ...FILTER],
		examples: [
			["sluice hold 7", "it waits, whatever else is free"],
			["sluice hold 7 8 --reason 'after the demo'", "why, list and status show the reason"],
		],
	},
	release: {
		help: "End the hold of jobs.",
		more: [BY_FILTER],
		args: [SOME_IDS],
		options: FILTER,
		examples: [
			["sluice release 7", "it starts when its turn comes"],
			["sluice release --batch night --yes", "all of a batch that are held"],
		],
	},
	freeze: {
		help: "Stop the processes of running jobs for a while (SIGSTOP).",
		more: [
			"Their time limits stand still, they keep their slots and locks, and they stay frozen when the daemon is restarted. cancel ends a frozen job, too.",
			"Everything at once, or a lane: sluice pause --freeze.",
		],
		args: [IDS],
		options: [REASON],
		examples: [["sluice freeze 7", "until: sluice thaw 7"]],
	},
	thaw: { help: "Let frozen jobs go on.", args: [IDS], examples: [["sluice thaw 7", "it goes on where it stood"]] },
	signal: {
		help: "Send a signal to a running job.",
		more: [
			"All processes of its program get it; the history says who sent it. To end a job, use cancel: it also ends what the job has started.",
		],
		args: [ID, { name: "SIGNAL", help: `${SIGNALS.join(", ")}.`, take: "one" }],
		examples: [["sluice signal 7 HUP", "it reads its configuration again, if it handles that"]],
	},
	tell: {
		help: "Tell a job's agent something, while it runs or waits.",
		more: [
			"A run whose agent can be resumed is stopped at the end of its present turn and goes on with the text, in the same session, with its slot and its locks; no retry is used. Any other job has the text in the prompt of its next run. The answer says which.",
		],
		args: [ID, { name: "TEXT", help: "What it should know; - reads it from stdin.", take: "one" }],
		examples: [["sluice tell 7 'use the new API, not the old one'", "it goes on with that"]],
	},
	attach: {
		help: "Take over the session of a running agent at this terminal; its run goes on when you leave.",
		more: [
			"The run is stopped at the end of its present turn. Then the agent's own program opens the session here, in the job's folder. The job keeps its slot, its locks and its worktree meanwhile. If this terminal goes away, the run goes on by itself after 30 s.",
		],
		args: [ID],
		options: [flag("done", "The job is done when you leave: its work is judged as it stands.")],
		examples: [["sluice attach 7", "work in its session, then let it go on"]],
	},
	approve: {
		help: "Agree to jobs that need it.",
		more: [BY_FILTER],
		args: [SOME_IDS],
		options: FILTER,
		examples: [
			["sluice approve 7", "let it run"],
			["sluice approve --batch night", "all of a batch that wait for approval"],
		],
	},
	reject: {
		help: "Refuse a job that needs approval; it ends cancelled.",
		args: [ID],
		options: [REASON],
		examples: [["sluice reject 7 --reason 'too risky'", "with a reason"]],
	},
	answer: {
		help: "Answer what a job asks, or grant what it was denied; it goes on.",
		more: [
			"A permission counts for all further runs of the job, until retry or rerun begin it anew. TEXT may be left out then.",
			"`asked` allows the commands that were denied in its last run (sluice show ID), and whatever follows them; a tool that was denied is allowed for any file or address. Codex has no such way.",
		],
		args: [ID, { name: "TEXT", help: "The answer; - reads it from stdin.", take: "optional" }],
		options: [text("permission", "MODE", "What it may do without asking from now on.", { choices: ["edit", "full", "asked"] })],
		examples: [
			["sluice answer 7 'use the staging database'", "its next run is told"],
			["sluice answer 7 --permission asked", "it may run the commands and use the tools that it was denied"],
			["sluice answer 7 'yes, and push it' --permission full", "it may do everything"],
		],
	},
});
