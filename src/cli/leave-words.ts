// Writes a run's reports to the run's own folder while its daemon is away. The daemon reads them before it judges the end of the run.

import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { orElse } from "../core/errors.ts";
import { LEFT_WORDS_FILE, type LeftWords, leftWordsText, MAX_LEFT_WORDS_BYTES, readLeftWords, withWord } from "../core/runs/left-words.ts";
import type { Io } from "./io.ts";

/** The file, or undefined if the environment does not name a run. */
function fileOf({ world, home }: Io): string | undefined {
	const [, job, attempt] = /^([1-9]\d*)\.([1-9]\d*)$/.exec(world.env.SLUICE_RUN_ID ?? "") ?? [];
	return job === undefined || attempt === undefined ? undefined : join(world.homeOf(home), "runs", job, attempt, LEFT_WORDS_FILE);
}

/** Throws if the folder is not writable. */
export function leaveWords(io: Io, said: { result: unknown } | { verdict: unknown; text?: unknown }): void {
	const path = fileOf(io);
	if (path === undefined) throw new Error("SLUICE_RUN_ID does not name a run");
	write(path, withWord(found(path), "result" in said ? { result: said.result } : { verdict: said.verdict, text: said.text }));
}

/** The daemon has received a newer report of this kind: drop the one that was left before. */
export function takeBackWords(io: Io, which: "verdict" | "result"): void {
	const path = fileOf(io);
	if (path === undefined || !existsSync(path)) return;
	const { [which]: _older, ...rest } = found(path);
	if (Object.keys(rest).length > 0) write(path, rest);
	else rmSync(path, { force: true });
}

/** The reports left before; empty if the file is missing or damaged. */
const found = (path: string): LeftWords =>
	orElse(() => (statSync(path).size > MAX_LEFT_WORDS_BYTES ? {} : readLeftWords(readFileSync(path, "utf8"))), {});

function write(path: string, words: LeftWords): void {
	const draft = `${path}.new-${process.pid}`;
	try {
		writeFileSync(draft, leftWordsText(words), { mode: 0o600, flush: true });
		renameSync(draft, path);
	} catch (error) {
		rmSync(draft, { force: true });
		throw error;
	}
}
