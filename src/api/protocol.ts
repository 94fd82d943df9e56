// The single list of everything that can be asked of a daemon: every method with its role, parameters and result. The server, the client, the CLI's
// completion and docs/reference/rpc.md all read it.

import type { Mistake } from "../core/errors.ts";
import type { Method } from "./fields.ts";
import { AGENT_METHODS } from "./protocol/agent.ts";
import { CRON_METHODS } from "./protocol/cron.ts";
import { HOST_METHODS } from "./protocol/host.ts";
import { JOB_METHODS } from "./protocol/job.ts";
import { KERNEL_METHODS } from "./protocol/kernel.ts";
import { NOUN_METHODS } from "./protocol/nouns.ts";
import { REPO_METHODS } from "./protocol/repo.ts";
import { RUN_METHODS } from "./protocol/run.ts";
import { SCHEDULER_METHODS } from "./protocol/scheduler.ts";

export type { Field, Fields, Method, Ref, Role } from "./fields.ts";

/** Grows when a client of before could not talk to a server of now. */
export const PROTOCOL = 1;
export const SCHEMA_VERSION = 1;

export const METHODS = {
	...JOB_METHODS,
	...RUN_METHODS,
	...SCHEDULER_METHODS,
	...NOUN_METHODS,
	...HOST_METHODS,
	...AGENT_METHODS,
	...CRON_METHODS,
	...REPO_METHODS,
	...KERNEL_METHODS,
} as const satisfies Record<string, Method>;

export type MethodName = keyof typeof METHODS;
type TypesOf<M extends MethodName> = (typeof METHODS)[M] extends { readonly of?: infer T } ? Exclude<T, undefined> : never;

/** Who asks, for the record; the socket's callers may say it, whatever the method. */
export type By = { by?: string | undefined };
export type Params<M extends MethodName> = TypesOf<M> extends { params: infer P } ? P & By : never;
export type Result<M extends MethodName> = TypesOf<M> extends { result: infer R } ? R : never;

export const isMethod = (name: string): name is MethodName => Object.hasOwn(METHODS, name);

/**
 * Numbers of errors; `data.code` says more, in a word.
 *
 * | number | name |
 * |---|---|
 * | −32700 | not JSON |
 * | −32600 | no request of JSON-RPC 2.0 |
 * | −32601 | no such method |
 * | −32602 | invalid, unknown_key, cycle, impossible, limit, forbidden |
 * | −32603 | our fault |
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

/** What a refusal carries besides number and message. */
export type ErrorData = {
	code: string;
	field?: string | undefined;
	hint?: string | undefined;
	kernel?: string | undefined;
	also?: readonly Mistake[] | undefined;
};
export type ErrorBody = { code: number; message: string; data?: ErrorData | undefined };
export type Answer = { jsonrpc: "2.0"; id: number | string | null } & ({ result: unknown } | { error: ErrorBody });

export const LIMITS = {
	/** Bytes of one line on the socket, or of one HTTP body. */
	line: 10_000_000,
	/** Requests in one batch. */
	batch: 100,
	/** Brackets within brackets. */
	nesting: 100,
	/** How long a call may wait for news, in milliseconds. */
	wait_ms: 25_000,
} as const;
