// The loop that runs timers, probes facts and wakes workers, and one pass of it. Mostly a pass has nothing to write.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { CommitSummary } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import type { Config } from "../../core/config.ts";
import { ABANDONED, PASS_MS } from "../../core/time/pass-limit.ts";
import { dropStaleStages } from "../apply/stages.ts";
import { watchHosts } from "../operations/hosts.ts";
import { dropEmptyBuckets } from "../operations/upkeep.ts";
import type { Engine } from "../transaction/group-commit.ts";
import type { Tx } from "../transaction/tx.ts";
import { hasContinuations } from "../waiting/continuation.ts";
import { nextWake } from "../waiting/due.ts";
import type { createFactProber } from "../waiting/fact-probes.ts";
import type { createFleet } from "./hosts.ts";
import { dropOldAsks } from "./questions.ts";
import type { Waker } from "./waker.ts";

type Parts = {
	engine: Engine;
	clock: Clock;
	host: Host;
	log: Pick<Log, "error"> | undefined;
	config: () => Config;
	fleet: Pick<ReturnType<typeof createFleet>, "see" | "lag">;
	waker: Waker;
	prober: ReturnType<typeof createFactProber>;
	/** "manual": the caller ticks. */
	drive: "auto" | "manual";
	/** The store notifies of commits of other processes: facts may be watched there, too, so passes go on. */
	othersWrite: boolean;
};

export function createLoop({ engine, clock, host, log, config, fleet, waker, prober, drive, othersWrite }: Parts) {
	const watchers = new Set<(news: CommitSummary) => void>();
	let closed = false;
	let cancelTimer = () => {};
	let timerAt = Number.POSITIVE_INFINITY;
	/** The leader runs timers; other hosts run them this much later, as a fallback. */
	let lag = 0;
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
		// A caller that ticks by hand wants the exact time when something falls due.
		lag = drive === "manual" ? 0 : await fleet.lag();
		for (;;) {
			const { wake, more } = await engine.run((tx) => keepUp(tx, fleet), { intent: "look" });
			if (prober.asked.size > 0) await prober.asking();
			else if (!more && (wake === null || wake > clock.now())) {
				report({ stirred: true, events: [], heard: [] });
				if (prober.watched.size === 0 && !othersWrite) return wake;
				return Math.min((wake ?? Number.POSITIVE_INFINITY) + lag, clock.now() + config().poll_interval_ms);
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
		note(news: Parameters<Engine["onCommit"]>[0]): void {
			const { stirred, probes, events, heard, more, due } = news;
			if (events.length > 0 || stirred) report({ stirred, events, heard });
			if (more || probes.size > 0) schedule(clock.now());
			else if (events.length > 0) schedule(Math.min((due ?? Number.POSITIVE_INFINITY) + lag, clock.now() + config().poll_interval_ms));
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

/** Returns when the next pass is due, and whether there is more to do at once. */
function* keepUp(tx: Tx, fleet: { see(tx: Tx): void }): Op<{ wake: number | null; more: boolean }> {
	fleet.see(tx);
	watchHosts(tx);
	dropStaleStages(tx);
	dropOldAsks(tx);
	dropEmptyBuckets(tx);
	return { wake: yield* nextWake(tx), more: hasContinuations(tx) };
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
