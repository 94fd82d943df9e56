// The clocks of a live run: its total time, and its silence.

import { isAnswered } from "../core/agents/reading.ts";
import { triesInVain, waitsFor } from "../core/agents/waiting.ts";
import { STREAMS } from "../core/output-order.ts";
import { type AgentRun, readOn } from "./agent.ts";
import { tailOf } from "./agent-end.ts";
import { type Floor, isOvertaken } from "./floor.ts";
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
		if (silence.since + silence.allowed <= now && hasUntoldTool(floor, run)) silence.since = now;
		if (silence.since + silence.allowed <= now) {
			void askStop(floor, run, "stalled", `no output for ${inWords(silence.allowed)}`);
			return next;
		}
		next = Math.min(next, silence.since + silence.allowed);
	}
	return next;
}

/**
 * opencode tells of a tool only when it is done. A process that has begun since the model's last answer is one of its tools; servers that it
 * started before are not.
 */
function hasUntoldTool({ processes }: Floor, { agent, mark }: LiveRun): boolean {
	const since = agent?.reader.reading.answering_at ?? null;
	return since !== null && processes.begunSince(mark, since);
}

/** Has it written anything since we listened last, or does a tool of it run? */
export function listen(floor: Floor, run: LiveRun, now: number): void {
	const behind = readOn(floor, run);
	if (run.agent !== null) {
		losePatience(floor, run, run.agent, now);
		tellAnswered(floor, run, run.agent);
	}
	if (!run.silence) return;
	const { agent, silence } = run;
	const reading = agent === null || agent.output === "command" ? null : agent.reader.reading;
	// A tool that is silent for two hours is at work. What cannot be read fast enough is not silence either.
	if (behind || (reading !== null && reading.tools.size > 0)) silence.since = now;
	// An agent that only tells, for ever, that it will try again has fallen silent.
	const heard = reading?.heard ?? STREAMS.reduce((sum, stream) => sum + (floor.disk.size(`${run.dir}/${stream}.log`) ?? 0), 0);
	if (heard === silence.heard) return;
	// The first look only says where it stands.
	if (silence.heard >= 0 || heard > 0) silence.since = now;
	silence.heard = heard;
}

/**
 * A slot is not for waiting in. An agent that waits for the end of a limit by itself is stopped, and goes on when the account may; one whose call of the model
 * keeps failing, and who would try on, is stopped, and goes on by the retry policy.
 */
function losePatience(floor: Floor, run: LiveRun, agent: AgentRun, now: number): void {
	const allowed = floor.settings().agent_patience_ms;
	if (allowed === null || agent.output === "command" || run.stage !== "running" || run.stop || run.asking || run.frozen !== null) return;
	const stderr = lastWordsOnStderr(floor, run);
	const failed = triesInVain(agent.output, agent.reader.reading, stderr, writtenAt(floor, run, "stdout"));
	if (failed !== null) {
		agent.waited = failed;
		const kind = failed.cause === "transient" ? "crashed" : "rate_limited";
		void askStop(floor, run, kind, `${failed.cause}: its call of the model keeps failing: ${failed.text}`);
		return;
	}
	const waited = waitsFor(agent.output, agent.reader.reading, stderr);
	agent.waitsSince = waited === null ? null : (agent.waitsSince ?? now);
	if (waited === null || agent.waitsSince === null) return;
	// Some say how long they will wait: longer than the patience is, so nothing is gained by waiting for its end.
	if (now - agent.waitsSince < allowed && (waited.retry_after_ms ?? 0) <= allowed) return;
	agent.waited = waited;
	void askStop(floor, run, "rate_limited", `it waited for a limit to end: ${waited.text}`);
}

/** Others wait to hear whether the provider is back. */
function tellAnswered(floor: Floor, run: LiveRun, { output, reader }: AgentRun): void {
	if (!run.probe || run.fenced || output === "command" || !isAnswered(reader.reading)) return;
	run.probe = false;
	floor.scheduler.answered({ job: run.job, token: run.token }).catch((error) => {
		run.probe = !isOvertaken(error);
	});
}

const writtenAt = ({ disk }: Floor, { dir }: LiveRun, stream: "stdout" | "stderr"): number => disk.changedAt(`${dir}/${stream}.log`) ?? 0;

/** An error with its stack, and the words before it. */
const ERROR_BYTES = 16 * 1024;

/** Its end, if that is where it wrote last; in one and the same millisecond, too: an answer to a further attempt takes longer. */
function lastWordsOnStderr(floor: Floor, run: LiveRun): string {
	return writtenAt(floor, run, "stderr") >= writtenAt(floor, run, "stdout") ? tailOf(floor, run, "stderr", ERROR_BYTES) : "";
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
