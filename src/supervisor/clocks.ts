// The clocks of a live run: its total time, and its silence.

import { readOn } from "./agent.ts";
import type { Floor } from "./floor.ts";
import { STREAMS } from "./log-limit.ts";
import type { LiveRun } from "./run.ts";
import { askStop } from "./stop.ts";

/** Stops what has had its time or has fallen silent. When the next of this run's clocks runs out. */
export function checkClocks(floor: Floor, run: LiveRun, now: number): number {
	if (run.stop || run.asking || run.frozen !== null || run.stage === "clearing" || run.stage === "ending") return Number.POSITIVE_INFINITY;
	let next = Number.POSITIVE_INFINITY;
	if (run.deadline !== null) {
		if (run.deadline <= now) {
			void askStop(floor, run, "timeout", `timeout after ${inWords(run.timeoutMs ?? 0)}`);
			return next;
		}
		next = run.deadline;
	}
	if (run.silence) {
		const { silence } = run;
		if (silence.since + silence.allowed <= now) listen(floor, run, now);
		if (silence.since + silence.allowed <= now) {
			void askStop(floor, run, "stalled", `no output for ${inWords(silence.allowed)}`);
			return next;
		}
		next = Math.min(next, silence.since + silence.allowed);
	}
	return next;
}

/** Has it written anything since we listened last, or does a tool of it run? */
export function listen(floor: Floor, run: LiveRun, now: number): void {
	readOn(floor, run);
	if (!run.silence) return;
	// A tool that is silent for two hours is at work.
	if (run.agent !== null && run.agent.reader.reading.tools.size > 0) run.silence.since = now;
	const bytes = STREAMS.reduce((sum, stream) => sum + (floor.disk.size(`${run.dir}/${stream}.log`) ?? 0), 0);
	if (bytes === run.silence.bytes) return;
	// The first look only says where it stands.
	if (run.silence.bytes >= 0 || bytes > 0) run.silence.since = now;
	run.silence.bytes = bytes;
}

/** 90000 → "1m30s". */
export function inWords(ms: number): string {
	if (ms < 1000) return `${ms}ms`;
	const seconds = Math.round(ms / 1000);
	const parts = [`${Math.floor(seconds / 3600)}h`, `${Math.floor((seconds % 3600) / 60)}m`, `${seconds % 60}s`].filter(
		(part) => !/^0/.test(part),
	);
	return parts.join("");
}
