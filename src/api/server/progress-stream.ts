// Progress of live runs in a stream of events: frames without a number, since nothing of it is stored. At most one a second for each run, and only for runs
// that still go on: a frame never comes after the event of the run's end.

import type { Context } from "../context.ts";
import { type ProgressDocument, progressDocument } from "../documents.ts";

/** Interval between two frames about the same run in one stream. */
const FRAME_MS = 1000;

const progressFrame = (document: ProgressDocument): string => `event: progress\ndata: ${JSON.stringify(document)}\n\n`;

/** The present progress of each run of this host. */
export const progressFrames = ({ supervisor }: Pick<Context, "supervisor">): string =>
	supervisor.progress().map(progressDocument).map(progressFrame).join("");

/** `write` returns false if the client has to read first: the latest progress is sent once it has. */
export function streamProgress(
	{ supervisor, clock, host }: Pick<Context, "supervisor" | "clock" | "host">,
	write: (text: string) => boolean,
): () => void {
	/** Jobs that have something new to tell. */
	const pending = new Set<number>();
	let sentAt = Number.NEGATIVE_INFINITY;
	let cancel: (() => void) | null = null;

	function flush(): void {
		cancel = null;
		// Asked for again: a run may have ended since it was noted here.
		const frames = [...pending].flatMap((job) => supervisor.progress(job)).map(progressDocument);
		if (frames.length > 0) {
			if (!write(frames.map(progressFrame).join(""))) {
				cancel = host.after(FRAME_MS, flush);
				return;
			}
			sentAt = clock.monotonic();
		}
		pending.clear();
	}

	const later = () => {
		cancel ??= host.after(Math.max(0, sentAt + FRAME_MS - clock.monotonic()), flush);
	};
	const stop = supervisor.onProgress((changed) => {
		for (const { job } of changed) pending.add(job);
		later();
	});
	for (const { job } of supervisor.progress()) pending.add(job);
	flush();
	return () => {
		stop();
		cancel?.();
	};
}
