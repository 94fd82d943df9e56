// The record of calls on disk: audit.jsonl for what people, runs and programs did, audit-workers.jsonl for the traffic of workers. One JSON document a line.
//
//   written    with the other calls of the same turn of the event loop; a crash loses at most those
//   bounded    a file that has reached MOST_BYTES is renamed to .1, and the one that had this name before goes
//   read       from the newest backwards, until enough are found

import { appendFileSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AuditEntry, AuditFilter, AuditRecord } from "../../api/server/audit.ts";
import type { Clock, Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import { messageOf, orElse } from "../../core/errors.ts";

type AuditParts = {
	home: string;
	/** The name of this host, for a fleet. */
	hostName: string;
	clock: Pick<Clock, "now">;
	host: Pick<Host, "turn">;
	log: Pick<Log, "error">;
	mostBytes?: number;
};

const MOST_BYTES = 4_000_000;
const FILES = { call: "audit.jsonl", worker: "audit-workers.jsonl" } as const;
type Kind = AuditEntry["kind"];

export type AuditFile = Pick<AuditRecord, "note"> & { read(filter: AuditFilter): AuditEntry[]; close(): void };

export function openAudit({ home, hostName, clock, host, log, mostBytes = MOST_BYTES }: AuditParts): AuditFile {
	const paths: Record<Kind, string> = { call: join(home, FILES.call), worker: join(home, FILES.worker) };
	const pending: Record<Kind, string[]> = { call: [], worker: [] };
	let isDue = false;
	let isFailing = false;

	function flush(): void {
		isDue = false;
		for (const kind of ["call", "worker"] as const) {
			const lines = pending[kind].splice(0);
			if (lines.length > 0) write(paths[kind], lines.join(""));
		}
	}

	/** A disk that is full must not stop the work: the log says it, once until it succeeds again. */
	function write(path: string, text: string): void {
		try {
			if (orElse(() => statSync(path).size, 0) >= mostBytes) renameSync(path, `${path}.1`);
			appendFileSync(path, text, { mode: 0o600 });
			isFailing = false;
		} catch (error) {
			if (!isFailing) log.error("calls cannot be written into the record of calls", { path, error: messageOf(error) });
			isFailing = true;
		}
	}

	return {
		note(entry) {
			pending[entry.kind].push(`${JSON.stringify({ at: clock.now(), host: hostName, ...entry })}\n`);
			if (isDue) return;
			isDue = true;
			void host.turn().then(flush);
		},
		read(filter) {
			flush();
			const kinds: readonly Kind[] = filter.workers === "with" ? ["call", "worker"] : ["call"];
			const found = kinds.flatMap((kind) => newest([paths[kind], `${paths[kind]}.1`], filter));
			return found.sort((a, b) => b.at - a.at).slice(0, filter.limit);
		},
		close: flush,
	};
}

/** Files in the order from the newest to the oldest. A line that is broken off, as after a power cut, is left out. */
function newest(paths: readonly string[], filter: AuditFilter): AuditEntry[] {
	const found: AuditEntry[] = [];
	for (const path of paths) {
		const lines = orElse(() => readFileSync(path, "utf8"), "").split("\n");
		for (let at = lines.length - 1; at >= 0 && found.length < filter.limit; at--) {
			const entry = orElse(() => JSON.parse(lines[at] ?? "") as AuditEntry, null);
			if (entry !== null && typeof entry === "object" && isWanted(entry, filter)) found.push(entry);
		}
	}
	return found;
}

/** `method`: a whole name, or a noun. */
const isWanted = (entry: AuditEntry, { by, method, since }: AuditFilter): boolean =>
	(by === undefined || entry.by === by) &&
	(method === undefined || entry.method === method || entry.method.startsWith(`${method}.`)) &&
	(since === undefined || entry.at >= since);
