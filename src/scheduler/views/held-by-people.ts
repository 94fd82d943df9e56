// The jobs that people hold: a cause for each person and reason.

import type { QueueReport } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { heldWords } from "../../core/gates/held.ts";
import type { Tx } from "../transaction/tx.ts";

/** Held jobs of a bucket that are counted, and jobs that a cause names. */
const MOST_COUNTED = 1000;
const MOST_NAMED = 100;

type HeldCause = QueueReport["causes"][number] & { ids: number[] };

/** That of the oldest hold first. A held job that waits for its time is not among them yet. */
export function* heldByPeople(tx: Tx): Op<HeldCause[]> {
	const ids: number[] = [];
	for (const bucket of yield* ask({ read: "buckets", line: "held" }))
		ids.push(...(yield* ask({ read: "line", line: "held", bucket, limit: MOST_COUNTED })).map(({ id }) => id));
	yield* tx.load(ids);
	const jobs = ids
		.flatMap((id) => {
			const hold = tx.isComing(id) ? undefined : tx.peek(id)?.hold;
			return hold ? [{ id, hold }] : [];
		})
		.sort((a, b) => a.hold.since - b.hold.since || a.id - b.id);
	const causes = new Map<string, HeldCause>();
	for (const { id, hold } of jobs) {
		const detail = heldWords(hold);
		const cause = causes.get(detail) ?? { kind: "held", subject: `person:${hold.by}`, detail, jobs: 0, ids: [] };
		causes.set(detail, cause);
		cause.jobs++;
		if (cause.ids.length < MOST_NAMED) cause.ids.push(id);
	}
	return [...causes.values()];
}
