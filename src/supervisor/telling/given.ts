// Which told texts a live run has got and which it has not. A text that was in a run's prompt is reported as given once its program runs; run.json says which,
// for a daemon that finds the run again.

import type { Claimed } from "../../contracts/scheduler.ts";
import { pendingOf } from "../../core/runs/told.ts";
import { isOvertaken, type SupervisorContext } from "../context.ts";
import { readFurther } from "../progress/read.ts";
import type { LiveRun } from "../run.ts";

/** Notes the texts that the job of a live run has and the run has not got. */
export function noteTold(context: SupervisorContext, run: LiveRun, job: Pick<Claimed["job"], "told">): void {
	for (const { number } of pendingOf(job.told)) noteNumber(context, run, number);
}

export function noteNumber(context: SupervisorContext, run: LiveRun, number: number): void {
	if (run.inPrompt.includes(number) || run.agent === null || run.awaited.numbers.has(number)) return;
	// The turn that runs now is waited for: what was read of it up to now is not its end.
	if (run.awaited.numbers.size === 0) {
		readFurther(context, run);
		run.awaited.heard = run.agent.reader.reading.heard;
	}
	run.awaited.numbers.add(number);
	context.alarm.at(context.clock.monotonic());
}

/** Reports the texts that were in the run's prompt, once its program runs or has run. */
export function reportGiven(context: SupervisorContext, run: LiveRun): void {
	if (run.inPrompt.length === 0 || run.given || run.fenced) return;
	run.given = true;
	context.scheduler.toldGiven({ job: run.job, token: run.token }, run.inPrompt).catch((error) => {
		run.given = isOvertaken(error);
	});
}

/** The numbers in run.json. */
export function inPromptOf(json: unknown): number[] {
	const { told } = (json ?? {}) as { told?: unknown };
	return Array.isArray(told) ? told.filter((one): one is number => Number.isSafeInteger(one)) : [];
}
