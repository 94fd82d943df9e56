// Finds the files in which an agent's program keeps its own record of a session, and reads the end of each.

import type { Disk } from "../../contracts/disk.ts";
import type { SessionRecord } from "../../core/agents/adapter.ts";

const SUBAGENT_BYTES = 1024 * 1024;
const SUBAGENTS_MAX = 50;

type Files = Pick<Disk, "list" | "size" | "readAt" | "changedAt">;

/** The ends of the session's files, then of its subagents' that were written since the run began. Empty if the session is not found. */
export function sessionRecords(disk: Files, record: SessionRecord, home: string | null, session: string | null, since: number): string[] {
	if (home === null || session === null) return [];
	const wanted = record.file(session);
	let tried = 0;
	for (const folder of foldersIn(disk, home, record.folders)) {
		if (++tried > record.folders_max) break;
		const inFolder = (names: readonly string[]) => names.map((name) => `${folder}/${name}`);
		const found = inFolder(typeof wanted === "string" ? [wanted] : disk.list(folder).filter(wanted)).filter(
			(path) => disk.size(path) !== null,
		);
		if (found.length === 0) continue;
		const subfolder = record.subagents?.(session);
		const subagents = subfolder === undefined ? [] : disk.list(`${folder}/${subfolder}`).filter((name) => name.endsWith(".jsonl"));
		const fresh = inFolder(subagents.map((name) => `${subfolder}/${name}`)).filter((path) => (disk.changedAt(path) ?? 0) >= since);
		return [
			...found.map((path) => endOf(disk, path, record.bytes)),
			...fresh.slice(0, SUBAGENTS_MAX).map((path) => endOf(disk, path, SUBAGENT_BYTES)),
		];
	}
	return [];
}

/** The folders that a path of names and patterns matches. */
function* foldersIn(disk: Files, at: string, path: SessionRecord["folders"]): Generator<string> {
	const [first, ...rest] = path;
	if (first === undefined) return yield at;
	// Names of days and months sort by time: sessions that began long ago are rare.
	const names =
		typeof first === "string"
			? [first]
			: disk
					.list(at)
					.filter((name) => first.test(name))
					.sort()
					.reverse();
	for (const name of names) yield* foldersIn(disk, `${at}/${name}`, rest);
}

/** The last bytes of a file as text. */
export function endOf(disk: Pick<Disk, "size" | "readAt">, path: string, bytes: number): string {
	const size = disk.size(path) ?? 0;
	return new TextDecoder().decode(disk.readAt(path, Math.max(0, size - bytes), bytes));
}
