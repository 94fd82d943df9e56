// Keeps this host's lease by heartbeats. Each renews the lease of the guard process, which ends the runs when heartbeats stop. For a store that is not shared
// there is no guard.

import { join } from "node:path";
import type { Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import { codeOf, messageOf } from "../../core/errors.ts";
import { beatMs, marginMs } from "../../core/fleet.ts";
import { type Guard, openGuard } from "../../host/guard.ts";
import type { LeaseFile } from "../../host/processes/lease-watcher.ts";
import type { Home } from "../service/home.ts";
import { packageFolder } from "../version.ts";

export type LeaseParts = {
	scheduler: Pick<Scheduler, "heartbeat" | "leave" | "config">;
	host: Pick<Host, "after">;
	log: Log;
	guard: Guard | null;
};

type LeaseCalls = {
	/** Called when this host's lease had expired: its runs were given up, and other hosts may have them. */
	lost(): void;
	/** Called when another daemon has taken this host's name: nothing that this one does counts any more. */
	overtaken(why: string): void;
	/** Called with each heartbeat. */
	also(): Promise<void>;
};

export type LeaseKeeper = {
	/** The lease was granted. `askedAt`: when it was requested, by the guard's clock. */
	granted(askedAt: number): void;
	/** Whether a run that starts now is safe: false once the guard may be ending runs. */
	holds(): boolean;
	/** Sends heartbeats from now on. */
	start(calls: LeaseCalls): void;
	/** Gives up the name if nothing runs any more, otherwise leaves the runs to the guard. The last call. */
	leave(): Promise<void>;
	stop(): void;
};

export const leaseFileOf = (home: Pick<Home, "path" | "tag">): LeaseFile => ({ file: join(home.path, "lease"), prefix: `${home.tag}-` });

export const guardOf = (home: Pick<Home, "path" | "tag" | "runs">, log: Log): Guard =>
	openGuard({
		program: join(packageFolder(), "dist", "lease-guard.js"),
		...leaseFileOf(home),
		runs: home.runs,
		died: () => log.warn("the guard of this host's lease has died; it is started again"),
	});

/** Factor by which the interval is shortened after a failure: a store that was unreachable for a moment must not cost the lease. */
const RETRY_FACTOR = 4;

export function keepLease({ scheduler, host, log, guard }: LeaseParts): LeaseKeeper {
	let cancel = () => {};
	let stopped = false;
	/** When the current lease was requested; it counts from then. */
	let heldFrom: number | undefined;
	const staleAfter = () => scheduler.config().stale_after_ms;

	function granted(askedAt: number): void {
		heldFrom = askedAt;
		guard?.feed(askedAt + staleAfter() / 1000, marginMs(staleAfter()));
	}

	async function beat({ lost, also }: LeaseCalls): Promise<void> {
		// The answer may take long. The lease certainly holds when counted from the request, so measure before sending it.
		const askedAt = guard?.now() ?? 0;
		const answer = await scheduler.heartbeat();
		granted(askedAt);
		if (answer.lost) {
			log.error("this host was not heard of for too long: its runs were given up, and what is left of them is stopped");
			lost();
		}
		await also();
	}

	/** Time until the next heartbeat: one interval after the last request, because a slow answer has used up a part of the lease. */
	const dueMs = () => Math.max(0, beatMs(staleAfter()) - (guard && heldFrom !== undefined ? (guard.now() - heldFrom) * 1000 : 0));

	function next(ms: number, calls: LeaseCalls): void {
		if (stopped) return;
		cancel = host.after(ms, () => {
			beat(calls).then(
				() => next(dueMs(), calls),
				(error) => {
					if (stopped) return;
					if (codeOf(error) === "fenced") return calls.overtaken(messageOf(error));
					log.warn("the heartbeat failed; it is tried again", { error: messageOf(error) });
					next(beatMs(staleAfter()) / RETRY_FACTOR, calls);
				},
			);
		});
	}

	return {
		granted,
		holds: () => !guard || heldFrom === undefined || guard.now() < heldFrom + (staleAfter() - marginMs(staleAfter())) / 1000,
		start: (calls) => next(dueMs(), calls),
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
				log.warn("this host could not say that it leaves; it is given up when its lease is over", { error: messageOf(error) });
			}
		},
		stop() {
			stopped = true;
			cancel();
		},
	};
}
