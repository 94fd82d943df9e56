// What a store holds, as far as it matters for whether it can be moved.

import type { Moved } from "../../contracts/store.ts";
import { type End, type MovedRow, TABLES } from "./tables.ts";

export type Running = { id: number; name: string | null; host: string | null };
export type Survey = {
	/** Number of rows of each table. */
	rows: Record<string, number>;
	/** The first few running jobs, and the number of all. */
	running: { jobs: Running[]; count: number };
	/** Hosts whose lease has not expired. */
	live: { name: string; left_ms: number }[];
	/** Where the store was moved to, if it was. */
	moved: Moved | null;
};

const SHOWN = 10;

/** `held`: the tag of a home whose lock this process holds. No daemon of that home can be running, so its lease does not count. */
export async function survey(end: End, held: string | null): Promise<Survey> {
	const rows: Record<string, number> = {};
	for (const { name } of TABLES) rows[name] = Number((await end.select(`SELECT count(*) FROM ${name}`))[0]?.[0]);
	const running = await end.select("SELECT id, doc FROM job WHERE status = ? ORDER BY id LIMIT ?", ["running", SHOWN]);
	const [count] = await end.select("SELECT count(*) FROM job WHERE status = ?", ["running"]);
	const now = await end.now();
	const hosts = await end.select("SELECT body FROM record WHERE kind = ? ORDER BY key", ["host"]);
	const [moved] = await end.select("SELECT body FROM record WHERE kind = ? AND key = ?", ["meta", "moved"]);
	return {
		rows,
		running: { jobs: running.map(runningJob), count: Number(count?.[0]) },
		live: hosts.flatMap((row) => liveHost(parsed(row[0]), { now, held })),
		moved: moved ? (parsed(moved[0]) as Moved) : null,
	};
}

export const isEmpty = ({ rows }: Survey): boolean => Object.values(rows).every((count) => count === 0);

function runningJob([id, doc]: MovedRow): Running {
	const { name, run } = parsed(doc);
	const host = typeof run === "object" && run !== null && "host" in run ? run.host : null;
	return { id: Number(id), name: typeof name === "string" ? name : null, host: typeof host === "string" ? host : null };
}

function liveHost(record: Record<string, unknown>, { now, held }: { now: number; held: string | null }): Survey["live"] {
	const { name, state, lease_until, home } = record;
	if (state === "gone" || typeof lease_until !== "number" || lease_until <= now) return [];
	if (held !== null && home === held) return [];
	return [{ name: String(name), left_ms: lease_until - now }];
}

/** A document that cannot be parsed counts as empty, so that it does not stop the survey. */
function parsed(text: unknown): Record<string, unknown> {
	try {
		const value = JSON.parse(String(text));
		return typeof value === "object" && value !== null ? value : {};
	} catch {
		return {};
	}
}
