// sluice cron: triggers by time, and by files that change.

import type { TriggerDocument } from "../../api/protocol/cron.ts";
import { given } from "../../core/given.ts";
import type { JobInput } from "../../core/job.ts";
import { chosen } from "../caller/environment.ts";
import { byVerb, type Call } from "../command.ts";
import { usage } from "../failure.ts";
import { absolutePath, answer, type Io } from "../io.ts";
import { pairs, plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { table } from "../printing/table.ts";
import { durationOf, instantOf, localTime, relative } from "../times.ts";

const short = (name: string) => name.slice(name.indexOf(":") + 1);

export const run = byVerb({
	async list(_call, io) {
		const document = await io.ask("cron.list");
		answer(io, document, () => listed(document.triggers, io));
	},
	async show(call, io) {
		const document = await io.ask("cron.show", { name: call.arg("NAME") });
		answer(io, document, () => shown(document.trigger, io));
	},
	async add(call, io) {
		const [name, schedule] = [call.arg("NAME"), call.arg("SCHEDULE")];
		const [timezone, policy] = [call.text("timezone"), call.choice("catch-up", ["skip", "one", "all"])];
		const document = await io.ask("cron.add", {
			name,
			schedule,
			timezone,
			catch_up: policy,
			job: jobOf(call, io),
		});
		answer(io, document, () => {
			if (typeof document.warning === "string") io.print.warn(`${io.print.paintTalk("yellow", "warning:")} ${printable(document.warning)}`);
			const { next_at, timezone: zone } = document.trigger;
			const where = zone === null ? "" : `; its schedule is in ${printable(zone)}`;
			io.print.say(next_at === null ? `${name} is there, but never comes` : `${name} comes first ${when(next_at, io)}${where}`);
		});
	},
	async remove(call, io) {
		const document = await io.ask("cron.remove", { name: call.arg("NAME") });
		answer(io, document, () => io.print.say(`${plain(document.removed)} is gone; jobs that it has added stay`));
	},
	async run(call, io) {
		const document = await io.ask("cron.run", { name: call.arg("NAME") });
		answer(io, document, () => {
			if (document.outcome === "added") io.print.out(String(document.job));
			else if (document.outcome === "open") io.print.say(`not added: job ${document.job} is still open`);
		});
	},
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
		...(agent === undefined ? { command: [...(call.rest ?? [])] } : given({ agent, prompt })),
		...given({
			lane: call.text("lane"),
			batch: call.text("batch"),
			repo: call.text("repo"),
			owner: call.text("owner"),
			priority: call.number("priority"),
			retry: call.number("retries"),
		}),
		...(timeout === undefined ? {} : { timeout: durationOf(timeout, "timeout") }),
		...(locks.length > 0 ? { locks: [...locks] } : {}),
		...(Object.keys(env).length > 0 ? { env } : {}),
	};
}

const when = (time: string | null, io: Io): string => {
	const at = instantOf(time);
	return at === undefined ? "" : `${localTime(at)} (${relative(at, io.world.now())})`;
};

const workOf = ({ add }: TriggerDocument): string =>
	printable(add.command ? add.command.join(" ") : [add.agent, add.prompt?.split("\n")[0]].filter(Boolean).join(" ") || "payload");

function listed(triggers: readonly TriggerDocument[], io: Io): void {
	if (triggers.length === 0) {
		io.print.say("no triggers; sluice cron add makes one");
		return;
	}
	const now = io.world.now();
	const soon = (time: string | null) => (time === null ? "" : relative(instantOf(time) ?? now, now));
	const rows = triggers.map((one) => [
		printable(one.kind === "cron" ? short(one.name) : one.name),
		printable(one.schedule ?? (one.paths ?? []).join(" ")),
		one.timezone ?? "",
		soon(one.next_at),
		soon(one.fired_at),
		one.job === null ? "" : String(one.job),
		one.error === null ? workOf(one) : io.print.paint("red", printable(one.error)),
	]);
	const columns = [
		{ title: "TRIGGER" },
		{ title: "WHEN", shrink: 12 },
		{ title: "ZONE", shrink: 6 },
		{ title: "NEXT" },
		{ title: "LAST" },
		{ title: "JOB", align: "right" as const },
		{ title: "ADDS", shrink: 12 },
	];
	for (const line of table(columns, rows, io.print.width, (text) => io.print.paint("dim", text))) io.print.out(line);
}

function shown(one: TriggerDocument, io: Io): void {
	const rows: [string, string][] = [
		["trigger", printable(one.name)],
		["schedule", one.schedule === null ? "" : `${printable(one.schedule)}, ${one.timezone}`],
		["catch up", one.catch_up ?? ""],
		["paths", (one.paths ?? []).map(printable).join(", ")],
		["next", when(one.next_at, io)],
		["last slot", when(one.slot, io)],
		["last job", one.job === null ? "" : `${one.job}, added ${when(one.fired_at, io)}`],
		["since", when(one.since, io)],
		["skipped", one.skipped > 0 ? String(one.skipped) : ""],
		["error", one.error === null ? "" : io.print.paint("red", printable(one.error))],
		["adds", plain(one.add)],
	];
	for (const line of pairs(rows, io.print.paint)) io.print.out(line);
}
