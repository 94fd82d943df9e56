// What all parts of the supervisor share: the outside world, and the live runs of this host.

import type { Disk } from "../contracts/disk.ts";
import type { Clock, Host } from "../contracts/host.ts";
import type { Log } from "../contracts/log.ts";
import type { Processes } from "../contracts/processes.ts";
import type { JobView, Scheduler } from "../contracts/scheduler.ts";
import type { Workspaces } from "../contracts/workspace.ts";
import { codeOf } from "../core/errors.ts";
import type { Alarm } from "./alarm.ts";
import type { Clearing } from "./end/clearing.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { OutputOrder } from "./logs/output-order.ts";
import type { LiveRun } from "./run.ts";
import type { SupervisorSettings } from "./settings.ts";

/** Named points of a run's life, in order. Tests kill the process at each of them and check what a crash leaves. */
export const STEPS = [
	"claimed",
	"folder-made",
	"launched",
	"started",
	"stop-asked",
	"stop-signalled",
	"exit-seen",
	"clearing",
	"outcome-written",
	"completed",
	"leftovers-signalled",
] as const;
export type StartStep = (typeof STEPS)[number];

export type ProgramFound = { there: false } | { there: true; version: string | null };

export type SupervisorDeps = {
	scheduler: Scheduler;
	processes: Processes;
	host: Host;
	clock: Clock;
	disk: Disk;
	/** Folder of all run folders, absolute. */
	runs: string;
	/** Distinguishes this home's processes from those of other homes: letters and digits. */
	homeTag: string;
	/** Socket on which runs reach this daemon. */
	socket: string;
	/** Given to runs as SLUICE_HOME. */
	home?: string;
	hostName: string;
	/** Unguessable text made of that many random bytes. */
	secret: (bytes: number) => string;
	settings: () => SupervisorSettings;
	/** Provides the worktrees for jobs with a repo; without it, these jobs run in their own folder. */
	workspaces?: Workspaces;
	log: Log;
	/** Called after a pass that started jobs. Must not throw. */
	onDispatch?: (started: { job: number; repo: string | null }[]) => void;
	/** Whether other hosts may get a job's next run. If so, the end of a run says whether the next one has to come back to this host. */
	company?: "alone" | "others";
	/** Fetches the kept output of a run on another host into this host's run folder, as context for the next run. Must not reject. */
	bringPrior?: (run: { job: number; attempt: number }) => Promise<void>;
	/** Checks a job's item and pinned head once more, right before its program is started. Returns why it must not be started, or null. Must not reject. */
	confirm?: (job: Pick<JobView, "item" | "repo" | "pinned_head">) => Promise<string | null>;
	/** Looks up a run's program and asks it for its version; `version` is null if it does not say. Must not reject. */
	versionOf?: (program: string, surroundings: { env: Record<string, string>; cwd: string }) => Promise<ProgramFound>;
	/** Whether this host may launch runs now. False if its lease may be over: another host may then have been given the runs. */
	mayLaunch?: () => boolean;
	/** Called when the end of a run is durable. Must not throw. */
	onEnded?: (run: { job: number; attempt: number }) => void;
	step?: (step: StartStep, run: string) => void;
};

export type SupervisorContext = SupervisorDeps & {
	live: LiveRuns;
	alarm: Alarm;
	clearing: Clearing;
	/** Notes in which order a run's two streams were written. */
	order: OutputOrder;
	claimSoon(): void;
	/** Holds the end of a run back while a person has its session; false if no person has. */
	holdEnd(run: LiveRun, then: () => void): boolean;
	/** Drained: nothing is started or recorded any more; the next daemon takes over. */
	closed: boolean;
	onForgotten(): void;
};

/** Runs shorter than this are never reported as started; their end says enough. Long enough to detect a missing program on a slow machine. */
const STARTED_MS = 250;
/** A run that is to be frozen has to be caught early. */
const SOON_MS = 20;

/** Schedules the check for the start of a run that was handed to the launcher: the launcher does not report starts. */
export function expectStart({ clock, alarm }: SupervisorContext, run: LiveRun): void {
	if (run.stage.is !== "launching") return;
	run.stage.lookAt = clock.monotonic() + (run.frozen === null ? STARTED_MS : SOON_MS);
	alarm.at(run.stage.lookAt);
}

export function forget(context: SupervisorContext, run: LiveRun): void {
	if (!context.live.delete(run)) return;
	context.order.end(run.id);
	context.onForgotten();
}

/** True for a stale token or a job that no longer exists: the scheduler takes no more reports about this run. */
export const isOvertaken = (error: unknown): boolean => ["fenced", "not_found"].includes(codeOf(error));
