// Hands the words that a run left in its folder while the daemon was away to the scheduler, before the supervisor judges the end of the run.

import { LEFT_WORDS_FILE, type LeftWords, MAX_LEFT_WORDS_BYTES, readLeftWords } from "../core/left-words.ts";
import { troubleOf } from "../disk.ts";
import { type Floor, isOvertaken } from "./floor.ts";
import type { LiveRun } from "./run.ts";

const RETRY_MS = 1_000;

/** Null where the run left none. Words that cannot be read are logged and ignored. */
export function leftWordsOf(floor: Floor, run: LiveRun): LeftWords | null {
	const path = `${run.dir}/${LEFT_WORDS_FILE}`;
	try {
		const size = floor.disk.size(path);
		if (size === null) return null;
		if (size > MAX_LEFT_WORDS_BYTES) throw new Error(`it has ${size} bytes; the limit is ${MAX_LEFT_WORDS_BYTES}`);
		return readLeftWords(floor.disk.read(path) ?? "{}");
	} catch (error) {
		floor.log.warn("said.json of a run cannot be read: what it says is ignored", { run: run.id, error: troubleOf(error) });
		return null;
	}
}

/** The same operations as run.verdict and run.result, tried until the scheduler has recorded or refused them. Never rejects. */
export async function handOverWords(floor: Floor, run: LiveRun, { verdict, result }: LeftWords): Promise<void> {
	const by = { by: `run:${run.id}` };
	for (;;) {
		try {
			if (verdict !== undefined) run.verdict = await floor.scheduler.verdict(run, verdict, by);
			if (result !== undefined) await floor.scheduler.result(run, result, by);
			return;
		} catch (error) {
			const { code } = error as { code?: unknown };
			// Overtaken: the end is thrown away as well. Closed: the next life of the daemon reads the file again.
			if (floor.closed || code === "closed" || isOvertaken(error)) return;
			floor.log.error("what a run left in said.json could not be recorded", { run: run.id, error: troubleOf(error) });
			if (code === "invalid" || code === "limit") return;
		}
		await new Promise<void>((resolve) => void floor.host.after(RETRY_MS, resolve));
		if (floor.closed) return;
	}
}
