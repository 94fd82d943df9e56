// Cards that say `queued` or `running` when the daemon starts, though no job works on them: left behind by a queue that is gone, or by another
// scheduler. They become `failed`, so that a person sees them and can set them to idle.
//
//   changed      a card of a source with `watch` and `write_back`, whose folder no other queue has registered for
//   left alone   a card that a job of this queue works on, on any host · all cards of a board that another queue writes to

import type { Log } from "../contracts/log.ts";
import type { Scheduler } from "../contracts/scheduler.ts";
import type { Item, QueueMark, Source } from "../contracts/source.ts";
import { lineOf, type WriteBack } from "./write-back.ts";

export type RecoveryParts = { scheduler: Pick<Scheduler, "now">; written: WriteBack; log: Log; queue: () => Promise<QueueMark> };

/** Returns the ids of the cards that became `failed`. */
export async function recoverCards({ scheduler, written, log, queue }: RecoveryParts, source: Source): Promise<string[]> {
	const { kind, watch, write_back } = source.settings;
	if (kind !== "cards" || write_back === null || !source.join || !source.write) return [];
	const others = await source.join(await queue());
	if (!watch) return [];
	const left = (await source.scan()).items.filter(({ in_progress, open }) => in_progress && open);
	// The jobs behind the cards just read were stored before the cards were written: after this, they are known.
	await written.caughtUp();
	const recovered: string[] = [];
	for (const item of left) {
		if (written.openJobs(`${source.name}:${item.id}`).length > 0) continue;
		if (others.length > 0) {
			const { home, host } = others[0] as QueueMark;
			log.warn("a card says that it is worked on, but no job here does; another queue writes into this board: left as it is", {
				item: `${source.name}:${item.id}`,
				home,
				host,
			});
		} else if (await isAsRead(source, item)) {
			const line = lineOf({ at: scheduler.now() }, `${item.flow === null ? "" : `${item.flow}: `}failed: scheduler recovery`);
			await source.write(item.id, { status: "failed", line });
			log.warn("scheduler recovery: a card said that it was worked on, but no job does: failed", { item: `${source.name}:${item.id}` });
			recovered.push(item.id);
		}
	}
	return recovered;
}

/** If the card has changed since, something is working on it. */
const isAsRead = async (source: Source, { id, mark }: Item): Promise<boolean> => (await source.read(id).catch(() => null))?.mark === mark;
