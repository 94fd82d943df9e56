// Contract of what hosts know of each other's runs, through the store that they share: what is kept of a run that has ended, and questions about one that is
// still going on. Hosts need not reach each other in any other way.

import type { Format } from "./core/agents/profile.ts";
import type { LogStream } from "./core/log-piece.ts";

/** Some bytes of a log, from `from` to before `to`: deflated, in base64. */
export type KeptPart = { from: number; to: number; packed: string };
/** Its beginning and its end; what was between them is only on its host. */
export type KeptLog = { size: number; parts: KeptPart[] };
export type KeptPatch = { size: number; files: number; added: number; removed: number; packed: string | null };

/** What is kept of a run. Bounded: this is for looking, not for keeping logs. */
export type RunOutput = {
	version: 1;
	run: string;
	host: string;
	kept_at: number;
	/** How stdout is to be read. */
	output: Format;
	/** The host's account: outcome.json. */
	outcome: Record<string, unknown> | null;
	stdout: KeptLog;
	stderr: KeptLog;
	/** Which of them came first: as in the run's file `order`. Absent where it is not known. */
	order?: string;
	patch: KeptPatch | null;
	/** Where it took place, if it had a worktree. */
	place: KeptPlace | null;
};
export type KeptPlace = { path: string; branch: string; base_branch: string };

/** What one host asks another. */
export type Question =
	| { what: "log"; job: number; attempt: number; stream: LogStream; offset: number; tail?: number; limit: number; wait_ms: number }
	| { what: "diff"; job: number; attempt: number }
	| { what: "place"; job: number };

export interface Outputs {
	/** Kept with the job and forgotten with it; nothing is kept of a job that is gone. The same run again takes the place of what was there. */
	keep(job: number, attempt: number, output: RunOutput): Promise<void>;
	read(job: number, attempt: number): Promise<RunOutput | null>;
	/** Of these runs those of which nothing is kept, though their job is there. */
	missing(runs: { job: number; attempt: number }[]): Promise<{ job: number; attempt: number }[]>;
	/** The host that this run was given to; null when there was no such run. */
	ranOn(job: number, attempt: number): Promise<string | null>;
	/** Asks a host and waits for its answer, `waitMs` at most; null when none came. */
	inquire(host: string, question: Question, waitMs: number): Promise<unknown>;
	/** From now on questions to this host are answered so. An answer that rejects is none. Returns how to end it. */
	answer(call: (question: Question) => Promise<unknown>): () => void;
}
