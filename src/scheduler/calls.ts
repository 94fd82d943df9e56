// 003's max_api_calls: a pool of call slots per account that cooperating agents take and give back. Leased, so that a dead one's slot comes back.

import type { Op } from "../store.ts";
import type { Tx } from "./tx.ts";

type Calls = { holders: [string, number][] };

const live = (tx: Tx, calls: Calls | null): Calls["holders"] => (calls?.holders ?? []).filter(([, until]) => until > tx.now);

export function* callsInUse(tx: Tx, account: string): Op<number> {
	return live(tx, yield* tx.get<Calls>("calls", account)).length;
}

export function* acquireCall(tx: Tx, account: string, holder: string): Op<{ granted: boolean; in_use: number; limit: number }> {
	const limit = tx.config.accounts[account]?.max_api_calls ?? 10;
	const others = live(tx, yield* tx.get<Calls>("calls", account)).filter(([name]) => name !== holder);
	const granted = others.length < limit;
	const holders: Calls["holders"] = granted ? [...others, [holder, tx.now + tx.config.lease_ms]] : others;
	tx.put("calls", account, { holders } satisfies Calls);
	return { granted, in_use: holders.length, limit };
}

export function* releaseCall(tx: Tx, account: string, holder: string): Op<{ released: boolean }> {
	const before = live(tx, yield* tx.get<Calls>("calls", account));
	const holders = before.filter(([name]) => name !== holder);
	tx.put("calls", account, holders.length > 0 ? { holders } : null);
	return { released: holders.length < before.length };
}
