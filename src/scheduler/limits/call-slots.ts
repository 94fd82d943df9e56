// Call slots: the loops preset's `max_api_calls`. A pool of slots per account that cooperating agents acquire and release. Each slot is leased, so that the
// slot of a dead agent becomes free again.

import type { Op } from "../../contracts/store.ts";
import type { Tx } from "../transaction/tx.ts";

export type CallSlots = { holders: [string, number][] };

const live = (tx: Tx, calls: CallSlots | null): CallSlots["holders"] => (calls?.holders ?? []).filter(([, until]) => until > tx.now);

export function* callsInUse(tx: Tx, account: string): Op<number> {
	return live(tx, yield* tx.get("calls", account)).length;
}

export function* acquireCall(tx: Tx, account: string, holder: string): Op<{ granted: boolean; in_use: number; limit: number }> {
	const limit = tx.config.accounts[account]?.max_api_calls ?? 10;
	const others = live(tx, yield* tx.get("calls", account)).filter(([name]) => name !== holder);
	const granted = others.length < limit;
	const holders: CallSlots["holders"] = granted ? [...others, [holder, tx.now + tx.config.lease_ms]] : others;
	tx.put("calls", account, { holders });
	return { granted, in_use: holders.length, limit };
}

export function* releaseCall(tx: Tx, account: string, holder: string): Op<{ released: boolean }> {
	const before = live(tx, yield* tx.get("calls", account));
	const holders = before.filter(([name]) => name !== holder);
	tx.put("calls", account, holders.length > 0 ? { holders } : null);
	return { released: holders.length < before.length };
}
