// One merge: brings a job's branch onto its base, in a separate worktree that holds no work. The base moves last, in one step, and only forwards.
//
//   1. if the base is checked out with changes, or in the middle of a git operation  → base_dirty, the merge waits
//   2. rebase the branch onto the base; a branch that contains merges is merged      → conflict, with the files
//   3. run the repo's verify command on the result                                  → verify_failed
//   4. note `from` and `to` in the record, then move the base: in its checkout if there is one, else its ref;
//      for a repo by URL, push to origin with a lease on `from`                      → if the base moved meanwhile, start again at 1
//
// A crash before 4 leaves nothing that matters. After a crash during 4, `settleMove` compares the note with the base.

import { createHash } from "node:crypto";
import { GitError, headOf, isAncestor, localRef } from "../../contracts/git.ts";
import { faultOf } from "../../contracts/program.ts";
import { messageOf } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { withoutCredentials } from "../../core/text/repo-url.ts";
import { baseBusy, dropOldLock, moveCheckout, repairCheckout, untrackedIn } from "../base.ts";
import type { Repo, WorkspaceContext } from "../context.ts";
import { restorePointer, variablesOf } from "../hooks.ts";
import { includeFiles } from "../include.ts";
import { workMark } from "../orphans.ts";
import { repoFolder, type WorktreeRecord, writeRecord } from "../record.ts";
import { identityArgs } from "../removal.ts";

export type MergeResult =
	| { status: "merged"; commit: string; nothing?: true; message?: string }
	| { status: "conflict" | "verify_failed"; files: string[]; message: string }
	| { status: "base_dirty"; message: string; path?: string; files?: string[]; cause?: "changes" }
	| { status: "kept" | "requested"; message: string };

const MAX_MERGE_ROUNDS = 5;
const MOST_FILES = 1000;
/** Number of files that a message names; the report lists them all. */
const NAMED_FILES = 10;
const SLOW_MS = 30 * 60_000;
const MODULES = ".gitmodules";

/** `dir`: folder for the logs. `wanted`: called just before the base moves, since `verify` may take long and the job may have been rewound meanwhile. */
type Wish = { dir: string; wanted: () => Promise<boolean> };

/** Null when the merge is no longer wanted. Rejects when the merge could not be tried: that says nothing about the branch, and the queue retries. */
export async function mergeDirect(
	context: WorkspaceContext,
	repo: Repo,
	record: WorktreeRecord,
	{ dir, wanted }: Wish,
): Promise<MergeResult | null> {
	const { git } = context;
	if (repo.hold) throw new GitError(repo.hold, null, "");
	for (let round = 1; round <= MAX_MERGE_ROUNDS; round++) {
		await context.freshen(repo);
		await settleMove(context, repo, record);
		const tip = await headOf(git, repo.path, record.branch);
		const base = await headOf(git, repo.path, record.base_branch);
		if (base === null) throw new GitError(`repo ${repo.name} has no branch ${JSON.stringify(record.base_branch)} to merge into`, null, "");
		// If the branch has new commits since that merge, they are still to be merged.
		const known = record.merged && (tip === null || tip === record.merged.tip) ? record.merged : undefined;
		if (known && (await isAncestor(git, repo.path, known.commit, base))) return { status: "merged", commit: known.commit };
		if (tip === null) throw new GitError(`branch ${record.branch} is gone`, null, "");
		if (await isAncestor(git, repo.path, tip, base)) {
			record.merged = { tip, commit: base };
			writeRecord(context, record);
			return { status: "merged", commit: base, ...(tip === record.base_commit ? { nothing: true as const } : {}) };
		}
		const busy = await baseBusy(git, repo.path, record.base_branch);
		if (busy.why !== null) return dirty(busy.path, { ...busy, why: busy.why });
		context.step?.("merge-begun", record.job);
		const place = await mergePlace(context, repo, record, base);
		const joined = await join(context, place, base, tip);
		if ("files" in joined) return { status: "conflict", ...joined };
		context.step?.("merge-rebased", record.job);
		const red =
			(await refusedModules(context, record, place, { base, commit: joined.commit })) ??
			(await verify(context, repo, record, place, dir, { base, commit: joined.commit }));
		if (red !== null) return red;
		context.step?.("merge-verified", record.job);
		if (!(await wanted())) return null;
		record.moving = { from: base, to: joined.commit, tip };
		writeRecord(context, record);
		context.step?.("merge-moving", record.job);
		const moved = await (repo.url === null ? move : push)(context, repo, record, joined.commit, base);
		if (moved !== null) {
			// git moves the base completely or not at all. It has not moved, so drop the note that says it may have.
			delete record.moving;
			writeRecord(context, record);
			if (moved === "again") continue;
			return dirty(busy.path, moved);
		}
		context.step?.("merge-moved", record.job);
		await settleMove(context, repo, record);
		return { status: "merged", commit: joined.commit };
	}
	throw new GitError(`${record.base_branch} moved ${MAX_MERGE_ROUNDS} times while ${record.branch} was being merged`, null, "");
}

const dirty = (path: string | null, { why: message, files = [], cause }: InTheWay): MergeResult => ({
	status: "base_dirty",
	message,
	...given({ cause, path: path ?? undefined }),
	...(files.length === 0 ? {} : { files: files.slice(0, MOST_FILES) }),
});

/** Finds out whether a noted move of the base happened. If it did, records the merge; if not, removes stale locks and repairs the checkout. */
async function settleMove(context: WorkspaceContext, repo: Repo, record: WorktreeRecord): Promise<void> {
	const { moving } = record;
	if (!moving) return;
	const base = await headOf(context.git, repo.path, record.base_branch);
	if (base !== null && (await isAncestor(context.git, repo.path, moving.to, base))) record.merged = { tip: moving.tip, commit: moving.to };
	else if (base === moving.from) {
		await dropOldLock(context, repo.path, `${localRef(record.base_branch)}.lock`);
		await repairCheckout(context, repo.path, record.base_branch, moving);
	}
	delete record.moving;
	writeRecord(context, record);
}

/** The detached worktree for merges into this base, reset to the base and cleaned of what earlier merges left. */
async function mergePlace(context: WorkspaceContext, repo: Repo, record: WorktreeRecord, base: string): Promise<string> {
	const { git, disk } = context;
	const name = createHash("sha256").update(record.base_branch).digest("hex").slice(0, 12);
	const path = `${repoFolder(context, repo.name)}/merge-${name}`;
	const own = disk.size(`${path}/.git`) === null ? null : await git.run(path, ["rev-parse", "--absolute-git-dir"]);
	if (own?.code === 0) {
		disk.remove(`${own.stdout.trim()}/index.lock`);
		for (const what of ["rebase", "merge", "cherry-pick"]) await git.run(path, [what, "--abort"]);
		const reset = await git.run(path, ["checkout", "--quiet", "--force", "--detach", base], { timeoutMs: SLOW_MS });
		if (reset.code === 0) {
			await git.ask(path, ["clean", "-ffdq"], { timeoutMs: SLOW_MS });
			return path;
		}
	}
	await context.line(repo.path, async () => {
		await git.run(repo.path, ["worktree", "unlock", "--", path]);
		disk.remove(path);
		await git.run(repo.path, ["worktree", "remove", "--", path]);
		disk.makeFolder(repoFolder(context, repo.name));
		await git.ask(repo.path, ["worktree", "add", "--quiet", "--detach", "--", path, base], { timeoutMs: SLOW_MS });
	});
	await includeFiles(context, repo, path);
	return path;
}

/** Returns the commit that contains both sides, or the files in conflict. */
async function join(
	context: WorkspaceContext,
	place: string,
	base: string,
	tip: string,
): Promise<{ commit: string } | { files: string[]; message: string }> {
	const { git } = context;
	const who = await identityArgs(context, place);
	const merges = await git.ask(place, ["rev-list", "--count", "--merges", "--max-count=1", `${base}..${tip}`, "--"]);
	const contained = await isAncestor(git, place, base, tip);
	if (contained) {
		await git.ask(place, ["checkout", "--quiet", "--detach", tip], { timeoutMs: SLOW_MS });
		return { commit: tip };
	}
	const isMerge = merges.trim() !== "0";
	if (!isMerge) await git.ask(place, ["checkout", "--quiet", "--detach", tip], { timeoutMs: SLOW_MS });
	const how = isMerge ? ["merge", "--quiet", "--no-ff", "--no-edit", "--no-verify", tip] : ["rebase", "--quiet", base];
	const { code, stdout, stderr } = await git.run(place, [...who, ...how], { timeoutMs: SLOW_MS });
	if (code === 0) return { commit: await git.ask(place, ["rev-parse", "--verify", "HEAD^{commit}"]) };
	const unmerged = await git.ask(place, ["diff", "--name-only", "--diff-filter=U", "-z"]);
	const files = [...new Set(unmerged.split("\0").filter((path) => path !== ""))].slice(0, MOST_FILES);
	await git.run(place, [isMerge ? "merge" : "rebase", "--abort"]);
	if (files.length === 0)
		throw new GitError(`git ${how[0]}: ${(stderr || stdout).trim().split("\n")[0] ?? `exit code ${code}`}`, code, stderr);
	return { files, message: `${someOf(files)} changed on both sides` };
}

/**
 * A branch that brings a .gitmodules which git refuses: in the base, it would make `git status` and `git diff` fail in every checkout of the base. `git grep`
 * reads the whole .gitmodules for `--recurse-submodules` and, with this pathspec, enters no submodule.
 */
async function refusedModules(
	{ git }: WorkspaceContext,
	record: WorktreeRecord,
	place: string,
	{ base, commit }: { base: string; commit: string },
): Promise<MergeResult | null> {
	if ((await git.run(place, ["diff", "--quiet", base, commit, "--", MODULES])).code === 0) return null;
	const look = ["grep", "--recurse-submodules", "--quiet", "-e", "submodule", "--", `:(top,literal)${MODULES}`];
	const { code, stderr } = await git.run(place, look);
	if (code <= 1) return null;
	const said = stderr.split("\n").find((line) => line.startsWith("fatal: ")) ?? stderr.trim();
	const why = `git refuses ${MODULES} of ${record.branch}: ${said.replace("fatal: ", "").slice(0, 300)}; correct it and commit`;
	return { status: "verify_failed", files: [MODULES], message: why };
}

async function verify(
	context: WorkspaceContext,
	repo: Repo,
	record: WorktreeRecord,
	place: string,
	dir: string,
	{ base, commit }: { base: string; commit: string },
): Promise<MergeResult | null> {
	if (repo.verify.length === 0) return null;
	await restorePointer(context, place);
	const end = await context.run(repo.verify, {
		cwd: place,
		env: {
			...context.env(),
			...variablesOf(context, record),
			SLUICE_WORKTREE: place,
			SLUICE_COMMIT: commit,
			SLUICE_MARK: workMark(context.homeTag),
		},
		timeoutMs: repo.verify_timeout_ms,
		keep: 10_000,
		...(context.disk.changedAt(dir) === null ? {} : { log: `${dir}/verify.log` }),
	});
	const fault = faultOf(end);
	if (fault === null) return null;
	const changed = await context.git.ask(place, ["diff", "--name-only", "-z", base, commit, "--"]);
	const files = changed.split("\0").filter((path) => path !== "");
	return { status: "verify_failed", files: files.slice(0, MOST_FILES), message: `verify failed: ${fault}` };
}

/**
 * Moves the base at origin from `from` to `to`, or not at all. A push may break off after origin accepted it, so the result is read by fetching again: null
 * when origin has `to`, "again" when its base is elsewhere. Rejects when origin refuses or cannot be reached.
 */
async function push(context: WorkspaceContext, repo: Repo, record: WorktreeRecord, to: string, from: string): Promise<"again" | null> {
	const ref = localRef(record.base_branch);
	const args = ["push", "--quiet", "--no-verify", `--force-with-lease=${ref}:${from}`, "origin", `${to}:${ref}`];
	const { code, stderr } = await context.git.run(repo.path, args, { timeoutMs: SLOW_MS });
	context.step?.("merge-pushed", record.job);
	await context.freshen(repo);
	const now = await headOf(context.git, repo.path, record.base_branch);
	if (now !== null && (await isAncestor(context.git, repo.path, to, now))) return null;
	if (code === 0 || now !== from) return "again";
	const said = stderr.split("\n").find((line) => /^(?:fatal|error| ! |remote: \S)/.test(line)) ?? stderr.trim();
	throw new GitError(withoutCredentials(`git push: ${said.trim().slice(0, 500)}`), code, "");
}

const someOf = (files: readonly string[]) => `${files.slice(0, NAMED_FILES).join(", ")}${files.length > NAMED_FILES ? " …" : ""}`;

type InTheWay = { why: string; files?: string[]; cause?: "changes" };

/** Moves the local base. null: done; "again": another program moved the base; otherwise the reason why it cannot be moved now. */
async function move(
	context: WorkspaceContext,
	repo: Repo,
	record: WorktreeRecord,
	to: string,
	from: string,
): Promise<"again" | InTheWay | null> {
	const { git } = context;
	const { path, why, ...busy } = await baseBusy(git, repo.path, record.base_branch);
	if (why !== null) return { why, ...busy };
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
			? { why: messageOf(error) }
			: { why: `untracked files in ${path} would be overwritten: ${someOf(files)}`, files };
	}
}
