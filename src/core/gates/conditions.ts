// Gate 7: each condition holds: a clean worktree, a branch that exists, a command that exits 0.

import { conditionText } from "../fact.ts";
import { type GateAnswer, type JobGate, pass, refuse } from "./gate.ts";

export const conditions: JobGate = {
	name: "conditions",
	ask(job, { conditions: facts }) {
		let answer: GateAnswer | null = pass;
		job.conditions?.forEach((condition, index) => {
			const fact = facts[index];
			if (fact?.value === true) return;
			const text = conditionText(condition);
			answer ??= { reasons: [], line: "fact" };
			if (fact === undefined) answer.reasons.push(refuse("conditions", "probing", text, `probing condition ${text}`));
			else {
				const why = fact.error === undefined ? "is not met" : `cannot be checked: ${fact.error}`;
				answer.reasons.push(refuse("conditions", "condition", text, `condition ${text} ${why}`, { observed_at: fact.observed_at }));
			}
		});
		return answer;
	},
};
