// What the parts of this folder share: the outside world, where things are, and one line for each repo.

import type { Disk } from "../disk.ts";
import type { Git } from "../git.ts";
import type { Clock, Host } from "../host.ts";
import type { Log } from "../log.ts";
import type { RunProgram } from "../program.ts";
import type { Scheduler } from "../scheduler.ts";
import type { RepoSettings } from "../workspace.ts";
import type { Clones } from "./clones.ts";

/** Named points in the life of a worktree and of a merge, in their order. A test that ends the process at each of them finds what a crash leaves. */
export const WORK_STEPS = [
	"worktree-noted",
	"worktree-adding",
	"worktree-added",
	"worktree-ready",
	"run-committed",
	"merge-begun",
	"merge-rebased",
	"merge-verified",
	"merge-moving",
	"merge-moved",
	"merge-told",
	"removal-begun",
	"removal-rescued",
	"removal-cleaned",
	"removal-done",
] as const;
/** Those that only repos by URL come to, besides. */
export const CLONE_STEPS = ["clone-begun", "clone-fetched", "merge-pushed"] as const;
export type WorkStep = (typeof WORK_STEPS | typeof CLONE_STEPS)[number];

/** A repo that has a folder here: its own, or that of its clone (`url`). */
export type Repo = RepoSettings & { name: string; path: string };

export type Parts = {
	scheduler: Pick<Scheduler, "show" | "merged" | "mark" | "rerun" | "history" | "watch">;
	git: Git;
	run: RunProgram;
	disk: Disk;
	host: Pick<Host, "after" | "turn">;
	clock: Clock;
	log: Log;
	/** Folder of all worktrees, and of all run folders: absolute, without links. */
	worktrees: string;
	runs: string;
	homeTag: string;
	/** As it is in force now; null when the name has no folder. */
	repo: (name: string) => Repo | null;
	repos: () => string[];
	/** Variables for hooks and commands. */
	env: () => Record<string, string>;
	/** Live processes that stand in this folder, or below it. */
	usersOf: (folder: string) => number[];
	/** Whether a run of this job is live here. */
	isLive: (job: number) => boolean;
	retentionMs: () => number | null;
	step?: (step: WorkStep, job: number) => void;
};

/** One thing at a time for each key; what fails does not hold up what comes after it. */
export function createLine(): <T>(key: string, act: () => Promise<T>) => Promise<T> {
	const last = new Map<string, Promise<unknown>>();
	return (key, act) => {
		const result = (last.get(key) ?? Promise.resolve()).then(act);
		const settled = result.catch(() => {});
		last.set(key, settled);
		void settled.then(() => {
			if (last.get(key) === settled) last.delete(key);
		});
		return result;
	};
}

export type Line = ReturnType<typeof createLine>;
/** `line`: git's own bookkeeping of a repo is changed by one at a time. */
export type Yard = Parts & Clones & { line: Line };

/** Words for hooks, commands and runs. */
export const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");
