// Gate `item`: the item's source says that it is open and ready: nothing blocks it, its own state does not hold it back, and no other worker has taken it up.
// The last condition applies only until the job's chain has begun: from then on it is our own run that has taken the item up.

import { itemKey } from "../fact.ts";
import type { Job } from "../job.ts";
import { type FactGate, type JobFacts, pass, refuse } from "./gate.ts";

type Seen = { open: boolean; blocked_by?: string[]; held?: string; taken?: string };

export const item: FactGate = {
	name: "item",
	concerns: (job) => job.item !== undefined,
	factKeys: ({ item: key }) => (key === undefined ? [] : [itemKey(key)]),
	ask(job, facts) {
		const { item: fact } = facts;
		if (job.item === undefined || fact === undefined) return pass;
		const seen = { observed_at: fact.observed_at };
		if (fact.error !== undefined)
			return {
				reasons: [refuse("item", "item_blocked", `item:${job.item}`, `item ${job.item} cannot be read: ${fact.error}`, seen)],
				parked_on: "fact",
			};
		const value = fact.value as Seen | null | boolean;
		if (value === null || typeof value !== "object") return pass;
		const words =
			unready(job.item, value) ?? (isTaken(job, value, facts) ? `item ${job.item} is in progress elsewhere: ${value.taken}` : null);
		if (words === null) return pass;
		const holder = value.open && Array.isArray(value.blocked_by) && value.blocked_by.length > 0 ? { holder: value.blocked_by } : {};
		const reasons = [refuse("item", "item_blocked", `item:${job.item}`, words, { ...seen, ...holder })];
		return value.open ? { reasons, parked_on: "fact" } : { reasons, verdict: { status: "cancelled", reason: "item_closed" } };
	},
};

/** Why an item is not ready, regardless of who works on it: closed, blocked, or held back by its own state. */
export function unready(item: string, { open, blocked_by = [], held }: Seen): string | null {
	if (!open) return `item ${item} is closed`;
	if (!Array.isArray(blocked_by)) return `item ${item} cannot be read: blocked_by is no list`;
	if (blocked_by.length > 0) return `item ${item} is blocked by ${blocked_by.join(", ")}`;
	return held === undefined ? null : `item ${item} is not ready: ${held}`;
}

const isTaken = (job: Job, { taken }: Seen, { chain_begun }: JobFacts): boolean =>
	taken !== undefined && job.attempt === 0 && job.take_over !== true && chain_begun !== true;
