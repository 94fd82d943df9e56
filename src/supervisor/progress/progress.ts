// What this host's runs are doing now, for callers that ask and for listeners that are told of changes. It is news, not history: nothing of it is stored.
//
//   asked for    a run's output is read on, at most once a second
//   told         while there is a listener: every second the runs whose progress has changed since. A run that is over is not told of
//   lines        counted by git beside all that: counting.ts

import { NO_PROGRESS, type RunProgress } from "../../core/runs/progress.ts";
import type { SupervisorContext } from "../context.ts";
import type { LiveRun } from "../run.ts";
import { LineCounts } from "./counting.ts";
import { isRead, type LastLine, lastLineOf, readFurther, reportedBy } from "./read.ts";

/** `at`: epoch milliseconds. */
export type ProgressOfRun = { job: number; attempt: number; at: number; progress: RunProgress };

/** Interval at which changes are told; a run's output is read for callers no more often. */
const TELL_MS = 1000;
/** Pieces of output that one look reads at most; the next look reads on. */
const PIECES = 8;

type Watched = {
	readAt: number;
	lastLine: LastLine | null;
	/** As it was told last. */
	told: string;
};

export function createProgress(context: SupervisorContext) {
	const { clock, host, live } = context;
	/** Dropped with the run that it belongs to. */
	const watched = new WeakMap<LiveRun, Watched>();
	const listeners = new Set<(changed: readonly ProgressOfRun[]) => void>();
	let cancel: (() => void) | null = null;
	const counts = new LineCounts(context);

	const watchedOf = (run: LiveRun): Watched => {
		const found = watched.get(run) ?? { readAt: -TELL_MS, lastLine: null, told: "" };
		watched.set(run, found);
		return found;
	};

	/** Null for a run whose program has not started or is gone. */
	function of(run: LiveRun): RunProgress | null {
		if (run.stage.is !== "running") return null;
		const mine = watchedOf(run);
		const now = clock.monotonic();
		if (now - mine.readAt >= TELL_MS) {
			mine.readAt = now;
			for (let piece = 0; piece < PIECES && readFurther(context, run); piece++);
			if (!isRead(run)) mine.lastLine = lastLineOf(context, run, mine.lastLine);
			counts.countSoon(run, run.agent !== null && isRead(run) ? String(run.agent.reader.reading.heard) : (mine.lastLine?.sizes ?? ""));
		}
		const said = run.agent !== null && isRead(run) ? reportedBy(run.agent) : { ...NO_PROGRESS, last_line: mine.lastLine?.line ?? null };
		const lines = counts.of(run);
		return { ...said, lines_added: lines?.added ?? null, lines_removed: lines?.removed ?? null };
	}

	const withJob = (run: LiveRun, progress: RunProgress): ProgressOfRun => ({
		job: run.job,
		attempt: run.attempt,
		at: clock.now(),
		progress,
	});

	function tell(): void {
		cancel = null;
		if (context.closed || listeners.size === 0) return;
		const changed = live.all().flatMap((run) => {
			const progress = of(run);
			if (progress === null) return [];
			const mine = watchedOf(run);
			const text = JSON.stringify(progress);
			if (text === mine.told) return [];
			mine.told = text;
			return [withJob(run, progress)];
		});
		if (changed.length > 0) for (const call of [...listeners]) call(changed);
		again();
	}

	function again(): void {
		cancel ??= host.after(TELL_MS, tell);
	}

	return {
		of,
		/** The present progress of each run, or of the job's; runs whose program is not running are left out. */
		now: (job?: number): ProgressOfRun[] =>
			live.all().flatMap((run) => {
				const progress = job === undefined || run.job === job ? of(run) : null;
				return progress === null ? [] : [withJob(run, progress)];
			}),
		/** Calls back with the runs whose progress has changed, until the returned function is called. Must not throw. */
		listen(call: (changed: readonly ProgressOfRun[]) => void): () => void {
			listeners.add(call);
			again();
			return () => {
				listeners.delete(call);
				if (listeners.size > 0) return;
				cancel?.();
				cancel = null;
			};
		},
	};
}
