// Fakes of the outside world: a clock that stands still until it is moved, and a host that knows what it was told.

import type { Clock, Facts, FactValue, Host } from "../../src/contracts/host.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Monday noon, UTC: when every test begins. */
export const NOON = Date.UTC(2026, 0, 5, 12);

export class FakeClock implements Clock {
	private wall = NOON;
	private mono = 0;

	now(): number {
		return this.wall;
	}

	monotonic(): number {
		return this.mono;
	}

	/** Time goes by. */
	pass(ms: number): void {
		this.wall += ms;
		this.mono += ms;
	}

	/** Somebody sets the clock. */
	jump(ms: number): void {
		this.wall += ms;
	}
}

export class FakeHost implements Host {
	/** What a probe finds, by key; a key that is not here is one that this host knows nothing about. */
	readonly facts = new Map<string, FactValue | { error: string }>();

	async probe(keys: string[]): Promise<Facts> {
		const found: Facts = {};
		for (const key of keys) {
			const fact = this.facts.get(key);
			if (fact !== undefined) found[key] = fact;
		}
		return found;
	}

	/** Timers are only hints: here they never come, so nothing in a test can depend on one. */
	after(): () => void {
		return () => {};
	}

	turn(): Promise<void> {
		return new Promise((resolve) => setImmediate(resolve));
	}
}

/** Something that a test waits for instead of sleeping. */
export function signal(): { given: Promise<void>; give: () => void } {
	let give = () => {};
	const given = new Promise<void>((resolve) => {
		give = resolve;
	});
	return { given, give };
}
