// Wiring: which store, clock and host a scheduler of this process gets.

import { chance, localHost, systemClock } from "./host/local.ts";
import { secret } from "./host/secret.ts";
import type { Clock } from "./host.ts";
import { createScheduler } from "./scheduler/library.ts";
import { checkOpen } from "./scheduler/library-input.ts";
import type { OpenOptions, Scheduler } from "./scheduler.ts";
import type { Store } from "./store.ts";
import { openSqlite } from "./stores/sqlite/store.ts";

/** Opens (and makes, if need be) the queue in a SQLite file or a PostgreSQL database. Several processes may have the same one open. */
export async function openScheduler(options: OpenOptions): Promise<Scheduler> {
	const { path, url, clock: given, host = localHost, chance: dice = chance, fault, ...rest } = checkOpen(options);
	const { store, clock } =
		url === undefined
			? { store: openSqlite(path as string, fault ? { fault } : {}), clock: given ?? systemClock }
			: await openShared(url, { given, fault });
	try {
		return await createScheduler(rest, { store, clock, host, chance: dice });
	} catch (error) {
		await store.close();
		throw error;
	}
}

/** Where several machines share a store its clock is theirs, unless the caller brings one. The driver is loaded here, by those who need it. */
async function openShared(
	url: string,
	{ given, fault }: { given: Clock | undefined; fault: OpenOptions["fault"] },
): Promise<{ store: Store; clock: Clock }> {
	const { openPostgres } = await import("./stores/postgres/store.ts");
	// Patience with a network is a matter of real time, whatever the scheduler's clock says.
	const { monotonic } = systemClock;
	const store = await openPostgres(url, {
		writer: secret(12),
		monotonic,
		after: localHost.after,
		clock: given ? "caller" : "database",
		// Few things happen at once in the simulator: two events make a page there.
		...(fault ? { fault, page: 2 } : {}),
	});
	return { store, clock: given ?? { now: () => store.now(), monotonic } };
}
