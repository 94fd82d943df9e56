// Gate 8: a person has said yes where one was asked, and no question of the last run is open.

import { type Answer, type JobGate, pass, refuse } from "../answer.ts";

export const approval: JobGate = {
	name: "approval",
	ask(job) {
		let answer: Answer | null = pass;
		if (job.approval === "needed") {
			answer = { reasons: [refuse("approval", "approval", `job:${job.id}`, "waiting for approval")], line: "human" };
		}
		if (job.question !== undefined) {
			answer ??= { reasons: [], line: "human" };
			answer.reasons.push(refuse("approval", "needs_human", `job:${job.id}`, job.question));
		}
		return answer;
	},
};
