// A run that this host carries, and its folder: `<runs>/<job>/<attempt>/`.
//
//   stage       from                          to
//   launching   claimed, or found unstarted   running: its process was found
//   running     adopted                       clearing (stopped, lost), leaving or ending (it exited by itself)
//   clearing    its program is gone           leaving, ending: no process carries its mark any more
//   leaving     it had a workspace            ending: its work is committed and its patch written
//   ending      its end is being recorded     forgotten: the end is durable, or the job was reassigned

import type { Claimed, PauseScope, RunEnd } from "../contracts/scheduler.ts";
import type { Workspaces } from "../contracts/workspace.ts";
import { given } from "../core/given.ts";
import { runId, type StopKind } from "../core/job.ts";
import type { RunVerdict } from "../core/runs/verdict.ts";
import type { AgentRun } from "./agent.ts";

export type LiveRun = {
	/** "7.1" */
	readonly id: string;
	readonly job: number;
	readonly attempt: number;
	readonly token: number;
	readonly dir: string;
	readonly mark: string;
	readonly kind: "command" | "agent";
	/** Null for a command. */
	agent: AgentRun | null;
	readonly scope: PauseScope;
	/** Epoch milliseconds of the claim. */
	readonly since: number;
	stage: Launching | { is: "running" | "clearing" | "leaving" } | Ending;
	/** The run takes place in a workspace. */
	readonly housed: boolean;
	pid: number | null;
	/** The token with which its program calls the daemon. */
	secret: string | null;
	startReported: boolean;
	/** This run probes an outage: the scheduler waits for the report that the provider answered. */
	probe: boolean;
	/** Monotonic milliseconds at which its timeout expires. */
	deadline: number | null;
	/** The timeout, for messages. */
	timeoutMs: number | null;
	/** `heard`: amount of output at the last check. */
	silence: { allowed: number; since: number; heard: number } | null;
	/** `asking`: a stop is being recorded. `stop`: it is recorded; only then is the first signal sent. */
	asking: boolean;
	stop: Stop | null;
	/** Numbers of the told texts that its prompt has; `given`: that is reported. */
	inPrompt: readonly number[];
	given: boolean;
	/** Told texts that it has not got. `heard`: what its agent had reported when the first came; `lookAt`: monotonic milliseconds of the next look. */
	readonly awaited: { numbers: Set<number>; heard: number; lookAt: number };
	/** A person at a terminal has its session, or waits for it. */
	attached: Attachment | null;
	/** A person has had its session; `asDone`: and said that it is done. */
	wasAttached: boolean;
	asDone: boolean;
	/** The run's verdict, once it is recorded. */
	verdict: RunVerdict | null;
	/** Monotonic milliseconds since when the run has been frozen by SIGSTOP. */
	frozen: number | null;
	/** Why it is frozen; empty if it is not. */
	readonly frozenFor: Set<FreezeCause>;
	/** Token is stale (job reassigned): kill the processes, do not report the outcome. */
	fenced: boolean;
	logsCut: Set<string>;
	signal: string | null;
};

/** A pause with `freeze`, or a person who froze this run alone. */
export type FreezeCause = "pause" | "person";

type Launching = {
	is: "launching";
	/** Something is still being prepared (workspace, results, version): the run has not been handed to the launcher yet. */
	isPreparing: boolean;
	/** Monotonic milliseconds of the last hand-over to the launcher, and how many there were. */
	handedOverAt: number;
	handOvers: number;
	/** Nothing came of the last hand-over; another is due. */
	isOverdue: boolean;
	/** Monotonic milliseconds of the next check whether it has started. */
	lookAt: number;
};

/** `end` is being recorded; `retryMs`: the last interval between two attempts at that. */
type Ending = { is: "ending"; end: RunEnd; retryMs: number };

type Stop = { kind: StopKind; reason: string; rung: number; signalAt: number; nextAt: number };

/** `since`, `until`: epoch milliseconds. `heard`: what its agent had reported when the terminal asked. `release`: reports the end that is held back. */
export type Attachment = {
	readonly key: string;
	readonly by: string;
	readonly since: number;
	until: number;
	readonly heard: number;
	state: "waiting" | "ready";
	release: (() => void) | null;
};

export type RunFolders = { runs: string; homeTag: string; workspaces?: Workspaces };

export const markOf = ({ homeTag }: RunFolders, run: string) => `${homeTag}-${run}`;
export const folderOf = ({ runs }: RunFolders, job: number, attempt: number) => `${runs}/${job}/${attempt}`;

export function enlist({ job, run }: Claimed, place: RunFolders, now: number): LiveRun {
	const id = runId(job.id, run.attempt);
	return {
		id,
		job: job.id,
		attempt: run.attempt,
		token: run.token,
		dir: folderOf(place, job.id, run.attempt),
		mark: markOf(place, id),
		kind: job.kind === "agent" ? "agent" : "command",
		agent: null,
		scope: { lane: job.lane, ...given({ repo: job.repo, batch: job.batch, account: run.account }) },
		since: run.started_at,
		stage: { is: "launching", isPreparing: false, handedOverAt: now, handOvers: 1, isOverdue: false, lookAt: Number.POSITIVE_INFINITY },
		housed: place.workspaces?.has(job) === true,
		pid: null,
		secret: null,
		startReported: run.launched === true,
		probe: run.probe === true,
		deadline: null,
		timeoutMs: null,
		silence: null,
		asking: false,
		stop: null,
		inPrompt: [],
		given: false,
		awaited: { numbers: new Set(), heard: 0, lookAt: 0 },
		attached: null,
		wasAttached: false,
		asDone: false,
		verdict: run.verdict ?? null,
		frozen: null,
		frozenFor: new Set(),
		fenced: false,
		logsCut: new Set(),
		signal: null,
	};
}

export const isIn = (scope: PauseScope, run: LiveRun): boolean =>
	(Object.keys(scope) as (keyof PauseScope)[]).every((key) => scope[key] === undefined || scope[key] === run.scope[key]);
