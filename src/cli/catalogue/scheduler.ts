// Descriptions of the commands for the whole queue and its daemon.

import { flag, list, named, number, text } from "../command.ts";
import { REASON, SCOPE, SCOPE_NAMES } from "../command-line/shared-options.ts";

export const SCHEDULER = named({
	status: {
		help: "The queue, caps, holds and hosts at a glance.",
		options: [flag("watch", "Keep running and refresh when something changes.")],
		examples: [
			["sluice status", "what is going on"],
			["sluice status --json | jq .queued_ready", "one number of it"],
		],
		load: () => import("../commands/scheduler/status.ts"),
	},
	forecast: {
		help: "When jobs and batches are likely to start and end, and which cap decides it.",
		more: [
			"Plays the queue forward with how long past runs took, and tells by when half and by when nine of ten such plays were done. It takes each run to end well.",
			"With no past runs it says so, and so it does of jobs that wait for a person.",
		],
		options: [
			number("max-concurrent", "N", "Assume this many concurrent runs; 0 is no cap."),
			list("lane", "NAME:N", "What if this lane had this cap; none for no cap."),
			text("batch", "NAME", "Only this batch."),
			number("limit", "N", "Show at most N jobs; 0 shows all. Default: 50."),
		],
		examples: [
			["sluice forecast", "as things stand"],
			["sluice forecast --max-concurrent 8 --lane code:6", "what more slots would bring"],
			["sluice forecast --batch docs --json | jq .end", "when a batch will be done"],
		],
		load: () => import("../commands/scheduler/forecast.ts"),
	},
	top: {
		help: "A live screen to work in: what needs you, what runs and what it is doing, what starts next.",
		more: [
			"Keys: j k or arrows select · Enter its log · w why · d diff · a approve · x reject · i answer · r retry · c cancel · t to the front · h hold or release · p pause or resume · / filter · ? help · q quit.",
		],
		examples: [["sluice top", "watch, and act"]],
		load: () => import("../commands/scheduler/top.ts"),
	},
	up: {
		help: "Start the daemon here, in the foreground.",
		more: [
			"Other commands start it by themselves, in the background, when they need it.",
			"Exit code 4 if this home has a daemon already (--detach is content with it), or if its host name is held by another home.",
		],
		options: [
			flag("detach", "In the background; returns once it is ready."),
			text(
				"port",
				"N",
				"Port of its HTTP side on 127.0.0.1: 0 is any free one, none is none; one that is taken is refused. Else the setting `port`, 7420, or the next free one.",
			),
			text(
				"store",
				"PLACE",
				"A store that several hosts share: a SQLite file or postgres://… Else the setting `store`, SLUICE_STORE, or the home's own.",
				{ completes: "file" },
			),
			text("name", "NAME", "What this host is called there; else the setting `host.name`, or the machine's name."),
			list("label", "LABEL", "What this host has, for jobs that ask for it; else the setting `host.labels`."),
			flag(
				"accept-loss",
				"Start although acknowledged jobs are missing from the queue's file: a start without it is refused, so that a back-up can be put back.",
			),
			flag("install", "Make it a service of yours that starts at login (systemd or launchd)."),
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
	serve: {
		help: "Share the daemon on the network, with TLS; or show how it is shared.",
		more: [
			"The daemon makes a certificate of its own, unless one is given by --cert and --key. It stays shared after a restart, until --off.",
			"Callers need a sign-in link of `sluice people`, or a token of the home. Without TLS only a loopback address is taken, for a proxy on this machine.",
		],
		options: [
			text("listen", "ADDRESS", "Address and port: 0.0.0.0:7443 is all addresses of this machine."),
			text("cert", "FILE", "A certificate with its chain, in PEM form.", { completes: "file" }),
			text("key", "FILE", "Its private key.", { completes: "file" }),
			list("name", "HOST", "A name by which people reach it, the first for links: sluice.example.org."),
			flag("no-tls", "Plain HTTP; only on a loopback address, behind a proxy that has TLS."),
			flag("off", "Share it no longer."),
		],
		excludes: [
			["off", "listen"],
			["no-tls", "cert"],
		],
		requires: [
			["cert", "key"],
			["key", "cert"],
		],
		examples: [
			["sluice serve --listen 0.0.0.0:7443", "for everyone in the office"],
			["sluice serve --listen 0.0.0.0:7443 --cert box.crt --key box.key --name box.example.org", "with a certificate that browsers know"],
			["sluice serve", "how is it shared?"],
		],
		load: () => import("../commands/scheduler/serve.ts"),
	},
	down: {
		help: "Stop the daemon. What runs goes on, and is found again by the next one.",
		options: [flag("stop-runs", "Stop what runs, too; it is run again later, and no retry is burned.")],
		examples: [
			["sluice down", "runs go on"],
			["sluice down --stop-runs", "leave nothing behind"],
		],
		load: () => import("../commands/scheduler/down.ts"),
	},
	run: {
		help: "One dispatch pass by hand, or its plan.",
		more: ["It does not wait for the next cycle; caps, the batch size, locks and holds count as ever."],
		options: [flag("dry-run", "Start nothing: what would start, what is skipped, which bound holds.")],
		examples: [["sluice run --dry-run", "what would start now"]],
		load: () => import("../commands/scheduler/run.ts"),
	},
	pause: {
		help: "Start nothing new: at all, or in one scope.",
		more: ["What runs goes on. Entries of the kernel's queue are not paused: workers of your own claim them."],
		options: [
			...SCOPE,
			flag("freeze", "Stop what runs in its tracks, too (SIGSTOP)."),
			REASON,
			text("for", "DURATION", "Resume automatically after this time."),
		],
		excludes: [SCOPE_NAMES],
		examples: [
			["sluice pause --reason 'release day'", "everything"],
			["sluice pause --lane code --for 2h", "one lane, until it passes"],
		],
		load: () => import("../commands/scheduler/pause.ts"),
	},
	resume: {
		help: "End a pause; frozen runs go on; an open breaker is closed.",
		more: ["The breaker of an agent or a repo opens when several launches in a row fail, and closes by itself with a probe that works."],
		options: [...SCOPE, text("agent", "NAME", "Close the breaker of this agent.")],
		excludes: [[...SCOPE_NAMES, "agent"]],
		examples: [
			["sluice resume", "everything"],
			["sluice resume --lane code", "what was paused as a lane"],
			["sluice resume --agent claude", "it is installed now: do not wait for the probe"],
		],
		load: () => import("../commands/scheduler/pause.ts"),
	},
	clear: {
		help: "End all jobs that do not run, or one item's.",
		options: [text("item", "ID", "Only the jobs of this item."), flag("yes", "Do not ask.", { short: "y" })],
		examples: [
			["sluice clear", "asks first"],
			["sluice clear --item A-12 --yes", "one item's, without asking"],
		],
		load: () => import("../commands/scheduler/clear.ts"),
	},
	gc: {
		help: "Delete ended jobs with their runs and logs.",
		more: ["Never one that a job which has not ended still refers to, nor one whose merge is open."],
		options: [number("days", "N", "Delete jobs that ended more than N days ago. Default: 7.")],
		examples: [["sluice gc --days 30", "keep a month"]],
		load: () => import("../commands/scheduler/upkeep.ts"),
	},
	prune: {
		help: "Remove worktrees of ended jobs; unsaved work goes to a rescue ref first.",
		more: ["Worktrees of merged jobs go by themselves. What stays is named, with the reason."],
		options: [flag("dry-run", "Only say what would be done.")],
		examples: [["sluice prune --dry-run", "look first"]],
		load: () => import("../commands/scheduler/upkeep.ts"),
	},
	version: {
		help: "The version of this program, and of the daemon that runs.",
		examples: [["sluice version", ""]],
		load: () => import("../commands/scheduler/version.ts"),
	},
});
