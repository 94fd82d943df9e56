// Gate 5: the item's source says that it is open and ready: nothing blocks it, its own state does not hold it back, and nobody else has taken it up.
// The last holds a job only before its chain has begun: from then on it is our own runs that have taken the item up.

import { type Answer, type JobFacts, type JobGate, pass, refuse } from "../answer.ts";
import type { Job } from "../job.ts";

type Seen = { open: boolean; blocked_by?: string[]; held?: string; taken?: string };

export const item: JobGate = {
	name: "item",
	ask(job, facts) {
		const { item: fact } = facts;
		if (job.item === undefined || fact === undefined) return pass;
		const seen = { observed_at: fact.observed_at };
		if (fact.error !== undefined)
			return {
				reasons: [refuse("item", "item_blocked", `item:${job.item}`, `item ${job.item} cannot be read: ${fact.error}`, seen)],
				line: "fact",
			};
		const value = fact.value as Seen | null | boolean;
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
		if (blockers.length === 0) return notReady(job, value, facts);
		const detail = `item ${job.item} is blocked by ${blockers.join(", ")}`;
		return { reasons: [refuse("item", "item_blocked", `item:${job.item}`, detail, { ...seen, holder: blockers })], line: "fact" };
	},
};

function notReady(job: Job, { held, taken }: Seen, facts: JobFacts): Answer | null {
	const isOurs = job.attempt > 0 || job.take_over === true || facts.chain_begun === true;
	const words =
		held !== undefined ? `is not ready: ${held}` : taken !== undefined && !isOurs ? `is in progress elsewhere: ${taken}` : undefined;
	if (words === undefined) return pass;
	const seen = { observed_at: facts.item?.observed_at ?? facts.now };
	return { reasons: [refuse("item", "item_blocked", `item:${job.item}`, `item ${job.item} ${words}`, seen)], line: "fact" };
}
