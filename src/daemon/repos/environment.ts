// What the daemon works with: the variables of its environment that are passed on, git, the repos that have a folder here, and their facts.

import type { Disk } from "../../contracts/disk.ts";
import type { Git } from "../../contracts/git.ts";
import type { Clock } from "../../contracts/host.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import { NETWORK } from "../../core/input/environment.ts";
import type { WholeRepo } from "../../core/schema/repo.ts";
import { matchesAny } from "../../core/text/stars.ts";
import { localDisk } from "../../host/disk.ts";
import { withFacts } from "../../host/facts/facts.ts";
import { openGit } from "../../host/git.ts";
import { localHost } from "../../host/local.ts";
import { runProgram } from "../../host/program.ts";
import type { Repo, Work } from "../../workspaces/index.ts";
import { gitMark } from "../../workspaces/orphans.ts";
import { treeOf } from "../../workspaces/record.ts";
import type { ConfigFile } from "../config/file.ts";
import type { Home } from "../service/home.ts";
import { createFetching } from "./by-url.ts";
import { mergeHold, settingsOf } from "./repos.ts";
import { wantedFacts } from "./wanted-facts.ts";

type InForce = Pick<ConfigFile, "engine" | "settings">;
type Places = Pick<Home, "path" | "tag" | "runs" | "worktrees" | "clones">;

/** The variables that programs of this daemon get, and git with them. */
export function createProgramEnvironment(parts: { config: InForce; home: Places; env: Record<string, string | undefined> }) {
	const { config, home, env } = parts;
	// Cached, because it is needed several times for each run: the environment never changes, so only a new setting requires a new copy. SLUICE_STORE is left
	// out, because programs need not know the store, whose URL may hold a password.
	const { SLUICE_STORE: _store, ...surroundings } = env;
	const allowed = remembered(
		() => config.settings().env,
		(wanted) => pick(surroundings, [...wanted, ...NETWORK]),
	);
	const git = openGit({
		run: runProgram,
		env: () => ({ ...pick(env, ["GIT_CONFIG_*"]), ...allowed() }),
		mark: gitMark(home.tag),
		treeOf: (folder) =>
			treeOf({ worktrees: home.worktrees, disk: localDisk }, folder, (name) => pathOf(settingsOf(config, name), name, home)),
	});
	return { allowed, git };
}

/** The folder of a repo on this host: a person's checkout, or the clone of a repo that is registered by URL. */
const pathOf = (settings: WholeRepo | null, name: string, { clones }: Places): string | null =>
	settings?.path ?? (settings?.url ? `${clones}/${name}` : null);

/** The repos that have a folder on this host, with their settings in force. */
export function createRepoFolders(config: InForce, home: Places) {
	const repo = (name: string): Repo | null => {
		const settings = settingsOf(config, name);
		const path = pathOf(settings, name, home);
		return settings === null || path === null ? null : { ...settings, name, path, hold: mergeHold(config, name) };
	};
	const placed = (): Record<string, Repo> => {
		const all = Object.keys(config.engine().repos).map((name) => [name, repo(name)] as const);
		return Object.fromEntries(all.filter((entry): entry is [string, Repo] => entry[1] !== null));
	};
	return { repo, placed };
}

export type FactDeps = {
	config: InForce;
	home: Places;
	clock: Clock;
	allowed: () => Record<string, string>;
	git: Git;
	placed: () => Record<string, Repo>;
	scheduler: Pick<Scheduler, "list">;
	work: Pick<Work, "makers" | "freshen">;
	/** Other hosts may use the store. */
	shared: boolean;
};

/** The facts of these repos and of this machine. */
export function createFacts({ config, home, clock, allowed, git, placed, scheduler, work, shared }: FactDeps) {
	const wanted = wantedFacts({ clock, list: scheduler.list });
	const names = () => Object.keys(placed()).filter((name) => placed()[name]?.url !== null);
	const fetching = createFetching({ clock, names, wanted, freshen: work.freshen });
	const facts = withFacts(localHost, {
		git,
		run: runProgram,
		clock,
		repos: () =>
			Object.fromEntries(
				Object.entries(placed()).map(([name, one]) => [name, { ...one, makers: (artifact: string) => work.makers(name, artifact) }]),
			),
		probes: () => Object.fromEntries(Object.entries(config.settings().probes).map(([name, { command }]) => [name, command])),
		env: allowed,
		cwd: home.path,
		wanted,
		// In a shared store, a job without a folder here may have run on another host, which knows.
		hasPatch: (job) =>
			shared && localDisk.list(`${home.runs}/${job}`).length === 0 ? undefined : hasPatch(localDisk, `${home.runs}/${job}`),
	});
	return {
		...facts,
		probe: (keys: string[]) => {
			fetching.look(keys);
			return facts.probe(keys);
		},
	};
}

/** Reports to the scheduler which of these repos have uncommitted changes or a git operation under way, as far as that can be determined now. */
export async function observeBusy(
	repos: readonly string[],
	probe: (keys: string[]) => Promise<Record<string, unknown>>,
	scheduler: Pick<Scheduler, "observe">,
): Promise<void> {
	const found = Object.entries(await probe(repos.map((name) => `busy:${name}`)));
	const seen = found.filter((entry): entry is [string, string | null] => entry[1] === null || typeof entry[1] === "string");
	if (seen.length > 0) await scheduler.observe(Object.fromEntries(seen));
}

/** Whether the last attempt of a job has left a patch. Patches of earlier attempts are kept for people, but no longer count. */
export function hasPatch(disk: Pick<Disk, "list" | "size">, folder: string): boolean {
	const last = Math.max(
		0,
		...disk
			.list(folder)
			.filter((name) => /^\d+$/.test(name))
			.map(Number),
	);
	return last > 0 && disk.size(`${folder}/${last}/output.patch`) !== null;
}

/** Caches a derived value: makes it again only when its source is another object. */
export function remembered<From, To>(from: () => From, make: (from: From) => To): () => To {
	let last: { from: From; to: To } | undefined;
	return () => {
		const now = from();
		if (last?.from !== now) last = { from: now, to: make(now) };
		return last.to;
	};
}

export function pick(env: Record<string, string | undefined>, wanted: readonly string[]): Record<string, string> {
	return Object.fromEntries(
		Object.entries(env).flatMap(([name, value]) => (value !== undefined && matchesAny(wanted, name) ? [[name, value]] : [])),
	);
}
