// Gate `after`: every named job has ended in a way that its policy accepts.
//
//   policy    satisfied by                    can no longer be satisfied after
//   success   succeeded                       failed, cancelled, blocked_by_dependency, expired
//   failure   failed, expired, blocked        succeeded, cancelled
//   any       any terminal state              –
//   merged    succeeded and merged            ended badly, or succeeded and merge none / kept
//
// A merge that is in conflict or whose verify failed can still be repaired, and a requested merge can still be granted: the job waits.

import { isTerminal, type MergeStatus, type Policy, type Status } from "../job.ts";
import { type FactGate, type GateAnswer, type Predecessor, pass, refuse } from "./gate.ts";

export type Fit = "met" | "open" | "never";

export function fits(policy: Policy, status: Status, merge: MergeStatus | undefined): Fit {
	if (!isTerminal(status)) return "open";
	switch (policy) {
		case "success":
			return status === "succeeded" ? "met" : "never";
		case "failure":
			return status === "failed" || status === "expired" || status === "blocked_by_dependency" ? "met" : "never";
		case "any":
			return "met";
		case "merged":
			if (status !== "succeeded") return "never";
			if (merge === "merged") return "met";
			return merge === undefined || merge === "none" || merge === "kept" ? "never" : "open";
	}
}

/** Why a predecessor can never satisfy its policy, in the words of preset dag; undefined while it still can. */
export function deadEnd(predecessor: Predecessor): string | undefined {
	const { job, status } = predecessor;
	if (status === "missing") return `missing job dependency ${job}`;
	if (typeof status === "object") return `scheduler data error for job dependency ${job}: ${status.error}`;
	if (fits(predecessor.policy, status, predecessor.merge_status) === "never") return `dependency failed for job ${job} (${status})`;
	return undefined;
}

export const after: FactGate = {
	name: "after",
	concerns: ({ deps_left }) => deps_left !== undefined && deps_left > 0,
	factKeys: () => [],
	ask(_job, { after: predecessors }) {
		let answer: GateAnswer | null = pass;
		for (const predecessor of predecessors) {
			const { job, policy, status } = predecessor;
			const end = deadEnd(predecessor);
			if (end !== undefined) {
				const reason = refuse("after", "dependencies", `job:${job}`, end);
				return { reasons: [reason], verdict: { status: "blocked_by_dependency", reason: end } };
			}
			if (fits(policy, status as Status, predecessor.merge_status) === "met") continue;
			answer ??= { reasons: [], parked_on: "after" };
			answer.reasons.push(refuse("after", "dependencies", `job:${job}`, `waiting on job ${job}`));
		}
		return answer;
	},
};
