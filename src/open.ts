// Wiring: chooses the store, clock and host of a scheduler in this process.

import type { Clock } from "./contracts/host.ts";
import type { OpenOptions, Scheduler } from "./contracts/scheduler.ts";
import type { Store } from "./contracts/store.ts";
import { assert } from "./core/errors.ts";
import { chance, localHost, systemClock } from "./host/local.ts";
import { secret } from "./host/secret.ts";
import { createScheduler } from "./scheduler/library/index.ts";
import { checkOpen } from "./scheduler/library/input.ts";
import type { HighestIds } from "./scheduler/transaction/restored.ts";
import type { MarkWriter } from "./stores/sqlite/mark.ts";
import { openSqlite } from "./stores/sqlite/store.ts";

export { forCheckedCalls } from "./scheduler/library/arguments.ts";

/** `mark`: gets the numbers of each commit. `seen`: numbers that were given out before and that the store no longer has; the next ones lie beyond them. */
type DaemonParts = { mark?: MarkWriter | undefined; seen?: HighestIds | undefined };

/** Opens the queue in a SQLite file or a PostgreSQL database, and creates it if needed. Several processes may have the same one open. */
export async function openScheduler(options: OpenOptions, { mark, seen }: DaemonParts = {}): Promise<Scheduler> {
	const { path, url, clock: given, host = localHost, chance: dice = chance, fault, ...rest } = checkOpen(options);
	const { store, clock } =
		url !== undefined
			? await openShared(url, { given, fault })
			: { store: openSqlite(fileOf(path), { ...(fault ? { fault } : {}), ...(mark ? { mark } : {}) }), clock: given ?? systemClock };
	try {
		return await createScheduler(rest, { store, clock, host, chance: dice, ...(seen ? { seen } : {}) });
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

/**
 * Opens a PostgreSQL store. Its clock is used for all machines that share it, unless the caller brings one. The driver is imported here, so that only processes
 * which need it load it.
 */
async function openShared(
	url: string,
	{ given, fault }: { given: Clock | undefined; fault: OpenOptions["fault"] },
): Promise<{ store: Store; clock: Clock }> {
	const { openPostgres } = await import("./stores/postgres/store.ts");
	// Network timeouts run in real time, whatever the scheduler's clock says.
	const { monotonic } = systemClock;
	const store = await openPostgres(url, {
		writer: secret(12),
		monotonic,
		after: localHost.after,
		clock: given ? "caller" : "database",
		// Few events happen at once in the simulator, so two of them make a page there.
		...(fault ? { fault, page: 2 } : {}),
	});
	return { store, clock: given ?? { now: () => store.now(), monotonic } };
}
