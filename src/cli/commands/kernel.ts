// sluice kernel …: the kernel's queue, its agents and their ledgers. Each command is one method, except gc, which may be two.

import type { MethodName, Params, Result } from "../../api/protocol.ts";
import type { AgentState, EnqueueParams } from "../../contracts/scheduler.ts";
import { given } from "../../core/given.ts";
import { byVerb, type Call, type CommandRun } from "../command.ts";
import { usage } from "../failure.ts";
import { absolutePath, answer, type Io } from "../io.ts";
import { entryLines, entryWords, ledgerLines } from "../printing/kernel-lines.ts";
import { count, field, type ListColumn, printList } from "../printing/list.ts";
import { counted } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { durationOf, timeOf } from "../times.ts";
import { payloadOf } from "./job/add.ts";

type ExitKind = Params<"kernel.sched.complete">["exit_kind"];

/** A command that is one method: what it asks for, and what it prints. */
const one =
	<M extends MethodName>(
		method: M,
		params: (call: Call, io: Io) => Params<M>,
		said: (document: Result<M>, io: Io, call: Call) => void,
	): CommandRun =>
	async (call, io) => {
		const ask: (method: M, params: Params<M>) => Promise<Result<M>> = io.ask;
		const document = await ask(method, params(call, io));
		answer(io, document, () => said(document, io, call));
		return undefined;
	};

const whole = (text: string, name: string, min = 1): number => {
	const value = Number(text);
	if (!/^-?\d{1,15}$/.test(text) || value < min)
		throw usage(`${name} must be a whole number${min === 1 ? " above 0" : ""}, not ${JSON.stringify(text)}`);
	return value;
};
const pid = (call: Call) => ({ pid: whole(call.arg("PID"), "PID") });
const sched_id = (call: Call) => ({ sched_id: whole(call.arg("ID"), "ID") });
/** The kernel's times are epoch seconds. */
const seconds = (call: Call, io: Io, option: string): number | undefined => {
	const text = call.text(option);
	return text === undefined ? undefined : Date.parse(timeOf(text, option, io.world.now())) / 1000;
};
const say =
	<T>(text: (document: T, call: Call) => string) =>
	(document: T, io: Io, call: Call) =>
		io.print.say(text(document, call));
const lines =
	<T>(text: (document: T, io: Io) => readonly string[]) =>
	(document: T, io: Io) => {
		for (const line of text(document, io)) io.print.out(line);
	};

const entryOf = (call: Call, io: Io): EnqueueParams => {
	const payload = call.text("payload");
	return {
		...pid(call),
		...given({
			priority: call.number("priority"),
			trigger: call.text("trigger"),
			runnable_at: seconds(call, io, "at"),
			deadline: seconds(call, io, "deadline"),
			payload: payload === undefined ? undefined : payloadOf(payload, io),
		}),
	};
};
const enqueuedWords = say<Result<"kernel.sched.enqueue"> & Partial<Result<"kernel.sched.enqueue_unique">>>(({ sched_id: id, created }) =>
	created === false ? `entry ${id} is queued already` : `enqueued entry ${id}`,
);
const enqueue = one("kernel.sched.enqueue", entryOf, enqueuedWords);
const enqueueUnique = one("kernel.sched.enqueue_unique", entryOf, enqueuedWords);

export const run = byVerb({
	list: one(
		"kernel.sched.list",
		(call) => given({ state: call.text("state"), pid: call.number("pid"), limit: call.number("limit"), offset: call.number("offset") }),
		({ entries, total }, io) => {
			for (const line of entryLines(entries, io)) io.print.out(line);
			if (total === 0) io.print.say("no such entries; sluice kernel enqueue PID adds one");
			else if (entries.length < total)
				io.print.say(io.print.paintTalk("dim", `${entries.length} of ${total}; --limit N and --offset N show others`));
		},
	),
	get: one("kernel.sched.get", sched_id, lines(entryWords)),
	enqueue: (call, io) => (call.flag("unique") ? enqueueUnique : enqueue)(call, io),
	cancel: one(
		"kernel.sched.cancel",
		sched_id,
		say(({ sched_id: id }) => `cancelled entry ${id}`),
	),
	claim: one(
		"kernel.sched.claim",
		(call) => ({
			worker_id: call.arg("WORKER"),
			...given({ max_n: call.number("max") }),
			...(call.flag("no-admission-check") ? { admission_check: false } : {}),
		}),
		({ entries }, io) => {
			for (const line of entryLines(entries, io)) io.print.out(line);
			if (entries.length === 0) io.print.say("nothing can be claimed now; sluice why ID says what keeps an entry");
		},
	),
	complete: one(
		"kernel.sched.complete",
		// Any word is sent: the daemon refuses an unknown one, with the kernel's own number.
		(call) => ({ ...sched_id(call), exit_kind: call.arg("EXIT_KIND") as ExitKind, ...given({ worker_id: call.text("worker") }) }),
		say(({ sched_id: id }, call) => `entry ${id} has ended: ${call.arg("EXIT_KIND")}`),
	),
	gc: collect,
	agents: one(
		"kernel.agent.list",
		() => ({}),
		({ agents }, io) => printList(io, agents, AGENT_COLUMNS, "no agents; sluice kernel create NAME makes one"),
	),
	create: one(
		"kernel.agent.create",
		(call) => ({ name: call.arg("NAME") }),
		say(({ pid: made, state }, call) => `made agent ${made} (${printable(call.arg("NAME"))}), ${state}`),
	),
	transition: one(
		"kernel.agent.transition",
		(call) => ({ ...pid(call), to: call.arg("STATE") as AgentState }),
		say(({ pid: which, state, prev_state }) => `agent ${which}: ${prev_state} → ${state}`),
	),
	ledger: ledgers,
	grant: one(
		"kernel.ledger.grant",
		(call) => {
			const [window, warnAt] = [call.choice("window", ["hour", "day", "none"]), call.text("warn-at")];
			if (warnAt !== undefined && !/^(?:0?\.\d+|[01](?:\.0+)?)$/.test(warnAt))
				throw usage("--warn-at must be a share from 0 to 1", "for example 0.8");
			return {
				...pid(call),
				dim: call.arg("DIMENSION"),
				limit: whole(call.arg("LIMIT"), "LIMIT", 0),
				...given({ window: window === "none" ? null : window, warn_at: warnAt === undefined ? undefined : Number(warnAt) }),
			};
		},
		lines((document, io) => ledgerLines([document], io)),
	),
	charge,
	import: one(
		"kernel.import",
		(call, io) => ({ file: absolutePath(io.world, call.arg("FILE")), ...(call.flag("renumber") ? { renumber: true } : {}) }),
		({ agents, ledgers: made, entries, notes }, io, call) => {
			const all = Object.values(entries).reduce((sum, count) => sum + count, 0);
			const states = Object.entries(entries).flatMap(([state, count]) => (count > 0 ? [`${count} ${state}`] : []));
			const words = all === 0 ? "no entries" : `${all === 1 ? "1 entry" : `${all} entries`} (${states.join(", ")})`;
			io.print.say(
				`imported ${counted(agents, "agent")}, ${counted(made, "ledger")} and ${words}; ${printable(call.arg("FILE"))} is as it was`,
			);
			for (const note of notes) io.print.warn(printable(note));
		},
	),
});

const AGENT_COLUMNS: readonly ListColumn<{ pid: number; name: string; state: string }>[] = [
	count("pid"),
	field("name"),
	{ title: "STATE", cell: ({ state }) => state },
];

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
		const found = document.ledgers;
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
	const change = { ...pid(call), dim: call.arg("DIMENSION"), amount: Math.abs(amount) };
	const document = await (amount < 0 ? io.ask("kernel.ledger.refund", change) : io.ask("kernel.ledger.charge", change));
	answer(io, document, () => {
		const { used, limit, over_limit } = document;
		io.print.say(
			`agent ${call.arg("PID")} has used ${used}${limit === null ? "" : ` of ${limit}`} ${printable(call.arg("DIMENSION"))}${over_limit ? ": over its limit" : ""}`,
		);
	});
	return undefined;
}
