// What keeps a job from starting besides its own record: a hold on its lane, repo, batch, agent or account; which job holds its lock. Pure.

import type { StatusDocument } from "../../src/api/documents/status.ts";
import type { LockDocument } from "../../src/api/protocol/lock.ts";
import type { PageRow } from "./row.ts";

type Hold = StatusDocument["holds"][number];
export type Around = { holds: readonly Hold[]; locks: readonly LockDocument[]; frozen?: readonly number[] };

const WORDS: Record<string, string> = {
	paused: "is paused",
	rate_limited: "is rate limited",
	account_closed: "is closed",
	outage: "waits for its provider, which is down",
	breaker_open: "has an open breaker",
};

/** Indexes holds and locks by key, because thousands of rows ask. */
export function heldBy({ holds, locks, frozen = [] }: Around): (row: PageRow) => string | null {
	const byScope = new Map<string, Hold>();
	// A provider outage concerns only one agent of its account.
	const keyOf = ({ scope, agent }: Pick<Hold, "scope" | "agent">) => (agent === undefined ? scope : `${scope}/${agent}`);
	for (const hold of holds) if (!byScope.has(keyOf(hold))) byScope.set(keyOf(hold), hold);
	const byKey = new Map(locks.map((lock) => [lock.key, lock]));
	const stopped = new Set(frozen);
	return (row) => {
		if (row.status === "running" && stopped.has(row.id)) return "frozen: it goes on when it is resumed";
		if (row.status === "waiting_on_locks") return lockWords(row, byKey);
		if (!row.ready || byScope.size === 0) return null;
		if (byScope.has("all")) return "everything is paused";
		for (const kind of ["lane", "repo", "batch", "agent", "account"] as const) {
			const scope = `${kind}:${row[kind]}`;
			const hold = row[kind] === null ? undefined : (byScope.get(scope) ?? byScope.get(keyOf({ scope, agent: row.agent ?? "" })));
			if (hold) return `${kind} ${row[kind]} ${WORDS[hold.kind] ?? "is held"}`;
		}
		return null;
	};
}

/** The first of its locks that it cannot take. */
function lockWords({ id, locks }: PageRow, byKey: ReadonlyMap<string, LockDocument>): string | null {
	for (const { key, mode } of locks) {
		const { holders = [], reserved_for = null } = byKey.get(key) ?? {};
		const [first, ...others] = holders.filter(({ job, mode: held }) => job !== id && (mode === "exclusive" || held === "exclusive"));
		if (first) return `lock ${key}, held by job ${first.job}${others.length > 0 ? ` and ${others.length} more` : ""}`;
		if (reserved_for !== null && reserved_for !== id) return `lock ${key}, kept for job ${reserved_for}`;
	}
	return null;
}
