// sluice kernel …: the kernel's queue, its agents and their ledgers. Each command is one method, except gc, which may be two.

import type { Imported, ReadyEntry } from "../../contracts/scheduler.ts";
import type { Call } from "../command.ts";
import { usage } from "../failure.ts";
import { type AnswerDocument, absolutePath, answer, type Io } from "../io.ts";
import { type Agent, entryLines, entryWords, type LedgerRow, ledgerLines } from "../printing/kernel-lines.ts";
import { counted } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { table } from "../printing/table.ts";
import { durationOf, timeOf } from "../times.ts";
import { payloadOf } from "./job/add.ts";

type Command = { method: string; params(call: Call, io: Io): AnswerDocument; said(document: AnswerDocument, io: Io, call: Call): void };

const whole = (text: string, name: string, min = 1): number => {
	const value = Number(text);
	if (!/^-?\d{1,15}$/.test(text) || value < min)
		throw usage(`${name} must be a whole number${min === 1 ? " above 0" : ""}, not ${JSON.stringify(text)}`);
	return value;
};
const pid = (call: Call) => ({ pid: whole(call.arg("PID"), "PID") });
const sched_id = (call: Call) => ({ sched_id: whole(call.arg("ID"), "ID") });
/** The kernel's times are epoch seconds. */
const seconds = (call: Call, io: Io, option: string, field: string): AnswerDocument => {
	const text = call.text(option);
	return text === undefined ? {} : { [field]: Date.parse(timeOf(text, option, io.world.now())) / 1000 };
};
const given = (entries: Record<string, unknown>): AnswerDocument =>
	Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
const say = (text: (document: AnswerDocument, call: Call) => string) => (document: AnswerDocument, io: Io, call: Call) =>
	io.print.say(text(document, call));
const lines = (text: (document: AnswerDocument, io: Io) => readonly string[]) => (document: AnswerDocument, io: Io) => {
	for (const line of text(document, io)) io.print.out(line);
};

const COMMANDS: Record<string, Command> = {
	list: {
		method: "kernel.sched.list",
		params: (call) =>
			given({ state: call.text("state"), pid: call.number("pid"), limit: call.number("limit"), offset: call.number("offset") }),
		said(document, io) {
			const { entries, total } = document as { entries: ReadyEntry[]; total: number };
			for (const line of entryLines(entries, io)) io.print.out(line);
			if (total === 0) io.print.say("no such entries; sluice kernel enqueue PID adds one");
			else if (entries.length < total)
				io.print.say(io.print.paintTalk("dim", `${entries.length} of ${total}; --limit N and --offset N show others`));
		},
	},
	get: { method: "kernel.sched.get", params: sched_id, said: lines((document, io) => entryWords(document as ReadyEntry, io)) },
	enqueue: {
		method: "kernel.sched.enqueue",
		params: (call, io) => ({
			...pid(call),
			...given({ priority: call.number("priority"), trigger: call.text("trigger") }),
			...seconds(call, io, "at", "runnable_at"),
			...seconds(call, io, "deadline", "deadline"),
			...(call.has("payload") ? { payload: payloadOf(call.text("payload") as string, io) } : {}),
		}),
		said: say(({ sched_id: id, created }) => (created === false ? `entry ${id} is queued already` : `enqueued entry ${id}`)),
	},
	cancel: { method: "kernel.sched.cancel", params: sched_id, said: say(({ sched_id: id }) => `cancelled entry ${id}`) },
	claim: {
		method: "kernel.sched.claim",
		params: (call) => ({
			worker_id: call.arg("WORKER"),
			...given({ max_n: call.number("max") }),
			...(call.flag("no-admission-check") ? { admission_check: false } : {}),
		}),
		said(document, io) {
			const { entries } = document as { entries: ReadyEntry[] };
			for (const line of entryLines(entries, io)) io.print.out(line);
			if (entries.length === 0) io.print.say("nothing can be claimed now; sluice why ID says what keeps an entry");
		},
	},
	complete: {
		method: "kernel.sched.complete",
		params: (call) => ({ ...sched_id(call), exit_kind: call.arg("EXIT_KIND"), ...given({ worker_id: call.text("worker") }) }),
		said: say(({ sched_id: id }, call) => `entry ${id} has ended: ${call.arg("EXIT_KIND")}`),
	},
	agents: {
		method: "kernel.agent.list",
		params: () => ({}),
		said(document, io) {
			const { agents } = document as { agents: Agent[] };
			const rows = agents.map((agent) => [String(agent.pid), printable(agent.name), agent.state]);
			const columns = [{ title: "PID", align: "right" as const }, { title: "NAME", shrink: 8 }, { title: "STATE" }];
			if (rows.length > 0)
				for (const line of table(columns, rows, io.print.width, (text) => io.print.paint("dim", text))) io.print.out(line);
			else io.print.say("no agents; sluice kernel create NAME makes one");
		},
	},
	create: {
		method: "kernel.agent.create",
		params: (call) => ({ name: call.arg("NAME") }),
		said: say(({ pid: made, state }, call) => `made agent ${made} (${printable(call.arg("NAME"))}), ${state}`),
	},
	transition: {
		method: "kernel.agent.transition",
		params: (call) => ({ ...pid(call), to: call.arg("STATE") }),
		said: say(({ pid: which, state, prev_state }) => `agent ${which}: ${prev_state} → ${state}`),
	},
	grant: {
		method: "kernel.ledger.grant",
		params(call) {
			const [window, warnAt] = [call.text("window"), call.text("warn-at")];
			if (warnAt !== undefined && !/^(?:0?\.\d+|[01](?:\.0+)?)$/.test(warnAt))
				throw usage("--warn-at must be a share from 0 to 1", "for example 0.8");
			return {
				...pid(call),
				dim: call.arg("DIMENSION"),
				limit: whole(call.arg("LIMIT"), "LIMIT", 0),
				...given({ window: window === "none" ? null : window, warn_at: warnAt === undefined ? undefined : Number(warnAt) }),
			};
		},
		said: lines((document, io) => ledgerLines([document as LedgerRow], io)),
	},
	import: {
		method: "kernel.import",
		params: (call, io) => ({ file: absolutePath(io.world, call.arg("FILE")), ...(call.flag("renumber") ? { renumber: true } : {}) }),
		said(document, io, call) {
			const { agents, ledgers, entries, notes } = document as Imported;
			const all = Object.values(entries).reduce((sum, count) => sum + count, 0);
			const states = Object.entries(entries).flatMap(([state, count]) => (count > 0 ? [`${count} ${state}`] : []));
			const words = all === 0 ? "no entries" : `${all === 1 ? "1 entry" : `${all} entries`} (${states.join(", ")})`;
			io.print.say(
				`imported ${counted(agents, "agent")}, ${counted(ledgers, "ledger")} and ${words}; ${printable(call.arg("FILE"))} is as it was`,
			);
			for (const note of notes) io.print.warn(printable(note));
		},
	},
};

export async function run(call: Call, io: Io): Promise<undefined> {
	const verb = call.command.name.slice("kernel ".length);
	if (verb === "gc") return collect(call, io);
	if (verb === "ledger") return ledgers(call, io);
	if (verb === "charge") return charge(call, io);
	const command = COMMANDS[verb] as Command;
	const unique = verb === "enqueue" && call.flag("unique");
	const document = await io.ask(unique ? "kernel.sched.enqueue_unique" : command.method, command.params(call, io));
	answer(io, document, () => command.said(document, io, call));
	return undefined;
}

async function collect(call: Call, io: Io): Promise<undefined> {
	const stale = call.text("stale");
	const stale_seconds = stale === undefined ? undefined : durationOf(stale, "stale") / 1000;
	const { swept: expired } = await io.ask("kernel.sched.gc_expired", {});
	const { swept: requeued } = stale_seconds === undefined ? { swept: 0 } : await io.ask("kernel.sched.gc_dispatched", { stale_seconds });
	answer(io, { schema_version: 1, expired, requeued }, () => {
		io.print.say(`${Number(expired)} expired${stale === undefined ? "" : `, ${Number(requeued)} back in the queue`}`);
	});
	return undefined;
}

async function ledgers(call: Call, io: Io): Promise<undefined> {
	const one = call.args("PID")[0];
	const document = await (one === undefined
		? io.ask("kernel.ledger.list_breached", {})
		: io.ask("kernel.ledger.get", { pid: whole(one, "PID") }));
	answer(io, document, () => {
		const found = document.ledgers as LedgerRow[];
		for (const line of ledgerLines(found, io)) io.print.out(line);
		if (found.length === 0)
			io.print.say(
				one === undefined ? "no agent is over a limit" : `agent ${one} has no ledger; sluice kernel grant ${one} tokens LIMIT makes one`,
			);
	});
	return undefined;
}

async function charge(call: Call, io: Io): Promise<undefined> {
	const amount = whole(call.arg("AMOUNT"), "AMOUNT", Number.MIN_SAFE_INTEGER);
	const method = amount < 0 ? "kernel.ledger.refund" : "kernel.ledger.charge";
	const document = await io.ask(method, { ...pid(call), dim: call.arg("DIMENSION"), amount: Math.abs(amount) });
	answer(io, document, () => {
		const { used, limit, over_limit } = document as { used: number; limit: number | null; over_limit: boolean };
		io.print.say(
			`agent ${call.arg("PID")} has used ${used}${limit === null ? "" : ` of ${limit}`} ${printable(call.arg("DIMENSION"))}${over_limit ? ": over its limit" : ""}`,
		);
	});
	return undefined;
}
