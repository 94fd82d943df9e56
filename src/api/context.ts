// What the methods act on: parts of the daemon, passed in when it is put together. Methods use only these.

import type { Clock, Host } from "../contracts/host.ts";
import type { Intake } from "../contracts/intake.ts";
import type { Log } from "../contracts/log.ts";
import type { FireResult, KernelDump, Scheduler, TriggerView } from "../contracts/scheduler.ts";
import type { Webhooks } from "../contracts/webhook.ts";
import type { PruneReport, RepoSettings, WorktreeView } from "../contracts/workspace.ts";
import type { Format, Profile } from "../core/agents/profile.ts";
import type { JobInput } from "../core/job.ts";
import type { RunSignal } from "../core/runs/signals.ts";
import type { LogStream } from "../core/text/log-piece.ts";
import type { CatchUp } from "../core/time/slots.ts";
import type { PersonRole } from "../core/trust/people.ts";
import type { FileChange, RecipesState } from "../core/trust/repo-files.ts";
import type { LogPart, Supervisor } from "../supervisor/index.ts";
import type { Role } from "./fields.ts";
import type { Params } from "./protocol.ts";
import type { AuditRecord } from "./server/audit.ts";

/** A piece of a run's log; `run` is null for a job that has not run yet. */
export type LogPiece = Omit<LogPart, "run"> & {
	run: string | null;
	/** The host of the run, if it is another host. */
	host?: string;
	/** Why there is no text now, if the reason is not simply that nothing was written yet. */
	note?: string;
};

/** The part of the supervisor that methods use. */
export type Supervision = Pick<
	Supervisor,
	| "logs"
	| "outcome"
	| "runCycle"
	| "freeze"
	| "thaw"
	| "signal"
	| "live"
	| "progress"
	| "attach"
	| "detach"
	| "onProgress"
	| "promptProblem"
	| "roleOfToken"
	| "runOfProcess"
	| "noteVerdict"
	| "dropForgotten"
> &
	Partial<Pick<Supervisor, "claimAlong">>;

export type Setting = { key: string; value: unknown; origin: string };
export type Problem = { code: string; message: string; field: string | null; hint: string | null };

/** The configuration file. `get` of a group returns all of its keys; `set` resolves once the change is in force. */
type ConfigHandle = {
	get(key: string): Setting[];
	set(key: string, value: unknown, by: string): Promise<Setting[]>;
	unset(key: string, by: string): Promise<Setting[]>;
	list(): Setting[];
	/** What is wrong with a text, or with the file as it is. */
	check(text?: string): Problem[];
	/** Why the file as it is is not in force; null if it is. */
	problem?(): Problem | null;
	settings(): { secrets: readonly string[] };
};

/** A configured trigger with its stored state. `name` is `cron:<name>` or `watch:<name>`. */
export type TriggerInfo = TriggerView & {
	kind: "cron" | "watch";
	schedule: string | null;
	timezone: string | null;
	catch_up: CatchUp | null;
	paths: string[] | null;
	next_at: number | null;
	add: JobInput;
};
type TriggerHandle = {
	list(): Promise<TriggerInfo[]>;
	/** Adds the trigger's job now, whatever its schedule says; accepts the full name or the short one. */
	run(name: string, by: string): Promise<FireResult>;
};

/** An agent as shown. `logged_in`: judged by files that a login leaves; null if unknown. `accounts`: accounts with their own folder. */
export type AgentDocument = {
	name: string;
	built_in: boolean;
	output: Format;
	program: string | null;
	path: string | null;
	version: string | null;
	/** The newest version that was tested. */
	tested: string | null;
	/** An older version that was tested as well. */
	tested_older: string | null;
	/** The installed version is newer than the tested one: its output may not be understood. */
	newer: boolean;
	resumes: boolean;
	/** Whether a run will be logged in: judged by the program's folder and by the variables that runs get. */
	logged_in: boolean | null;
	/** Accounts with their own folder or keys. */
	accounts: { account: string; home: string | null; logged_in: boolean }[];
	/** Variables that it takes a key from. `handed`: its runs get it; `daemon`: the daemon's own environment has it. */
	keys: { name: string; handed: boolean; daemon: boolean }[];
	problem: string | null;
	hint: string | null;
};
export type ProfileDocument = AgentDocument & { profile: Omit<Profile, "ruled"> };
/** The fields of a job that decide whether its program is available. */
export type Startable = Pick<JobInput, "agent" | "command" | "env" | "cwd" | "repo" | "allow" | "permission">;
export type AgentHandle = {
	/** Why a job that is added now could not start on this machine; null if nothing prevents it. */
	startProblem(job: Startable): string | null;
	/** All agents, built in or configured. */
	names(): string[];
	list(): Promise<AgentDocument[]>;
	show(name: string): Promise<ProfileDocument>;
	/** Throws if there is no agent of this name. */
	profile(name: string): Profile;
	/** How a person resumes a session; null if that is not possible. */
	opening(name: string, session: string, account: string | null): { argv: string[]; env: Record<string, string> } | null;
};

/** `optional`: missing or unused, and nothing needs it. */
export type Checkup = { name: string; ok: boolean; optional?: true | undefined; detail: string; hint?: string | undefined };

/** A repo as shown. `file`: whether its own sluice.yml is in force; `problem`: why Sluice could not work there now. */
export type RepoDocument = Omit<RepoSettings, "trusted"> & {
	name: string;
	max: number | null;
	prefix: string | null;
	file: "none" | "untrusted" | "changed" | "bad" | "trusted";
	file_problem: string | null;
	/** Whether its own recipes are in force. */
	recipes: RecipesState;
	/** How its sluice.yml and its recipes differ from the trusted ones, and the programs that they name now. */
	changes: (FileChange & { commands: string[][] })[];
	/** Why its sluice.yml or its recipes are not in force, and what to type. */
	trust_problem: string | null;
	/** Digest of all files that trust covers, as they are now; null if there are none. */
	digest: string | null;
	base: string | null;
	head: string | null;
	/** "merge", "rebase" … while git has one in progress. */
	busy: string | null;
	problem: string | null;
	/** Hosts that jobs of this repo may run on. */
	hosts: string[];
	worktrees: WorktreeView[];
};
/** Exactly one of `path` and `url`. */
export type NewRepo = Omit<Params<"repo.add">, "by">;

export type RepoHandle = {
	list(): Promise<RepoDocument[]>;
	show(name: string): Promise<RepoDocument>;
	add(repo: NewRepo, by: string): Promise<RepoDocument>;
	/** `shown`: the digest of the files that the caller has seen; refused if they have changed since. */
	trust(name: string, trusted: boolean, by: string, shown?: string): Promise<RepoDocument>;
	remove(name: string, by: string): Promise<void>;
	/** Throws if the repo does not have the branch, and suggests the nearest one. Does not check a repo that is not on this machine or has no folder. */
	mustHaveBranch(name: string, branch: string): Promise<void>;
};

/** The part of the workspaces that methods use. */
type WorkHandle = {
	prune(act: "remove" | "only look"): Promise<PruneReport>;
	worktrees(): WorktreeView[];
	/** A job's worktree, for a person who is about to work there: its `.git` is put back as git made it. */
	place(job: number): Promise<WorktreeView | null>;
	/** How a person makes a worktree again that is gone: argv, null when something is there; null when that is not possible here. */
	restorable(
		repo: string,
		past: { job: number; branch?: string | undefined; commit?: string | undefined },
	): Promise<{ path: string; argv: string[] | null } | null>;
	/** Jobs whose merge continues only after a person acts. */
	stuckMerges(): number[];
	/** Checks whether git has an operation in progress in any repo, and reports it to the scheduler: rewinds depend on it. */
	lookForBusy(): Promise<void>;
	/** The diff of the working tree that contains a folder. `registered`: refused unless it is a worktree of ours or the folder of a configured repo. */
	capture(folder: string, whose: "any" | "registered"): Promise<string>;
	/** `beginning`: of a patch that is too long its first lines, and `of_bytes`, the size of all of it. */
	diff(
		job: number,
		attempt: number,
		which?: "whole" | "beginning",
	): Promise<{ patch: string; from: "worktree" | "run"; of_bytes?: number } | null>;
	/** What a branch has that its base does not; null if one of them does not exist. */
	branchDiff(
		repo: string,
		branch: string,
		base: string | undefined,
		which?: "whole" | "beginning",
	): Promise<{ patch: string; from: "branch"; of_bytes?: number } | null>;
};

/** Runs of other hosts, through the shared store. Null: no host knows such a run, or its host does not answer and nothing was stored. */
export type Elsewhere = {
	/** Waits at most `wait_ms` for new output. */
	logs(
		job: number,
		attempt: number,
		options: { stream: LogStream; offset?: number; tail?: number; limit?: number; wait_ms: number },
	): Promise<(LogPiece & { run: string }) | null>;
	diff(job: number, attempt: number): Promise<{ patch: string; from: "worktree" | "run"; host: string } | null>;
	/** `there`: null if its host does not answer. */
	place(
		job: number,
		attempt: number,
	): Promise<{ host: string; path: string; branch: string; base_branch: string; there: boolean | null } | null>;
	/** `sent`: null if its host does not answer. */
	signal(job: number, attempt: number, signal: RunSignal): Promise<{ host: string | null; sent: boolean | null }>;
	outcome(job: number, attempt: number): Promise<{ host: string; outcome: Record<string, unknown> } | null>;
};

export type Context = {
	scheduler: Scheduler;
	/** Absent if no other host shares the store. */
	elsewhere?: Elsewhere | undefined;
	supervisor: Supervision;
	config: ConfigHandle;
	triggers: TriggerHandle;
	webhooks: Webhooks;
	agents: AgentHandle;
	repos: RepoHandle;
	work: WorkHandle;
	home: string;
	version: string;
	pid: number;
	/** Epoch milliseconds. */
	startedAt: number;
	audit: AuditRecord;
	/**
	 * The HTTP port. `problem`: why there is none although one was requested, or why it is another one. `ready`: runs from before the start were found again,
	 * and claims have begun.
	 */
	endpoints(): { port: number | null; problem: string | null; ready: boolean; shared?: SharedEndpoint | null };
	/** A problem with the disk of the home. */
	disk?(): string | null;
	log: Log;
	clock: Clock;
	/** Timers for calls that wait for a change, and for heartbeats. */
	host: Pick<Host, "after" | "turn">;
	/** The name for the record if a caller on the socket does not give one: the OS user. */
	user: string;
	/** Begins to stop the daemon; returns at once. */
	down(options: { runs: "leave" | "stop"; graceMs: number | undefined; by: string }): void;
	doctor(): Promise<Checkup[]>;
	/** The contents of a kernel.db; throws if the file is not one. */
	kernelFile(path: string): KernelDump;
	/** Sources, recipes and what is slung. */
	intake: Intake;
};

/** How the daemon is reached from other machines. `url` null: it is not, for the reason in `problem`. */
export type SharedEndpoint = {
	url: string | null;
	address: string;
	fingerprint: string | null;
	pin: string | null;
	own_certificate: boolean;
	problem: string | null;
};

/**
 * The caller. `job`: the job whose run it is, `token`: that run's token. `found`: it sent no token, but its process belongs to this run, which is live or
 * over.
 */
export type Caller = {
	role: Role;
	by: string;
	channel: "socket" | "http";
	job?: number;
	token?: number;
	found?: { run: string; job: number; state: "live" | "over" };
	/** A person: `session` is the digest of the session, null if a proxy named the person; `otherwise`: the role of people whom the proxy knows and Sluice does not. */
	person?: { name: string; session: string | null; otherwise?: PersonRole | undefined };
	/** The address of the caller's machine, for the record. */
	from?: string | undefined;
};

/** Tokens for HTTP, and for `session.auth` on the socket. */
export type Tokens = { admin: string; viewer: string };

/** Jobs whose runs on this host are frozen by a pause with `freeze`. */
export const frozenIn = ({ supervisor }: Context): number[] => supervisor.live().flatMap(({ job, frozen }) => (frozen ? [job] : []));
