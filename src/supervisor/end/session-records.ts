// Finds the files in which agent programs keep their own records of a session, and reads the end of each.

import type { Disk } from "../../contracts/disk.ts";
import { isRolloutOf } from "../../core/agents/adapters/codex-rollout.ts";
import { isGeminiRecordOf } from "../../core/agents/adapters/gemini-record.ts";

const ROLLOUT_BYTES = 256 * 1024;
const DAYS_MAX = 400;
/** Bytes that are read of a transcript's end. One run rarely adds more, although its requests are in there, too. */
const TRANSCRIPT_BYTES = 8 * 1024 * 1024;
const SUBAGENT_BYTES = 1024 * 1024;
const FOLDERS_MAX = 10_000;
const SUBAGENTS_MAX = 50;

type Files = Pick<Disk, "list" | "size" | "readAt" | "changedAt">;

/** The end of Codex's own record of a session. Searches the newest days first, because sessions that began long ago are rare. */
export function codexRecord(disk: Files, home: string | null, session: string | null): string {
	if (home === null || session === null) return "";
	const isIt = isRolloutOf(session);
	const newest = (path: string) =>
		disk
			.list(path)
			.filter((name) => /^\d+$/.test(name))
			.sort((one, other) => Number(other) - Number(one))
			.map((name) => `${path}/${name}`);
	let looked = 0;
	for (const year of newest(`${home}/sessions`))
		for (const month of newest(year))
			for (const day of newest(month)) {
				if (++looked > DAYS_MAX) return "";
				const name = disk.list(day).find(isIt);
				if (name !== undefined) return endOf(disk, `${day}/${name}`, ROLLOUT_BYTES);
			}
	return "";
}

/**
 * The ends of Claude Code's own records of a session, and of its subagents since a run began. Claude Code derives the folder's name from the working
 * directory by rules of its own, so all folders are tried.
 */
export function claudeRecords(disk: Files, home: string | null, session: string | null, since: number): string[] {
	if (home === null || session === null) return [];
	for (const name of disk.list(`${home}/projects`).slice(0, FOLDERS_MAX)) {
		const path = `${home}/projects/${name}/${session}`;
		if (disk.size(`${path}.jsonl`) === null) continue;
		const subagents = disk
			.list(`${path}/subagents`)
			.filter((file) => file.endsWith(".jsonl"))
			.map((file) => `${path}/subagents/${file}`)
			.filter((file) => (disk.changedAt(file) ?? 0) >= since)
			.slice(0, SUBAGENTS_MAX);
		return [endOf(disk, `${path}.jsonl`, TRANSCRIPT_BYTES), ...subagents.map((file) => endOf(disk, file, SUBAGENT_BYTES))];
	}
	return [];
}

/** The ends of Gemini CLI's own records of a session and of its subagents since a run began. The project's folder is not known, so all are tried. */
export function geminiRecords(disk: Files, home: string | null, session: string | null, since: number): string[] {
	if (home === null || session === null) return [];
	const isIt = isGeminiRecordOf(session);
	const isFresh = (path: string) => (disk.changedAt(path) ?? 0) >= since;
	for (const project of disk.list(`${home}/.gemini/tmp`).slice(0, FOLDERS_MAX)) {
		const chats = `${home}/.gemini/tmp/${project}/chats`;
		const found = disk.list(chats).filter(isIt);
		if (found.length === 0) continue;
		const subagents = disk.list(`${chats}/${session}`).filter((name) => name.endsWith(".jsonl"));
		return [
			...found.map((name) => endOf(disk, `${chats}/${name}`, TRANSCRIPT_BYTES)),
			...subagents
				.map((name) => `${chats}/${session}/${name}`)
				.filter(isFresh)
				.slice(0, SUBAGENTS_MAX)
				.map((path) => endOf(disk, path, SUBAGENT_BYTES)),
		];
	}
	return [];
}

function endOf(disk: Files, path: string, bytes: number): string {
	const size = disk.size(path) ?? 0;
	return new TextDecoder().decode(disk.readAt(path, Math.max(0, size - bytes), bytes));
}
