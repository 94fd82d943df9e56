// What agents do, in one vocabulary: each adapter turns a line of output into happenings; reading, judging and rendering use only these.

export const OUTCOMES = [
	"ok",
	"needs_human",
	"limited",
	"throttled",
	"transient",
	"auth",
	"billing",
	"budget",
	"context",
	"killed",
	"crashed",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Why something went wrong. `aborted`: a person or a signal stopped it. `session_gone`: the session to resume does not exist. */
export type Cause = Exclude<Outcome, "ok" | "killed" | "crashed"> | "aborted" | "session_gone" | "unknown";

/** Whole numbers. `tokens` is the total; the parts follow the agent's own way of counting. */
export type Used = {
	tokens: number;
	input_tokens: number;
	output_tokens: number;
	/** Tokens read from the cache. Codex and Gemini include them in `input_tokens`, too. */
	cached_tokens: number;
	cache_write_tokens: number;
	/** Null if the agent reports no cost. */
	cost_micro: number | null;
};

export const NOTHING: Used = {
	tokens: 0,
	input_tokens: 0,
	output_tokens: 0,
	cached_tokens: 0,
	cache_write_tokens: 0,
	cost_micro: null,
};

export type Trouble = { cause: Cause; text: string; until?: number | undefined; retry_after_ms?: number | undefined };

export type Happening =
	| { is: "session"; id: string }
	/** The program's version, as it prints it. */
	| { is: "version"; text: string }
	/** `piece`: the next `said` continues the same message. */
	| { is: "said"; text: string; piece?: boolean }
	| { is: "thought"; text: string }
	| { is: "notice"; text: string }
	/** `at`: when the model began its answer, epoch milliseconds; only of programs that report tools after they are done. */
	| { is: "turn"; at?: number }
	| { is: "tool"; id: string; name: string; text: string }
	| { is: "tool_done"; id: string; how: "ok" | "failed" | "denied"; text: string }
	/** One call of the model, seen while it runs, with the usage reported so far. Repeats for one `id` with growing numbers. */
	| { is: "call"; id: string; used: Used }
	/** The agent will retry by itself. */
	| ({ is: "retry" } & Trouble)
	/**
	 * The provider refuses more calls until then; null if it does not say. `assumed`: the provider named no time, and this is when its quotas usually reset.
	 */
	| { is: "limit"; until: number | null; assumed?: string | undefined }
	| ({ is: "trouble" } & Trouble)
	/**
	 * Reported usage. `step`: since the last such report. `process`: since this process began. `session`: since the session began, over all its processes.
	 * `either`: `process` or `session`, depending on the version. `own`: usage of this process alone, if reported. `id`: identifies a step, so that a line
	 * printed twice counts once.
	 */
	| { is: "used"; scope: "step" | "process" | "session" | "either"; used: Used; own?: Used | undefined; id?: string | undefined }
	/**
	 * The end of a turn. `denied`: tool calls that were not allowed. `asked`: what the agent wanted a tool to ask a person. `doubtful`: the event has no
	 * known word for success, so it counts as one only if nothing contradicts it.
	 */
	| {
			is: "ended";
			how: "well" | "badly";
			cause: Cause;
			text: string;
			denied?: string[] | undefined;
			asked?: string[] | undefined;
			doubtful?: boolean;
	  };

/** Turns one line of JSON into happenings. Unknown events yield none. */
export type Interpret = (event: Json) => Happening[];
export type Json = Record<string, unknown>;
