// This machine as a host: clocks, timers and random numbers. It knows no facts: those of repos and processes are added by the supervisor.

import { performance } from "node:perf_hooks";
import type { Clock, Facts, Host } from "../contracts/host.ts";

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

export const chance = (): number => Math.random();

export const localHost: Host = {
	probe: async (): Promise<Facts> => ({}),
	after(ms, call, grip) {
		// setTimeout fires timers longer than 2³¹ ms at once. Firing early is harmless, since a timer is only a hint.
		const timer = setTimeout(call, Math.min(Math.max(0, ms), 2 ** 31 - 1));
		if (grip !== "hold") timer.unref();
		return () => clearTimeout(timer);
	},
	turn: () => new Promise((resolve) => setImmediate(resolve)),
};

/** The time zone of this machine's clock. */
export const systemTimezone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
