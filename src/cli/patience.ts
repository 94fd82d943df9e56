// What a command does when its daemon goes away in the middle of a request.

import type { MethodName } from "../api/protocol.ts";

/** Methods that are repeated with the next daemon if one goes away in the middle: they only read, or are idempotent. */
export const REPEATABLE: readonly MethodName[] = [
	"job.wait",
	"job.logs",
	"job.list",
	"job.show",
	"job.history",
	"job.why",
	"job.graph",
	"scheduler.status",
	"stats.show",
	// Idempotent: the last report counts.
	"run.verdict",
	"run.result",
];
/** How long and how often the client looks for a daemon that has gone: it may come back. After `own` attempts, a daemon that died is restarted. */
export const PATIENCE = { tries: 40, own: 4, everyMs: 250 };
