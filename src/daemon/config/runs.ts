// The settings that the supervisor gets for runs: the configuration, and what this machine adds to it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemTimezone } from "../../host/local.ts";
import type { Env } from "../../host/program-path.ts";
import type { SupervisorSettings } from "../../supervisor/index.ts";
import { createReveal } from "../reveal.ts";
import { packageFolder } from "../version.ts";
import type { Settings } from "./settings.ts";

export function runSettings(allowed: () => Record<string, string>, env: Env): (settings: Settings) => SupervisorSettings {
	const sluice = ownCommand();
	return (settings) => ({ ...settings, env: allowed(), reveal: createReveal(env), sluice, timezone: systemTimezone() });
}

/** The command line of this very installation; null when its files are missing. */
function ownCommand(): string[] | null {
	const command = join(packageFolder(), "bin", "sluice.js");
	return existsSync(command) ? [process.execPath, command] : null;
}
