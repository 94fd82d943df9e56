// Passes this host's settings to the scheduler, including those of the repos' own files, and again whenever they change.

import type { Log } from "../../contracts/log.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import { watchPaths } from "../../host/watch-paths.ts";
import { coalesce } from "../coalesce.ts";
import type { StorePlace } from "../fleet/store.ts";
import { offeredRepos } from "../repos/by-url.ts";
import { engineOf, followRepoFiles } from "../repos/repos.ts";
import type { ConfigFile } from "./file.ts";
import { completeInput } from "./layers.ts";
import { bringAlong } from "./shared.ts";

type InForce = Pick<ConfigFile, "engine" | "settings">;

export async function openSchedulerSettings(parts: {
	scheduler: Pick<Scheduler, "config" | "configure" | "offer">;
	store: Pick<StorePlace, "shared">;
	file: ConfigFile;
	/** The settings in force. */
	config: InForce;
	log: Log;
}) {
	const { scheduler, store, file, config, log } = parts;
	/**
	 * Reports which repos this host can work in. Not needed for a store of its own: the only host gets all jobs and itself reports what is wrong with their
	 * repos.
	 */
	const offer = async (from: InForce = config) => void (store.shared && (await scheduler.offer(offeredRepos(from))));
	/** The scheduler was opened with the file's settings. */
	let passed = JSON.stringify(engineOf(file));
	if (store.shared) await bringAlong(scheduler, engineOf(file), log);

	const repoFiles = followRepoFiles({
		watchPaths,
		changed: coalesce(
			() => takeOver(file),
			(error) => log.warn("a repo's sluice.yml could not be taken over", { error }),
		),
	});
	repoFiles.arm(config);

	async function takeOver(from: InForce): Promise<void> {
		const next = engineOf(from);
		if (store.shared) await bringAlong(scheduler, next, log);
		else if (JSON.stringify(next) !== passed) await scheduler.configure(completeInput(next, scheduler.config()));
		passed = JSON.stringify(next);
		await offer(from);
		repoFiles.arm(from);
	}

	/** `close` ends the watch of the repos' own files. */
	return { takeOver, offer, close: repoFiles.close };
}
