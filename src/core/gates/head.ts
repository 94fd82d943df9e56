// Gate `head`: the branch still points to the commit that the job is pinned to.

import { headKey } from "../fact.ts";
import { type FactGate, pass, refuse } from "./gate.ts";

export const head: FactGate = {
	name: "head",
	concerns: (job) => job.pinned_head !== undefined,
	factKeys: (job) => [headKey(job)],
	ask(job, { head: fact }) {
		const pin = job.pinned_head;
		if (!pin) return pass;
		const subject = headKey(job);
		if (fact === undefined) return { reasons: [refuse("head", "probing", subject, `probing head of ${pin.branch}`)], parked_on: "fact" };
		const detail = moved(pin, fact.error === undefined ? fact.value : null);
		if (detail === null) return pass;
		return { reasons: [refuse("head", "pinned_head", subject, detail, { observed_at: fact.observed_at })], parked_on: "fact" };
	},
};

/** The mismatch of a pin whose branch points to `head`; null if there is none. The pin may be an abbreviated commit. */
export const moved = (pin: { branch: string; commit: string }, head: unknown): string | null =>
	typeof head === "string" && head.startsWith(pin.commit) ? null : `pinned head mismatch on ${pin.branch}`;
