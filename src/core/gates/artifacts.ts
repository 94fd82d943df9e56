// Gate `artifacts`: every needed artifact is present. Answers for a missing artifact, in the words of preset dag:
//
//   producers          on_missing: block (default)                 on_missing: wait
//   any active         waiting_on_deps  waiting on <a>             the same
//   none               blocked          missing <a>                waiting_on_deps  awaiting producer for <a>
//   any succeeded      blocked          missing <a>                waiting_on_deps  awaiting producer for <a>
//   all ended badly    blocked          dependency failed for <a>  waiting_on_deps  awaiting producer for <a>
//
// A present artifact satisfies the gate, whatever its producers did. Not probed yet: waiting_on_deps / probing.

import { artifactKey } from "../fact.ts";
import { isTerminal } from "../job.ts";
import { type FactGate, type GateAnswer, pass, refuse } from "./gate.ts";

export const artifacts: FactGate = {
	name: "artifacts",
	concerns: (job) => job.needs !== undefined,
	factKeys: ({ needs = [], repo }) => needs.map((artifact) => artifactKey(artifact, repo)),
	ask(job, { artifacts: needed }) {
		let answer: GateAnswer | null = pass;
		for (const { artifact, present, error, observed_at, producers } of needed) {
			if (present) continue;
			const seen = observed_at === undefined ? {} : { observed_at };
			answer ??= { reasons: [], parked_on: "fact" };
			if (producers.some((status) => !isTerminal(status))) {
				answer.reasons.push(refuse("artifacts", "dependencies", artifact, `waiting on ${artifact}`, seen));
				continue;
			}
			if (present === undefined) {
				const detail = error === undefined ? `probing ${artifact}` : `cannot probe ${artifact}: ${error}`;
				answer.reasons.push(refuse("artifacts", "probing", artifact, detail, seen));
				continue;
			}
			if (job.on_missing === "wait") {
				answer.reasons.push(refuse("artifacts", "dependencies", artifact, `awaiting producer for ${artifact}`, seen));
				continue;
			}
			const missing = producers.length === 0 || producers.includes("succeeded");
			const detail = missing ? `missing ${artifact}` : `dependency failed for ${artifact}`;
			const reason = refuse("artifacts", "dependencies", artifact, detail, seen);
			return { reasons: [reason], verdict: { status: "blocked_by_dependency", reason: detail } };
		}
		return answer;
	},
};
