// The parts of the daemon's code that the command line needs, in one module that is loaded only when needed. See src/api/daemon-module.ts.

import { homedir } from "node:os";
import { join } from "node:path";
import type { DaemonModule } from "../api/daemon-module.ts";
import { shownSettings } from "../api/methods/config.ts";
import { SILENT } from "../contracts/log.ts";
import { SluiceError } from "../core/errors.ts";
import { isDatabase, shownStore } from "../core/text/store-address.ts";
import { makeFolder } from "../host/folder.ts";
import { localHost } from "../host/local.ts";
import { type ConfigProblem, openConfigFile, problemOf, problemsIn } from "./config/file.ts";
import { SETTINGS, type Settings } from "./config/settings.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { backUp } from "./service/backup.ts";
import { checkUp } from "./service/doctor.ts";
import { installService } from "./service/install.ts";
import { moveStore } from "./service/move-store.ts";
import { packageFolder } from "./version.ts";

/**
 * Runs a daemon in this process until it is asked to stop; resolves with the exit code.
 *
 * | signal         | effect                                             |
 * |----------------|----------------------------------------------------|
 * | SIGTERM SIGINT | clean stop, runs are left to their shims; exit 0   |
 * | the second one | at once; exit 143 or 130                           |
 * | SIGHUP         | reads config.yml again                             |
 */
export const serve: DaemonModule["serve"] = async (options) => {
	let daemon: Daemon | undefined;
	let asked: "SIGTERM" | "SIGINT" | undefined;
	const end = (signal: "SIGTERM" | "SIGINT") => {
		if (asked) process.exit(signal === "SIGINT" ? 130 : 143);
		asked = signal;
		void daemon?.stop({ by: signal });
	};
	const handlers = { SIGTERM: () => end("SIGTERM"), SIGINT: () => end("SIGINT"), SIGHUP: () => void daemon?.reload() };
	for (const [signal, call] of Object.entries(handlers)) process.on(signal, call);
	try {
		daemon = await startDaemon(options);
		options.ready?.(daemon);
		if (asked) void daemon.stop({ by: asked });
		return await daemon.stopped;
	} finally {
		for (const [signal, call] of Object.entries(handlers)) process.off(signal, call);
	}
};

const install: DaemonModule["install"] = async ({ home, port }) =>
	installService(process.platform, homedir(), {
		home,
		port,
		node: process.execPath,
		program: join(packageFolder(), "dist", "daemon-main.js"),
		path: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
	});

export const checkConfig: DaemonModule["checkConfig"] = async (home) => {
	const problems = problemsIn({ path: join(home, "config.yml"), env: process.env });
	return { schema_version: 1, ok: problems.length === 0, problems };
};

/** For settings that take effect at the next start: the daemon may even be unable to start before the change, because its store was moved. */
const changeConfig: DaemonModule["changeConfig"] = async (home, key, value) => {
	makeFolder(home);
	const file = openConfigFile({ path: join(home, "config.yml"), env: process.env, host: localHost, log: SILENT });
	try {
		const settings = value === undefined ? await file.unset(key) : await file.set(key, value);
		return { schema_version: 1, settings: shownSettings(settings, { config: file }), notes: [] };
	} finally {
		file.close();
	}
};

/** `store` is checked instead of the configured one. */
export const doctor: DaemonModule["doctor"] = async (home, store = null) => {
	const found = read(home);
	const place = store ?? ("settings" in found ? (found.settings.store ?? join(home, "sluice.db")) : undefined);
	const checks = await checkUp({
		home,
		...(place === undefined ? {} : { store: shownStore(place) }),
		config: () => ("settings" in found ? null : found),
		settings: () => ("settings" in found ? found.settings : SETTINGS),
		database: () => store ?? databaseIn(found),
		env: process.env,
	});
	return { schema_version: 1, ok: checks.every(({ ok }) => ok), checks };
};

const backup: DaemonModule["backup"] = async ({ home, file }) => {
	const found = read(home);
	return backUp({ home, file, store: "settings" in found ? found.settings.store : null });
};

export const cliModule: DaemonModule = { serve, install, checkConfig, changeConfig, doctor, backup, migrateStore: moveStore };

const databaseIn = (found: { settings: Settings } | ConfigProblem): string | null =>
	"settings" in found && found.settings.store !== null && isDatabase(found.settings.store) ? found.settings.store : null;

/** The settings that a daemon would start with, or why it would not start. */
function read(home: string): { settings: Settings } | ConfigProblem {
	try {
		const file = openConfigFile({ path: join(home, "config.yml"), env: process.env, host: localHost, log: SILENT });
		file.close();
		return { settings: file.settings() };
	} catch (error) {
		if (!(error instanceof SluiceError)) throw error;
		return problemOf(error);
	}
}
