// Imports a `kernel.db`: agents, ledgers and the queue, in one transaction, under the numbers that their workers know.
//
//   queued       waits like any entry, since the time it was created
//   dispatched   stays with its worker: complete, extend and gc_dispatched apply to it
//   the others   have ended, with the same outcome

import type { Imported, KernelDump } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";
import type { Job } from "../../core/job.ts";
import { JsonText } from "../../core/text/json-text.ts";
import { isOneOf } from "../../core/text/one-of.ts";
import { freshLedger, putLedger } from "../limits/budgets.ts";
import type { Tx } from "../transaction/tx.ts";
import { reevaluate } from "../waiting/park.ts";
import { AGENT_STATES } from "./agents.ts";
import { type KernelAgentRecord, lastPid, subjectOf, toMs } from "./input.ts";
import { draftEntry, EXITS, STATES } from "./queue.ts";

type Numbers = "keep" | "new";
/** `payloads`: the exact text of payloads that a JavaScript value cannot represent, by the index of their entry. */
export type Importing = { dump: KernelDump; numbers: Numbers; payloads: [index: number, text: string][] };
type Entry = KernelDump["entries"][number];

export function* importKernel(tx: Tx, { dump: given, numbers, payloads }: Importing): Op<Imported> {
	const dump = { ...given, entries: [...given.entries] };
	for (const [index, text] of payloads) dump.entries[index] = { ...nth(dump.entries, index), payload: new JsonText(text) };
	const notes: string[] = [];
	const pids = yield* importAgents(tx, dump, numbers, notes);
	for (const ledger of dump.ledgers) yield* importLedger(tx, ledger, pidIn(pids, ledger.pid, `ledger ${ledger.dim}`), notes);
	const entries = Object.fromEntries(STATES.map((state) => [state, 0])) as Imported["entries"];
	const ids = entryIds(tx, dump, numbers);
	for (const entry of [...dump.entries].sort((a, b) => a.sched_id - b.sched_id)) {
		yield* importEntry(tx, entry, { id: ids(entry.sched_id), pid: pidIn(pids, entry.pid, `entry ${entry.sched_id}`) });
		entries[entry.state as (typeof STATES)[number]]++;
	}
	return { agents: dump.agents.length, ledgers: dump.ledgers.length, entries, renumbered: numbers === "new", notes };
}

const taken = (what: string) =>
	new SluiceError("conflict", `${what}; nothing was imported`, {
		hint: "import it into a home of its own (sluice --home FOLDER kernel import FILE), or give new numbers with --renumber",
	});

function* importAgents(tx: Tx, { agents }: KernelDump, numbers: Numbers, notes: string[]): Op<Map<number, number>> {
	const last = (yield* lastPid(tx)) ?? 0;
	const pids = new Map<number, number>();
	let highest = last;
	for (const { pid, name, state } of [...agents].sort((a, b) => a.pid - b.pid)) {
		check.integer(pid, "pid", 1);
		if (numbers === "keep" && pid <= last) throw taken(`there is an agent with pid ${pid} here already, or there was one`);
		const own = numbers === "keep" ? pid : highest + 1;
		highest = Math.max(highest, own);
		pids.set(pid, own);
		const known = isOneOf(state, AGENT_STATES);
		if (!known) notes.push(`agent ${own}: state ${check.shown(state)} is not known here, it is READY now`);
		const record: KernelAgentRecord = {
			pid: own,
			name: check.word(name, `agent ${pid}: name`),
			state: known ? state : "READY",
		};
		tx.put("agent", String(own), record);
	}
	tx.put("agent", "last", highest);
	return pids;
}

function pidIn(pids: ReadonlyMap<number, number>, pid: number, what: string): number {
	const own = pids.get(pid);
	if (own === undefined) throw check.wrong("file", `${what} belongs to agent ${pid}, which is not in the file`);
	return own;
}

/** Imports a ledger. Ours count in whole units, so fractions are rounded and noted. */
function* importLedger(tx: Tx, { dim, used, limit }: KernelDump["ledgers"][number], pid: number, notes: string[]): Op<void> {
	const whole = { used: Math.ceil(used), limit: limit === null ? null : Math.floor(limit) };
	if (whole.used !== used || whole.limit !== limit)
		notes.push(`agent ${pid}, ${dim}: used ${used} of ${limit} became ${whole.used} of ${whole.limit}, since ledgers count in whole units`);
	check.integer(whole.used, `ledger ${dim}: used`, Number.MIN_SAFE_INTEGER);
	if (whole.limit !== null) check.integer(whole.limit, `ledger ${dim}: limit`, 0);
	yield* putLedger(tx, { ...freshLedger(subjectOf(pid), check.label(dim, "dim")), ...whole });
}

function entryIds(tx: Tx, { entries }: KernelDump, numbers: Numbers): (sched_id: number) => number {
	if (numbers === "new") return () => tx.nextId("job");
	const next = tx.nextIds(0);
	const ids = entries.map(({ sched_id }) => check.integer(sched_id, "sched_id", 1));
	const low = ids.reduce((least, id) => Math.min(least, id), Number.POSITIVE_INFINITY);
	if (low < next) throw taken(`entry ${low} cannot keep its number: jobs and entries here have had the numbers up to ${next - 1}`);
	const high = ids.reduce((most, id) => Math.max(most, id), 0);
	if (high >= next) tx.nextIds(high - next + 1);
	return (sched_id) => sched_id;
}

function* importEntry(tx: Tx, entry: Entry, { id, pid }: { id: number; pid: number }): Op<void> {
	const state = check.oneOf(entry.state, STATES, `entry ${entry.sched_id}: state`);
	const { priority, runnable_at, deadline, trigger, payload } = entry;
	const { job, spec } = draftEntry({ pid, priority, runnable_at, deadline, trigger, payload }, toMs(entry.created_at));
	job.id = id;
	job.bucket = tx.bucketFor(job).id;
	if (state === "dispatched") dispatched(tx, job, entry);
	else if (state !== "queued") ended(tx, job, entry, state);
	tx.create(job, spec);
	if (state === "queued") yield* reevaluate(tx, job);
	tx.event("added", job.id, { from: null, to: job.status, kind: "kernel" });
}

const runOf = ({ worker_id, dispatched_at, created_at }: Entry) => {
	const at = dispatched_at ?? created_at;
	return { attempt: 1, host: "", worker: worker_id ?? "unknown", started_at: toMs(at), dispatched_at: at };
};

function dispatched(tx: Tx, job: Job, entry: Entry): void {
	job.attempt = 1;
	job.run = { ...runOf(entry), token: tx.nextId("token") };
	job.started_at = job.run.started_at;
	job.status = "running";
	job.parked_on = "run";
}

function ended(tx: Tx, job: Job, entry: Entry, state: "completed" | "expired" | "cancelled"): void {
	job.parked_on = "end";
	job.exit_code = null;
	job.ended_at = entry.completed_at === null ? tx.now : toMs(entry.completed_at);
	if (state !== "completed") {
		job.status = state;
		if (state === "expired") job.end_reason = "deadline passed";
		return;
	}
	job.attempt = 1;
	job.last_run = runOf(entry);
	job.started_at = job.last_run.started_at;
	job.exit_kind = check.oneOf(entry.exit_kind ?? "completed", EXITS, `entry ${entry.sched_id}: exit_kind`);
	job.status = job.exit_kind === "completed" ? "succeeded" : job.exit_kind === "cancelled" ? "cancelled" : "failed";
	job.exit_code = job.status === "succeeded" ? 0 : job.status === "cancelled" ? 143 : 1;
}
