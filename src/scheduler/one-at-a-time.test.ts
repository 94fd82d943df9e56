// A store that answers later, as one beyond a network does: still one transaction at a time.

import { expect, onTestFinished, test } from "vitest";
import { chance, localHost, systemClock } from "../host/local.ts";
import type { Store } from "../store.ts";
import { openSqlite } from "../stores/sqlite/store.ts";
import { createScheduler } from "./library.ts";

/** The same store, every answer a few turns late; begins are counted while a transaction is open. */
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

test("a plan is asked for while jobs are added: neither gets into the other's transaction", async () => {
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
