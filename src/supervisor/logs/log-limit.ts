// Limits the size of a run's logs.

import { messageOf } from "../../core/errors.ts";
import { STREAMS } from "../../core/text/output-order.ts";
import { moveOn } from "../agent.ts";
import type { SupervisorContext } from "../context.ts";
import type { LiveRun } from "../run.ts";

/** Bytes at the end of a log that are kept when its middle is cut out. */
const KEEP_TAIL = 1_000_000;

/**
 * Interval between two checks of a run's logs: FIRST_MS at first, then half of the time until the limit at the last measured rate, but at most twice the
 * interval before.
 */
const FIRST_MS = 100;
const LEAST_MS = 50;
const MOST_MS = 1_000;

type Look = { at: number; bytes: number; rate: number; gapMs: number };
const looks = new WeakMap<LiveRun, Look>();

/**
 * Checks a run's logs when that is due. Returns when the next check is due. A log exceeds the limit by at most what its program writes in one second; a log
 * that grows steadily is checked more often the closer it comes to the limit.
 */
export function watchLogs(context: SupervisorContext, run: LiveRun, now: number): number {
	const max = context.settings().max_log_bytes;
	if (max === null || run.stage.is !== "running") return Number.POSITIVE_INFINITY;
	const last = looks.get(run);
	if (last && now < last.at + last.gapMs) return last.at + last.gapMs;
	boundLogs(context, run);
	const bytes = Math.max(...STREAMS.map((stream) => context.disk.size(`${run.dir}/${stream}.log`) ?? 0));
	// If the log was cut since the last check, its size says nothing about the rate: keep the old rate.
	const rate = last && bytes >= last.bytes && now > last.at ? (bytes - last.bytes) / (now - last.at) : (last?.rate ?? 0);
	const most = last ? Math.min(MOST_MS, 2 * last.gapMs) : FIRST_MS;
	const gapMs = Math.max(LEAST_MS, Math.min(most, rate > 0 ? Math.max(0, max - bytes) / rate / 2 : most));
	looks.set(run, { at: now, bytes, rate, gapMs });
	return now + gapMs;
}

/**
 * Cuts logs over the limit: a log keeps a beginning of half the limit and at most its last megabyte, and a line says how much is missing. Programs append
 * through a descriptor, so they go on writing at the new end. What they write during the cut may be lost with the middle.
 */
export function boundLogs(context: SupervisorContext, run: LiveRun): void {
	const max = context.settings().max_log_bytes;
	if (max === null) return;
	for (const stream of STREAMS) {
		const path = `${run.dir}/${stream}.log`;
		const size = context.disk.size(path) ?? 0;
		if (size <= max) continue;
		try {
			const head = Math.floor(max / 2);
			const tail = Math.min(KEEP_TAIL, Math.floor(max / 4));
			const end = new TextDecoder().decode(context.disk.readAt(path, size - tail, tail));
			context.order.around(run.id, stream, () => {
				context.disk.cut(path, head);
				context.disk.append(path, `\n[sluice: ${size - head - tail} bytes left out: the log was longer than ${max} bytes]\n${end}`);
				const cut = { head, tail, before: size, after: context.disk.size(path) ?? 0 };
				if (stream === "stdout") moveOn(run.agent, cut);
				return cut;
			});
			if (!run.logsCut.has(stream)) context.log.warn("a log is over max_log", { run: run.id, stream, size, max });
			run.logsCut.add(stream);
		} catch (error) {
			context.log.warn("a log could not be cut", { run: run.id, stream, error: messageOf(error) });
		}
	}
}
