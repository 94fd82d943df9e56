// Gate `deadline`: a job never starts after its deadline.

import type { Reason } from "../reason.ts";
import { type ClockGate, pass, refuse } from "./gate.ts";
import { stamp } from "./time.ts";

export const lateReason = (at: number): Reason => refuse("deadline", "deadline", "deadline", `deadline ${stamp(at)} has passed`);

export const deadline: ClockGate = {
	name: "deadline",
	ask(job, { now }) {
		if (job.deadline === undefined || job.deadline > now) return pass;
		const reason = lateReason(job.deadline);
		return { reasons: [reason], verdict: { status: "expired", reason: reason.detail } };
	},
};
