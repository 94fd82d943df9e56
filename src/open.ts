// Wiring: which store, clock and host a scheduler of this process gets.

import { chance, localHost, systemClock } from "./host/local.ts";
import { createScheduler } from "./scheduler/library.ts";
import { checkOpen } from "./scheduler/library-input.ts";
import type { OpenOptions, Scheduler } from "./scheduler.ts";
import { openSqlite } from "./stores/sqlite/store.ts";

/** Opens (and makes, if need be) the queue in a SQLite file. Several processes may have the same file open. */
export async function openScheduler(options: OpenOptions): Promise<Scheduler> {
	const { path, clock, host, chance: dice, fault, ...rest } = checkOpen(options);
	const store = openSqlite(path, fault ? { fault } : {});
	try {
		return await createScheduler(rest, { store, clock: clock ?? systemClock, host: host ?? localHost, chance: dice ?? chance });
	} catch (error) {
		await store.close();
		throw error;
	}
}
