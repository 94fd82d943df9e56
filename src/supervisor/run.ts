// A run that this host carries, and its folder: `<runs>/<job>/<attempt>/`.
//
//   stage       from                          to
//   launching   claimed, or found unstarted   running: a look finds it so
//   running     adopted                       clearing (stopped, lost), leaving or ending (it exited by itself)
//   clearing    its program is gone           leaving, ending: nothing that carries its mark is alive any more
//   leaving     it had a workspace            ending: its work is committed, its patch written
//   ending      its end is being recorded     forgotten: the end is durable, or somebody else has the job

import { runId, type StopKind } from "../core/job.ts";
import type { RunVerdict } from "../core/verdict.ts";
import type { Claimed, Ending, Scope } from "../scheduler.ts";
import type { Workspaces } from "../workspace.ts";
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
	readonly scope: Scope;
	/** Epoch milliseconds of the claim. */
	readonly since: number;
	stage: "launching" | "running" | "clearing" | "leaving" | "ending";
	/** Its workspace is being made: it is not with the launcher yet. */
	entering: boolean;
	/** It takes place in a workspace. */
	readonly housed: boolean;
	pid: number | null;
	/** What its program calls us with. */
	secret: string | null;
	/** The scheduler knows that the process is there. */
	told: boolean;
	/** The scheduler waits to hear that the provider answers it. */
	probe: boolean;
	/** Monotonic milliseconds at which it has had its time. */
	deadline: number | null;
	/** The time it was given, for words. */
	timeoutMs: number | null;
	/** `heard`: how much of its output was there when we listened last. */
	silence: { allowed: number; since: number; heard: number } | null;
	/** A stop that is being asked for, then one on record; the first rung is climbed only then. */
	asking: boolean;
	stop: Stop | null;
	/** What it has said of itself, once that is on record. */
	verdict: RunVerdict | null;
	/** Monotonic milliseconds since when it is stopped by SIGSTOP. */
	frozen: number | null;
	/** Monotonic milliseconds of the hand-over to the launcher, which one it was, and whether another is due since nothing came of it. */
	launchedAt: number;
	/** Monotonic milliseconds of the next look whether it has started. */
	lookAt: number;
	handOvers: number;
	overdue: boolean;
	/** Somebody else has the job: its processes go, its end is nobody's business. */
	fenced: boolean;
	logsCut: Set<string>;
	ending: Ending | null;
	signal: string | null;
	retryMs: number;
};

export type Stop = { kind: StopKind; reason: string; rung: number; signalAt: number; nextAt: number };

export type Place = { runs: string; homeTag: string; workspaces?: Workspaces };

export const markOf = ({ homeTag }: Place, run: string) => `${homeTag}-${run}`;
export const folderOf = ({ runs }: Place, job: number, attempt: number) => `${runs}/${job}/${attempt}`;

export function enlist({ job, spec: _spec, run }: Claimed, place: Place, now: number): LiveRun {
	const id = runId(job.id, run.attempt);
	const { lane, repo, batch } = job;
	const { account } = run;
	return {
		id,
		job: job.id,
		attempt: run.attempt,
		token: run.token,
		dir: folderOf(place, job.id, run.attempt),
		mark: markOf(place, id),
		kind: job.kind === "agent" ? "agent" : "command",
		agent: null,
		scope: {
			lane,
			...(repo === undefined ? {} : { repo }),
			...(batch === undefined ? {} : { batch }),
			...(account === undefined ? {} : { account }),
		},
		since: run.started_at,
		stage: "launching",
		entering: false,
		housed: place.workspaces?.has(job) === true,
		pid: null,
		secret: null,
		told: run.launched === true,
		probe: run.probe === true,
		deadline: null,
		timeoutMs: null,
		silence: null,
		asking: false,
		stop: null,
		verdict: run.verdict ?? null,
		frozen: null,
		launchedAt: now,
		lookAt: Number.POSITIVE_INFINITY,
		handOvers: 1,
		overdue: false,
		fenced: false,
		logsCut: new Set(),
		ending: null,
		signal: null,
		retryMs: 0,
	};
}

export const isIn = (scope: Scope, run: LiveRun): boolean =>
	(Object.keys(scope) as (keyof Scope)[]).every((key) => scope[key] === undefined || scope[key] === run.scope[key]);
