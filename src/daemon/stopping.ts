// How a daemon stops: on request, or because its home is lost. A request during the start waits until the start is complete.

import type { Host } from "../contracts/host.ts";
import type { Log } from "../contracts/log.ts";
import type { Processes } from "../contracts/processes.ts";
import type { Supervisor } from "../supervisor/index.ts";
import { endMarked, type HomeLoss } from "./service/home-loss.ts";

export type StopOptions = { runs?: "leave" | "stop"; graceMs?: number | undefined; by?: string };

type Parts = {
	supervisor: Pick<Supervisor, "drain" | "live">;
	leave: () => Promise<void>;
	graceMs: () => number;
	/** Undoes the start, in reverse order. */
	unwind: () => Promise<void>;
	processes: Processes;
	homeTag: string;
	host: Pick<Host, "after">;
	log: Log;
};

const WORDS: Record<HomeLoss, string> = {
	deleted: "the home was deleted: no command can reach this daemon or its runs any more; the runs are stopped, and the daemon ends",
	moved: "the home is no longer where it was, or its lock is another file: the daemon ends, and leaves its runs to the next one",
	unreachable: "the socket is gone, so no command can reach this daemon: it ends, and leaves its runs to the next one",
};

export function createStopping({ supervisor, leave, graceMs: usual, unwind, processes, homeTag, host, log }: Parts) {
	let ready = () => {};
	const started = new Promise<void>((resolve) => {
		ready = resolve;
	});
	let stopping: Promise<void> | undefined;
	let finished = (_code: number) => {};
	const stopped = new Promise<number>((resolve) => {
		finished = resolve;
	});

	const end = (drain: () => Promise<void>, code: number) => {
		stopping ??= (async () => {
			await started;
			try {
				await drain();
				log.info("stopped", { left: supervisor.live().length });
			} finally {
				await unwind();
				finished(code);
			}
		})();
		return stopping;
	};

	return {
		/** The start is complete: a stop may begin. */
		ready: () => ready(),
		/** Resolves with the exit code: 1 where a service should start the daemon again. */
		stopped,
		stop: ({ runs = "leave", graceMs, by = "daemon" }: StopOptions = {}): Promise<void> =>
			end(async () => {
				log.info("stopping", { by, runs, live: supervisor.live().length });
				await supervisor.drain({ graceMs: graceMs ?? usual(), runs });
				await leave();
			}, 0),
		/** Stops at once, without calling a store that may be gone. */
		lost: (loss: HomeLoss): Promise<void> =>
			end(
				async () => {
					const live = supervisor.live();
					log.error(WORDS[loss], { live: live.length });
					await supervisor.drain({ graceMs: 0, runs: "leave" });
					if (loss !== "deleted") return;
					const marks = live.map(({ run }) => `${homeTag}-${run}`);
					await endMarked(processes, marks, host);
				},
				loss === "unreachable" ? 1 : 0,
			),
	};
}
