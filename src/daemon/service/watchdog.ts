// Logs what must not happen: an event loop that is or was stuck, a clock that jumped, a scheduler that does not answer, or that starts nothing though it
// could.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";

const BEAT_MS = 1000;
/** A beat that is this late was blocked by something. A machine that slept is not late, since its monotonic clock stood still, too. */
const STUCK_MS = 1000;
const JUMP_MS = 5000;
const CHECK_MS = 30_000;
const ANSWER_MS = 10_000;

export type Watchdog = ReturnType<typeof createWatchdog>;

export function createWatchdog(parts: {
	clock: Clock;
	host: Pick<Host, "after">;
	log: Log;
	scheduler: Pick<Scheduler, "status" | "plan" | "show">;
}) {
	const { clock, host, log, scheduler } = parts;
	/** Reports missing beats from another thread: host/loop-watch.ts. */
	let loop: { beat(): void; stop(): void } | undefined;
	let stopped = false;
	let jumps = 0;
	let longest = 0;
	const cancels = new Set<() => void>();
	const after = (ms: number, call: () => void) => {
		const cancel = host.after(ms, () => {
			cancels.delete(cancel);
			if (!stopped) call();
		});
		cancels.add(cancel);
		return cancel;
	};

	const beat = (last: { mono: number; wall: number }) =>
		after(BEAT_MS, () => {
			loop?.beat();
			const now = { mono: clock.monotonic(), wall: clock.now() };
			const late = now.mono - last.mono - BEAT_MS;
			const jump = now.wall - last.wall - (now.mono - last.mono);
			if (late > STUCK_MS) {
				longest = Math.max(longest, late);
				log.warn("the event loop was stuck", { ms: Math.round(late) });
			}
			if (Math.abs(jump) > JUMP_MS) {
				jumps++;
				log.warn("the clock jumped, or the machine slept", { ms: Math.round(jump) });
			}
			beat(now);
		});

	/** Jobs that could start at the last check. A job that could start in two checks and has not is reported; jobs for outside workers do not count. */
	let before: number[] = [];
	const check = () =>
		after(CHECK_MS, () => {
			const silent = after(ANSWER_MS, () => log.error("the scheduler does not answer", { ms: ANSWER_MS }));
			look()
				.catch((error) => log.error("the scheduler failed when asked for its plan", { error }))
				.finally(() => {
					silent();
					if (!stopped) check();
				});
		});
	async function look(): Promise<void> {
		const { dispatch } = await scheduler.plan({ max: 20 });
		const ours: number[] = [];
		for (const id of dispatch) if ((await scheduler.show(id)).kind !== "payload") ours.push(id);
		const idle = ours.filter((id) => before.includes(id));
		before = ours;
		if (idle.length > 0) log.error("jobs that could start do not: the claim loop is not alive", { jobs: idle });
	}

	return {
		start(watched?: typeof loop): void {
			loop = watched;
			beat({ mono: clock.monotonic(), wall: clock.now() });
			check();
		},
		stop(): void {
			stopped = true;
			loop?.stop();
			for (const cancel of cancels) cancel();
		},
		jumps: () => jumps,
		longestMs: () => longest,
	};
}
