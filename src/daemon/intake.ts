// The daemon's side of the intake: sources and recipes from its settings, and outgoing notifications.

import { homedir, hostname } from "node:os";
import { join } from "node:path";
import type { Git } from "../contracts/git.ts";
import type { SourceSettings } from "../contracts/source.ts";
import { createIntake, type IntakeParts } from "../intake/index.ts";
import type { Settings } from "./config/settings.ts";
import { openCursor } from "./cursor.ts";
import { branchCheck } from "./repos/branches.ts";
import { startNotify } from "./service/notify.ts";

export type IntakeOptions = Omit<IntakeParts, "mustHaveBranch" | "cursor" | "queue"> & {
	settings: () => Settings;
	git: Git;
	/** Environment for programs that send notifications. */
	env: () => Record<string, string>;
};

export function openIntake({ settings, env, git, ...parts }: IntakeOptions) {
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
		/** Takes over changed settings. */
		follow: (next: Settings) => intake.configure(sourcesOf(next)),
		async stop(): Promise<void> {
			quiet();
			await intake.stop();
		},
	};
}

/** Replaces `~/` by the owner's home folder. */
const sourcesOf = ({ sources }: Settings): Record<string, SourceSettings> =>
	Object.fromEntries(Object.entries(sources).map(([name, one]) => [name, { ...one, root: one.root.replace(/^~(?=\/)/, homedir()) }]));
