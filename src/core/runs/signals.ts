// The signals that a person can send to a run. SIGKILL, SIGSTOP and SIGCONT are left to cancel, freeze and thaw, which record what they do: a run that is
// killed without a record would look like a crash.

import * as check from "../input/check.ts";
import { isOneOf } from "../text/one-of.ts";

export const SIGNALS = ["INT", "TERM", "HUP", "USR1", "USR2", "QUIT"] as const;
export type RunSignal = (typeof SIGNALS)[number];

const INSTEAD: Record<string, string> = {
	KILL: "end the job instead: sluice cancel ID",
	STOP: "freeze the job instead: sluice freeze ID",
	TSTP: "freeze the job instead: sluice freeze ID",
	CONT: "thaw the job instead: sluice thaw ID",
};

/** In any of the forms that people write: TERM, SIGTERM, term. */
export function readSignal(value: unknown, field: string): RunSignal {
	const name = check.word(value, field).toUpperCase().replace(/^SIG/, "");
	if (isOneOf(name, SIGNALS)) return name;
	const instead = Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : undefined;
	throw check.wrong(field, `${check.shown(value)} is not a signal that can be sent to a job`, instead ?? `one of ${SIGNALS.join(", ")}`);
}
