// The kernel contract's agents with their states, and the ledgers that its admission check reads.

import type { Charge, Kernel } from "../../contracts/kernel.ts";
import type { AgentState, LedgerView } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import * as check from "../../core/input/check.ts";
import { isSpent, usedNow } from "../../core/ledger.ts";
import { alignWindow, chargeLedger, freshLedger, ledgerOf, putLedger, viewLedger } from "../limits/budgets.ts";
import { storedRecords } from "../transaction/record-map.ts";
import type { Tx } from "../transaction/tx.ts";
import { agentOf, checked, type KernelAgentRecord, KernelError, lastPid, pidOf, subjectOf } from "./input.ts";

export const AGENT_STATES = ["READY", "RUNNING", "WAITING", "SUSPENDED", "DEAD"] as const;

export function* agentCreate(tx: Tx, params: { name: string }): Op<{ pid: number; state: AgentState }> {
	const name = checked(() => check.word(params.name, "name"));
	const last = (yield* lastPid(tx)) ?? 0;
	tx.put("agent", "last", last + 1);
	tx.put("agent", String(last + 1), { pid: last + 1, name, state: "READY" });
	return { pid: last + 1, state: "READY" };
}

export function* agentTransition(
	tx: Tx,
	params: Parameters<Kernel["agent"]["transition"]>[0],
): Op<{ pid: number; state: AgentState; prev_state: AgentState }> {
	const to = checked(() => check.oneOf(params.to, AGENT_STATES, "to"));
	const agent = yield* agentOf(tx, pidOf(params));
	if (agent.state === "DEAD" && to !== "DEAD")
		throw new KernelError(
			"kernel_sched_illegal_transition",
			"illegal_transition",
			`agent ${agent.pid} is DEAD and cannot become ${to}`,
			"to",
		);
	tx.put("agent", String(agent.pid), { ...agent, state: to });
	return { pid: agent.pid, state: to, prev_state: agent.state };
}

export function* agentGet(tx: Tx, params: { pid: number }): Op<KernelAgentRecord> {
	return { ...(yield* agentOf(tx, pidOf(params))) };
}

export function* agentList(_tx: Tx): Op<KernelAgentRecord[]> {
	const agents = (yield* storedRecords("agent")).flatMap(([, record]) => (typeof record === "number" ? [] : [record]));
	return agents.sort((a, b) => a.pid - b.pid);
}

const dimOf = (params: { dim?: unknown }) => checked(() => check.label(params.dim, "dim"));
const amountOf = (params: { amount?: unknown }) => checked(() => check.integer(params.amount, "amount", 0));

export function* ledgerGrant(tx: Tx, params: Parameters<Kernel["ledger"]["grant"]>[0]): Op<LedgerView> {
	const agent = yield* agentOf(tx, pidOf(params));
	const dim = dimOf(params);
	const limit = checked(() => check.integer(params.limit, "limit", 0));
	const before = ledgerOf(tx, subjectOf(agent.pid), dim) ?? freshLedger(subjectOf(agent.pid), dim);
	const window =
		params.window === undefined
			? before.window
			: params.window === null
				? null
				: checked(() => check.oneOf(params.window, ["hour", "day"] as const, "window"));
	const warn_at = params.warn_at === undefined ? before.warn_at : checked(() => check.number(params.warn_at, "warn_at", 0, 1));
	yield* putLedger(tx, alignWindow(tx, { ...before, limit, warn_at, window, used: usedNow(before, tx.now, tx.config.timezone) }));
	tx.stirred = true;
	return viewLedger(tx, ledgerOf(tx, subjectOf(agent.pid), dim) as NonNullable<ReturnType<typeof ledgerOf>>);
}

export function* ledgerCharge(tx: Tx, params: Charge, sign: 1 | -1): Op<Awaited<ReturnType<Kernel["ledger"]["charge"]>>> {
	const agent = yield* agentOf(tx, pidOf(params));
	const dim = dimOf(params);
	const subject = subjectOf(agent.pid);
	if (!ledgerOf(tx, subject, dim)) yield* putLedger(tx, freshLedger(subject, dim));
	const news = yield* chargeLedger(tx, subject, dim, sign * amountOf(params));
	const { used, limit, over_limit } = viewLedger(tx, news?.ledger ?? freshLedger(subject, dim));
	return { used, limit, over_limit, warned: news?.warned ?? false, first_breach: news?.first_breach ?? false };
}

export function* ledgerCheck(tx: Tx, params: Charge): Op<{ would_exceed: boolean }> {
	const agent = yield* agentOf(tx, pidOf(params));
	const ledger = ledgerOf(tx, subjectOf(agent.pid), dimOf(params));
	const amount = amountOf(params);
	return {
		would_exceed: ledger !== undefined && ledger.limit !== null && usedNow(ledger, tx.now, tx.config.timezone) + amount > ledger.limit,
	};
}

export function* ledgerGet(tx: Tx, params: { pid: number }): Op<LedgerView[]> {
	const agent = yield* agentOf(tx, pidOf(params));
	return (tx.memory.ledgers.get(subjectOf(agent.pid)) ?? []).map((ledger) => viewLedger(tx, ledger));
}

export function listBreached(tx: Tx): LedgerView[] {
	return [...tx.memory.ledgers.values()]
		.flat()
		.filter((ledger) => ledger.subject.startsWith("pid:") && isSpent(ledger, tx.now, tx.config.timezone))
		.map((ledger) => viewLedger(tx, ledger));
}
