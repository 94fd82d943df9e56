// What the parts of the supervisor share: the outside world, and the runs that are live on this host.

import type { Disk } from "../disk.ts";
import type { Clock, Host } from "../host.ts";
import type { Log } from "../log.ts";
import type { Processes } from "../processes.ts";
import type { JobView, Scheduler } from "../scheduler.ts";
import type { Workspaces } from "../workspace.ts";
import type { Alarm } from "./alarm.ts";
import type { Clearing } from "./clearing.ts";
import type { OutputOrder } from "./output-order.ts";
import type { LiveRun } from "./run.ts";
import type { SupervisorSettings } from "./settings.ts";

/** Named points of a run's life, in their order. A test that ends the process at each of them finds what a crash there leaves. */
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
export type Step = (typeof STEPS)[number];

export type ProgramFound = { there: false } | { there: true; version: string | null };

export type Parts = {
	scheduler: Scheduler;
	processes: Processes;
	host: Host;
	clock: Clock;
	disk: Disk;
	/** Folder of all run folders, absolute. */
	runs: string;
	/** Tells this home's processes from those of other homes: letters and digits. */
	homeTag: string;
	/** Where runs reach us. */
	socket: string;
	/** Told to runs as SLUICE_HOME. */
	home?: string;
	hostName: string;
	/** Text that nobody can guess, of that many bytes. */
	secret: (bytes: number) => string;
	settings: () => SupervisorSettings;
	/** Where runs of jobs with a repo take place; without it, in the job's folder. */
	workspaces?: Workspaces;
	log: Log;
	/** After a pass that started jobs. Must not throw. */
	onDispatch?: (started: { job: number; repo: string | null }[]) => void;
	/** Whether other hosts may get a job's next run: then it is said which has to come back here. */
	company?: "alone" | "others";
	/** Puts what is kept of a run that another host had into its folder here, so that the next one can be told of it. Must not reject. */
	bringPrior?: (run: { job: number; attempt: number }) => Promise<void>;
	/** Looks at a job's item and pinned head once more, right before its program is started; why it must not be, or null. Must not reject. */
	confirm?: (job: Pick<JobView, "item" | "repo" | "pinned_head">) => Promise<string | null>;
	/** Looks for a run's program and asks it for its version; `version` null: it does not tell. Must not reject. */
	versionOf?: (program: string, surroundings: { env: Record<string, string>; cwd: string }) => Promise<ProgramFound>;
	/** Whether runs may be begun now: where others may have them by the time that a start was held up for, they look again first. */
	mayLaunch?: () => boolean;
	/** The end of a run is on record. Must not throw. */
	onEnded?: (run: { job: number; attempt: number }) => void;
	step?: (step: Step, run: string) => void;
};

export type Floor = Parts & {
	live: Map<string, LiveRun>;
	/** A job has one live run at most. */
	byJob: Map<number, LiveRun>;
	bySecret: Map<string, LiveRun>;
	alarm: Alarm;
	clearing: Clearing;
	/** Which of a run's streams wrote first. */
	order: OutputOrder;
	claimSoon(): void;
	/** Drained: nothing is begun or recorded any more, the next life finds it. */
	closed: boolean;
	/** Runs forgotten while the scheduler was being asked what is assigned. */
	forgotten: Set<string>;
	onForgotten(): void;
};

/** Shorter runs are never seen to start: their end says so. Long enough for a program that is not there to be found out on a slow machine. */
const STARTED_MS = 250;
/** One that shall be frozen is to be caught early. */
const SOON_MS = 20;

/** It has been handed over. Nobody tells of its start, so it is looked for. */
export function expectStart({ clock, alarm }: Floor, run: LiveRun): void {
	run.lookAt = clock.monotonic() + (run.frozen === null ? STARTED_MS : SOON_MS);
	alarm.at(run.lookAt);
}

export function remember(floor: Floor, run: LiveRun): void {
	floor.live.set(run.id, run);
	floor.byJob.set(run.job, run);
	if (run.secret !== null) floor.bySecret.set(run.secret, run);
}

export function forget(floor: Floor, run: LiveRun): void {
	if (floor.live.get(run.id) !== run) return;
	floor.live.delete(run.id);
	if (floor.byJob.get(run.job) === run) floor.byJob.delete(run.job);
	if (run.secret !== null) floor.bySecret.delete(run.secret);
	floor.forgotten.add(run.id);
	floor.order.end(run.id);
	floor.onForgotten();
}

/** A stale token, or a job that is no more: whatever this host knows about the run is of no interest. */
export const isOvertaken = (error: unknown): boolean => {
	const code = (error as { code?: unknown } | null)?.code;
	return code === "fenced" || code === "not_found";
};
