// Clones of repos that are registered by URL: made when a job first needs one, brought up to date before each worktree and each merge, mended after a crash.
//
//   repos/<name>            bare; its branches are those of origin, and those that jobs of this host work on
//   repos/<name>.making     one that is being made; what a crash leaves of it is thrown away
//
//   a branch             here                                       after a fetch
//   new at origin        not there                                  is made (those of jobs are not: their hosts have them)
//   moved at origin      where origin's was, or it is the base      follows, also when origin's was rewritten
//   moved at origin      behind it                                  follows
//   moved at origin      has commits of its own, or is worked on    stays
//   gone at origin       where origin's was                         goes

import { withoutCredentials } from "../core/repo-url.ts";
import { troubleOf } from "../disk.ts";
import { currentBranch, type Git, GitError, isAncestor, isCommit, localRef } from "../git.ts";
import type { Parts, Repo } from "./parts.ts";

export type Clones = {
	/**
	 * The clone is there and has what origin has: what is looked at afterwards is not older than this call. Nothing happens for a repo with a folder of
	 * its own. Rejects with a GitError when origin cannot be reached, or refuses.
	 */
	freshen(repo: Repo): Promise<void>;
};

/** Of a big repository, over a slow line. */
const FETCH_MS = 30 * 60_000;
const ASK_MS = 60_000;
/** Longer than any git holds a lock of one ref. */
const LOCK_MS = 10_000;
const OURS = "sluice/";

type Tools = Pick<Parts, "git" | "disk" | "clock" | "log" | "step">;

export function createClones(tools: Tools): Clones {
	/** One fetch a repo at a time. Who asks while one is under way waits for the next, which serves all of them. */
	const under = new Map<string, { now: Promise<void>; next: Promise<void> | null }>();

	function freshen(repo: Repo): Promise<void> {
		if (repo.url === null) return Promise.resolve();
		const running = under.get(repo.path);
		if (!running) {
			const entry: { now: Promise<void>; next: Promise<void> | null } = { now: bring(tools, repo), next: null };
			under.set(repo.path, entry);
			const over = () => {
				if (entry.next === null) under.delete(repo.path);
			};
			entry.now.then(over, over);
			return entry.now;
		}
		running.next ??= running.now
			.catch(() => {})
			.then(() => {
				under.delete(repo.path);
				return freshen(repo);
			});
		return running.next;
	}

	return { freshen };
}

async function bring(tools: Tools, repo: Repo): Promise<void> {
	const { git, disk } = tools;
	try {
		if (disk.changedAt(repo.path) === null) await make(tools, repo);
		else {
			const { stdout } = await git.tell(repo.path, ["config", "--get", "remote.origin.url"]);
			if (stdout.replace(/\n$/, "") !== repo.url) await pointTo(git, repo.path, repo);
			await update(tools, repo, repo.path);
		}
	} catch (error) {
		const what = error instanceof GitError ? error.message : troubleOf(error);
		throw new GitError(
			`repo ${repo.name} cannot be fetched from ${withoutCredentials(repo.url ?? "")}: ${withoutCredentials(what)}`,
			null,
			"",
		);
	}
}

/** Made beside its place, and moved there when it is whole: a clone that is there is a whole one. */
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
	const first = await git.tell(path, args, { timeoutMs: FETCH_MS });
	if (first.code === 0) return;
	// A fetch that was killed leaves locks of refs. Nobody else holds one for this long.
	if (dropOldLocks(tools, path, first.stderr) === 0) throw failed(first);
	const second = await git.tell(path, args, { timeoutMs: FETCH_MS });
	if (second.code !== 0) throw failed(second);
}

const failed = ({ code, stderr }: { code: number; stderr: string }) => {
	const line = stderr.split("\n").find((one) => /^(?:fatal|error): /.test(one)) ?? stderr.trim().split("\n")[0] ?? "";
	return new GitError(line.replace(/^(?:fatal|error): /, "").slice(0, 500) || `git fetch: exit code ${code}`, code, stderr);
};

function dropOldLocks({ disk, clock, log }: Tools, path: string, stderr: string): number {
	const named = [...stderr.matchAll(/Unable to create '([^'\n]+\.lock)'/g)].map((match) => match[1] as string);
	const old = named.filter((lock) => {
		const since = disk.changedAt(lock);
		return lock.startsWith(`${path}/`) && !lock.includes("/../") && since !== null && clock.now() - since > LOCK_MS;
	});
	for (const lock of old) {
		log.warn("a lock that a killed git has left is removed", { lock });
		disk.remove(lock);
	}
	return old.length;
}

type Branch = { commit: string; worktree: string };
export type Branches = { before: Map<string, string>; origin: Map<string, string>; here: Map<string, Branch> };

async function branches(git: Git, path: string): Promise<Omit<Branches, "before">> {
	const format = "--format=%(refname) %(objectname) %(worktreepath)";
	const listed = await git.ask(path, ["for-each-ref", format, "refs/heads/", "refs/remotes/origin/"]);
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
 * What `git update-ref --stdin` is told, after the table above; `apart`: those that follow only if they are behind. `own`: the clone itself, whose HEAD names
 * a branch that nobody works on.
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
