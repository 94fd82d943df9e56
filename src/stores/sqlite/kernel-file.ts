// Reads a `kernel.db`: the kernel's agents, its ledgers and, from schema 3 on, its queue. The file is not changed.

import { existsSync } from "node:fs";
import type { KernelDump } from "../../contracts/kernel.ts";
import { SluiceError } from "../../core/errors.ts";
import { exactJson } from "../../core/text/json-text.ts";
import { type Database, select } from "./driver.ts";
import { storeError } from "./store.ts";
import { KERNEL_AGENTS, openUntouched } from "./whose.ts";

type Row = Record<string, unknown>;

const PATIENCE_MS = 5_000;

export function readKernelFile(path: string): KernelDump {
	if (!existsSync(path))
		throw new SluiceError("not_found", `there is no file ${path}`, { field: "file", hint: "name the kernel.db to import" });
	let database: Database | undefined;
	try {
		database = openUntouched(path, PATIENCE_MS);
		// One read transaction, so that the three tables are of the same moment.
		database.exec("BEGIN");
		const agents = rowsOf(database, KERNEL_AGENTS);
		if (agents === null)
			throw new SluiceError("invalid", `${path} is no kernel.db: it has no table ${KERNEL_AGENTS}`, {
				field: "file",
				hint: "name the kernel.db to import",
			});
		return {
			agents: agents.map(agentOf),
			ledgers: (rowsOf(database, "agent_ledgers") ?? []).map(ledgerOf),
			entries: (rowsOf(database, "agent_schedule_queue") ?? []).map(entryOf),
		};
	} catch (error) {
		throw storeError(error, path);
	} finally {
		database?.close();
	}
}

/** All rows of a table; null when there is no such table. */
function rowsOf(database: Database, table: string): Row[] | null {
	const columns = select<[string]>(database, `SELECT name FROM pragma_table_info('${table}')`).map(([name]) => name);
	if (columns.length === 0) return null;
	return select(database, `SELECT * FROM ${table}`).map((cells) => Object.fromEntries(columns.map((name, index) => [name, cells[index]])));
}

/**
 * The kernel's document specifies only the columns of these two tables that its queue refers to, so other columns are looked up under their likely names and
 * may be missing.
 */
const agentOf = (row: Row): KernelDump["agents"][number] => ({
	pid: Number(row.pid),
	name: String(row.name ?? row.agent_name ?? `agent-${Number(row.pid)}`),
	state: String(row.state ?? row.status ?? "READY").toUpperCase(),
});

const ledgerOf = (row: Row): KernelDump["ledgers"][number] => {
	const limit = row.hard_limit ?? row.limit ?? null;
	return {
		pid: Number(row.pid),
		dim: String(row.dim ?? row.dimension),
		used: Number(row.used ?? 0),
		limit: limit === null ? null : Number(limit),
	};
};

const numberOr = (value: unknown): number | null => (value === null || value === undefined ? null : Number(value));
const textOr = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

function entryOf(row: Row): KernelDump["entries"][number] {
	const sched_id = Number(row.sched_id);
	return {
		sched_id,
		pid: Number(row.pid),
		priority: Number(row.priority),
		runnable_at: Number(row.runnable_at),
		deadline: numberOr(row.deadline),
		trigger: String(row.trigger),
		payload: payloadOf(String(row.payload), sched_id),
		state: String(row.state),
		worker_id: textOr(row.worker_id),
		created_at: Number(row.created_at),
		dispatched_at: numberOr(row.dispatched_at),
		completed_at: numberOr(row.completed_at),
		exit_kind: textOr(row.exit_kind),
	};
}

function payloadOf(text: string, sched_id: number): unknown {
	try {
		return exactJson(text);
	} catch {
		throw new SluiceError("invalid", `entry ${sched_id}: its payload is not JSON`, { field: "payload" });
	}
}
