// Contract of what hosts know of each other's runs and calls through the store they share: what is kept of a run that has ended, and questions about a run that is live.
// Hosts need no other connection to each other.

import type { Format } from "../core/agents/profile.ts";
import type { RunSignal } from "../core/runs/signals.ts";
import type { LogStream } from "../core/text/log-piece.ts";

/** Bytes `from` up to `to` (exclusive) of a log: deflated, in base64. */
export type KeptPart = { from: number; to: number; packed: string };
/** The beginning and the end of a log; the middle is only on its host. */
export type KeptLog = { size: number; parts: KeptPart[] };
export type KeptPatch = { size: number; files: number; added: number; removed: number; packed: string | null };

/** What is kept of a run. Bounded: it is for inspection, not for archiving logs. */
export type RunOutput = {
	version: 1;
	run: string;
	host: string;
	kept_at: number;
	/** The format of stdout. */
	output: Format;
	/** The host's report: outcome.json. */
	outcome: Record<string, unknown> | null;
	stdout: KeptLog;
	stderr: KeptLog;
	/** The order in which both logs were written, as in the run's file `order`. Absent if not known. */
	order?: string;
	patch: KeptPatch | null;
	/** Where the run took place, if it had a worktree. */
	place: KeptPlace | null;
};
type KeptPlace = { path: string; branch: string; base_branch: string };

/** What one host asks another. */
export type OutputRequest =
	| { what: "log"; job: number; attempt: number; stream: LogStream; offset: number; tail?: number; limit: number; wait_ms: number }
	| { what: "diff"; job: number; attempt: number }
	| { what: "place"; job: number }
	/** To send a signal to a live run: whether it was sent. */
	| { what: "signal"; job: number; attempt: number; signal: RunSignal }
	/** The record of calls of that host, the newest first. */
	| {
			what: "audit";
			limit: number;
			by?: string | undefined;
			method?: string | undefined;
			since?: number | undefined;
			workers: "with" | "without";
	  };

export interface Outputs {
	/**
	 * Keeps the output of a run with its job; it is forgotten with the job. Keeps nothing for a job that is gone. A second call for the same run replaces the
	 * first.
	 */
	keep(job: number, attempt: number, output: RunOutput): Promise<void>;
	read(job: number, attempt: number): Promise<RunOutput | null>;
	/** The runs of these of which no output is kept although their job exists. */
	missing(runs: { job: number; attempt: number }[]): Promise<{ job: number; attempt: number }[]>;
	/** The host that this run was assigned to; null if there was no such run. */
	ranOn(job: number, attempt: number): Promise<string | null>;
	/** Asks a host and waits for its answer, at most `waitMs`; null if none came. */
	inquire(host: string, question: OutputRequest, waitMs: number): Promise<unknown>;
	/** Answers questions to this host with `call` from now on. If `call` rejects, no answer is sent. Returns a function that ends it. */
	answer(call: (question: OutputRequest) => Promise<unknown>): () => void;
}
