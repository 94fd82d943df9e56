// What the methods act on: the daemon's parts, handed in by its wiring. Methods call these and nothing private.

import type { Format, Profile } from "../core/agents/profile.ts";
import type { JobInput } from "../core/job.ts";
import type { LogStream, StreamPart } from "../core/log-piece.ts";
import type { CatchUp } from "../core/slots.ts";
import type { RunVerdict } from "../core/verdict.ts";
import type { Clock, Host } from "../host.ts";
import type { Intake } from "../intake.ts";
import type { Log } from "../log.ts";
import type { FireResult, KernelDump, PlanReport, Scheduler, Scope, TriggerView } from "../scheduler.ts";
import type { LogOptions, Progress } from "../supervisor/index.ts";
import type { PruneReport, RepoSettings, WorktreeView } from "../workspace.ts";
import type { Role } from "./fields.ts";

/**
 * A piece of a run's log: `text` begins at byte `offset`; `eof` = nothing more is there now; `ended` = nothing more will come. `run` is null for a job
 * that has not run yet.
 */
export type LogPiece = {
	run: string | null;
	stream: LogStream;
	offset: number;
	next_offset: number;
	text: string;
	/** Which stream each part of `text` is of. */
	parts: StreamPart[];
	eof: boolean;
	ended: boolean;
	/** How stdout is to be read: lines of JSON of an agent, or text. */
	output: Format;
	/** The host that had the run, where that is another one. */
	host?: string;
	/** Why there is nothing to be had just now, where that is not simply that nothing was written yet. */
	note?: string;
};

/** The part of the supervisor that methods use. */
export type Supervision = {
	/** Null when there is no such run on this host. */
	logs(job: number, options: LogOptions): (LogPiece & { run: string }) | null;
	/** The account of a run that has ended here. */
	outcome(job: number, attempt: number): Record<string, unknown> | null;
	/** A job is being added in this turn: it may be claimed in the same transaction. */
	claimAlong?(): void;
	/** A cycle by hand: what it started, and what bound it. */
	runCycle(): Promise<PlanReport>;
	freeze(scope: Scope): Promise<void>;
	thaw(scope: Scope): Promise<void>;
	live(): { run: string; job: number; pid: number | null; since: number; frozen: boolean; progress: Progress | null }[];
	/** Why this agent cannot be given this prompt; null when it can. */
	promptProblem(agent: string, prompt: string): string | null;
	/** Whose run-scoped token this is, while its run is live. */
	roleOfToken(token: string): { job: number; run: string; token: number } | null;
	/** A live run has said this of itself, and it is on record. */
	noteVerdict(run: { job: number; token: number }, verdict: RunVerdict): void;
	/** Removes run folders, last changed before then, whose job is gone. */
	dropForgotten(before: number): Promise<number>;
};

export type Setting = { key: string; value: unknown; origin: string };
export type Problem = { code: string; message: string; field: string | null; hint: string | null };

/** The configuration file. `get` of a group gives all of its keys; `set` resolves once it is in force. */
export type ConfigHandle = {
	get(key: string): Setting[];
	set(key: string, value: unknown, by: string): Promise<Setting[]>;
	unset(key: string, by: string): Promise<Setting[]>;
	list(): Setting[];
	/** What is wrong with a text, or with the file as it stands. */
	check(text?: string): Problem[];
	/** Why the file as it stands is not in force; null when it is. */
	problem?(): Problem | null;
	settings(): { secrets: readonly string[] };
};

/** A trigger of the configuration, with what is kept of it. `name` is `cron:<name>` or `watch:<name>`. */
export type TriggerInfo = TriggerView & {
	kind: "cron" | "watch";
	schedule: string | null;
	timezone: string | null;
	catch_up: CatchUp | null;
	paths: string[] | null;
	next_at: number | null;
	add: JobInput;
};
export type TriggerHandle = {
	list(): Promise<TriggerInfo[]>;
	/** Adds its job now, whatever its schedule says; by its whole name, or the short one. */
	run(name: string, by: string): Promise<FireResult>;
};

/** An agent as it is shown. `logged_in`: by the signs that a login leaves; null when the job has no worktree to look at. `accounts`: those with a folder of their own. */
export type AgentDocument = {
	name: string;
	built_in: boolean;
	output: Format;
	program: string | null;
	path: string | null;
	version: string | null;
	/** The newest version that it was tested with. */
	tested: string | null;
	/** An older version that it was tested with as well. */
	tested_older: string | null;
	/** The installed one is a later one: what it prints may not be understood. */
	newer: boolean;
	resumes: boolean;
	/** Whether a run will be: by what the program's folder has, and by the variables that runs get. */
	logged_in: boolean | null;
	/** Those with a folder or keys of their own. */
	accounts: { account: string; home: string | null; logged_in: boolean }[];
	/** Variables that it takes a key from. `handed`: its runs get it; `daemon`: the daemon's own environment has it. */
	keys: { name: string; handed: boolean; daemon: boolean }[];
	problem: string | null;
	hint: string | null;
};
export type ProfileDocument = AgentDocument & { profile: Omit<Profile, "permission_env"> };
/** What of a job decides whether its program is there. */
export type Startable = Pick<JobInput, "agent" | "command" | "env" | "cwd" | "repo" | "allow" | "permission">;
export type AgentHandle = {
	/** Why a job that is added now could not start on this machine as it is; null when nothing speaks against it. */
	startProblem(job: Startable): string | null;
	/** Built in, or of the settings. */
	names(): string[];
	list(): Promise<AgentDocument[]>;
	show(name: string): Promise<ProfileDocument>;
	/** Refuses a name that means none. */
	profile(name: string): Profile;
	/** How a person goes on with a session; null when that cannot be done. */
	opening(name: string, session: string, account: string | null): { argv: string[]; env: Record<string, string> } | null;
};

/** `optional`: not there or not in use, and nothing asks for it. */
export type Checkup = { name: string; ok: boolean; optional?: true | undefined; detail: string; hint?: string | undefined };

/** A repo as it is shown. `file`: whether its own sluice.yml counts; `problem`: why nothing could be done there now. */
export type RepoDocument = Omit<RepoSettings, "trusted"> & {
	name: string;
	max: number | null;
	prefix: string | null;
	file: "none" | "untrusted" | "changed" | "bad" | "trusted";
	file_problem: string | null;
	base: string | null;
	head: string | null;
	/** "merge", "rebase" … while git is in the middle of one. */
	busy: string | null;
	problem: string | null;
	/** Hosts that jobs of this repo may run on. */
	hosts: string[];
	worktrees: WorktreeView[];
};
/** One of `path` and `url`. */
export type NewRepo = {
	path?: string | undefined;
	url?: string | undefined;
	name?: string | undefined;
	prefix?: string | undefined;
	base_branch?: string | undefined;
	merge?: RepoSettings["merge"] | undefined;
	max?: number | null | undefined;
};

export type RepoHandle = {
	list(): Promise<RepoDocument[]>;
	show(name: string): Promise<RepoDocument>;
	add(repo: NewRepo, by: string): Promise<RepoDocument>;
	trust(name: string, trusted: boolean, by: string): Promise<RepoDocument>;
	remove(name: string, by: string): Promise<void>;
	/** Refuses a branch that the repo does not have, with the nearest one. A repo that is not on this machine, or has no folder, is not looked at. */
	mustHaveBranch(name: string, branch: string): Promise<void>;
};

/** The part of the workspaces that methods use. */
export type WorkHandle = {
	prune(act: "remove" | "only look"): Promise<PruneReport>;
	worktrees(): WorktreeView[];
	/** How a person makes a worktree again that is gone: argv, null when something is there; null when that is not possible here. */
	restorable(
		repo: string,
		past: { job: number; branch?: string | undefined; commit?: string | undefined },
	): Promise<{ path: string; argv: string[] | null } | null>;
	/** Jobs whose merge goes on only if a person sees to it. */
	stuckMerges(): number[];
	/** Looks whether git is in the middle of something in any repo, and tells the scheduler: rewinds hang on it. */
	lookForBusy(): Promise<void>;
	/** The diff of the working tree that a folder is in. */
	capture(folder: string): Promise<string>;
	diff(job: number, attempt: number): Promise<{ patch: string; from: "worktree" | "run" } | null>;
	/** What a branch has that its base has not; null where one of them is not there. */
	branchDiff(repo: string, branch: string, base: string | undefined): Promise<{ patch: string; from: "branch" } | null>;
};

/** Runs of other hosts, through the store that they share. Null: nobody knows of such a run, or its host does not answer and nothing was kept. */
export type Elsewhere = {
	/** Waits for something new at most `wait_ms`. */
	logs(
		job: number,
		attempt: number,
		options: { stream: LogStream; offset?: number; tail?: number; limit?: number; wait_ms: number },
	): Promise<(LogPiece & { run: string }) | null>;
	diff(job: number, attempt: number): Promise<{ patch: string; from: "worktree" | "run"; host: string } | null>;
	/** `there`: null when its host does not answer. */
	place(
		job: number,
		attempt: number,
	): Promise<{ host: string; path: string; branch: string; base_branch: string; there: boolean | null } | null>;
	outcome(job: number, attempt: number): Promise<{ host: string; outcome: Record<string, unknown> } | null>;
};

export type Context = {
	scheduler: Scheduler;
	/** Absent where no other host has the store. */
	elsewhere?: Elsewhere | undefined;
	supervisor: Supervision;
	config: ConfigHandle;
	triggers: TriggerHandle;
	agents: AgentHandle;
	repos: RepoHandle;
	work: WorkHandle;
	home: string;
	version: string;
	pid: number;
	/** Epoch milliseconds. */
	startedAt: number;
	/** The HTTP port; `problem`: why there is none although one was asked for, or why it is another one; `ready`: runs of before have been found again, and claims have begun. */
	doors(): { port: number | null; problem: string | null; ready: boolean };
	/** What is wrong with the disk of the home. */
	disk?(): string | null;
	log: Log;
	clock: Clock;
	/** Timers: how long a call waits for news, heartbeats. */
	host: Pick<Host, "after" | "turn">;
	/** Who is meant when a caller on the socket does not say: the OS user. */
	user: string;
	/** Begins to stop the daemon; returns at once. */
	down(options: { runs: "leave" | "stop"; graceMs: number | undefined; by: string }): void;
	doctor(): Promise<Checkup[]>;
	/** What a kernel.db holds; refuses a file that is none. */
	kernelFile(path: string): KernelDump;
	/** Sources, recipes and what is slung. */
	intake: Intake;
};

/** Who asks. `job`: the job whose run it is, `token` its run's. */
export type Caller = { role: Role; by: string; door: "socket" | "http"; job?: number; token?: number };

/** Tokens of the HTTP door, and of `session.auth` on the socket. */
export type Tokens = { operator: string; viewer: string };

/** Jobs whose runs on this host a pause with `freeze` has stopped. */
export const frozenIn = ({ supervisor }: Context): number[] => supervisor.live().flatMap(({ job, frozen }) => (frozen ? [job] : []));
