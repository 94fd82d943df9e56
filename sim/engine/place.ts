// Where a simulated run keeps its jobs: SQLite, or a PostgreSQL behind a network that loses requests, answers and whole connections.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type Server, startServer } from "../../test/make/stores/postgres-server.ts";
import { type Network, openTcpProxy } from "../../test/make/stores/tcp-proxy.ts";
import type { Fault } from "../operation.ts";

export type Place = {
	/** The SQLite file; absent: there is none. */
	file?: string;
	options(): Promise<{ path: string } | { url: string }>;
	/** What a full disk or a busy file is here: an error to throw, or a network that misbehaves from now on. */
	trouble(fault: Fault): Error | undefined;
	/** A process that dies here leaves its connections open, and the lead with them: `bury` ends them, as the kernel of its machine would. */
	bury?(): Promise<void>;
	end(): Promise<void>;
};

export function sqlitePlace(where: "file" | "memory"): Place {
	const folder = where === "file" ? mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sluice-sim-")) : undefined;
	const file = folder === undefined ? undefined : join(folder, "sim.db");
	return {
		...(file === undefined ? {} : { file }),
		options: async () => ({ path: file ?? ":memory:" }),
		trouble({ kind }) {
			const text = kind === "full" ? "database or disk is full" : "database is locked";
			return Object.assign(new Error(text), { code: "ERR_SQLITE_ERROR", errcode: kind === "full" ? 13 : 5, errstr: text });
		},
		async end() {
			if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
		},
	};
}

/** Ends the sessions of all processes: those of dead ones, too. Processes that live connect again. */
export async function endSessions(admin: pg.Client): Promise<void> {
	await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'sluice/4 %'");
}

/** A server for many seeds; each has a schema of its own. */
export async function openPostgresPlaces(): Promise<{ place(seed: number): Place; end(): Promise<void> }> {
	const server: Server = await startServer();
	const proxy: Network = await openTcpProxy(server.port);
	const admin = new pg.Client({ connectionString: server.url() });
	await admin.connect();
	return {
		place(seed) {
			const schema = `seed_${seed}`;
			return {
				options: async () => ({ url: `postgres://sluice@127.0.0.1:${proxy.port}/postgres?schema=${schema}` }),
				trouble({ kind, point, nth }) {
					// By turns: the work was done and nobody was told, it never arrived, the line went dead.
					if (point !== "commit") {
						proxy.cut();
						proxy.mend();
					} else if (kind === "full") proxy.loseAnswers();
					else if (nth === 1) proxy.loseRequests();
					else proxy.slow(2);
					return undefined;
				},
				bury: () => endSessions(admin),
				async end() {
					proxy.slow(0);
					proxy.cut();
					proxy.mend();
					await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
				},
			};
		},
		async end() {
			await admin.end();
			proxy.close();
			server.end();
		},
	};
}
