// Gate `conditions`: each condition holds: a clean worktree, a branch that exists, a command that exits 0.

import { conditionKey, conditionText } from "../fact.ts";
import { type FactGate, type GateAnswer, pass, refuse } from "./gate.ts";

export const conditions: FactGate = {
	name: "conditions",
	concerns: (job) => job.conditions !== undefined,
	factKeys: (job) => (job.conditions ?? []).map((condition) => conditionKey(condition, job)),
	ask(job, { conditions: facts }) {
		let answer: GateAnswer | null = pass;
		job.conditions?.forEach((condition, index) => {
			const fact = facts[index];
			if (fact?.value === true) return;
			const text = conditionText(condition);
			answer ??= { reasons: [], parked_on: "fact" };
			if (fact === undefined) answer.reasons.push(refuse("conditions", "probing", text, `probing condition ${text}`));
			else {
				const why = fact.error === undefined ? "is not met" : `cannot be checked: ${fact.error}`;
				answer.reasons.push(refuse("conditions", "condition", text, `condition ${text} ${why}`, { observed_at: fact.observed_at }));
			}
		});
		return answer;
	},
};
