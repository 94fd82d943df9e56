// The time limits of a live run: its total time and its silence.

import { isAnswered } from "../core/agents/stream/reading.ts";
import { triesInVain, waitsFor } from "../core/agents/waiting.ts";
import { STREAMS } from "../core/text/output-order.ts";
import { type AgentRun, readOn } from "./agent.ts";
import { isOvertaken, type SupervisorContext } from "./context.ts";
import { tailOf } from "./end/agent-end.ts";
import type { LiveRun } from "./run.ts";
import { askStop } from "./stop.ts";

/** Stops a run that is over its time or has been silent for too long. Returns when the next of its limits expires. */
export function checkClocks(context: SupervisorContext, run: LiveRun, now: number): number {
	if (run.stop || run.asking || run.frozen !== null || run.stage.is === "clearing" || run.stage.is === "ending")
		return Number.POSITIVE_INFINITY;
	let next = Number.POSITIVE_INFINITY;
	if (run.deadline !== null) {
		if (run.deadline <= now) {
			void askStop(context, run, "timeout", `timeout after ${inWords(run.timeoutMs ?? 0)}`);
			return next;
		}
		next = run.deadline;
	}
	if (run.silence) {
		const { silence } = run;
		if (silence.since + silence.allowed <= now) listen(context, run, now);
		if (silence.since + silence.allowed <= now && hasUnreportedTool(context, run)) silence.since = now;
		if (silence.since + silence.allowed <= now) {
			void askStop(context, run, "stalled", `no output for ${inWords(silence.allowed)}`);
			return next;
		}
		next = Math.min(next, silence.since + silence.allowed);
	}
	return next;
}

/**
 * opencode reports a tool call only when it is done. A process that was started since the model's last answer is such a tool; servers that were started
 * before are not.
 */
export function hasUnreportedTool({ processes }: SupervisorContext, { agent, mark }: LiveRun): boolean {
	const since = agent?.reader.reading.answering_at ?? null;
	return since !== null && processes.begunSince(mark, since);
}

/** Checks whether the run has written anything since the last check, or has a tool running; if so, its silence starts again. */
export function listen(context: SupervisorContext, run: LiveRun, now: number): void {
	const behind = readOn(context, run);
	if (run.agent !== null) {
		losePatience(context, run, run.agent, now);
		reportAnswered(context, run, run.agent);
	}
	if (!run.silence) return;
	const { agent, silence } = run;
	const reading = agent === null || agent.output === "command" ? null : agent.reader.reading;
	// A running tool counts as activity even if it writes nothing for hours. Output that cannot be read fast enough is not silence either.
	if (behind || (reading !== null && reading.tools.size > 0)) silence.since = now;
	// `reading.heard` leaves out announced retries: an agent that only says that it will try again counts as silent.
	const heard = reading?.heard ?? STREAMS.reduce((sum, stream) => sum + (context.disk.size(`${run.dir}/${stream}.log`) ?? 0), 0);
	if (heard === silence.heard) return;
	// The first check only records the starting point.
	if (silence.heard >= 0 || heard > 0) silence.since = now;
	silence.heard = heard;
}

/**
 * Frees a slot that an agent only waits in. An agent that waits for a limit to end is stopped and resumed when the account may be used again. An agent
 * whose calls of the model keep failing and that would go on trying is stopped, and the retry policy decides.
 */
function losePatience(context: SupervisorContext, run: LiveRun, agent: AgentRun, now: number): void {
	const allowed = context.settings().agent_patience_ms;
	if (allowed === null || agent.output === "command" || run.stage.is !== "running" || run.stop || run.asking || run.frozen !== null) return;
	const stderr = lastWordsOnStderr(context, run);
	const failed = triesInVain(agent.output, agent.reader.reading, stderr, writtenAt(context, run, "stdout"));
	if (failed !== null) {
		agent.waited = failed;
		const kind = failed.cause === "transient" ? "crashed" : "rate_limited";
		void askStop(context, run, kind, `${failed.cause}: its call of the model keeps failing: ${failed.text}`);
		return;
	}
	const waited = waitsFor(agent.output, agent.reader.reading, stderr);
	agent.waitsSince = waited === null ? null : (agent.waitsSince ?? now);
	if (waited === null || agent.waitsSince === null) return;
	// Some agents say how long they will wait: if that is longer than the patience, stop at once.
	if (now - agent.waitsSince < allowed && (waited.retry_after_ms ?? 0) <= allowed) return;
	agent.waited = waited;
	void askStop(context, run, "rate_limited", `it waited for a limit to end: ${waited.text}`);
}

/** Reports to the scheduler that the provider answered this run, which probes an outage: jobs are held until then. */
function reportAnswered(context: SupervisorContext, run: LiveRun, { output, reader }: AgentRun): void {
	if (!run.probe || run.fenced || output === "command" || !isAnswered(reader.reading)) return;
	run.probe = false;
	context.scheduler.answered({ job: run.job, token: run.token }).catch((error) => {
		run.probe = !isOvertaken(error);
	});
}

const writtenAt = ({ disk }: SupervisorContext, { dir }: LiveRun, stream: "stdout" | "stderr"): number =>
	disk.changedAt(`${dir}/${stream}.log`) ?? 0;

/** Enough for an error with its stack and the lines before it. */
const ERROR_BYTES = 16 * 1024;

/**
 * The end of stderr if the agent wrote there last, else "". Equal timestamps count as stderr: an answer to another attempt would take longer than a
 * millisecond.
 */
function lastWordsOnStderr(context: SupervisorContext, run: LiveRun): string {
	return writtenAt(context, run, "stderr") >= writtenAt(context, run, "stdout") ? tailOf(context, run, "stderr", ERROR_BYTES) : "";
}

/** 90000 → "1m30s". */
function inWords(ms: number): string {
	if (ms < 1000) return `${ms}ms`;
	const seconds = Math.round(ms / 1000);
	const parts = [`${Math.floor(seconds / 3600)}h`, `${Math.floor((seconds % 3600) / 60)}m`, `${seconds % 60}s`].filter(
		(part) => !/^0/.test(part),
	);
	return parts.join("");
}
