// sluice kernel …: the kernel's queue, its agents and their ledgers. Each command is one method, except gc, which may be two.

import type { Params } from "../../api/protocol.ts";
import type { AgentState, EnqueueParams } from "../../contracts/scheduler.ts";
import { given } from "../../core/given.ts";
import { windowOf } from "../amounts.ts";
import { byVerb, type Call } from "../command.ts";
import { usage } from "../failure.ts";
import { absolutePath, answer, type Io } from "../io.ts";
import { asTyped, named, nothing, oneMethod } from "../one-method.ts";
import { ENTRY_COLUMNS, entryWords, LEDGER_COLUMNS } from "../printing/kernel-lines.ts";
import { count, field, type ListColumn, printList } from "../printing/list.ts";
import { counted } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { durationOf, timeOf } from "../times.ts";
import { payloadOf } from "./job/add.ts";

type ExitKind = Params<"kernel.sched.complete">["exit_kind"];

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
const enqueue = oneMethod("kernel.sched.enqueue", entryOf, ({ sched_id: id }) => `enqueued entry ${id}`);
const enqueueUnique = oneMethod("kernel.sched.enqueue_unique", entryOf, ({ sched_id: id, created }) =>
	created === false ? `entry ${id} is queued already` : `enqueued entry ${id}`,
);

export const run = byVerb({
	list: oneMethod("kernel.sched.list", asTyped, ({ entries, total }, io) => {
		const part = io.print.paintTalk("dim", `${entries.length} of ${total}; --limit N and --offset N show others`);
		printList(io, entries, ENTRY_COLUMNS, total === 0 ? "no such entries; sluice kernel enqueue PID adds one" : part);
		return entries.length > 0 && entries.length < total ? part : undefined;
	}),
	get: oneMethod("kernel.sched.get", sched_id, entryWords),
	enqueue: (call, io) => (call.flag("unique") ? enqueueUnique : enqueue)(call, io),
	cancel: oneMethod("kernel.sched.cancel", sched_id, ({ sched_id: id }) => `cancelled entry ${id}`),
	claim: oneMethod(
		"kernel.sched.claim",
		(call) => ({
			worker_id: call.arg("WORKER"),
			...given({ max_n: call.number("max"), admission_check: call.flag("no-admission-check") ? false : undefined }),
		}),
		({ entries }, io) => printList(io, entries, ENTRY_COLUMNS, "nothing can be claimed now; sluice why ID says what keeps an entry"),
	),
	complete: oneMethod(
		"kernel.sched.complete",
		// Any word is sent: the daemon refuses an unknown one, with the kernel's own number.
		(call) => ({ ...sched_id(call), exit_kind: call.arg("EXIT_KIND") as ExitKind, ...given({ worker_id: call.text("worker") }) }),
		({ sched_id: id }, _io, call) => `entry ${id} has ended: ${call.arg("EXIT_KIND")}`,
	),
	gc: collect,
	agents: oneMethod("kernel.agent.list", nothing, ({ agents }, io) =>
		printList(io, agents, AGENT_COLUMNS, "no agents; sluice kernel create NAME makes one"),
	),
	create: oneMethod(
		"kernel.agent.create",
		named,
		({ pid: made, state }, _io, call) => `made agent ${made} (${printable(call.arg("NAME"))}), ${state}`,
	),
	transition: oneMethod(
		"kernel.agent.transition",
		(call) => ({ ...pid(call), to: call.arg("STATE") as AgentState }),
		({ pid: which, state, prev_state }) => `agent ${which}: ${prev_state} → ${state}`,
	),
	ledger: ledgers,
	grant: oneMethod(
		"kernel.ledger.grant",
		(call) => ({
			...pid(call),
			dim: call.arg("DIMENSION"),
			limit: whole(call.arg("LIMIT"), "LIMIT", 0),
			...given(windowOf(call)),
		}),
		(document, io) => printList(io, [document], LEDGER_COLUMNS, ""),
	),
	charge,
	import: oneMethod(
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
}

async function ledgers(call: Call, io: Io): Promise<undefined> {
	const one = call.args("PID")[0];
	const document = await (one === undefined
		? io.ask("kernel.ledger.list_breached", {})
		: io.ask("kernel.ledger.get", { pid: whole(one, "PID") }));
	const none =
		one === undefined ? "no agent is over a limit" : `agent ${one} has no ledger; sluice kernel grant ${one} tokens LIMIT makes one`;
	answer(io, document, () => printList(io, document.ledgers, LEDGER_COLUMNS, none));
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
}
