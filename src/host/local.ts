// This machine as a host: its clocks, its timers, its dice. Knows no facts of its own yet: repos and processes come with the supervisor.

import { performance } from "node:perf_hooks";
import type { Clock, Facts, Host } from "../host.ts";

export const systemClock: Clock = {
	now: () => Date.now(),
	monotonic: () => performance.now(),
};

export const chance = (): number => Math.random();

export const localHost: Host = {
	probe: async (): Promise<Facts> => ({}),
	after(ms, call, grip) {
		// Longer timers than 2³¹ ms fire at once; coming back early is harmless, since it is only a hint.
		const timer = setTimeout(call, Math.min(Math.max(0, ms), 2 ** 31 - 1));
		if (grip !== "hold") timer.unref();
		return () => clearTimeout(timer);
	},
	turn: () => new Promise((resolve) => setImmediate(resolve)),
};

/** The zone of this machine's wall clock. */
export const systemTimezone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
