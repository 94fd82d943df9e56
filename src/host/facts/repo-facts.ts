// Facts of a repository: heads, artifacts, conditions, and whether a git operation is under way. One read of its refs serves all keys of a probe.

import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, posix, resolve } from "node:path";
import { currentBranch, type Git, GitError, isCommit } from "../../contracts/git.ts";
import type { FactValue } from "../../contracts/host.ts";
import { messageOf } from "../../core/errors.ts";
import { artifactFault, branchFault } from "../../core/fact.ts";
import { isInside } from "../../core/trust/path.ts";

export type FactRepo = {
	path: string;
	base_branch: string | null;
	/** Worktrees of jobs that declare this artifact and do not merge: their files exist only there. */
	makers?: (artifact: string) => readonly string[];
};

export type RepoLook = ReturnType<typeof lookAtRepo>;

/** Cached between probes: how two commits relate never changes. */
export type Lasting = Map<string, boolean>;
const MOST_KEPT = 10_000;

/** Files in a checkout's git folder that exist while an operation is under way. */
const UNDER_WAY: readonly (readonly [file: string, what: string])[] = [
	["rebase-merge", "rebase"],
	["rebase-apply", "rebase"],
	["CHERRY_PICK_HEAD", "cherry-pick"],
	["REVERT_HEAD", "revert"],
	["MERGE_HEAD", "merge"],
	["BISECT_LOG", "bisect"],
];

async function cached(lasting: Lasting, key: string, look: () => Promise<boolean>): Promise<boolean> {
	const known = lasting.get(key);
	if (known !== undefined) return known;
	const seen = await look();
	if (lasting.size >= MOST_KEPT) lasting.clear();
	lasting.set(key, seen);
	return seen;
}

/** One probe of one repository. Repeated questions are answered from the first read. */
export function lookAtRepo(git: Git, repo: FactRepo, lasting: Lasting) {
	let heads: Promise<Map<string, string>> | undefined;
	const allHeads = () => {
		heads ??= readHeads(git, repo.path);
		return heads;
	};
	const head = async (branch: string): Promise<string | null> => {
		const fault = branchFault(branch);
		if (fault !== undefined) throw new GitError(fault, null, "");
		return (await allHeads()).get(branch) ?? null;
	};
	const kept = (key: string, look: () => Promise<boolean>) => cached(lasting, key, look);

	/** The commit that new worktrees start from. */
	async function baseTip(): Promise<string> {
		const base = repo.base_branch ?? (await currentBranch(git, repo.path));
		if (base === null) throw new GitError("HEAD is detached and the repo has no base_branch", null, "");
		const tip = await head(base);
		if (tip === null) throw new GitError(`its base branch ${base} does not exist`, null, "");
		return tip;
	}

	async function isAhead(branch: string): Promise<boolean> {
		const tip = await head(branch);
		if (tip === null) return false;
		const from = await baseTip();
		return kept(`ahead ${from} ${tip}`, async () => {
			const count = await git.ask(repo.path, ["rev-list", "--count", "--max-count=1", `${from}..${tip}`, "--"]);
			return count.trim() !== "0";
		});
	}

	const typeOf = async (tip: string, path: string): Promise<string> =>
		(await git.ask(repo.path, ["cat-file", "--batch-check=%(objecttype)"], { input: `${tip}:${path}\n` })).trim();

	async function hasDoc(branch: string, path: string): Promise<boolean> {
		const tip = await head(branch);
		if (tip === null) return false;
		return kept(`doc ${tip} ${path}`, async () => (await typeOf(tip, path)) === "blob");
	}

	/** Whether a new worktree of this repo would contain the file, or a job that does not merge has left it in its own worktree. See docs/decisions/0030. */
	async function hasWork(artifact: string, path: string): Promise<boolean> {
		const inside = posix.normalize(path).replace(/\/$/, "");
		if (inside === ".." || inside.startsWith("../")) throw new GitError(`${path} leads out of ${repo.path}`, null, "");
		if (repo.makers?.(artifact).some((worktree) => hasFile(worktree, path))) return true;
		const tip = await baseTip();
		return kept(`file ${tip} ${inside}`, async () => ["blob", "tree"].includes(await typeOf(tip, inside)));
	}

	return {
		head,
		async artifact(artifact: string): Promise<boolean> {
			const fault = artifactFault(artifact);
			if (fault !== undefined) throw new GitError(fault, null, "");
			const colon = artifact.indexOf(":");
			const value = artifact.slice(colon + 1);
			switch (artifact.slice(0, colon)) {
				case "file":
					return isAbsolute(value) ? hasFile("/", value) : hasWork(artifact, value);
				case "branch":
				case "commits":
					return (await head(value)) !== null;
				case "ahead":
					return isAhead(value);
				case "doc":
					return hasDoc(value.slice(0, value.indexOf(":")), value.slice(value.indexOf(":") + 1));
				default:
					throw new GitError(`no repository tells of ${artifact}`, null, "");
			}
		},
		async isClean(): Promise<boolean> {
			const changes = await git.ask(repo.path, ["status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none"]);
			return changes === "";
		},
		busy: () => busyWith(git, repo.path),
	};
}

/** The git operation that is under way in a checkout, or null. */
export async function busyWith(git: Git, folder: string): Promise<string | null> {
	const own = await git.ask(folder, ["rev-parse", "--absolute-git-dir"]);
	return UNDER_WAY.find(([file]) => existsSync(join(own, file)))?.[1] ?? null;
}

const readHeads = async (git: Git, folder: string): Promise<Map<string, string>> =>
	headsIn(await git.ask(folder, ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/"]));

/** Branch to commit, of lines with a commit and a ref. */
export function headsIn(all: string): Map<string, string> {
	const heads = new Map<string, string>();
	for (const line of all.split("\n")) {
		const space = line.indexOf(" ");
		const commit = line.slice(0, space);
		if (isCommit(commit)) heads.set(line.slice(space + 1 + "refs/heads/".length), commit);
	}
	return heads;
}

/** A relative path must stay inside the repo, even through symbolic links; an absolute path is used as it is. */
export function hasFile(root: string, path: string): boolean {
	const full = resolve(root, path);
	if (!isAbsolute(path)) {
		if (!isInside({ path: full, folder: root })) throw new GitError(`${path} leads out of ${root}`, null, "");
		if (lstatSync(full, { throwIfNoEntry: false }) === undefined) return false;
		if (!existsSync(full)) return false;
		if (!isInside({ path: realpathSync(full), folder: realpathSync(root) }))
			throw new GitError(`${path} is a link that leads out of ${root}`, null, "");
	}
	return statSync(full, { throwIfNoEntry: false }) !== undefined;
}

export type Found = FactValue | { error: string };
export const troubled = (error: unknown): { error: string } => ({ error: messageOf(error) });
