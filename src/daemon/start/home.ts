// First stage: the home is created or repaired, refused when it cannot be used, and locked. From here on, leftovers of a dead daemon are no obstacle.

import { systemClock } from "../../host/local.ts";
import type { DaemonOptions } from "../config/options.ts";
import { SETTINGS } from "../config/settings.ts";
import { prepareHome } from "../service/home.ts";
import { takeLock } from "../service/lock.ts";
import { openLog } from "../service/log.ts";
import { readVersion } from "../version.ts";
import type { Undo } from "./undo.ts";

export type HomeStage = ReturnType<typeof openHome>;

export function openHome(options: DaemonOptions, undo: Undo) {
	const clock = systemClock;
	const [startedAt, version] = [clock.now(), readVersion()];
	const home = prepareHome(options.home);
	const lock = takeLock(home.lock, home.record);
	undo.push(() => lock.release());
	const log = openLog({
		path: home.log,
		clock,
		masked: [home.tokens.admin, home.tokens.viewer],
		secrets: () => SETTINGS.secrets,
		...(options.echo ? { echo: options.echo } : {}),
	});
	undo.push(() => log.close());
	for (const line of home.repaired) log.warn(line);
	return { options, env: options.env ?? process.env, clock, startedAt, version, home, log };
}
