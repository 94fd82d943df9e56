// Shared by the kernel contract's methods: its errors, checked parameters, agents by pid.

import type { AgentState } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import { type ErrorCode, SluiceError } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";
import type { Tx } from "../transaction/tx.ts";

/** The kernel contract's JSON-RPC error numbers. */
export const KERNEL_CODES = {
	kernel_sched_illegal_transition: -32131,
	kernel_sched_unknown_id: -32132,
	kernel_sched_invalid_payload: -32133,
	kernel_sched_admission_denied: -32134,
	kernel_sched_invalid_state_filter: -32135,
} as const;
export type KernelErrorName = keyof typeof KERNEL_CODES;

export class KernelError extends SluiceError {
	readonly kernel: KernelErrorName;
	readonly rpc_code: number;
	constructor(kernel: KernelErrorName, code: ErrorCode, message: string, field?: string, hint?: string) {
		super(code, message, { field, hint });
		this.kernel = kernel;
		this.rpc_code = KERNEL_CODES[kernel];
	}
}

export type KernelAgentRecord = { pid: number; name: string; state: AgentState };

/** Turns any error of a parameter into the contract's invalid_payload. */
export function checked<T>(call: () => T): T {
	try {
		return call();
	} catch (error) {
		if (error instanceof KernelError) throw error;
		const field = error instanceof SluiceError ? error.field : undefined;
		throw new KernelError("kernel_sched_invalid_payload", "invalid", error instanceof Error ? error.message : "cannot be read", field);
	}
}

export const seconds = (value: unknown, field: string) => checked(() => check.number(value, field, 0, 1e12));
export const toMs = (time: number) => Math.round(time * 1000);
export const pidOf = (params: { pid?: unknown }) => checked(() => check.integer(params.pid, "pid", 1));
export const idOf = (params: { sched_id?: unknown }) => checked(() => check.integer(params.sched_id, "sched_id", 1));
export const subjectOf = (pid: number) => `pid:${pid}`;

/** The last pid given out; null if no agent was ever created. */
export function* lastPid(tx: Tx): Op<number | null> {
	const last = yield* tx.get("agent", "last");
	return typeof last === "number" ? last : null;
}

export function* agentOf(tx: Tx, pid: number): Op<KernelAgentRecord> {
	const agent = yield* tx.get("agent", String(pid));
	if (agent === null || typeof agent === "number")
		throw new KernelError(
			"kernel_sched_invalid_payload",
			"not_found",
			`there is no agent with pid ${pid}`,
			"pid",
			"sluice kernel agents lists them",
		);
	return agent;
}
