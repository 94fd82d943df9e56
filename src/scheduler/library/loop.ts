// The loop that runs timers, probes facts and wakes workers, and one pass of it. Mostly a pass has nothing to write.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { CommitSummary } from "../../contracts/scheduler.ts";
import type { Config } from "../../core/config.ts";
import { ABANDONED, PASS_MS } from "../../core/time/pass-limit.ts";
import type { Core } from "../operations/core.ts";
import type { createFactProber } from "../waiting/fact-probes.ts";
import type { Waker } from "./waker.ts";

type Parts = {
	core: Core;
	clock: Clock;
	host: Host;
	log: Pick<Log, "error"> | undefined;
	config: () => Config;
	waker: Waker;
	prober: ReturnType<typeof createFactProber>;
	/** "manual": the caller ticks. */
	drive: "auto" | "manual";
};

export function createLoop({ core, clock, host, log, config, waker, prober, drive }: Parts) {
	const watchers = new Set<(news: CommitSummary) => void>();
	let closed = false;
	let cancelTimer = () => {};
	let timerAt = Number.POSITIVE_INFINITY;
	let ticking: Promise<unknown> | undefined;

	/** Sets the timer for the next tick. An earlier time that is already set stays: otherwise a busy queue would postpone it for ever. */
	function schedule(at: number | null): void {
		if (closed || drive === "manual" || at === null || at >= timerAt) return;
		cancelTimer();
		timerAt = at;
		cancelTimer = host.after(Math.max(0, at - clock.now()), () => {
			timerAt = Number.POSITIVE_INFINITY;
			ticking ??= tick()
				.catch(() => clock.now() + config().poll_interval_ms)
				.then((next) => {
					ticking = undefined;
					schedule(next);
				});
		});
	}

	const tick = () => inTime(pass(), host, log);

	/** Sweeps, settles and probes until there is nothing left to do now. */
	async function pass(): Promise<number | null> {
		await prober.again();
		for (;;) {
			const { wake, more } = await core.keepUp();
			if (prober.asked.size > 0) await prober.asking();
			else if (!more && (wake === null || wake > clock.now())) {
				report({ stirred: true, events: [], heard: [] });
				if (prober.watched.size === 0) return wake;
				return Math.min(wake ?? Number.POSITIVE_INFINITY, clock.now() + config().poll_interval_ms);
			}
		}
	}

	function report(news: CommitSummary): void {
		waker.wake();
		for (const call of watchers) call(news);
	}

	return {
		tick,
		/** Runs a pass at once. */
		hurry: () => schedule(clock.now()),
		/** After each commit. */
		note(news: Parameters<Core["onCommit"]>[0]): void {
			const { stirred, probes, events, heard, more, due, compare } = news;
			if (events.length > 0 || stirred || compare) report({ stirred, events, heard, ...(compare ? { compare } : {}) });
			if (more || probes.size > 0) schedule(clock.now());
			else if (events.length > 0) schedule(Math.min(due ?? Number.POSITIVE_INFINITY, clock.now() + config().poll_interval_ms));
		},
		watch(call: (news: CommitSummary) => void): () => void {
			watchers.add(call);
			return () => watchers.delete(call);
		},
		/** No tick begins any more; resolves when the last one has ended. */
		async close(): Promise<void> {
			closed = true;
			cancelTimer();
			waker.close();
			await ticking?.catch(() => {});
		},
	};
}

/**
 * Limits the duration of a pass: one that hangs, for instance because a probe's program never answers, is abandoned so that the next one can begin. Rejects
 * when the pass takes longer than `PASS_MS`. What the pass does afterwards still takes effect, but nothing waits for it any more.
 */
function inTime<T>(pass: Promise<T>, host: Pick<Host, "after">, log: Pick<Log, "error"> | undefined): Promise<T> {
	return new Promise((resolve, reject) => {
		const cancel = host.after(PASS_MS, () => {
			log?.error(ABANDONED);
			reject(new Error(ABANDONED));
		});
		pass.then(resolve, reject).finally(cancel);
	});
}
