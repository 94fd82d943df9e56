// Dependencies that the files of this folder share: the host's tools, paths, settings, and one mutex for each repo.

import type { Disk } from "../contracts/disk.ts";
import type { Git } from "../contracts/git.ts";
import type { Clock, Host } from "../contracts/host.ts";
import type { Log } from "../contracts/log.ts";
import type { RunProgram } from "../contracts/program.ts";
import type { Scheduler } from "../contracts/scheduler.ts";
import { createTurns } from "../contracts/turns.ts";
import type { RepoSettings } from "../contracts/workspace.ts";
import type { Clones } from "./clones.ts";

/** Named points in the life of a worktree and of a merge, in order. A crash test ends the process at each of them and checks what is left. */
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
/** Further points that only repos registered by URL pass. */
export const CLONE_STEPS = ["clone-begun", "clone-fetched", "merge-pushed"] as const;
export type WorkStep = (typeof WORK_STEPS | typeof CLONE_STEPS)[number];

/** A repo that has a folder on this host: its configured path, or its clone (`url`). */
export type Repo = RepoSettings & {
	name: string;
	path: string;
	/** Why merges of this repo are suspended: settings that were trusted earlier are no longer in force. Null or absent: they are not. */
	hold?: string | null;
};

export type WorkspaceDeps = {
	scheduler: Pick<Scheduler, "show" | "merged" | "mark" | "rerun" | "history" | "watch">;
	git: Git;
	run: RunProgram;
	disk: Disk;
	host: Pick<Host, "after" | "turn">;
	clock: Clock;
	log: Log;
	/** Folder of all worktrees, and folder of all runs: both absolute and free of symbolic links. */
	worktrees: string;
	runs: string;
	homeTag: string;
	/** The repo's current settings; null when the name has no folder on this host. */
	repo: (name: string) => Repo | null;
	repos: () => string[];
	/** Environment variables for hooks and commands. */
	env: () => Record<string, string>;
	/** Live processes whose working directory is this folder or is below it. */
	usersOf: (folder: string) => number[];
	/** Whether a run of this job is live on this host. */
	isLive: (job: number) => boolean;
	retentionMs: () => number | null;
	step?: (step: WorkStep, job: number) => void;
};

/** A mutex for each key: calls with the same key run one after the other. A call that fails does not stop the calls queued behind it. */
export function createKeyedMutex(): <T>(key: string, act: () => Promise<T>) => Promise<T> {
	const turns = new Map<string, ReturnType<typeof createTurns>>();
	return (key, act) => {
		const own = turns.get(key) ?? createTurns();
		turns.set(key, own);
		return own.inTurn(act);
	};
}

type KeyedMutex = ReturnType<typeof createKeyedMutex>;
/** `line`: a mutex for each repo folder, because concurrent git commands must not change a repository's worktree list and refs. */
export type WorkspaceContext = WorkspaceDeps & Clones & { line: KeyedMutex };
