// Gate 2: never started once its deadline has come. Kernel entries (004) only become invisible; gc_expired sweeps them.

import { type JobGate, pass, refuse } from "../answer.ts";
import { stamp } from "./time.ts";

export const deadline: JobGate = {
	name: "deadline",
	ask(job, { now }) {
		if (job.deadline === undefined || job.deadline > now) return pass;
		const reason = refuse("deadline", "deadline", "deadline", `deadline ${stamp(job.deadline)} has passed`);
		if (job.kind === "kernel") return { reasons: [reason], line: "late" };
		return { reasons: [reason], verdict: { status: "expired", reason: reason.detail } };
	},
};
