// The clocks of a live run: its total time, and its silence.

import { waitsFor } from "../core/agents/waiting.ts";
import { type AgentRun, readOn } from "./agent.ts";
import { tailOf } from "./agent-end.ts";
import { TAIL_BYTES } from "./exit.ts";
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
	if (run.agent !== null) losePatience(floor, run, run.agent, now);
	if (!run.silence) return;
	// A tool that is silent for two hours is at work.
	if (run.agent !== null && run.agent.reader.reading.tools.size > 0) run.silence.since = now;
	const bytes = STREAMS.reduce((sum, stream) => sum + (floor.disk.size(`${run.dir}/${stream}.log`) ?? 0), 0);
	if (bytes === run.silence.bytes) return;
	// The first look only says where it stands.
	if (run.silence.bytes >= 0 || bytes > 0) run.silence.since = now;
	run.silence.bytes = bytes;
}

/** A slot is not for waiting in: what waits for the end of a limit by itself is stopped, and goes on when the account may. */
function losePatience(floor: Floor, run: LiveRun, agent: AgentRun, now: number): void {
	const allowed = floor.settings().agent_patience_ms;
	if (allowed === null || agent.output === "command" || run.stage !== "running" || run.stop || run.asking || run.frozen !== null) return;
	const bytes = STREAMS.reduce((sum, stream) => sum + (floor.disk.size(`${run.dir}/${stream}.log`) ?? 0), 0);
	if (bytes !== agent.quiet.bytes) agent.quiet = { bytes, since: now };
	if (now - agent.quiet.since < allowed) return;
	const waited = waitsFor(agent.output, agent.reader.reading, lastWordsOnStderr(floor, run));
	if (waited === null) return;
	agent.waited = waited;
	void askStop(floor, run, "rate_limited", `it waited for a limit to end: ${waited.text}`);
}

/** Its end, if that is where it wrote last. */
function lastWordsOnStderr(floor: Floor, run: LiveRun): string {
	const at = (stream: "stdout" | "stderr") => floor.disk.changedAt(`${run.dir}/${stream}.log`) ?? 0;
	return at("stderr") > at("stdout") ? tailOf(floor, run, "stderr", TAIL_BYTES) : "";
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
