// What stands apart from jobs: pauses, accounts, call slots, ledgers, facts, markers, configuration, agents of the kernel.

import type { Facts } from "../../src/contracts/host.ts";
import type { AgentState, BudgetView, LedgerView, PauseScope } from "../../src/contracts/scheduler.ts";
import { accepted, agreeSame, refused, type Seen } from "./agree.ts";
import { chargeLedger, isOverBudget, ledgerOf, reservedOf, stopRuns, usedOf } from "./gates/ledgers.ts";
import { settle } from "./settle.ts";
import type { Ledger, State } from "./state.ts";

export function scopeKey(scope: PauseScope | undefined): string {
	const [entry] = Object.entries(scope ?? {});
	return entry === undefined ? "all" : `${entry[0]}:${entry[1]}`;
}

export function pause(state: State, scope: PauseScope | undefined, until: number | undefined, seen: Seen): void {
	accepted(seen);
	const key = scopeKey(scope);
	state.holds = state.holds.filter((hold) => hold.scope !== key);
	state.holds.push({ scope: key, until: until ?? null, since: state.now });
	settle(state, seen);
}

export function resume(state: State, scope: PauseScope | undefined, seen: Seen): void {
	accepted(seen);
	const key = scopeKey(scope);
	state.holds = state.holds.filter((hold) => hold.scope !== key);
	settle(state, seen);
}

/** What the engine was told or found out. */
export function learn(state: State, facts: Facts, which: "all" | "unknown" = "all"): void {
	for (const [key, value] of Object.entries(facts)) if (which === "all" || state.facts[key] === undefined) state.facts[key] = value;
}

export function mark(state: State, artifact: string, absent: boolean, seen: Seen): void {
	accepted(seen);
	state.markers = state.markers.filter((one) => one !== artifact);
	if (!absent) state.markers.push(artifact);
	settle(state, seen);
}

export function acquireCall(state: State, account: string, holder: string, seen: Seen): void {
	const result = accepted<{ granted: boolean; in_use: number; limit: number }>(seen);
	const limit = state.config.accounts[account]?.max_api_calls ?? 10;
	state.calls[account] ??= [];
	const held = state.calls[account].filter((call) => call.until > state.now && call.holder !== holder);
	const granted = held.length < limit;
	if (granted) held.push({ holder, until: state.now + state.config.lease_ms });
	state.calls[account] = held;
	if (result !== undefined)
		agreeSame([result.granted, result.in_use, result.limit], [granted, held.length, limit], `acquireCall ${account} by ${holder}`);
}

export function releaseCall(state: State, account: string, holder: string, seen: Seen): void {
	const result = accepted(seen) as { released: boolean } | undefined;
	const held = (state.calls[account] ?? []).filter((call) => call.until > state.now);
	state.calls[account] = held.filter((call) => call.holder !== holder);
	if (result !== undefined)
		agreeSame(
			result.released,
			held.some((call) => call.holder === holder),
			`releaseCall ${account} by ${holder}`,
		);
}

export const viewOf = (state: State, ledger: Ledger): Omit<LedgerView, "warn_at"> & Pick<BudgetView, "reserved"> => ({
	subject: ledger.subject,
	dim: ledger.dim,
	used: usedOf(state, ledger, state.now),
	limit: ledger.limit,
	window: ledger.window,
	over_limit: isOverBudget(state, ledger, state.now),
	reserved: reservedOf(state, ledger),
});

/** A kernel's ledgers tell of nothing that is set aside. */
function checkView(state: State, ledger: Ledger, view: LedgerView | BudgetView | undefined, what: string): void {
	if (view === undefined) return;
	const { subject, dim, used, limit, window, over_limit } = view;
	const { reserved, ...mine } = viewOf(state, ledger);
	agreeSame({ subject, dim, used, limit, window, over_limit }, mine, what);
	if ("reserved" in view) agreeSame(view.reserved, reserved, `${what}: reserved`);
}

export type Grant = {
	limit: number | null;
	warn_at?: number;
	window?: "hour" | "day" | null;
	on_breach?: "finish" | "stop";
	reserve?: number;
};

export function grant(state: State, subject: string, dim: string, terms: Grant, seen: Seen): void {
	const result = accepted<BudgetView>(seen);
	let ledger = ledgerOf(state, subject, dim);
	if (ledger === undefined) {
		ledger = { subject, dim, used: 0, limit: null, warn_at: 0.8, window: null, on_breach: "finish", since: state.now };
		state.ledgers.push(ledger);
	}
	ledger.used = usedOf(state, ledger, state.now);
	ledger.since = state.now;
	ledger.limit = terms.limit;
	if (terms.window !== undefined) ledger.window = terms.window;
	if (terms.on_breach !== undefined) ledger.on_breach = terms.on_breach;
	if (terms.warn_at !== undefined) ledger.warn_at = terms.warn_at;
	if (terms.reserve !== undefined) ledger.reserve = terms.reserve;
	if (isOverBudget(state, ledger, state.now) && ledger.on_breach === "stop") stopRuns(state, subject);
	settle(state, seen);
	checkView(state, ledger, result, `grant ${subject} ${dim}`);
}

export function charge(state: State, subject: string, dim: string, amount: number, seen: Seen): void {
	let ledger = ledgerOf(state, subject, dim);
	if (ledger === undefined) {
		if (seen.error !== undefined) {
			refused(seen, ["not_found"], `there is no ledger ${subject} ${dim}`);
			return;
		}
		ledger = { subject, dim, used: 0, limit: null, warn_at: 0.8, window: null, on_breach: "finish", since: state.now };
		state.ledgers.push(ledger);
	}
	const result = accepted<BudgetView & { warned: boolean; first_breach: boolean }>(seen);
	const said = chargeLedger(state, ledger, amount, state.now);
	settle(state, seen);
	if (result === undefined) return;
	agreeSame(result.used, ledger.used, `charge ${subject} ${dim}: used`);
	agreeSame(result.over_limit, isOverBudget(state, ledger, state.now), `charge ${subject} ${dim}: over_limit`);
	agreeSame(result.first_breach, said.first_breach, `charge ${subject} ${dim}: first_breach`);
}

export function createAgent(state: State, name: string, seen: Seen): void {
	const result = accepted<{ pid: number; state: AgentState }>(seen);
	const last = state.agents.at(-1)?.pid ?? 0;
	const pid = result?.pid ?? last + 1;
	if (result !== undefined) agreeSame(pid > last, true, "kernel.agent.create: pids only grow");
	state.agents.push({ pid, name, state: "READY" });
}

export function moveAgent(state: State, pid: number, to: AgentState, seen: Seen): void {
	const agent = state.agents.find((one) => one.pid === pid);
	if (agent === undefined) {
		refused(seen, ["not_found"], `there is no agent ${pid}`);
		return;
	}
	if (agent.state === "DEAD" && to !== "DEAD") {
		refused(seen, ["illegal_transition"], `agent ${pid} is DEAD`);
		return;
	}
	const result = accepted<{ prev_state: AgentState }>(seen);
	if (result !== undefined) agreeSame(result.prev_state, agent.state, `agent ${pid}: prev_state`);
	agent.state = to;
}
