// Which marks a call leaves behind.

import type { AddResult, ApplyResult, RewindReport } from "../src/contracts/scheduler.ts";
import type { Call } from "./engine/call.ts";
import type { Marks } from "./marks.ts";
import type { State } from "./model/state.ts";

export function noteCall(
	marks: Marks,
	call: Call,
	outcome: { result: unknown } | { error: { code: string } },
	state: State,
	piece: number,
): void {
	if ("error" in outcome) {
		marks.hit(`error:${outcome.error.code}`);
		const at = ["complete", "started", "extend"].includes(call.method) ? (call.args[0] as { job: number; token: number }) : undefined;
		const isLost = state.past.some((run) => run.lost_with !== undefined && run.job === at?.job && run.token === at.token);
		if (isLost && outcome.error.code === "fenced") marks.hit(`host:fenced:${call.method}`);
		return;
	}
	marks.hit(`call:${call.method}`);
	if (call.method === "complete") marks.hit(`exit:${call.args[0].exit_kind}`);
	if (call.method === "add") noteAdd(marks, call.args[0].unique?.policy, outcome.result as AddResult, state);
	if (call.method === "apply" && (outcome.result as ApplyResult).jobs.length > piece) marks.hit("deed:staged");
	if (call.method === "retry" && (outcome.result as RewindReport).reset.length > 1) marks.hit("deed:rewound");
	if (call.method === "gc" && (outcome.result as { deleted: number }).deleted > 0) marks.hit("deed:gc-deleted");
	if (call.method === "recover") {
		for (const [found, runs] of Object.entries(outcome.result as Record<string, string[]>))
			if (runs.length > 0) marks.hit(`recover:${found}`);
	}
	if (call.method === "charge" && (outcome.result as { first_breach: boolean }).first_breach) marks.hit("deed:first-breach");
	noteDeeds(marks, state);
}

function noteAdd(marks: Marks, policy: string | undefined, result: AddResult, state: State): void {
	marks.hit(`add:${result.outcome}`);
	if (result.outcome !== "queued") return;
	if (result.warning !== undefined && /respecting caps/.test(result.warning)) marks.hit("deed:warned");
	const unique = state.jobs.find((job) => job.id === result.job.id)?.unique;
	if (
		policy === "replace" &&
		state.jobs.some((job) => job.id < result.job.id && job.unique?.key === unique?.key && job.ended_at === state.now)
	)
		marks.hit("deed:replaced");
}

function noteDeeds(marks: Marks, state: State): void {
	for (const [deed, count] of Object.entries(state.deeds)) marks.hit(`deed:${deed}`, count);
	state.deeds = {};
}
