// Gate 5: the item's source says that it is open and nothing blocks it.

import { type JobGate, pass, refuse } from "../answer.ts";

export const item: JobGate = {
	name: "item",
	ask(job, { item: fact }) {
		if (job.item === undefined || fact === undefined) return pass;
		const seen = { observed_at: fact.observed_at };
		if (fact.error !== undefined)
			return {
				reasons: [refuse("item", "item_blocked", `item:${job.item}`, `item ${job.item} cannot be read: ${fact.error}`, seen)],
				line: "fact",
			};
		const value = fact.value as { open: boolean; blocked_by?: string[] } | null | boolean;
		if (value === null || typeof value !== "object") return pass;
		if (!value.open) {
			const reason = refuse("item", "item_blocked", `item:${job.item}`, `item ${job.item} is closed`, seen);
			return { reasons: [reason], verdict: { status: "cancelled", reason: "item_closed" } };
		}
		const blockers = value.blocked_by ?? [];
		if (!Array.isArray(blockers))
			return {
				reasons: [refuse("item", "item_blocked", `item:${job.item}`, `item ${job.item} cannot be read: blocked_by is no list`, seen)],
				line: "fact",
			};
		if (blockers.length === 0) return pass;
		const detail = `item ${job.item} is blocked by ${blockers.join(", ")}`;
		return { reasons: [refuse("item", "item_blocked", `item:${job.item}`, detail, { ...seen, holder: blockers })], line: "fact" };
	},
};
