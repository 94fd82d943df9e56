// Gate `approval`: a person has approved the job if it needs approval, and no question of its last run is open.

import { type ClockGate, type GateAnswer, pass, refuse } from "./gate.ts";

export const approval: ClockGate = {
	name: "approval",
	ask(job) {
		let answer: GateAnswer | null = pass;
		if (job.approval === "needed") {
			answer = { reasons: [refuse("approval", "approval", `job:${job.id}`, "waiting for approval")], parked_on: "human" };
		}
		if (job.question !== undefined) {
			answer ??= { reasons: [], parked_on: "human" };
			answer.reasons.push(refuse("approval", "needs_human", `job:${job.id}`, job.question));
		}
		return answer;
	},
};
