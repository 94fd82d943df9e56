// Failures at the command line, and the exit code of each.

/**
 * | exit | means                            | error codes                                                        |
 * |------|----------------------------------|--------------------------------------------------------------------|
 * | 0    | done                             |                                                                    |
 * | 1    | failed                           | store, closed, no_daemon, internal, every code not listed here     |
 * | 2    | usage                            | usage, invalid, unknown_key, cycle, impossible, limit, forbidden   |
 * | 3    | not found                        | not_found                                                          |
 * | 4    | illegal transition               | illegal_transition, conflict, fenced                               |
 * | 75   | deferred or limited, try later   | deferred, timeout, daemon_gone                                     |
 * | 130  | interrupted (SIGINT)             |                                                                    |
 * | 143  | terminated (SIGTERM)             |                                                                    |
 */
export const EXIT = { done: 0, failed: 1, usage: 2, notFound: 3, illegal: 4, later: 75, interrupted: 130, terminated: 143 } as const;

const EXIT_OF: Record<string, number> = {
	usage: EXIT.usage,
	invalid: EXIT.usage,
	unknown_key: EXIT.usage,
	cycle: EXIT.usage,
	impossible: EXIT.usage,
	limit: EXIT.usage,
	forbidden: EXIT.usage,
	unauthorised: EXIT.usage,
	not_found: EXIT.notFound,
	illegal_transition: EXIT.illegal,
	conflict: EXIT.illegal,
	fenced: EXIT.illegal,
	deferred: EXIT.later,
	timeout: EXIT.later,
	daemon_gone: EXIT.later,
};

export const exitOf = (code: string): number => EXIT_OF[code] ?? EXIT.failed;

/** A mistake as it is printed. */
export type Complaint = { message: string; hint?: string | undefined };

export class CliFailure extends Error {
	override readonly name = "CliFailure";
	readonly code: string;
	readonly hint: string | undefined;
	/** Further mistakes of the same kind, printed with it. */
	readonly also: readonly Complaint[];

	constructor(code: string, message: string, hint?: string, also: readonly Complaint[] = []) {
		super(message);
		this.code = code;
		this.hint = hint;
		this.also = also;
	}
}

export const usage = (message: string, hint?: string): CliFailure => new CliFailure("usage", message, hint);

/** Turns any exception into code, message and hint. The daemon's errors have their own; a stack is never shown. */
export function failureOf(error: unknown): { code: string; message: string; hint?: string; also?: readonly Complaint[] } {
	const { code, message, hint, also } = (typeof error === "object" && error !== null ? error : { message: String(error) }) as {
		code?: unknown;
		message?: unknown;
		hint?: unknown;
		also?: unknown;
	};
	return {
		// Our codes are in lower case; Node's (ENOENT, ERR_…) mean nothing to a caller.
		code: typeof code === "string" && /^[a-z_]+$/.test(code) ? code : "internal",
		message: typeof message === "string" && message !== "" ? message : "something went wrong",
		...(typeof hint === "string" ? { hint } : {}),
		...(Array.isArray(also) && also.length > 0 ? { also: also as Complaint[] } : {}),
	};
}
