// Of several hosts, the leader runs timers on time; the others run them later, as a fallback.

import { expect, onTestFinished, test } from "vitest";
import { FakeClock, FakeHost, SECOND } from "../../../test/make/fakes.ts";
import { openSqlite } from "../../stores/sqlite/store.ts";
import { LAG_MS } from "./hosts.ts";
import { createScheduler } from "./index.ts";

/** A host whose timers fire by hand. */
class Timers extends FakeHost {
	readonly set = new Set<{ at: number; call: () => void }>();
	constructor(readonly clock: FakeClock) {
		super();
	}
	override after(ms?: number, call?: () => void): () => void {
		const timer = { at: this.clock.now() + (ms ?? 0), call: call ?? (() => {}) };
		this.set.add(timer);
		return () => this.set.delete(timer);
	}
	async pass(ms: number): Promise<void> {
		this.clock.pass(ms);
		for (const timer of [...this.set].filter(({ at }) => at <= this.clock.now())) {
			this.set.delete(timer);
			timer.call();
		}
		for (let turn = 0; turn < 20; turn++) await this.turn();
	}
}

test.each([
	[true, 0],
	[false, LAG_MS],
])("leading: %s; a deadline is handled %i ms after it", async (leads, lag) => {
	const clock = new FakeClock();
	const host = new Timers(clock);
	const store = { ...openSqlite(":memory:"), lead: async () => leads };
	const sluice = await createScheduler({ config: { poll_interval_ms: 60 * SECOND } }, { store, clock, host, chance: () => 0.5 });
	onTestFinished(() => sluice.close());
	await host.pass(0);
	await sluice.add({ command: ["true"], deadline: clock.now() + 10 * SECOND });
	const ended: number[] = [];
	sluice.watch(({ events }) => {
		for (const event of events) if (event.kind === "ended") ended.push(clock.now());
	});
	await host.pass(0);
	const from = clock.now();
	for (let at = 0; at < 15_000 && ended.length === 0; at += 500) await host.pass(500);
	expect(ended[0]).toBeDefined();
	expect(Math.abs((ended[0] as number) - from - 10 * SECOND - lag)).toBeLessThanOrEqual(500);
});
