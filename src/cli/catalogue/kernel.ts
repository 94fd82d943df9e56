// Descriptions of the `kernel` commands: the methods kernel.* for the kernel's queue, its agents and their ledgers.

import { commandsOf, flag, number, text } from "../command.ts";

const ID = { name: "ID", help: "The entry's number (sched_id).", take: "one" } as const;
const PID = { name: "PID", help: "The agent's number.", take: "one" } as const;
const DIM = { name: "DIMENSION", help: "tokens, cost, wall or a word of your own.", take: "one" } as const;
const STATES = ["queued", "dispatched", "completed", "expired", "cancelled"] as const;

export const KERNEL = commandsOf("kernel", () => import("../commands/kernel.ts"), {
	list: {
		help: "Entries of the kernel's queue, by number.",
		more: ["Workers of your own claim them (kernel.sched.claim); sluice pause does not hold them back."],
		options: [
			text("state", "STATE", "Only in this state.", { choices: STATES }),
			number("pid", "PID", "Only of this agent."),
			number("limit", "N", "At most so many; else 100."),
			number("offset", "N", "Skip so many."),
		],
		examples: [
			["sluice kernel list", "all of them"],
			["sluice kernel list --state queued --pid 2", "what one agent still has before it"],
		],
	},
	get: { help: "One entry, with its payload.", args: [ID], examples: [["sluice kernel get 7", "where it stands"]] },
	enqueue: {
		help: "Add an entry for an agent.",
		args: [PID],
		options: [
			number("priority", "N", "Higher goes sooner; else 0."),
			text("at", "TIME", "Not claimable before: 18:30, 2030-01-31T08:00, or 2h from now."),
			text("deadline", "TIME", "Not claimable from then on; kernel gc makes it expired."),
			text("trigger", "WORD", "What it comes from: manual, cron, event, resume or any word; else manual."),
			text("payload", "JSON", "An object for the worker, at most 1 MB; @FILE reads it. It comes back as it was sent."),
			flag("unique", "Not if one with this pid and trigger is queued already."),
		],
		examples: [
			['sluice kernel enqueue 1 --priority 5 --payload \'{"step": "read"}\'', "for agent 1, before those of less priority"],
			["sluice kernel enqueue 1 --trigger cron --unique", "unless one waits already"],
		],
	},
	cancel: {
		help: "End a queued entry. One that a worker has: sluice cancel ID asks that worker to stop.",
		args: [ID],
		examples: [["sluice kernel cancel 7", "it is not handed out any more"]],
	},
	claim: {
		help: "Claim entries by hand, as a worker does.",
		args: [{ name: "WORKER", help: "Who works on them.", take: "one" }],
		options: [number("max", "N", "At most so many; else 1."), flag("no-admission-check", "Also entries of agents that are over a limit.")],
		examples: [["sluice kernel claim me --max 2", "the next two"]],
	},
	complete: {
		help: "End a dispatched entry, as its worker does.",
		args: [ID, { name: "EXIT_KIND", help: "How it ended.", take: "one", completes: ["completed", "cancelled", "failed", "crashed"] }],
		options: [text("worker", "WORKER", "Only if this worker has it.")],
		examples: [["sluice kernel complete 7 failed", "its worker is gone, and it shall not run again"]],
	},
	gc: {
		help: "Expire queued entries whose deadline has passed; put entries of silent workers back.",
		options: [text("stale", "SPAN", "Also requeue dispatched entries whose worker has been silent for so long.")],
		examples: [
			["sluice kernel gc", "expired ones only"],
			["sluice kernel gc --stale 10m", "and what dead workers have left"],
		],
	},
	agents: { help: "Agents of the kernel: pid, name, state.", examples: [["sluice kernel agents", "who there is"]] },
	create: {
		help: "Make an agent; it is READY, and nothing is enqueued for it.",
		args: [{ name: "NAME", help: "Its name.", take: "one" }],
		examples: [["sluice kernel create researcher", "prints its pid"]],
	},
	transition: {
		help: "Set an agent's state; DEAD is for ever.",
		args: [PID, { name: "STATE", help: "The new state.", take: "one", completes: ["READY", "RUNNING", "WAITING", "SUSPENDED", "DEAD"] }],
		examples: [["sluice kernel transition 2 SUSPENDED", "what it has queued is still handed out"]],
	},
	ledger: {
		help: "Ledgers of an agent, or all that are over their limit.",
		args: [{ ...PID, take: "optional" }],
		examples: [
			["sluice kernel ledger 2", "what it has used of what it was granted"],
			["sluice kernel ledger", "who is not admitted now"],
		],
	},
	grant: {
		help: "Set the limit of an agent's ledger. An agent that has used more is passed over by claims.",
		args: [PID, DIM, { name: "LIMIT", help: "A whole number.", take: "one" }],
		options: [
			text("window", "SPAN", "Begin anew each hour or day.", { choices: ["hour", "day", "none"] }),
			text("warn-at", "SHARE", "Warn at this share of it, such as 0.8."),
		],
		examples: [["sluice kernel grant 2 tokens 100000 --window day", "so much each day"]],
	},
	charge: {
		help: "Add to what an agent has used; below zero takes back.",
		args: [PID, DIM, { name: "AMOUNT", help: "A whole number.", take: "one" }],
		examples: [["sluice kernel charge 2 tokens 1500", "used by its last run"]],
	},
	import: {
		help: "Take over agents, ledgers and queue of a kernel.db; all or nothing, the file stays as it is.",
		args: [{ name: "FILE", help: "The kernel.db, of schema 2 or 3.", take: "one", completes: "file" }],
		options: [flag("renumber", "Give agents and entries new numbers, where theirs are taken here.")],
		examples: [["sluice kernel import ~/.kernel/kernel.db", "pids and sched_ids stay what they were"]],
	},
});
