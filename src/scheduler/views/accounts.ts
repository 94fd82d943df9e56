// Accounts as they are shown, and which accounts there are.

import type { AccountView } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { accountReasons, outagesOf } from "../../core/gates/buckets/holds.ts";
import { suggest } from "../../core/input/nearest.ts";
import { type Hold, holdKey } from "../../core/limits-view.ts";
import { type Outage, outageWords } from "../../core/outage.ts";
import { callsInUse } from "../limits/call-slots.ts";
import type { Tx } from "../transaction/tx.ts";

export function* viewAccounts(tx: Tx): Op<AccountView[]> {
	const views: AccountView[] = [];
	for (const name of namesOf(tx)) views.push(viewOf(tx, name, yield* callsInUse(tx, name)));
	return views;
}

/** All accounts: those in the configuration, those with a hold, those in use, and the implicit ones of agents that have no account (named like the agent). */
function namesOf({ config, memory }: Tx): string[] {
	const names = new Set(Object.keys(config.accounts));
	for (const { scope } of memory.holds.values()) if (scope.startsWith("account:")) names.add(scope.slice("account:".length));
	for (const key of memory.usage.keys()) if (key.startsWith("account:")) names.add(key.slice("account:".length));
	for (const { kind, agent, account, lane } of memory.buckets.values())
		if (kind === "agent" && agent !== undefined && account === undefined && !(config.lanes[lane]?.accounts.length ?? 0)) names.add(agent);
	return [...names].sort();
}

/** Refuses an account that does not exist. */
export function knownAccount(tx: Tx, name: string): string {
	const names = ["default", ...tx.config.agents, ...namesOf(tx)];
	if (names.includes(name)) return name;
	throw new SluiceError("not_found", `account: there is no account "${name}"`, {
		field: "account",
		hint: suggest(name, names, "add it under accounts in the configuration"),
	});
}

function viewOf(tx: Tx, name: string, calls: number): AccountView {
	const { config, memory, now } = tx;
	const { max = null, max_api_calls = 10 } = (Object.hasOwn(config.accounts, name) ? config.accounts[name] : undefined) ?? {};
	const scope = `account:${name}`;
	const reasons = accountReasons(name, "all", tx.world());
	// If there are several outages, show the one that has lasted longest.
	const [outage] = outagesOf(name, "all", tx.world()).sort((one, other) => one.since - other.since);
	const limited = memory.holds.get(holdKey("rate_limited", scope));
	const limit = limited?.kind === "rate_limited" ? limited : undefined;
	const state = memory.holds.has(holdKey("account_closed", scope))
		? "closed"
		: limit && limit.until > now
			? "rate_limited"
			: outage
				? "outage"
				: reasons.some(({ code }) => code === "paused")
					? "paused"
					: limit
						? "returning"
						: "open";
	const kind = { closed: "account_closed", rate_limited: "rate_limited", returning: "rate_limited", paused: "paused", open: null } as const;
	const found = state === "outage" ? outage : kind[state] === null ? undefined : memory.holds.get(holdKey(kind[state], scope));
	const hold: Hold | undefined = found;
	return {
		name,
		max,
		max_api_calls,
		running: memory.usage.get(scope) ?? 0,
		calls,
		lanes: Object.entries(config.lanes).flatMap(([lane, { accounts }]) => (accounts.includes(name) ? [lane] : [])),
		state,
		since: hold?.since ?? null,
		until: hold && "until" in hold ? (hold.until ?? null) : null,
		next_at: nextStart(state, limit, outage),
		hits: state === "outage" ? (outage?.hits ?? 0) : (limit?.hits ?? 0),
		reset: limit?.reset ?? false,
		by: hold?.by ?? null,
		reason: hold?.kind === "outage" ? outageWords(hold) : (hold?.reason ?? null),
		reasons,
	};
}

type Limit = Extract<Hold, { kind: "rate_limited" }>;

/** When the next run may start on the account; null if it may start now, or if a person must clear the account first. */
function nextStart(state: AccountView["state"], limit: Limit | undefined, outage: Outage | undefined): number | null {
	if (state === "closed") return null;
	if (state === "outage") return outage?.until ?? null;
	return limit ? Math.max(limit.until, limit.next_at) : null;
}
