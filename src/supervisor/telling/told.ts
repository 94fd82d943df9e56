// What people tell the agent of a live run. The text is stored with the job; here the run is stopped at its next turn boundary, so that it goes on with it.
//
//   pending, and the agent                     then
//   can be resumed, and is between two turns   the run is stopped (`preempted`, and its job is first in the order): the next run resumes the session
//   is at work on a turn                       wait for its end
//   cannot be resumed                          nothing: the next attempt's prompt has the text

import { hasUnreportedTool } from "../clocks.ts";
import type { SupervisorContext } from "../context.ts";
import { readFurther } from "../progress/read.ts";
import type { LiveRun } from "../run.ts";
import { askStop } from "../stop.ts";

/** How often the end of a turn is looked for: the pause until the model answers is longer. */
const LOOK_MS = 250;
const TOLD_REASON = "a person told it something: it goes on with that";

/** Whether the session of a live run can go on in another run. */
export const isResumable = ({ agent }: LiveRun): boolean =>
	agent?.resumes === true && (agent.reader.reading.session !== null || agent.session !== null);

/** Between two turns: no tool runs, also none that the program has not reported, and the agent reported something since `heard`. */
export function isBetweenTurns(context: SupervisorContext, run: LiveRun, heard: number): boolean {
	const reading = run.agent?.reader.reading;
	if (!reading || reading.tools.size > 0 || reading.heard <= heard || reading.ended !== null) return false;
	return !hasUnreportedTool(context, run);
}

/** Stops a run that has something to hear, when it is between two turns. Returns when to look again. */
export function checkTold(context: SupervisorContext, run: LiveRun, now: number): number {
	const { awaited, agent } = run;
	if (awaited.numbers.size === 0 || agent?.resumes !== true || run.stop || run.asking || run.stage.is !== "running") {
		return Number.POSITIVE_INFINITY;
	}
	if (run.frozen !== null) return now + LOOK_MS;
	if (awaited.lookAt > now) return awaited.lookAt;
	awaited.lookAt = now + LOOK_MS;
	readFurther(context, run);
	if (!isResumable(run) || !isBetweenTurns(context, run, awaited.heard)) return awaited.lookAt;
	void askStop(context, run, "preempted", TOLD_REASON, "resumes");
	return awaited.lookAt;
}
