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
		const detail = moved(pin, fact.error === undefined ? fact.value : null);
		if (detail === null) return pass;
		return { reasons: [refuse("head", "pinned_head", subject, detail, { observed_at: fact.observed_at })], line: "fact" };
	},
};

/** What is said of a pin when its branch points to `head`; null when it is still there. A commit may be given by its first digits. */
export const moved = (pin: { branch: string; commit: string }, head: unknown): string | null =>
	typeof head === "string" && head.startsWith(pin.commit) ? null : `pinned head mismatch on ${pin.branch}`;
