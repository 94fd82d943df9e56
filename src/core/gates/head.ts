// Gate 6: the branch still points where it was when the job was pinned to it.

import { type JobGate, pass, refuse } from "../answer.ts";

export const head: JobGate = {
	name: "head",
	ask(job, { head: fact }) {
		const pin = job.pinned_head;
		if (!pin) return pass;
		const subject = `head:${job.repo ?? ""}:${pin.branch}`;
		if (fact === undefined) return { reasons: [refuse("head", "probing", subject, `probing head of ${pin.branch}`)], line: "fact" };
		if (fact.error === undefined && fact.value === pin.commit) return pass;
		const detail = `pinned head mismatch on ${pin.branch}`;
		return { reasons: [refuse("head", "pinned_head", subject, detail, { observed_at: fact.observed_at })], line: "fact" };
	},
};
