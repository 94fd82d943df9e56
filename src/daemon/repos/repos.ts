// The repos of the configuration: listed, registered, trusted, removed. Changes go into config.yml like any other setting.

import { existsSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import type { Checkup, NewRepo, RepoDocument, RepoHandle } from "../../api/context.ts";
import { currentBranch, type Git, headOf, limited, localRef, shared } from "../../contracts/git.ts";
import type { WatchPaths } from "../../contracts/host.ts";
import type { RepoRecipes } from "../../contracts/intake.ts";
import type { Scheduler } from "../../contracts/scheduler.ts";
import type { WorktreeView } from "../../contracts/workspace.ts";
import type { Config } from "../../core/config.ts";
import { messageOf, SluiceError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import * as check from "../../core/input/check.ts";
import { suggest } from "../../core/input/nearest.ts";
import { REPO_DEFAULT, type WholeRepo } from "../../core/schema/repo.ts";
import { nameOfUrl, urlFault, withoutCredentials } from "../../core/text/repo-url.ts";
import { REPO_FILE } from "../../core/trust/repo-files.ts";
import { busyWith } from "../../host/facts/repo-facts.ts";
import type { ConfigFile } from "../config/file.ts";
import { baseOfFolder, baseOfRemote, branchText } from "./base.ts";
import { branchCheck } from "./branches.ts";
import { withRepoFile } from "./file.ts";
import { lostTrust, recipesOf, trustChecks, trustNow, trustView } from "./trust.ts";

export type RepoParts = {
	config: ConfigFile;
	git: Git;
	scheduler: Pick<Scheduler, "list" | "status">;
	/** Where this host keeps the clone of a repo that is registered by URL. */
	clone: (name: string) => string;
	worktrees: (repo: string) => WorktreeView[];
};

/** Short, because a caller waits for the answer. */
const LOOK_MS = 20_000;
/** Looks at repos at a time, of all callers together. */
const MAX_LOOKS_AT_ONCE = 4;

type InForce = Pick<ConfigFile, "settings" | "engine">;

/** The repo as config.yml has it; null when there is no such repo. */
function writtenOf(config: InForce, name: string): WholeRepo | null {
	const { repos } = config.engine();
	if (!Object.hasOwn(repos, name)) return null;
	const own = config.settings().repos;
	const { max = null, prefix = null, max_open } = repos[name] ?? {};
	return { ...((Object.hasOwn(own, name) ? own[name] : undefined) ?? REPO_DEFAULT), max, prefix, ...given({ max_open }) };
}

/** The repo's settings in force, including its trusted sluice.yml. */
export const settingsOf = (config: InForce, name: string): WholeRepo | null => {
	const written = writtenOf(config, name);
	return written && withRepoFile(written).settings;
};

/** The repo's own recipes that are in force. */
export const repoRecipes = (config: InForce, name: string): RepoRecipes => recipesOf(name, writtenOf(config, name) ?? REPO_DEFAULT);

/** Why merges into a repo are suspended now; null when they are not. */
export const mergeHold = (config: InForce, name: string): string | null => {
	const written = writtenOf(config, name);
	return written && lostTrust(name, written);
};

/** For the check-up: which of the repos' own files are not in force. */
export const repoChecks = (config: InForce): Checkup[] =>
	trustChecks(Object.keys(config.engine().repos).map((name) => [name, writtenOf(config, name) as WholeRepo] as const));

/** The engine's part of the configuration, with the repos' settings in force. */
export function engineOf(config: InForce): Config {
	const engine = config.engine();
	const repos = Object.keys(engine.repos).map((name) => {
		const { max, max_open, prefix, path, url, merge, base_branch } = settingsOf(config, name) as WholeRepo;
		return [
			name,
			{ max, prefix, ...given({ max_open }), merge: path === null && url === null ? ("none" as const) : merge, base: base_branch },
		] as const;
	});
	return { ...engine, repos: Object.fromEntries(repos) };
}

/** Calls `changed` when a trusted sluice.yml may have changed. Call `arm` again whenever the configuration changes. */
export function followRepoFiles({ watchPaths, changed }: { watchPaths: WatchPaths; changed: () => void }) {
	let [armed, close] = ["", () => {}];
	return {
		arm(config: InForce): void {
			const all = Object.values(config.settings().repos);
			const paths = all.flatMap(({ path, trusted }) => (path === null || trusted === false ? [] : [join(path, REPO_FILE)]));
			if (paths.join("\0") === armed) return;
			armed = paths.join("\0");
			close();
			close = paths.length === 0 ? () => {} : watchPaths(paths, changed);
		},
		close: () => close(),
	};
}

export function createRepos(parts: RepoParts): RepoHandle {
	const { config, git, scheduler } = parts;
	const names = () => Object.keys(config.engine().repos);

	function known(name: string): WholeRepo {
		const found = settingsOf(config, name);
		if (found) return found;
		throw new SluiceError("not_found", `there is no repo ${JSON.stringify(name)}`, {
			field: "name",
			hint: suggest(name, names(), "sluice repo add registers one"),
		});
	}

	const view = createRepoView(parts, known);

	/** Checks the URL now, so that a mistake is found before the first job. Does not clone: the host that gets the first job does that. */
	async function addByUrl({ url, name, ...more }: NewRepo & { url: string }, by: string): Promise<RepoDocument> {
		checkUrl(url);
		const wanted = check.label(name ?? nameOfUrl(url), "name");
		const before = names().includes(wanted) ? known(wanted) : null;
		if (before && before.url !== url && (before.path !== null || before.url !== null))
			throw new SluiceError("conflict", `repo ${wanted} is registered already, at ${before.path ?? withoutCredentials(before.url ?? "")}`, {
				field: "name",
				hint: `give it another name, or ${before.url === null ? `take that one out first: sluice repo remove ${wanted}` : `change its address: sluice config set repos.${wanted}.url URL`}`,
			});
		await checkRemote(git, url, more.base_branch);
		const base = more.base_branch ?? before?.base_branch ?? (await baseOfRemote(git, url));
		return write(wanted, { url, ...more, base_branch: base ?? undefined }, by);
	}

	async function write(name: string, { base_branch, ...fields }: Partial<NewRepo>, by: string): Promise<RepoDocument> {
		// The base is written first: when a folder without a base appears in the configuration, the daemon gives it the branch that is checked out.
		const all = { base_branch: base_branch === undefined ? undefined : branchText(base_branch), ...fields };
		for (const [key, value] of Object.entries(all)) if (value !== undefined) await config.set(`repos.${name}.${key}`, value, by);
		return view(name);
	}

	return {
		list: () => Promise.all(names().map(view)),
		show: view,
		async add({ path, url, name, ...more }: NewRepo, by) {
			if ((path === undefined) === (url === undefined))
				throw new SluiceError("invalid", "a repo has a path or a url, one of them", { field: path === undefined ? "path" : "url" });
			if (url !== undefined) return addByUrl({ url, name, ...more }, by);
			const root = await rootOf(git, path ?? "");
			const wanted = name ?? basename(root);
			const before = names().includes(wanted) ? known(wanted) : null;
			if (before && before.path !== null && before.path !== root)
				throw new SluiceError("conflict", `repo ${wanted} is registered already, at ${before.path}`, {
					field: "name",
					hint: "give it another name",
				});
			if (more.base_branch !== undefined) {
				localRef(more.base_branch);
				if ((await headOf(git, root, more.base_branch)) === null)
					throw new SluiceError("not_found", `${root} has no branch ${JSON.stringify(more.base_branch)}`, { field: "base_branch" });
			}
			const base = more.base_branch ?? before?.base_branch ?? (await baseOfFolder(git, root));
			return write(wanted, { path: root, ...more, base_branch: base }, by);
		},
		async trust(name, trusted, by, shown) {
			known(name);
			await config.set(`repos.${name}.trusted`, trusted ? trustNow(name, writtenOf(config, name) as WholeRepo, shown) : false, by);
			return view(name);
		},
		mustHaveBranch: branchCheck(git, (name) => settingsOf(config, name)?.path ?? null),
		async remove(name, by) {
			known(name);
			const jobs = await scheduler.list({ repo: name, limit: 5 });
			if (jobs.length > 0)
				throw new SluiceError("conflict", `jobs of repo ${name} have not ended: ${jobs.map(({ id }) => id).join(", ")}`, {
					field: "name",
					hint: "wait for them, or cancel them",
				});
			await config.unset(`repos.${name}`, by);
		},
	};
}

function checkUrl(url: string): void {
	const fault = urlFault(url);
	const hint = 'for example "git@example.org:team/app.git", or a whole path';
	if (fault !== undefined) throw check.wrong("url", `${JSON.stringify(withoutCredentials(url))} ${fault}`, hint);
}

/** Checks that the remote can be read, and that it has this branch. */
async function checkRemote(git: Git, url: string, branch: string | undefined): Promise<void> {
	const shown = withoutCredentials(url);
	const wants = branch === undefined ? [] : [localRef(branch)];
	const seen = await git.run("/", ["ls-remote", "--exit-code", "--", url, ...wants], { timeoutMs: LOOK_MS }).catch((error: Error) => error);
	if (seen instanceof Error || (seen.code !== 0 && seen.code !== 2)) {
		const said =
			seen instanceof Error ? seen.message : (seen.stderr.split("\n").find((line) => /^(?:fatal|error): /.test(line)) ?? seen.stderr);
		const why = said.replace(/^(?:fatal|error): /, "").trim();
		throw new SluiceError("invalid", `${shown} cannot be read: ${withoutCredentials(why.slice(0, 500))}`, {
			field: "url",
			hint: "git ls-remote, as the daemon's user, says more",
		});
	}
	if (seen.code === 2 && wants.length > 0)
		throw new SluiceError("not_found", `${shown} has no branch ${JSON.stringify(branch)}`, { field: "base_branch" });
}

/** `known`: the settings of a repo; throws if there is none of this name. */
function createRepoView(
	{ config, git, scheduler, clone, worktrees }: RepoParts,
	known: (name: string) => WholeRepo,
): (name: string) => Promise<RepoDocument> {
	const turns = limited(MAX_LOOKS_AT_ONCE);
	const lookAt = shared((key) => {
		const [path, base_branch] = JSON.parse(key) as [string, string | null];
		return turns(() => lookAtRepo(git, path, base_branch));
	});
	return async (name) => {
		const { trusted: _trusted, ...settings } = known(name);
		const written = writtenOf(config, name) as WholeRepo;
		const { file } = withRepoFile(written);
		const nothing = { problem: null, head: null, base: settings.base_branch, busy: null };
		const place = settings.path ?? (settings.url === null ? null : clone(name));
		const look =
			place === null
				? { ...nothing, problem: "it has no folder", base: null }
				: settings.url !== null && !existsSync(place)
					? nothing
					: await lookAt(JSON.stringify([place, settings.base_branch]));
		const { hosts } = await scheduler.status();
		return {
			name,
			...settings,
			url: settings.url === null ? null : withoutCredentials(settings.url),
			hosts: hosts.filter(({ repos }) => repos === null || repos.includes(name)).map((host) => host.name),
			file: file.state,
			file_problem: file.state === "bad" ? file.problem : null,
			...trustView(name, written),
			...look,
			worktrees: worktrees(name),
		};
	};
}

async function lookAtRepo(git: Git, path: string, base_branch: string | null) {
	try {
		const branch = await currentBranch(git, path);
		const base = base_branch ?? branch;
		const head = base === null ? null : await headOf(git, path, base);
		const busy = await busyWith(git, path);
		const problem = base === null ? "HEAD is detached, and no base_branch is set" : head === null ? `there is no branch ${base}` : null;
		return { problem, head, base, busy };
	} catch (error) {
		return { problem: messageOf(error), head: null, base: null, busy: null };
	}
}

/** The top of the checkout, or the bare repository itself. */
async function rootOf(git: Git, path: string): Promise<string> {
	const wrong = (why: string) =>
		new SluiceError("invalid", `${path.length > 500 ? check.shown(path) : path} is not a git repository: ${why}`, {
			field: "path",
			hint: "git init makes one",
		});
	if (!path.startsWith("/")) throw new SluiceError("invalid", `path: ${check.shown(path)} is not an absolute path`, { field: "path" });
	try {
		const { code, stdout } = await git.run(path, ["rev-parse", "--show-toplevel"]);
		const top = code === 0 ? stdout.trim() : await git.ask(path, ["rev-parse", "--absolute-git-dir"]);
		return realpathSync(top);
	} catch (error) {
		throw wrong(messageOf(error));
	}
}
