// A scheduler whose process is a member of a fleet, and may lead it.

import type { Clock, Host } from "../contracts/host.ts";
import type { Scheduler } from "../contracts/scheduler.ts";
import { createLibrary, type LibraryOptions } from "../scheduler/library/index.ts";
import { createSettings } from "../scheduler/library/settings.ts";
import { FleetCore } from "./core.ts";
import type { FleetDatabase, FleetTime } from "./database.ts";

/** `patienceMs`: how long a caller waits for the leader. */
export type FleetDeps = {
	database: FleetDatabase;
	clock: Clock;
	host: Host;
	chance: () => number;
	time: FleetTime;
	patienceMs?: (() => number) | undefined;
};

/** The scheduler closes the database with itself, also when it cannot be opened. */
export async function openFleetScheduler(
	options: LibraryOptions,
	{ database, clock, host, chance, time, patienceMs }: FleetDeps,
): Promise<Scheduler> {
	// Any process may lead, so the settings of the fleet are the store's, if it has some.
	const settings = createSettings({ ...options, settings: options.settings === "shared" ? "shared" : "found" });
	const core = await FleetCore.open({
		database,
		clock,
		host,
		chance,
		time,
		patienceMs,
		by: options.by ?? "library",
		config: settings.in,
		hostName: options.join?.name ?? "local",
		staleAfterMs: () => settings.now().stale_after_ms,
		lead: options.lead ?? "may",
		log: options.log,
	});
	try {
		return await createLibrary(options, { core, settings, clock, host });
	} catch (error) {
		await core.close();
		throw error;
	}
}
