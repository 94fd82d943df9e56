// A store that answers with promises: still one transaction at a time.

import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../contracts/store.ts";
import { chance, localHost, systemClock } from "../../host/local.ts";
import { openSqlite } from "../../stores/sqlite/store.ts";
import { createScheduler } from "../library/index.ts";

/** The same store, with every answer delayed by a few turns. `overlaps` counts transactions that began while another was open. */
function slow(store: Store): { store: Store; overlaps: () => number } {
	let [open, overlaps] = [false, 0];
	const later = async <T>(act: () => T): Promise<Awaited<T>> => {
		for (let turns = 0; turns < 3; turns++) await localHost.turn();
		return act() as Awaited<T>;
	};
	return {
		overlaps: () => overlaps,
		store: {
			...store,
			begin: () => {
				if (open) overlaps++;
				open = true;
				return later(() => store.begin());
			},
			read: (request) => later(() => store.read(request)) as ReturnType<Store["read"]>,
			write: (changes) => store.write(changes),
			commit: () =>
				later(() => store.commit()).then(() => {
					open = false;
				}),
			rollback: () =>
				later(() => store.rollback()).then(() => {
					open = false;
				}),
			close: () => store.close(),
		} as Store,
	};
}

test("a dry run that is requested while jobs are added does not share their transaction", async () => {
	const { store, overlaps } = slow(openSqlite(":memory:"));
	const sluice = await createScheduler({}, { store, clock: systemClock, host: localHost, chance });
	onTestFinished(() => sluice.close());
	const plans: Promise<unknown>[] = [];
	const adds: Promise<unknown>[] = [];
	for (let n = 0; n < 20; n++) {
		plans.push(sluice.plan());
		await localHost.turn();
		adds.push(sluice.add({ command: ["true"] }));
		await localHost.turn();
	}
	await Promise.all([...plans, ...adds]);
	expect(overlaps()).toBe(0);
	expect((await sluice.status()).queued_total).toBe(20);
});

test("a dry run is not put off by a queue that never empties", async () => {
	const { store } = slow(openSqlite(":memory:"));
	const sluice = await createScheduler({}, { store, clock: systemClock, host: localHost, chance });
	onTestFinished(() => sluice.close());
	let isPlanned = false;
	let adds = 0;
	/** Each add is followed by the next before its own transaction is over. */
	const keepAdding = async (): Promise<void> => {
		for (; !isPlanned && adds < 300; adds++) await sluice.add({ command: ["true"] });
	};
	const adding = Promise.all([keepAdding(), keepAdding(), keepAdding()]);
	await localHost.turn();
	await sluice.plan();
	isPlanned = true;
	await adding;
	expect(adds).toBeLessThan(300);
});
