// work(lane, fn): claims jobs of a lane, runs them in this process, reports how they ended, renews their leases.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Claimed, Worker } from "../../contracts/scheduler.ts";
import type { Config } from "../../core/config.ts";
import { messageOf } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";
import { beforeClaim, type Claimer, claim } from "../operations/claim.ts";
import { extend, finish } from "../operations/finish.ts";
import type { Engine } from "../transaction/group-commit.ts";
import type { Waker } from "./waker.ts";

type Parts = { engine: Engine; waker: Waker; host: Host; clock: Clock; config: () => Config };

export function startWorker(
	parts: Parts,
	lane: string,
	fn: (job: Claimed) => Promise<unknown>,
	options: { concurrency?: number; worker?: string },
): Worker {
	const { engine, waker, host } = parts;
	const concurrency = options.concurrency === undefined ? 1 : check.integer(options.concurrency, "concurrency", 1, 1000);
	const worker = options.worker === undefined ? `work:${lane}` : check.word(options.worker, "worker");
	const live = new Map<number, number>();
	let stopping = false;
	let wanted = true;
	let nudge = () => {};

	async function one(claimed: Claimed): Promise<void> {
		const { job, run } = claimed;
		const at = { job: job.id, token: run.token };
		let exit: { exit_kind: "completed" | "failed"; exit_code: number; message?: string };
		try {
			await fn(claimed);
			exit = { exit_kind: "completed", exit_code: 0 };
		} catch (error) {
			exit = { exit_kind: "failed", exit_code: 1, message: messageOf(error) };
		}
		live.delete(job.id);
		// Do not await the end before asking for the next claim: both then share one transaction.
		const done = engine.run((tx) => finish(tx, { ...at, ...exit }), { jobs: [job.id], phase: "end" });
		wanted = true;
		nudge();
		// Ignore errors. A fenced end is void: the job has another run by now. After any other error the lease is no longer renewed, and the run ends as lost.
		await done.catch(() => {});
	}

	async function loop(): Promise<void> {
		const ends = new Set<Promise<void>>();
		while (!stopping && !waker.closed) {
			const heard = new Promise<void>((resolve) => {
				nudge = resolve;
			});
			const stirred = waker.next(parts.config().poll_interval_ms, host);
			const free = concurrency - live.size;
			if (wanted && free > 0) {
				wanted = false;
				const claimer: Claimer = { worker, max: free, lanes: [lane], kinds: ["command", "agent", "payload"], lease: true };
				const claimed = await engine
					.run((tx) => claim(tx, claimer), { phase: "claim", ahead: (tx, leaving) => beforeClaim(tx, claimer, leaving) })
					.catch(() => []);
				for (const job of claimed) {
					live.set(job.job.id, job.run.token);
					const end = one(job).finally(() => ends.delete(end));
					ends.add(end);
				}
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
		await Promise.all(ends);
	}

	const stopBeats = renewLeases(parts, live, () => stopping && live.size === 0);
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

/** Renews the lease of each live run, by its job and token, until none is wanted. Returns a function that ends it. */
function renewLeases({ engine, host, config }: Parts, live: Map<number, number>, isOver: () => boolean): () => void {
	const next = () => host.after(config().lease_ms / 3, beat);
	let cancel = next();
	function beat(): void {
		if (isOver()) return;
		for (const [job, token] of live) engine.run((tx) => extend(tx, { job, token }), { jobs: [job] }).catch(() => live.delete(job));
		cancel = next();
	}
	return () => cancel();
}
