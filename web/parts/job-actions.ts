// What can be done with a job in its state: the list behind the palette and the selection.

import { isTerminal } from "../../src/core/job.ts";
import { app } from "../app.ts";
import type { PageRow } from "../state/row.ts";
import {
	answer,
	approve,
	cancel,
	demote,
	dropMerge,
	holdJob,
	merge,
	priority,
	promote,
	reject,
	release,
	rerun,
	retry,
	runNow,
} from "./actions.ts";
import { openForm } from "./overlay.ts";

export type JobAction = { words: string; act: () => void };

/** An action that needs more of the job than its row has. */
const withJob = (id: number, act: (job: Awaited<ReturnType<typeof show>>) => void) => () =>
	void show(id).then(act, (error: unknown) => app.say("failed", error instanceof Error ? error.message : String(error)));
const show = async (id: number) => (await app.call("job.show", { id })).job;

export function actionsOf(row: PageRow): JobAction[] {
	const { id, status, asks } = row;
	const go = (tab: typeof app.place.tab) => () => app.go({ job: id, tab });
	const sights: JobAction[] = [
		{ words: "Open", act: go("why") },
		{ words: "Log", act: go("log") },
		{ words: "Changes (diff)", act: go("diff") },
		{ words: "Attempts", act: go("runs") },
		{ words: "History", act: go("history") },
		{ words: "All its fields", act: go("details") },
	];
	if (!app.mayAct) return sights;
	const ended = isTerminal(status);
	const waits = !ended && status !== "running";
	return [
		...(asks === "approval"
			? [
					{ words: "Approve", act: () => approve(id) },
					{ words: "Reject…", act: () => reject(id) },
				]
			: []),
		...(asks === "answer" ? [{ words: "Answer…", act: withJob(id, answer) }] : []),
		...(asks === "merge"
			? [
					{ words: "Merge again", act: () => merge(id) },
					{ words: "Give up the merge…", act: () => dropMerge(id) },
				]
			: []),
		...(waits
			? [
					{ words: "Run next", act: () => runNow(id) },
					{ words: "To the front of its lane", act: () => promote(id) },
					{ words: "To the end of its lane", act: () => demote(id) },
					{ words: "Priority…", act: withJob(id, (job) => priority(id, job.priority)) },
				]
			: []),
		...(waits ? [row.held ? { words: "Release", act: () => release([id]) } : { words: "Hold…", act: () => holdJob(id) }] : []),
		...(ended
			? [
					{ words: "Retry…", act: () => retry(row) },
					{ words: "Run again alone…", act: () => rerun(id) },
				]
			: [{ words: "Cancel…", act: () => cancel(row) }]),
		...(waits ? [{ words: "Edit…", act: () => openForm("edit", id) }] : []),
		{ words: "Clone…", act: () => openForm("clone", id) },
		...sights,
	];
}
