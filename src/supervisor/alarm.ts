// One timer for everything that this host's runs wait for: it rings at the earliest time that anybody named.

import type { Clock, Host } from "../host.ts";

export type Alarm = {
	/** Rings at this monotonic time or earlier. */
	at(time: number): void;
	stop(): void;
};

export function createAlarm(clock: Clock, host: Host, ring: () => void): Alarm {
	let due = Number.POSITIVE_INFINITY;
	let cancel = () => {};
	let stopped = false;
	return {
		at(time) {
			if (time >= due || stopped) return;
			cancel();
			due = time;
			cancel = host.after(Math.max(0, Math.ceil(time - clock.monotonic())), () => {
				due = Number.POSITIVE_INFINITY;
				ring();
			});
		},
		stop() {
			stopped = true;
			cancel();
		},
	};
}
