// Keeps this host's lease: heartbeats, each of which feeds the guard that ends the runs should they stay away. Without a guard (a store of its own): heartbeats alone.

import { join } from "node:path";
import { beatMs, marginMs } from "../core/fleet.ts";
import { troubleOf } from "../disk.ts";
import { type Guard, openGuard } from "../host/guard.ts";
import type { Host } from "../host.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Home } from "./home.ts";
import { packageFolder } from "./version.ts";

export type LeaseParts = {
	scheduler: Pick<Scheduler, "heartbeat" | "leave" | "config">;
	host: Pick<Host, "after">;
	log: Log;
	guard: Guard | null;
	/** The runs that we had are somebody else's by now. */
	lost(): void;
	/** Another one has this host's name: nothing that we do counts any more. */
	overtaken(why: string): void;
	/** With each heartbeat. */
	also(): Promise<void>;
};

export type LeaseKeeper = {
	/** The lease was granted to somebody who asked for it then, by the guard's clock. */
	granted(askedAt: number): void;
	/** Whether what is begun now is ours: not once the guard may be ending runs. */
	holds(): boolean;
	start(): void;
	beat(): Promise<void>;
	/** The last one: gives the name up if nothing runs any more, else leaves the runs to the guard. */
	leave(): Promise<void>;
	stop(): void;
};

export const guardOf = (home: Pick<Home, "path" | "tag" | "runs">, log: Log): Guard =>
	openGuard({
		program: join(packageFolder(), "dist", "lease-guard.js"),
		file: join(home.path, "lease"),
		prefix: `${home.tag}-`,
		runs: home.runs,
		died: () => log.warn("the guard of this host's lease has died; it is started again"),
	});

/** After a failure, sooner: a store that was away for a moment must not cost the lease. */
const HURRY = 4;

export function keepLease({ scheduler, host, log, guard, lost, overtaken, also }: LeaseParts): LeaseKeeper {
	let cancel = () => {};
	let stopped = false;
	/** When the lease that we have was asked for: it counts from then. */
	let heldFrom: number | undefined;
	const staleAfter = () => scheduler.config().stale_after_ms;

	function granted(askedAt: number): void {
		heldFrom = askedAt;
		guard?.feed(askedAt + staleAfter() / 1000, marginMs(staleAfter()));
	}

	async function beat(): Promise<void> {
		// The answer may take long; the lease surely holds so long from when we asked.
		const askedAt = guard?.now() ?? 0;
		const answer = await scheduler.heartbeat();
		granted(askedAt);
		if (answer.lost) {
			log.error("this host was not heard of for too long: its runs were given up, and what is left of them is stopped");
			lost();
		}
		await also();
	}

	/** A beat after the last one was asked for: an answer that took long has used up a part of the lease. */
	const dueMs = () => Math.max(0, beatMs(staleAfter()) - (guard && heldFrom !== undefined ? (guard.now() - heldFrom) * 1000 : 0));

	function next(ms: number): void {
		if (stopped) return;
		cancel = host.after(ms, () => {
			beat().then(
				() => next(dueMs()),
				(error) => {
					if (stopped) return;
					if ((error as { code?: unknown }).code === "fenced") return overtaken(troubleOf(error));
					log.warn("the heartbeat failed; it is tried again", { error: troubleOf(error) });
					next(beatMs(staleAfter()) / HURRY);
				},
			);
		});
	}

	return {
		granted,
		holds: () => !guard || heldFrom === undefined || guard.now() < heldFrom + (staleAfter() - marginMs(staleAfter())) / 1000,
		beat,
		start: () => next(dueMs()),
		async leave() {
			stopped = true;
			cancel();
			if (!guard) return;
			try {
				const askedAt = guard.now();
				const { left } = await scheduler.leave();
				if (left) guard.end();
				else granted(askedAt);
			} catch (error) {
				log.warn("this host could not say that it leaves; it is given up when its lease is over", { error: troubleOf(error) });
			}
		},
		stop() {
			stopped = true;
			cancel();
		},
	};
}
