// Wiring: chooses the store, clock and host of a scheduler in this process.

import type { Clock, Host } from "./contracts/host.ts";
import type { OpenOptions, Scheduler } from "./contracts/scheduler.ts";
import { assert } from "./core/errors.ts";
import { chance, localHost, systemClock } from "./host/local.ts";
import { secret } from "./host/secret.ts";
import { createScheduler, type LibraryOptions } from "./scheduler/library/index.ts";
import { checkOpen } from "./scheduler/library/input.ts";
import type { Core } from "./scheduler/operations/core.ts";
import type { HighestIds } from "./scheduler/transaction/restored.ts";
import type { MarkWriter } from "./stores/sqlite/mark.ts";
import { openSqlite } from "./stores/sqlite/store.ts";

export { forCheckedCalls } from "./scheduler/library/arguments.ts";

/**
 * `mark`: gets the numbers of each commit. `seen`: numbers that were given out before and that the store no longer has; the next ones lie beyond them. `wrap`:
 * puts something between the library and its core, for tests.
 */
type DaemonParts = { mark?: MarkWriter | undefined; seen?: HighestIds | undefined; wrap?: ((core: Core) => Core) | undefined };

/** Opens the queue in a SQLite file or a PostgreSQL database, and creates it if needed. Several processes may have the same one open. */
export async function openScheduler(options: OpenOptions, { mark, seen, wrap }: DaemonParts = {}): Promise<Scheduler> {
	const { path, url, clock: given, host = localHost, chance: dice = chance, fault, ...rest } = checkOpen(options);
	if (url !== undefined) return openFleet(url, rest, { given, host, chance: dice, fault });
	const store = openSqlite(fileOf(path), { ...(fault ? { fault } : {}), ...(mark ? { mark } : {}) });
	try {
		return await createScheduler(rest, { store, clock: given ?? systemClock, host, chance: dice, wrap, ...(seen ? { seen } : {}) });
	} catch (error) {
		await store.close();
		throw error;
	}
}

/** `checkOpen` demands one of `path` and `url`. */
function fileOf(path: string | undefined): string {
	assert(path !== undefined, "a scheduler has a path or a url");
	return path;
}

type FleetOptions = { given: Clock | undefined; host: Host; chance: () => number; fault: OpenOptions["fault"] };

/**
 * Joins the fleet of a PostgreSQL database, whose clock counts for all its machines, unless the caller brings one. Its code is imported here, so that only
 * processes which need the driver load it.
 */
async function openFleet(url: string, options: LibraryOptions, { given, host, chance: dice, fault }: FleetOptions): Promise<Scheduler> {
	const { openFleetDatabase } = await import("./fleet/postgres/database.ts");
	const { openFleetScheduler } = await import("./fleet/open.ts");
	// Polls and the timeouts of the network run in real time, whatever the scheduler's clock says.
	const time = { monotonic: systemClock.monotonic, after: localHost.after };
	const database = await openFleetDatabase(url, {
		...time,
		member: secret(12),
		host: options.join?.name ?? null,
		lead: options.lead ?? "may",
		chance: dice,
		clock: given ? "caller" : "database",
		fault,
	});
	const clock = given ?? { now: () => database.now(), monotonic: systemClock.monotonic };
	return openFleetScheduler(options, { database, clock, host, chance: dice, time });
}
