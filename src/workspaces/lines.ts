// How many lines a job has changed in its worktree so far: a cheap count while its run goes on, not a diff.

import { entriesIn } from "../contracts/git.ts";
import type { WorkspaceContext } from "./context.ts";
import { recordOf, worktreeOf } from "./record.ts";

const COUNT_MS = 10_000;
/** New files that are read, and bytes of each: what a build leaves behind must not keep the daemon busy. */
const NEW_FILES = 50;
const NEW_BYTES = 256 * 1024;

/** Against the commit where the worktree began, committed or not; null if there is no worktree, or git cannot tell in time. */
export async function changedLines(context: WorkspaceContext, job: number): Promise<{ added: number; removed: number } | null> {
	const record = recordOf(context, job);
	if (record?.state !== "ready") return null;
	const path = worktreeOf(context, record.repo, job);
	if (context.disk.size(`${path}/.git`) === null) return null;
	const options = { timeoutMs: COUNT_MS };
	const args = ["diff", "--numstat", "-z", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all"];
	const counted = sumOf(await context.git.ask(path, [...args, record.base_commit, "--"], options));
	const listed = await context.git.ask(path, ["ls-files", "--others", "--exclude-standard", "-z"], options);
	const fresh = entriesIn(listed)
		.slice(0, NEW_FILES)
		.reduce((sum, name) => sum + linesIn(context.disk.readAt(`${path}/${name}`, 0, NEW_BYTES)), 0);
	return { ...counted, added: counted.added + fresh };
}

/** Of `git diff --numstat -z`; a binary file has dashes for numbers. */
export function sumOf(listed: string): { added: number; removed: number } {
	const sum = { added: 0, removed: 0 };
	for (const entry of entriesIn(listed)) {
		const [, added, removed] = /^(\d+)\t(\d+)\t/.exec(entry) ?? [];
		sum.added += Number(added ?? 0);
		sum.removed += Number(removed ?? 0);
	}
	return sum;
}

const LINE_END = 10;

/** As git counts them; none in a file that is not text. */
function linesIn(bytes: Uint8Array): number {
	if (bytes.length === 0 || bytes.includes(0)) return 0;
	let lines = bytes.at(-1) === LINE_END ? 0 : 1;
	for (const byte of bytes) if (byte === LINE_END) lines++;
	return lines;
}
