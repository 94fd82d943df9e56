// A scheduler whose process is a member of a fleet, and may lead it.

import type { Scheduler } from "../contracts/scheduler.ts";
import { createLibrary, type LibraryOptions } from "../scheduler/library/index.ts";
import { createSettings } from "../scheduler/library/settings.ts";
import { FleetCore, type FleetParts } from "./core.ts";

export type FleetDeps = Pick<FleetParts, "database" | "clock" | "host" | "chance" | "time" | "patienceMs">;

/** The scheduler closes the database with itself, also when it cannot be opened. */
export async function openFleetScheduler(options: LibraryOptions, deps: FleetDeps): Promise<Scheduler> {
	// Any process may lead, so the settings of the fleet are the store's, if it has some.
	const settings = createSettings({ ...options, settings: options.settings === "shared" ? "shared" : "found" });
	const core = await FleetCore.open({
		...deps,
		by: options.by ?? "library",
		config: settings.in,
		hostName: options.join?.name ?? "local",
		staleAfterMs: () => settings.now().stale_after_ms,
		lead: options.lead ?? "may",
		log: options.log,
	});
	try {
		return await createLibrary(options, { core, settings, clock: deps.clock, host: deps.host });
	} catch (error) {
		await core.close();
		throw error;
	}
}
