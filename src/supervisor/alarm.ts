// One timer for all deadlines of this host's runs: it fires at the earliest of the requested times.

import type { Clock, Host } from "../contracts/host.ts";

export type Alarm = ReturnType<typeof createAlarm>;

export function createAlarm(clock: Clock, host: Host, ring: () => void) {
	let due = Number.POSITIVE_INFINITY;
	let cancel = () => {};
	let stopped = false;
	return {
		/** Fires at this monotonic time or earlier. */
		at(time: number): void {
			if (time >= due || stopped) return;
			cancel();
			due = time;
			cancel = host.after(Math.max(0, Math.ceil(time - clock.monotonic())), () => {
				due = Number.POSITIVE_INFINITY;
				ring();
			});
		},
		stop(): void {
			stopped = true;
			cancel();
		},
	};
}
