// One step of a workload, as data. References go by the operation that made a job, so that a list with holes still makes sense.

import type { FactValue } from "../src/contracts/host.ts";
import type { AgentState, PauseScope, RunEnd } from "../src/contracts/scheduler.ts";
import type { Granted } from "../src/core/agents/permissions/allowing.ts";
import type { Config } from "../src/core/config.ts";
import type { ExitKind, JobInput, MergeStatus, Policy } from "../src/core/job.ts";

/** "12": the job that operation 12 added; "12.3": the fourth job of operation 12's manifest. */
export type Slot = string;

/** A job to add; times are relative to the moment of the call, references are slots. */
export type JobPlan = {
	input: JobInput;
	runnable_in?: number;
	deadline_in?: number;
	after?: { slot: Slot; policy?: Policy }[];
	/** Names of the same manifest. */
	after_names?: { name: string; policy?: Policy }[];
	/** An id that nobody has. */
	after_missing?: true;
	parent?: Slot;
	needs_jobs?: { kind: "job" | "patch"; slot: Slot }[];
};

/** Whom an operation is about: the state a candidate must be in, and a number that picks one of them. */
export type Whom = { of: "waiting" | "running" | "ended" | "asking" | "held" | "merging" | "any" | "missing"; pick: number };

export type Fault = {
	/**
	 * begin, flush, commit, committed: in a transaction; probe, turn: while waiting for the host. Of a fleet with a leader: statements of a member (send, withdraw,
	 * poll, beat, snapshot), of the leader (inbox, beats, session) and of a process that begins to lead (lead, consumed, tries); call: before the call is made.
	 */
	point: "begin" | "flush" | "commit" | "committed" | "probe" | "turn" | Statement | "call";
	/** At which passing of that point, from 1. */
	nth: number;
	/**
	 * crash: the process dies. Of a fleet with a leader: a statement, or its answer, is lost, comes late or twice; the leader's session is cut; the database is away; a
	 * candidate speaks later messages; the caller loses patience.
	 */
	kind: "crash" | "full" | "busy" | "lost before" | "lost after" | "late" | "twice" | "cut" | "away" | "outdated" | "withdraw";
	/** Whose step; absent: the caller's. */
	of?: "leader";
	/** How long the database is away. */
	ms?: number;
	/** After so many milliseconds the caller withdraws its request. */
	patience?: number;
};
type Statement = "send" | "withdraw" | "poll" | "beat" | "snapshot" | "inbox" | "beats" | "session" | "lead" | "consumed" | "tries";

export type EndPlan = {
	kind: ExitKind;
	code?: number;
	usage?: Record<string, number>;
	session?: string;
	until_in?: number;
	retry_after_ms?: number;
	closed?: string;
	question?: string;
	denied?: string[];
	closing_question?: string;
	reboot?: true;
	outage?: true;
	goes_on?: true;
	fault?: "job";
	/** Its host has what the next run goes on with. */
	stays?: true;
	merge_status?: NonNullable<RunEnd["merge_status"]>;
};

type Plain =
	/** The wall clock moves by ms + jump, the monotonic one by ms. `awake`: hosts that say then that they are there. */
	| { kind: "advance"; ms: number; jump?: number; awake?: number[] }
	| { kind: "tick" }
	/** `inside`: picks the running job whose run adds it. */
	| { kind: "add"; job: JobPlan; force?: true; inside?: number }
	| { kind: "claim"; max?: number; lanes?: string[]; kinds?: ("command" | "agent" | "payload")[]; host?: string; by_hand?: true }
	| { kind: "apply"; jobs: JobPlan[]; batch?: string; defaults?: JobInput; force?: true; again?: true }
	| { kind: "started"; whom: Whom; stale?: true }
	| { kind: "answered"; whom: Whom; stale?: true }
	| { kind: "end"; whom: Whom; end: EndPlan; started?: true; token?: "stale" | "twice" }
	| { kind: "extend"; whom: Whom; stale?: true }
	/** A run waits for jobs, gives one of its waits up; its daemon starts anew. */
	| { kind: "wait"; whom: Whom; of: Whom["of"]; picks: number[]; stale?: true }
	| { kind: "unwait"; pick: number }
	| { kind: "unwait_all" }
	/** A run says how its work went, or what came of it. */
	| { kind: "verdict"; whom: Whom; verdict: "ok" | "fail" | "ask"; stale?: true }
	| { kind: "result"; whom: Whom; value: unknown; stale?: true }
	| { kind: "cancel"; whom: Whom; subtree?: true }
	| { kind: "cancel_all"; of: Whom["of"]; picks: number[] }
	| { kind: "act"; what: Act; whom: Whom; value?: number; force?: true; text?: string; grant?: Granted }
	| { kind: "pause"; scope: PauseScope; until_in?: number; bare?: true }
	| { kind: "resume"; scope: PauseScope; bare?: true }
	| { kind: "clear"; item?: string }
	| { kind: "merged"; whom: Whom; status: MergeStatus }
	/** The world changes; the engine hears of it by a probe, or at once if told. */
	| { kind: "fact"; key: string; value: FactValue | { error: string } | "gone"; told?: true }
	| { kind: "mark"; artifact: string; absent?: true }
	| { kind: "limit"; account: string; until_in?: number; retry_after_ms?: number; closed?: string }
	| { kind: "clear_account"; account: string }
	| { kind: "acquire" | "release"; account: string; holder: string }
	| {
			kind: "grant";
			subject: string;
			dim: string;
			limit: number | null;
			window?: "hour" | "day" | null;
			on_breach?: "finish" | "stop";
			reserve?: number;
	  }
	/** What of a waiting job is changed; `after`: to come after another job, or, without a pick, after none. */
	| {
			kind: "edit";
			whom: Whom;
			set?: Pick<JobInput, "priority" | "lane" | "locks" | "requires_approval" | "hold">;
			after?: { pick?: number };
	  }
	| { kind: "charge"; subject: string; dim: string; amount: number }
	| { kind: "configure"; config: Config }
	| { kind: "gc"; days: number }
	| { kind: "recover"; pick: number; reboot?: true }
	| { kind: "heartbeat"; host: string }
	/** The process dies between two calls; another one opens the same file. */
	| { kind: "crash" }
	| { kind: "look"; what: "plan" | "status" | "positions" | "ledgers" | "show" | "missing" | "fleet" }
	| KernelOp
	| FleetOp
	/** Calls made in one turn, none waiting for another. */
	| { kind: "together"; ops: Op[] };

export type Act =
	| "promote"
	| "demote"
	| "priority"
	| "runNow"
	| "hold"
	| "release"
	| "freeze"
	| "thaw"
	| "approve"
	| "reject"
	| "answer"
	| "retry"
	| "rerun";

/** Hosts by their place in the plan. */
export type FleetOp =
	| { kind: "drain"; host: number; stop?: true }
	| { kind: "undrain" | "remove"; host: number }
	| { kind: "leave" }
	/** It has other repos from now on, until it is started again. */
	| { kind: "offer"; repos: string[] | null }
	/** The process dies, and is started again only when something is asked of it. */
	| { kind: "die" }
	/** A word about a run that was lost with its host. */
	| { kind: "late"; what: "complete" | "started" | "extend"; pick: number }
	/** A second process of the same home, while the first still lives. */
	| { kind: "overtake"; what: "heartbeat" | "claim" | "leave" }
	/** Its claim stands at the leader while others call. */
	| { kind: "stand"; ops: Op[] }
	/** A request that ends each leader which carries it out, and one that comes after it. */
	| { kind: "poison"; job: JobPlan }
	/** Another home wants its name, a process without a home goes by it, or its home wants another name. */
	| { kind: "usurp"; who: "home" | "library" | "renamed" };

export type KernelOp =
	| { kind: "k_agent"; name: string }
	| { kind: "k_move"; pick: number; to: AgentState }
	| {
			kind: "k_enqueue";
			pick: number;
			priority?: number;
			in_s?: number;
			deadline_in_s?: number;
			trigger?: string;
			unique?: ("pid" | "trigger" | "priority")[];
			bad?: true;
	  }
	| { kind: "k_claim"; worker: string; max?: number; unchecked?: true; ahead_s?: number }
	| { kind: "k_complete"; pick: number; exit: "completed" | "cancelled" | "failed" | "crashed"; wrong_worker?: true }
	| { kind: "k_cancel"; pick: number }
	| { kind: "k_extend"; pick: number; wrong_worker?: true }
	| { kind: "k_expire" }
	| { kind: "k_stale"; seconds: number }
	| { kind: "k_grant"; pick: number; dim: string; limit: number; window?: "hour" | "day" }
	| { kind: "k_charge" | "k_refund" | "k_check"; pick: number; dim: string; amount: number };

export type Op = Plain & { id: number; via?: number; fault?: Fault };

/** What one seed stands for: a configuration, a world, a list of operations. */
export type Plan = {
	seed: number;
	/** Several hosts, each with a home and a lease. */
	fleet?: true;
	/** One of them leads; absent: all of them write to one file. */
	leader?: true;
	preset?: "cards" | "town" | "dag" | "loops" | "kernel";
	config: Config;
	start: number;
	/** Needed by crashes and by two schedulers on one file. */
	file: boolean;
	hosts: { name: string; labels: string[]; repos?: string[] }[];
	/** Manifests larger than this go in by stages. */
	piece: number;
	facts: Record<string, FactValue | { error: string }>;
	ops: Op[];
};
