// The daemon's side of the intake: sources and recipes as its settings say, and the notices that go out.

import { homedir, hostname } from "node:os";
import { join } from "node:path";
import type { Git } from "../git.ts";
import type { Host } from "../host.ts";
import { createIntake, type IntakeSide, type SourceShelf } from "../intake/index.ts";
import type { Repos } from "../intake/repos.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { SourceSettings } from "../source.ts";
import { branchCheck } from "./branches.ts";
import { openCursor } from "./cursor.ts";
import { startNotify } from "./notify.ts";
import type { Settings } from "./settings.ts";

export type IntakeOptions = {
	scheduler: Scheduler;
	sources: SourceShelf;
	settings: () => Settings;
	host: Pick<Host, "after">;
	log: Log;
	home: string;
	repos: () => Repos;
	git: Git;
	/** For programs that give notices. */
	env: () => Record<string, string>;
};

export type DaemonIntake = IntakeSide & {
	/** Settings have changed. */
	follow(next: Settings): Promise<void>;
};

export function openIntake({ settings, env, git, ...parts }: IntakeOptions): DaemonIntake {
	const { scheduler, host, log, home } = parts;
	parts.sources.configure(sourcesOf(settings()));
	const intake = createIntake({
		...parts,
		mustHaveBranch: branchCheck(git, (name) => parts.repos()[name]?.path ?? null),
		cursor: openCursor(join(home, "written.json")),
		queue: async () => ({ queue: await scheduler.identify(home), home, host: hostname() }),
	});
	const quiet = startNotify({ scheduler, settings: () => settings().notify, host, log, env, cwd: home });
	return {
		...intake,
		follow: (next) => intake.configure(sourcesOf(next)),
		async stop() {
			quiet();
			await intake.stop();
		},
	};
}

/** `~/` is the owner's home folder. */
const sourcesOf = ({ sources }: Settings): Record<string, SourceSettings> =>
	Object.fromEntries(Object.entries(sources).map(([name, one]) => [name, { ...one, root: one.root.replace(/^~(?=\/)/, homedir()) }]));
