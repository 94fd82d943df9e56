// One merge: a job's branch onto its base, in a worktree where nobody's work is. The base moves last, in one step, and only forwards.
//
//   1. the base is checked out somewhere and dirty, or in the middle of something   → base_dirty, it waits
//   2. the branch is rebased on the base (one that has merges is merged)             → conflict, with the files
//   3. the repo's verify command, on the result                                     → verify_failed
//   4. noted: from, to; then the base is moved where it is checked out, else its ref;
//      of a repo by URL at origin, and only if it is still there where it was seen      → moved meanwhile: from 1 again
//
// A crash before 4 leaves nothing that counts. After it, the note tells whether the base has moved.

import { createHash } from "node:crypto";
import { withoutCredentials } from "../core/repo-url.ts";
import { troubleOf } from "../disk.ts";
import { GitError, headOf, isAncestor, localRef } from "../git.ts";
import { faultOf } from "../program.ts";
import { baseBusy, dropOldLock, moveCheckout, repairCheckout, untrackedIn } from "./base.ts";
import { variablesOf } from "./hooks.ts";
import { includeFiles } from "./include.ts";
import { workMark } from "./orphans.ts";
import type { Repo, Yard } from "./parts.ts";
import { repoFolder, type WorktreeRecord, writeRecord } from "./record.ts";
import { identityArgs } from "./removal.ts";

export type MergeResult =
	| { status: "merged"; commit: string; nothing?: true; message?: string }
	| { status: "conflict" | "verify_failed"; files: string[]; message: string }
	| { status: "base_dirty"; message: string; path?: string; files?: string[] }
	| { status: "kept" | "requested"; message: string };

const ROUNDS = 5;
const MOST_FILES = 1000;
/** So many files are named in a sentence; the report has them all. */
const NAMED_FILES = 10;
const SLOW_MS = 30 * 60_000;

/** `dir`: where its logs go. `wanted`: asked last before the base moves, since `verify` may take long. */
type Wish = { dir: string; wanted: () => Promise<boolean> };

/** Rejects when it could not be tried: that says nothing about the branch, and it is tried again. Null when it is not wanted any more. */
export async function mergeDirect(yard: Yard, repo: Repo, record: WorktreeRecord, { dir, wanted }: Wish): Promise<MergeResult | null> {
	const { git } = yard;
	for (let round = 1; round <= ROUNDS; round++) {
		await yard.freshen(repo);
		await settleMove(yard, repo, record);
		const tip = await headOf(git, repo.path, record.branch);
		const base = await headOf(git, repo.path, record.base_branch);
		if (base === null) throw new GitError(`repo ${repo.name} has no branch ${JSON.stringify(record.base_branch)} to merge into`, null, "");
		// Where the branch has gone on since, that is still to be merged.
		const known = record.merged && (tip === null || tip === record.merged.tip) ? record.merged : undefined;
		if (known && (await isAncestor(git, repo.path, known.commit, base))) return { status: "merged", commit: known.commit };
		if (tip === null) throw new GitError(`branch ${record.branch} is gone`, null, "");
		if (await isAncestor(git, repo.path, tip, base)) {
			record.merged = { tip, commit: base };
			writeRecord(yard, record);
			return { status: "merged", commit: base, ...(tip === record.base_commit ? { nothing: true as const } : {}) };
		}
		const busy = await baseBusy(git, repo.path, record.base_branch);
		if (busy.why !== null) return dirty(busy.why, busy.path);
		yard.step?.("merge-begun", record.job);
		const place = await mergePlace(yard, repo, record, base);
		const joined = await join(yard, place, base, tip);
		if ("files" in joined) return { status: "conflict", ...joined };
		yard.step?.("merge-rebased", record.job);
		const red = await verify(yard, repo, record, place, dir, { base, commit: joined.commit });
		if (red !== null) return red;
		yard.step?.("merge-verified", record.job);
		if (!(await wanted())) return null;
		record.moving = { from: base, to: joined.commit, tip };
		writeRecord(yard, record);
		yard.step?.("merge-moving", record.job);
		const moved = await (repo.url === null ? move : push)(yard, repo, record, joined.commit, base);
		if (moved !== null) {
			// git refused as a whole: nothing is half done, and the note must not say so.
			delete record.moving;
			writeRecord(yard, record);
			if (moved === "again") continue;
			return dirty(moved.why, busy.path, moved.files);
		}
		yard.step?.("merge-moved", record.job);
		await settleMove(yard, repo, record);
		return { status: "merged", commit: joined.commit };
	}
	throw new GitError(`${record.base_branch} moved ${ROUNDS} times while ${record.branch} was being merged`, null, "");
}

const dirty = (message: string, path: string | null, files: readonly string[] = []): MergeResult => ({
	status: "base_dirty",
	message,
	...(path === null ? {} : { path }),
	...(files.length === 0 ? {} : { files: files.slice(0, MOST_FILES) }),
});

/** What became of a move that was noted. */
async function settleMove(yard: Yard, repo: Repo, record: WorktreeRecord): Promise<void> {
	const { moving } = record;
	if (!moving) return;
	const base = await headOf(yard.git, repo.path, record.base_branch);
	if (base !== null && (await isAncestor(yard.git, repo.path, moving.to, base))) record.merged = { tip: moving.tip, commit: moving.to };
	else if (base === moving.from) {
		await dropOldLock(yard, repo.path, `${localRef(record.base_branch)}.lock`);
		await repairCheckout(yard, repo.path, record.base_branch, moving);
	}
	delete record.moving;
	writeRecord(yard, record);
}

/** The detached worktree of this repo and base, at the base, with nothing of earlier merges in it. */
async function mergePlace(yard: Yard, repo: Repo, record: WorktreeRecord, base: string): Promise<string> {
	const { git, disk } = yard;
	const name = createHash("sha256").update(record.base_branch).digest("hex").slice(0, 12);
	const path = `${repoFolder(yard, repo.name)}/merge-${name}`;
	const own = disk.size(`${path}/.git`) === null ? null : await git.tell(path, ["rev-parse", "--absolute-git-dir"]);
	if (own?.code === 0) {
		disk.remove(`${own.stdout.trim()}/index.lock`);
		for (const what of ["rebase", "merge", "cherry-pick"]) await git.tell(path, [what, "--abort"]);
		const reset = await git.tell(path, ["checkout", "--quiet", "--force", "--detach", base], { timeoutMs: SLOW_MS });
		if (reset.code === 0) {
			await git.ask(path, ["clean", "-ffdq"], { timeoutMs: SLOW_MS });
			return path;
		}
	}
	await yard.line(repo.path, async () => {
		await git.tell(repo.path, ["worktree", "unlock", "--", path]);
		disk.remove(path);
		await git.tell(repo.path, ["worktree", "remove", "--", path]);
		disk.makeFolder(repoFolder(yard, repo.name));
		await git.ask(repo.path, ["worktree", "add", "--quiet", "--detach", "--", path, base], { timeoutMs: SLOW_MS });
	});
	await includeFiles(yard, repo, path);
	return path;
}

/** The commit that has both, or the files that contradict each other. */
async function join(
	yard: Yard,
	place: string,
	base: string,
	tip: string,
): Promise<{ commit: string } | { files: string[]; message: string }> {
	const { git } = yard;
	const who = await identityArgs(yard, place);
	const merges = await git.ask(place, ["rev-list", "--count", "--merges", "--max-count=1", `${base}..${tip}`, "--"]);
	const contained = await isAncestor(git, place, base, tip);
	if (contained) {
		await git.ask(place, ["checkout", "--quiet", "--detach", tip], { timeoutMs: SLOW_MS });
		return { commit: tip };
	}
	const isMerge = merges.trim() !== "0";
	if (!isMerge) await git.ask(place, ["checkout", "--quiet", "--detach", tip], { timeoutMs: SLOW_MS });
	const how = isMerge ? ["merge", "--quiet", "--no-ff", "--no-edit", "--no-verify", tip] : ["rebase", "--quiet", base];
	const { code, stdout, stderr } = await git.tell(place, [...who, ...how], { timeoutMs: SLOW_MS });
	if (code === 0) return { commit: await git.ask(place, ["rev-parse", "--verify", "HEAD^{commit}"]) };
	const unmerged = await git.ask(place, ["diff", "--name-only", "--diff-filter=U", "-z"]);
	const files = [...new Set(unmerged.split("\0").filter((path) => path !== ""))].slice(0, MOST_FILES);
	await git.tell(place, [isMerge ? "merge" : "rebase", "--abort"]);
	if (files.length === 0)
		throw new GitError(`git ${how[0]}: ${(stderr || stdout).trim().split("\n")[0] ?? `exit code ${code}`}`, code, stderr);
	return { files, message: `${someOf(files)} changed on both sides` };
}

async function verify(
	yard: Yard,
	repo: Repo,
	record: WorktreeRecord,
	place: string,
	dir: string,
	{ base, commit }: { base: string; commit: string },
): Promise<MergeResult | null> {
	if (repo.verify.length === 0) return null;
	const end = await yard.run(repo.verify, {
		cwd: place,
		env: {
			...yard.env(),
			...variablesOf(yard, record),
			SLUICE_WORKTREE: place,
			SLUICE_COMMIT: commit,
			SLUICE_MARK: workMark(yard.homeTag),
		},
		timeoutMs: repo.verify_timeout_ms,
		keep: 10_000,
		...(yard.disk.changedAt(dir) === null ? {} : { log: `${dir}/verify.log` }),
	});
	const fault = faultOf(end);
	if (fault === null) return null;
	const changed = await yard.git.ask(place, ["diff", "--name-only", "-z", base, commit, "--"]);
	const files = changed.split("\0").filter((path) => path !== "");
	return { status: "verify_failed", files: files.slice(0, MOST_FILES), message: `verify failed: ${fault}` };
}

/**
 * The base at origin, from where it was seen to where it shall be, or not at all. What became of a push that broke off is seen by looking: `null` and
 * "again" as below; rejects when origin refuses, or cannot be reached.
 */
async function push(yard: Yard, repo: Repo, record: WorktreeRecord, to: string, from: string): Promise<"again" | null> {
	const ref = localRef(record.base_branch);
	const args = ["push", "--quiet", "--no-verify", `--force-with-lease=${ref}:${from}`, "origin", `${to}:${ref}`];
	const { code, stderr } = await yard.git.tell(repo.path, args, { timeoutMs: SLOW_MS });
	yard.step?.("merge-pushed", record.job);
	await yard.freshen(repo);
	const now = await headOf(yard.git, repo.path, record.base_branch);
	if (now !== null && (await isAncestor(yard.git, repo.path, to, now))) return null;
	if (code === 0 || now !== from) return "again";
	const said = stderr.split("\n").find((line) => /^(?:fatal|error| ! |remote: \S)/.test(line)) ?? stderr.trim();
	throw new GitError(withoutCredentials(`git push: ${said.trim().slice(0, 500)}`), code, "");
}

const someOf = (files: readonly string[]) => `${files.slice(0, NAMED_FILES).join(", ")}${files.length > NAMED_FILES ? " …" : ""}`;

type InTheWay = { why: string; files?: string[] };

/** null: done; "again": the base was moved by another program; else why it cannot be moved now. */
async function move(yard: Yard, repo: Repo, record: WorktreeRecord, to: string, from: string): Promise<"again" | InTheWay | null> {
	const { git } = yard;
	const { path, why } = await baseBusy(git, repo.path, record.base_branch);
	if (why !== null) return { why };
	try {
		if (path === null)
			await git.ask(repo.path, ["update-ref", "-m", `sluice: merge job ${record.job}`, localRef(record.base_branch), to, from]);
		else await moveCheckout(git, path, to);
		return null;
	} catch (error) {
		const now = await headOf(git, repo.path, record.base_branch);
		if (now === to) return null;
		if (now !== from) return "again";
		const files = error instanceof GitError ? untrackedIn(error.stderr) : [];
		return files.length === 0
			? { why: troubleOf(error) }
			: { why: `untracked files in ${path} would be overwritten: ${someOf(files)}`, files };
	}
}
