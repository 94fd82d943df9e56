// sluice cron: triggers by time, and by files that change.

import type { TriggerDocument } from "../../api/protocol/cron.ts";
import type { Result } from "../../api/protocol.ts";
import { given } from "../../core/given.ts";
import type { JobInput } from "../../core/job.ts";
import { chosen } from "../caller/environment.ts";
import { byVerb, type Call } from "../command.ts";
import { usage } from "../failure.ts";
import { absolutePath, type Io } from "../io.ts";
import { named, nothing, oneMethod } from "../one-method.ts";
import { type ListColumn, printList, right, time } from "../printing/list.ts";
import { pairs, plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { durationOf, momentWords } from "../times.ts";

const short = (name: string) => name.slice(name.indexOf(":") + 1);

export const run = byVerb({
	list: oneMethod("cron.list", nothing, ({ triggers }, io) => printList(io, triggers, COLUMNS, "no triggers; sluice cron add makes one")),
	show: oneMethod("cron.show", named, triggerLines),
	add: oneMethod(
		"cron.add",
		(call, io) => ({
			...named(call),
			schedule: call.arg("SCHEDULE"),
			timezone: call.text("timezone"),
			catch_up: call.choice("catch-up", ["skip", "one", "all"]),
			job: jobOf(call, io),
		}),
		({ warning, trigger: { next_at, timezone } }, io, call) => {
			if (typeof warning === "string") io.print.warn(`${io.print.paintTalk("yellow", "warning:")} ${printable(warning)}`);
			const where = timezone === null ? "" : `; its schedule is in ${printable(timezone)}`;
			const name = call.arg("NAME");
			io.print.say(
				next_at === null ? `${name} is there, but never comes` : `${name} comes first ${momentWords(next_at, io.world.now())}${where}`,
			);
		},
	),
	remove: oneMethod("cron.remove", named, ({ removed }) => `${plain(removed)} is gone; jobs that it has added stay`),
	run: oneMethod("cron.run", named, (document, io) => {
		if (document.outcome === "added") io.print.out(String(document.job));
		else if (document.outcome === "open") io.print.say(`not added: job ${document.job} is still open`);
	}),
});

function jobOf(call: Call, io: Io): JobInput {
	const [prompt] = call.args("PROMPT");
	const agent = call.text("agent");
	if (call.rest && agent !== undefined) throw usage("a job has a command or an agent, not both");
	if (agent === undefined && prompt !== undefined)
		throw usage("is this a prompt or a command?", "name the agent that gets the prompt (--agent claude), or put -- before the command");
	if (agent === undefined && !call.rest?.length)
		throw usage("nothing to run", "for example: sluice cron add nightly '30 2 * * *' -- make all");
	const timeout = call.text("timeout");
	const [locks, env] = [call.list("lock"), chosen(call.list("env"), io.world.env)];
	return {
		cwd: absolutePath(io.world, call.text("cwd") ?? "."),
		...given({
			...(agent === undefined ? { command: [...(call.rest ?? [])] } : { agent, prompt }),
			lane: call.text("lane"),
			batch: call.text("batch"),
			repo: call.text("repo"),
			owner: call.text("owner"),
			priority: call.number("priority"),
			retry: call.number("retries"),
			timeout: timeout === undefined ? undefined : durationOf(timeout, "timeout"),
			locks: locks.length > 0 ? [...locks] : undefined,
			env: Object.keys(env).length > 0 ? env : undefined,
		}),
	};
}

const workOf = ({ add }: TriggerDocument): string =>
	printable(add.command ? add.command.join(" ") : [add.agent, add.prompt?.split("\n")[0]].filter(Boolean).join(" ") || "payload");

const COLUMNS: readonly ListColumn<TriggerDocument>[] = [
	{ title: "TRIGGER", cell: ({ kind, name }) => printable(kind === "cron" ? short(name) : name) },
	{ title: "WHEN", shrink: 12, cell: ({ schedule, paths }) => printable(schedule ?? (paths ?? []).join(" ")) },
	{ title: "ZONE", shrink: 6, cell: ({ timezone }) => timezone ?? "" },
	time("next_at", "NEXT"),
	time("fired_at", "LAST"),
	{ title: "JOB", ...right, cell: ({ job }) => (job === null ? "" : String(job)) },
	{ title: "ADDS", shrink: 12, cell: (one, { print }) => (one.error === null ? workOf(one) : print.paint("red", printable(one.error))) },
];

function triggerLines({ trigger: one }: Result<"cron.show">, { print, world }: Io): string[] {
	const when = (value: string | null) => momentWords(value, world.now());
	const rows: [string, string][] = [
		["trigger", printable(one.name)],
		["schedule", one.schedule === null ? "" : `${printable(one.schedule)}, ${one.timezone}`],
		["catch up", one.catch_up ?? ""],
		["paths", (one.paths ?? []).map(printable).join(", ")],
		["next", when(one.next_at)],
		["last slot", when(one.slot)],
		["last job", one.job === null ? "" : `${one.job}, added ${when(one.fired_at)}`],
		["since", when(one.since)],
		["skipped", one.skipped > 0 ? String(one.skipped) : ""],
		["error", one.error === null ? "" : print.paint("red", printable(one.error))],
		["adds", plain(one.add)],
	];
	return pairs(rows, print.paint);
}
