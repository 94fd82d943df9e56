// Gate 2: a job never starts after its deadline. An entry of preset kernel only becomes invisible; gc_expired removes it.

import { type ClockGate, pass, refuse } from "./gate.ts";
import { stamp } from "./time.ts";

export const deadline: ClockGate = {
	name: "deadline",
	ask(job, { now }) {
		if (job.deadline === undefined || job.deadline > now) return pass;
		const reason = refuse("deadline", "deadline", "deadline", `deadline ${stamp(job.deadline)} has passed`);
		if (job.kind === "kernel") return { reasons: [reason], line: "late" };
		return { reasons: [reason], verdict: { status: "expired", reason: reason.detail } };
	},
};
