// Reports to the scheduler what a run left in `said.json` while the daemon was down, before the supervisor judges the end of the run.

import { messageOf } from "../../core/errors.ts";
import { LEFT_WORDS_FILE, type LeftWords, MAX_LEFT_WORDS_BYTES, readLeftWords } from "../../core/runs/left-words.ts";
import { isOvertaken, type SupervisorContext } from "../context.ts";
import type { LiveRun } from "../run.ts";

const RETRY_MS = 1_000;

/** Contents of the run's said.json; null if there is none. A file that cannot be read is logged and ignored. */
export function leftWordsOf(context: SupervisorContext, run: LiveRun): LeftWords | null {
	const path = `${run.dir}/${LEFT_WORDS_FILE}`;
	try {
		const size = context.disk.size(path);
		if (size === null) return null;
		if (size > MAX_LEFT_WORDS_BYTES) throw new Error(`it has ${size} bytes; the limit is ${MAX_LEFT_WORDS_BYTES}`);
		return readLeftWords(context.disk.read(path) ?? "{}");
	} catch (error) {
		context.log.warn("said.json of a run cannot be read: what it says is ignored", { run: run.id, error: messageOf(error) });
		return null;
	}
}

/** Calls `verdict` and `result` as the run itself would have done, and retries until the scheduler has recorded or refused them. Never rejects. */
export async function handOverWords(context: SupervisorContext, run: LiveRun, { verdict, result }: LeftWords): Promise<void> {
	const by = { by: `run:${run.id}` };
	for (;;) {
		try {
			if (verdict !== undefined) run.verdict = await context.scheduler.verdict(run, verdict, by);
			if (result !== undefined) await context.scheduler.result(run, result, by);
			return;
		} catch (error) {
			const { code } = error as { code?: unknown };
			// Overtaken: the run's end will be discarded as well. Closed: the next daemon reads the file again.
			if (context.closed || code === "closed" || isOvertaken(error)) return;
			context.log.error("what a run left in said.json could not be recorded", { run: run.id, error: messageOf(error) });
			if (code === "invalid" || code === "limit") return;
		}
		await new Promise<void>((resolve) => void context.host.after(RETRY_MS, resolve));
		if (context.closed) return;
	}
}
