// What an agent does, in one vocabulary for all of them: each adapter turns a line of output into happenings; reading, judging and showing look only at these.

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

/** Why something went wrong. `aborted`: somebody stopped it. `session_gone`: what was to be resumed is not there. */
export type Cause =
	| "limited"
	| "throttled"
	| "transient"
	| "auth"
	| "billing"
	| "budget"
	| "context"
	| "needs_human"
	| "aborted"
	| "session_gone"
	| "unknown";

/** Whole numbers. `tokens` is all of them together; the parts are counted as the agent counts them. */
export type Used = {
	tokens: number;
	input_tokens: number;
	output_tokens: number;
	/** Read from the cache. Codex and Gemini count them among `input_tokens`, too. */
	cached_tokens: number;
	cache_write_tokens: number;
	/** Null where the agent tells no cost. */
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
	/** The version of the program, in its own words. */
	| { is: "version"; text: string }
	/** `piece`: the next one continues the same message. */
	| { is: "said"; text: string; piece?: true }
	| { is: "thought"; text: string }
	| { is: "notice"; text: string }
	/** `at`: when the model began to answer, epoch milliseconds, of programs that tell of tools only when they are done. */
	| { is: "turn"; at?: number }
	| { is: "tool"; id: string; name: string; text: string }
	| { is: "tool_done"; id: string; how: "ok" | "failed" | "denied"; text: string }
	/** One call of the model, as it is seen while it runs, and what it used as far as that is told yet. Comes several times for one `id`, and may grow. */
	| { is: "call"; id: string; used: Used }
	/** It will try again by itself. */
	| ({ is: "retry" } & Trouble)
	/** The provider has refused more until then; null when it does not say. `assumed`: it does not, and this is what its quotas usually last until. */
	| { is: "limit"; until: number | null; assumed?: string | undefined }
	| ({ is: "trouble" } & Trouble)
	/**
	 * What was used. `step`: since the last such. `process`: since this process began. `session`: since the session began, over all its processes.
	 * `either`: one of the last two, depending on the version; `own`: what this process alone used, where that is told. `id`: of a step, so that a line
	 * that comes twice is counted once.
	 */
	| { is: "used"; scope: "step" | "process" | "session" | "either"; used: Used; own?: Used | undefined; id?: string }
	/**
	 * The last word about a turn. `denied`: tool calls that it was not allowed to make. `asked`: what it wanted a tool to ask a person. `doubtful`: it does not say in words that are known that all went well,
	 * so that it counts only where nothing else speaks against it.
	 */
	| { is: "ended"; how: "well" | "badly"; cause: Cause; text: string; denied?: string[]; asked?: string[]; doubtful?: true };

/** What an adapter makes of one line that was JSON. Unknown events are no happenings. */
export type Interpret = (event: Json) => Happening[];
export type Json = Record<string, unknown>;
