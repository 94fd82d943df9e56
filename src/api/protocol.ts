// The single list of a daemon's methods, each with role, parameters and result. The server, the client, the CLI's completion and docs/reference/rpc.md all
// read it.

import type { Mistake } from "../core/errors.ts";
import type { Method } from "./fields.ts";
import { ACCOUNT_METHODS } from "./protocol/account.ts";
import { AGENT_METHODS } from "./protocol/agent.ts";
import { ARTIFACT_METHODS } from "./protocol/artifact.ts";
import { AUDIT_METHODS } from "./protocol/audit/audit.ts";
import { BATCH_METHODS } from "./protocol/batch.ts";
import { BUDGET_METHODS } from "./protocol/budget.ts";
import { CONFIG_METHODS } from "./protocol/config.ts";
import { CRON_METHODS } from "./protocol/cron.ts";
import { DOCTOR_METHODS } from "./protocol/doctor.ts";
import { HOST_METHODS } from "./protocol/host.ts";
import { JOB_METHODS } from "./protocol/job.ts";
import { KERNEL_METHODS } from "./protocol/kernel.ts";
import { LANE_METHODS } from "./protocol/lane.ts";
import { LOCK_METHODS } from "./protocol/lock.ts";
import { PEOPLE_METHODS } from "./protocol/people/people.ts";
import { RECIPE_METHODS } from "./protocol/recipe.ts";
import { REPO_METHODS } from "./protocol/repo.ts";
import { RUN_METHODS } from "./protocol/run.ts";
import { SCHEDULER_METHODS } from "./protocol/scheduler.ts";
import { SESSION_METHODS } from "./protocol/session.ts";
import { SOURCE_METHODS } from "./protocol/source.ts";
import { STATS_METHODS } from "./protocol/stats.ts";
import { WEBHOOK_METHODS } from "./protocol/webhook/webhook.ts";

export type { Method, Ref } from "./fields.ts";

/** Incremented when an older client could not talk to a newer server. */
export const PROTOCOL = 1;
export const SCHEMA_VERSION = 1;

export const METHODS = {
	...JOB_METHODS,
	...RUN_METHODS,
	...SCHEDULER_METHODS,
	...STATS_METHODS,
	...SESSION_METHODS,
	...LANE_METHODS,
	...ACCOUNT_METHODS,
	...BUDGET_METHODS,
	...LOCK_METHODS,
	...ARTIFACT_METHODS,
	...BATCH_METHODS,
	...SOURCE_METHODS,
	...RECIPE_METHODS,
	...CONFIG_METHODS,
	...DOCTOR_METHODS,
	...HOST_METHODS,
	...AGENT_METHODS,
	...CRON_METHODS,
	...WEBHOOK_METHODS,
	...REPO_METHODS,
	...PEOPLE_METHODS,
	...AUDIT_METHODS,
	...KERNEL_METHODS,
} as const satisfies Record<string, Method>;

export type MethodName = keyof typeof METHODS;
type TypesOf<M extends MethodName> = (typeof METHODS)[M] extends { readonly of?: infer T } ? Exclude<T, undefined> : never;

/** The caller's name for the record; callers on the socket may set it for any method. */
type By = { by?: string | undefined };
export type Params<M extends MethodName> = TypesOf<M> extends { params: infer P } ? P & By : never;
export type Result<M extends MethodName> = TypesOf<M> extends { result: infer R } ? R : never;

export const isMethod = (name: string): name is MethodName => Object.hasOwn(METHODS, name);

/**
 * Error numbers; `data.code` has a more specific word.
 *
 * | number | name |
 * |---|---|
 * | −32700 | not JSON |
 * | −32600 | not a request of JSON-RPC 2.0 |
 * | −32601 | no such method |
 * | −32602 | invalid, unknown_key, cycle, impossible, limit, forbidden |
 * | −32603 | internal error |
 * | −32003 | the caller's role does not allow it |
 * | −32004 | not_found |
 * | −32009 | conflict, illegal_transition, fenced |
 * | −32010 | store, closed |
 * | −32131 … −32135 | the kernel contract's own |
 */
export const RPC_CODES = {
	parse: -32700,
	request: -32600,
	method: -32601,
	params: -32602,
	internal: -32603,
	role: -32003,
	not_found: -32004,
	conflict: -32009,
	store: -32010,
} as const;

/** What a refusal has besides number and message. */
export type ErrorData = {
	code: string;
	field?: string | undefined;
	hint?: string | undefined;
	kernel?: string | undefined;
	also?: readonly Mistake[] | undefined;
};
export type ErrorBody = { code: number; message: string; data?: ErrorData | undefined };
export type RpcResponse = { jsonrpc: "2.0"; id: number | string | null } & ({ result: unknown } | { error: ErrorBody });

export const LIMITS = {
	/** Maximum bytes of a line on the socket, or of an HTTP body. */
	line: 10_000_000,
	/** Maximum requests in one batch. */
	batch: 100,
	/** Maximum nesting of brackets. */
	nesting: 100,
	/** How long a call may wait for a change, in milliseconds. */
	wait_ms: 25_000,
} as const;
