// work(lane, fn): claims jobs of a lane, runs them in this process, reports how they ended, renews their leases.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Claimed, Worker } from "../../contracts/scheduler.ts";
import type { Config } from "../../core/config.ts";
import { codeOf, messageOf } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";
import type { Claimer } from "../operations/claim.ts";
import type { ArgumentsOf, Core } from "../operations/core.ts";
import type { Waker } from "./waker.ts";

type Parts = { core: Core; waker: Waker; host: Host; clock: Clock; config: () => Config };

export function startWorker(
	parts: Parts,
	lane: string,
	fn: (job: Claimed) => Promise<unknown>,
	options: { concurrency?: number; worker?: string },
): Worker {
	const { core, waker, host } = parts;
	const concurrency = options.concurrency === undefined ? 1 : check.integer(options.concurrency, "concurrency", 1, 1000);
	const worker = options.worker === undefined ? `work:${lane}` : check.word(options.worker, "worker");
	const live = new Map<number, number>();
	/** Runs whose end is not stored yet: their leases are renewed until it is. */
	const ending = new Map<number, number>();
	let stopping = false;
	let wanted = true;
	let nudge = () => {};

	async function one(claimed: Claimed): Promise<void> {
		const { job, run } = claimed;
		const at = { job: job.id, token: run.token };
		const exit = await exitOf(() => fn(claimed));
		live.delete(job.id);
		ending.set(job.id, run.token);
		// Do not await the end before asking for the next claim: both then share one transaction.
		const done = reportEnd(parts, { ...at, ...exit });
		wanted = true;
		nudge();
		await done;
		ending.delete(job.id);
	}

	const ends = new Set<Promise<void>>();
	function begin(claimed: readonly Claimed[]): void {
		for (const job of claimed) {
			live.set(job.job.id, job.run.token);
			const end = one(job).finally(() => ends.delete(end));
			ends.add(end);
		}
	}

	async function loop(): Promise<void> {
		while (!stopping && !waker.closed) {
			const heard = new Promise<void>((resolve) => {
				nudge = resolve;
			});
			const stirred = waker.next(parts.config().poll_interval_ms, host);
			const free = concurrency - live.size;
			if (wanted && free > 0) {
				wanted = false;
				const claimer: Claimer = { worker, max: free, lanes: [lane], kinds: ["command", "agent", "payload"], lease: true };
				const claimed = await (core.claimStanding?.(claimer) ?? core.call("claim", claimer)).catch(() => []);
				begin(claimed);
				if (claimed.length === free) wanted = true;
				if (claimed.length > 0) continue;
			}
			await Promise.race([
				heard,
				stirred.then(() => {
					wanted = true;
				}),
			]);
		}
		// What was assigned meanwhile has a run, so it is done.
		begin(waker.closed ? [] : ((await core.retire?.(worker).catch(() => [])) ?? []));
		await Promise.all(ends);
	}

	const stopBeats = renewLeases(parts, [live, ending], () => stopping && live.size + ending.size === 0);
	const ended = loop();
	return {
		async stop() {
			stopping = true;
			nudge();
			waker.wake();
			await ended;
			stopBeats();
		},
	};
}

type Exit = { exit_kind: "completed" | "failed"; exit_code: number; message?: string };

async function exitOf(work: () => Promise<unknown>): Promise<Exit> {
	try {
		await work();
		return { exit_kind: "completed", exit_code: 0 };
	} catch (error) {
		return { exit_kind: "failed", exit_code: 1, message: messageOf(error) };
	}
}

/** Errors after which nothing more can be said of a run: it is over, or another process has it. */
const FINAL = ["fenced", "not_found", "illegal_transition", "closed"];

/** Repeats the report of an end until it is stored or void: the store or the leader may be away for a while. */
async function reportEnd({ core, waker, host, config }: Parts, end: ArgumentsOf<"finish">): Promise<void> {
	for (;;) {
		try {
			await core.call("finish", end);
			return;
		} catch (error) {
			if (FINAL.includes(codeOf(error)) || waker.closed) return;
		}
		await waker.next(config().poll_interval_ms, host);
	}
}

/** Renews the leases of all runs, by job and token, with one call. A run that is over is dropped. Returns a function that ends it. */
function renewLeases({ core, host, config }: Parts, maps: readonly Map<number, number>[], isOver: () => boolean): () => void {
	const next = () => host.after(config().lease_ms / 3, beat);
	let cancel = next();
	function beat(): void {
		if (isOver()) return;
		const runs = maps.flatMap((map) => [...map].map(([job, token]) => ({ job, token })));
		const drop = (over: number[]) => {
			for (const map of maps) for (const job of over) map.delete(job);
		};
		// After an error the next beat renews them.
		if (runs.length > 0) core.call("extendAll", { runs }).then(drop, () => {});
		cancel = next();
	}
	return () => cancel();
}
