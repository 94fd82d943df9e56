// Gate `budget`: no dimension of the owner's or repo's ledger is used up, including what live runs have reserved. (A batch's ledger is checked for each job: see
// batch-hold.ts.)

import { dollars, isTaken, refillsAt, reservedKey, usedNow, usedWords } from "../../ledger.ts";
import type { LimitsView } from "../../limits-view.ts";
import type { Reason } from "../../reason.ts";
import { type BucketGate, pass, refuse } from "../gate.ts";

export function budgetReasons(subject: string, world: LimitsView): Reason[] {
	const reasons: Reason[] = [];
	for (const ledger of world.ledgers.get(subject) ?? []) {
		const { timezone } = world.config;
		const reserved = world.usage.get(reservedKey(ledger)) ?? 0;
		if (!isTaken(ledger, reserved, world.now, timezone)) continue;
		const used = `${subject} has used ${usedWords(usedNow(ledger, world.now, timezone), ledger.limit, ledger.dim)}`;
		const detail =
			reserved > 0 ? `${used}; what runs now has reserved ${ledger.dim === "cost_micro" ? dollars(reserved) : reserved}` : used;
		const clears = refillsAt(ledger, world.now, timezone);
		reasons.push(refuse("budget", "budget", `${subject}/${ledger.dim}`, detail, clears === undefined ? {} : { clears_at: clears }));
	}
	return reasons;
}

export const budget: BucketGate = {
	name: "budget",
	ask(bucket, world) {
		if (bucket.owner === undefined && bucket.repo === undefined) return pass;
		const reasons: Reason[] = [];
		if (bucket.owner !== undefined) reasons.push(...budgetReasons(`owner:${bucket.owner}`, world));
		if (bucket.repo !== undefined) reasons.push(...budgetReasons(`repo:${bucket.repo}`, world));
		return reasons.length > 0 ? reasons : pass;
	},
};
