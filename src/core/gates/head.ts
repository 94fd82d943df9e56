// Gate 6: the branch still points where it was when the job was pinned to it.

import { type JobGate, pass, refuse } from "../answer.ts";
import { headKey } from "../fact.ts";

export const head: JobGate = {
	name: "head",
	ask(job, { head: fact }) {
		const pin = job.pinned_head;
		if (!pin) return pass;
		const subject = headKey(job);
		if (fact === undefined) return { reasons: [refuse("head", "probing", subject, `probing head of ${pin.branch}`)], line: "fact" };
		// A commit may be given by its first digits.
		if (fact.error === undefined && typeof fact.value === "string" && fact.value.startsWith(pin.commit)) return pass;
		const detail = `pinned head mismatch on ${pin.branch}`;
		return { reasons: [refuse("head", "pinned_head", subject, detail, { observed_at: fact.observed_at })], line: "fact" };
	},
};
