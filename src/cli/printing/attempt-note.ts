// A job that was put back keeps the output of its earlier attempts: commands that show it add that the next attempt has not started.

import type { Io } from "../io.ts";
import { isWaiting, type ShownJob, statusWords } from "./job-lines.ts";

/** Printed beside the output of the last attempt of a job that waits to run again. */
export async function noteAttempt(io: Io, id: number | string): Promise<void> {
	if (io.json) return;
	// Only a note: if the job cannot be read, the output is printed without it.
	const job: ShownJob | undefined = (await io.ask("job.show", { id }).catch(() => undefined))?.job;
	if (!job) return;
	const attempt = job.attempt ?? 0;
	if (attempt === 0 || !isWaiting(job)) return;
	io.print.say(
		io.print.paintTalk(
			"dim",
			`this is attempt ${attempt}, which is kept; attempt ${attempt + 1} has not started: ${statusWords(job.status)}`,
		),
	);
}
