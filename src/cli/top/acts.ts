// Carries out what a key asked for: one call of the daemon, and what it says to that.

import type { Result } from "../../api/protocol.ts";
import { explained } from "../commands/job/why.ts";
import type { Io } from "../io.ts";
import { labelOf } from "../printing/job-lines.ts";
import { tame } from "../printing/sequences.ts";
import type { JobAct, KeyAct, TopState } from "./state.ts";

/** An act that concerns a job, or the pause. */
export type DaemonAct = Exclude<KeyAct, { do: "quit" | "interrupt" }>;

/** Most lines of a patch that are shown. */
const PATCH_LINES = 5000;

export async function carryOut(io: Io, state: TopState, act: DaemonAct): Promise<void> {
	switch (act.do) {
		case "pause":
			await io.ask("scheduler.pause");
			state.note = "paused; what runs goes on";
			return;
		case "resume":
			await io.ask("scheduler.resume");
			state.note = "resumed";
			return;
		case "log":
			state.pane = { is: "log", job: act.job, title: titleOf(state, act.job, "log"), lines: ["reading …"], from: "end" };
			return;
		case "why": {
			const lines = await explained(await io.ask("job.why", { id: act.job }), io);
			state.pane = { is: "text", title: titleOf(state, act.job, "why"), lines, from: 0 };
			return;
		}
		case "diff": {
			const { patch } = await io.ask("job.diff", { id: act.job });
			state.pane = { is: "text", title: titleOf(state, act.job, "diff"), lines: patchLines(patch), from: 0 };
			return;
		}
		default:
			state.note = await changeJob(io, act);
	}
}

async function changeJob(io: Io, act: JobAct): Promise<string> {
	const id = act.job;
	switch (act.do) {
		case "cancel": {
			const { requested } = await io.ask("job.cancel", { ids: [id] });
			return requested.includes(id) ? `job ${id} is asked to stop` : `job ${id} is cancelled`;
		}
		case "retry":
			return retried(await io.ask("job.retry", { id }));
		case "approve":
			return `${labelOf((await io.ask("job.approve", { id })).job)} is approved`;
		case "reject":
			return `${labelOf((await io.ask("job.reject", { id, ...(act.text === "" ? {} : { reason: act.text }) })).job)} is rejected`;
		case "promote": {
			const { job } = await io.ask("job.promote", { id });
			return `${labelOf(job)} is first in lane ${job.lane}`;
		}
		case "hold":
			await io.ask("job.hold", { ids: [id], ...(act.text === "" ? {} : { reason: act.text }) });
			return `job ${id} is held; h releases it`;
		case "release":
			await io.ask("job.release", { ids: [id] });
			return `job ${id} is released`;
		case "answer":
			return `${labelOf((await io.ask("job.answer", { id, text: act.text })).job)} has its answer`;
	}
}

const retried = ({ reset }: Result<"job.retry">): string =>
	reset.length === 1 ? `job ${reset[0]} runs again` : `${reset.length} jobs run again: ${reset.slice(0, 10).join(", ")}`;

function titleOf({ jobs }: TopState, id: number, what: string): string {
	const job = jobs.find((one) => one.id === id);
	return `${what} of ${job ? labelOf(job) : `job ${id}`}`;
}

function patchLines(patch: string): string[] {
	if (patch === "") return ["It has changed nothing."];
	const lines = tame(patch, "drop").split("\n");
	return lines.length <= PATCH_LINES ? lines : [...lines.slice(0, PATCH_LINES), `… ${lines.length - PATCH_LINES} more lines: sluice diff`];
}
