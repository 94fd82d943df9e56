// What is reported while runs are live: commits of the scheduler, exits of processes. Each report may come late, twice or never.

import type { CommitSummary, EventRow } from "../contracts/scheduler.ts";
import type { SupervisorContext } from "./context.ts";
import { see, writeOutcome } from "./end/end.ts";
import { setFrozen } from "./freeze.ts";
import { beginStop } from "./stop.ts";
import { release } from "./telling/attach.ts";
import { noteNumber } from "./telling/given.ts";

export function onProcess(context: SupervisorContext, id: string): void {
	const run = context.live.get(id);
	if (run && !context.closed) see(context, run);
}

/** `lookAgain`: matches processes with the assigned runs. */
export function onCommit(context: SupervisorContext, { events, heard, stirred, compare }: CommitSummary, lookAgain: () => void): void {
	for (const event of events) onEvent(context, event, lookAgain);
	for (const event of heard) onEvent(context, event, lookAgain);
	if (compare) lookAgain();
	if (stirred) context.claimSoon();
}

function onEvent(context: SupervisorContext, event: EventRow, lookAgain: () => void): void {
	const run = event.job === null ? undefined : context.live.ofJob(event.job);
	if (!run) return;
	if (event.kind === "told") {
		noteNumber(context, run, event.data.number);
		return;
	}
	if (event.kind === "stop_asked") {
		beginStop(context, run, event.data.kind ?? "cancelled", event.data.reason);
		// A stop that came after that of the attachment counts instead: the end is not held back any more.
		if (run.attached?.state === "ready") release(context, run, "goes on");
		return;
	}
	if (event.kind === "frozen" || event.kind === "thawed") {
		if (event.data.attempt === run.attempt) setFrozen(context, run, event.kind);
		return;
	}
	if ((event.kind !== "ended" && event.kind !== "requeued") || event.data.attempt !== run.attempt) return;
	const { stage } = run;
	if (stage.is !== "ending") {
		// The job moved on without this host's report: its run may have to be abandoned.
		lookAgain();
		return;
	}
	// A stop that was recorded at the last moment changed the exit kind: write outcome.json again.
	const { exit_kind } = event.data;
	if (exit_kind === undefined || exit_kind === stage.end.exit_kind) return;
	stage.end = { ...stage.end, exit_kind };
	writeOutcome(context, run, stage.end);
}
