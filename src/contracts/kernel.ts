// Contract of the engine, the part that is the kernel preset's queue. Times here are epoch seconds, as its document has them.

import type { Act, LedgerView } from "./scheduler.ts";

export type ReadyEntry = {
	sched_id: number;
	pid: number;
	priority: number;
	runnable_at: number;
	deadline: number | null;
	trigger: string;
	payload: unknown;
	/** The payload's exact JSON, if the value `payload` cannot represent it (a number past 2^53, say). */
	payload_json?: string;
	state: "queued" | "dispatched" | "completed" | "expired" | "cancelled";
	worker_id: string | null;
	created_at: number;
	dispatched_at: number | null;
	completed_at: number | null;
	exit_kind: string | null;
};
export type EnqueueParams = {
	pid: number;
	priority?: number;
	runnable_at?: number;
	deadline?: number | null;
	trigger?: string;
	payload?: unknown;
};
export type AgentState = "READY" | "RUNNING" | "WAITING" | "SUSPENDED" | "DEAD";

/** The contents of a `kernel.db`. A payload is JSON, or a `JsonText`. */
export type KernelDump = {
	agents: { pid: number; name: string; state: string }[];
	ledgers: { pid: number; dim: string; used: number; limit: number | null }[];
	entries: (Omit<ReadyEntry, "state" | "payload_json"> & { state: string })[];
};
/** `notes`: what could not be kept unchanged. */
export type Imported = {
	agents: number;
	ledgers: number;
	entries: Record<ReadyEntry["state"], number>;
	renumbered: boolean;
	notes: string[];
};

export type Charge = { pid: number; dim: string; amount: number };
type Charged = Pick<LedgerView, "used" | "limit" | "over_limit">;

export interface Kernel {
	/** Imports all of the dump or nothing. Keeps its numbers, or gives new ones with `numbers: "new"`; refused if a number is already taken here. */
	import(dump: KernelDump, options?: Act & { numbers?: "keep" | "new" }): Promise<Imported>;
	enqueue(params: EnqueueParams, act?: Act): Promise<{ sched_id: number }>;
	enqueueUnique(
		params: EnqueueParams & { dedupe_by?: ("pid" | "trigger" | "priority")[] },
		act?: Act,
	): Promise<{ sched_id: number; created: boolean }>;
	claim(
		params: { worker_id: string; max_n?: number; now?: number; admission_check?: boolean },
		act?: Act,
	): Promise<{ entries: ReadyEntry[] }>;
	complete(
		params: { sched_id: number; exit_kind: "completed" | "cancelled" | "failed" | "crashed"; worker_id?: string },
		act?: Act,
	): Promise<{ sched_id: number; state: "completed"; prev_state: string }>;
	cancel(params: { sched_id: number }, act?: Act): Promise<{ sched_id: number; state: "cancelled" }>;
	get(params: { sched_id: number }): Promise<ReadyEntry>;
	list(params?: { state?: string; pid?: number; limit?: number; offset?: number }): Promise<{ entries: ReadyEntry[]; total: number }>;
	gcExpired(params?: { now?: number }, act?: Act): Promise<{ swept: number }>;
	gcDispatched(params: { stale_seconds: number }, act?: Act): Promise<{ swept: number }>;
	extend(params: { sched_id: number; worker_id: string }, act?: Act): Promise<{ sched_id: number; cancel_requested: boolean }>;
	agent: {
		create(params: { name: string }, act?: Act): Promise<{ pid: number; state: AgentState }>;
		transition(params: { pid: number; to: AgentState }, act?: Act): Promise<{ pid: number; state: AgentState; prev_state: AgentState }>;
		get(params: { pid: number }): Promise<{ pid: number; name: string; state: AgentState }>;
		list(): Promise<{ pid: number; name: string; state: AgentState }[]>;
	};
	ledger: {
		grant(
			params: { pid: number; dim: string; limit: number; warn_at?: number; window?: "hour" | "day" | null },
			act?: Act,
		): Promise<LedgerView>;
		charge(params: Charge, act?: Act): Promise<Charged & { warned: boolean; first_breach: boolean }>;
		refund(params: Charge, act?: Act): Promise<Charged>;
		check(params: Charge): Promise<{ would_exceed: boolean }>;
		get(params: { pid: number }): Promise<LedgerView[]>;
		listBreached(): Promise<LedgerView[]>;
	};
}
