// Clones of repos that are registered by URL: made when a job first needs one, fetched before each worktree and each merge, repaired after a crash.
//
//   repos/<name>            bare; has origin's branches and the branches that jobs of this host work on
//   repos/<name>.making     a clone being made; after a crash it is discarded
//
//   the branch at origin    the local branch                                       after a fetch
//   new                     does not exist                                         is created, unless it is a job's: its host has it
//   moved                   where origin's was, or it is the base                  follows origin, even when origin's was rewritten
//   moved                   behind origin's                                        follows origin
//   moved                   has commits of its own, or is checked out              stays
//   deleted                 where origin's was                                     is deleted

import { currentBranch, type Git, GitError, isAncestor, isCommit, localRef, shared } from "../contracts/git.ts";
import { messageOf } from "../core/errors.ts";
import { withoutCredentials } from "../core/text/repo-url.ts";
import { isInside } from "../core/trust/path.ts";
import { dropIfOld } from "./base.ts";
import type { Repo, WorkspaceDeps } from "./context.ts";

export type Clones = ReturnType<typeof createClones>;

/** Enough for a big repository over a slow connection. */
const FETCH_MS = 30 * 60_000;
const ASK_MS = 60_000;
const OURS = "sluice/";

type Tools = Pick<WorkspaceDeps, "git" | "disk" | "clock" | "log" | "step">;

export function createClones(tools: Tools) {
	/** The repo that was asked for last, by the path of its clone. */
	const asked = new Map<string, Repo>();
	/** One fetch at a time for each clone. Calls that arrive during a fetch share the next one, because the current one may be too old for them. */
	const bringOnce = shared((path) => bring(tools, asked.get(path) as Repo));

	/**
	 * Makes or fetches the clone, so that reads afterwards see origin as it was at this call or later. Does nothing for a repo with a path of its own.
	 * Rejects with a GitError when origin refuses or cannot be reached.
	 */
	function freshen(repo: Repo): Promise<void> {
		if (repo.url === null) return Promise.resolve();
		asked.set(repo.path, repo);
		return bringOnce(repo.path);
	}

	return { freshen };
}

async function bring(tools: Tools, repo: Repo): Promise<void> {
	const { git, disk } = tools;
	try {
		if (disk.changedAt(repo.path) === null) await make(tools, repo);
		else {
			const { stdout } = await git.run(repo.path, ["config", "--get", "remote.origin.url"]);
			if (stdout.replace(/\n$/, "") !== repo.url) await pointTo(git, repo.path, repo);
			await update(tools, repo, repo.path);
		}
	} catch (error) {
		const what = withoutCredentials(messageOf(error));
		throw new GitError(`repo ${repo.name} cannot be fetched from ${withoutCredentials(repo.url ?? "")}: ${what}`, null, "");
	}
}

/** Makes the clone under another name and moves it into place when it is complete, so a clone found in place is always complete. */
async function make(tools: Tools, repo: Repo): Promise<void> {
	const { git, disk, log } = tools;
	const making = `${repo.path}.making`;
	if (disk.changedAt(making) !== null) log.warn("a clone was left half made; it is made anew", { repo: repo.name });
	disk.remove(making);
	disk.makeFolder(making);
	await git.ask(making, ["init", "--quiet", "--bare", "--initial-branch=main"]);
	await pointTo(git, making, repo);
	tools.step?.("clone-begun", 0);
	await update(tools, repo, making);
	const said = await git.ask(making, ["ls-remote", "--symref", "origin", "HEAD"], { timeoutMs: ASK_MS });
	const head = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(said)?.[1];
	if (head !== undefined) await git.ask(making, ["symbolic-ref", "HEAD", localRef(head)]);
	tools.step?.("clone-fetched", 0);
	disk.move(making, repo.path);
	log.info("a repo was cloned", { repo: repo.name });
}

async function pointTo(git: Git, path: string, repo: Repo): Promise<void> {
	await git.ask(path, ["config", "--replace-all", "remote.origin.url", repo.url ?? ""]);
	await git.ask(path, ["config", "--replace-all", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
}

async function update(tools: Tools, repo: Repo, path: string): Promise<void> {
	const before = (await branches(tools.git, path)).origin;
	await fetchOrigin(tools, path);
	const now = await branches(tools.git, path);
	const base = repo.base_branch ?? (await currentBranch(tools.git, path));
	const { orders, apart } = follow({ before, ...now }, { base, own: path });
	for (const { name, from, to } of apart)
		if (await isAncestor(tools.git, path, from, to)) orders.push(`update refs/heads/${name} ${to} ${from}`);
	if (orders.length > 0) await tools.git.ask(path, ["update-ref", "--stdin"], { input: `${orders.join("\n")}\n` });
}

async function fetchOrigin(tools: Tools, path: string): Promise<void> {
	const { git } = tools;
	const args = ["fetch", "--quiet", "--prune", "--no-write-fetch-head", "origin"];
	const first = await git.run(path, args, { timeoutMs: FETCH_MS });
	if (first.code === 0) return;
	// A killed fetch leaves ref locks behind.
	if (!dropOldLocks(tools, path, first.stderr)) throw failed(first);
	const second = await git.run(path, args, { timeoutMs: FETCH_MS });
	if (second.code !== 0) throw failed(second);
}

const failed = ({ code, stderr }: { code: number; stderr: string }) => {
	const line = stderr.split("\n").find((one) => /^(?:fatal|error): /.test(one)) ?? stderr.trim().split("\n")[0] ?? "";
	return new GitError(line.replace(/^(?:fatal|error): /, "").slice(0, 500) || `git fetch: exit code ${code}`, code, stderr);
};

/** Whether one of the locks that git complains of was old, and is removed. */
function dropOldLocks(tools: Tools, path: string, stderr: string): boolean {
	const named = [...stderr.matchAll(/Unable to create '([^'\n]+\.lock)'/g)].map((match) => match[1] as string);
	return named.filter((lock) => isInside({ path: lock, folder: path }) && dropIfOld(tools, lock)).length > 0;
}

type Branch = { commit: string; worktree: string };
export type Branches = { before: Map<string, string>; origin: Map<string, string>; here: Map<string, Branch> };

async function branches(git: Git, path: string): Promise<Omit<Branches, "before">> {
	const format = "--format=%(refname) %(objectname) %(worktreepath)";
	return branchesIn(await git.ask(path, ["for-each-ref", format, "refs/heads/", "refs/remotes/origin/"]));
}

/** Of lines with a ref, a commit and perhaps the worktree that has it. */
export function branchesIn(listed: string): Omit<Branches, "before"> {
	const found: Omit<Branches, "before"> = { origin: new Map(), here: new Map() };
	for (const line of listed.split("\n")) {
		const [ref = "", commit = "", ...rest] = line.split(" ");
		if (!isCommit(commit)) continue;
		if (ref.startsWith("refs/heads/")) found.here.set(ref.slice("refs/heads/".length), { commit, worktree: rest.join(" ") });
		else if (ref !== "refs/remotes/origin/HEAD") found.origin.set(ref.slice("refs/remotes/origin/".length), commit);
	}
	return found;
}

export type Following = { orders: string[]; apart: { name: string; from: string; to: string }[] };

/**
 * Commands for `git update-ref --stdin`, following the table above. `apart`: branches that follow only if they are behind origin's. `own`: the clone's path;
 * a branch that only its own HEAD names is not checked out by a job.
 */
export function follow({ before, origin, here }: Branches, { base, own }: { base: string | null; own: string }): Following {
	const [orders, apart]: [string[], Following["apart"]] = [[], []];
	const isFree = ({ worktree }: Branch) => worktree === "" || worktree === own;
	for (const [name, tip] of origin) {
		const mine = here.get(name);
		if (!mine) {
			if (!name.startsWith(OURS)) orders.push(`create refs/heads/${name} ${tip}`);
		} else if (mine.commit !== tip && isFree(mine)) {
			if (name === base || mine.commit === before.get(name)) orders.push(`update refs/heads/${name} ${tip} ${mine.commit}`);
			else apart.push({ name, from: mine.commit, to: tip });
		}
	}
	for (const [name, old] of before) {
		const mine = here.get(name);
		if (mine && !origin.has(name) && mine.commit === old && isFree(mine) && !name.startsWith(OURS))
			orders.push(`delete refs/heads/${name} ${old}`);
	}
	return { orders, apart };
}
