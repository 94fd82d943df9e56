// Events: numbered without a gap, every move in the table, each from where the last one ended; replayed, they give the statuses shown.

import { isMove } from "../../src/core/event.ts";
import { type Checker, must } from "./moment.ts";

const WAITING = ["queued", "waiting_on_deps", "waiting_on_locks"];
const ENDED = ["succeeded", "failed", "cancelled", "blocked_by_dependency", "expired"];

/** The table of the spec, written out by itself. */
function isInTable(from: string | null, to: string): boolean {
	if (from === null) return WAITING.includes(to) || ENDED.includes(to);
	if (WAITING.includes(from))
		return WAITING.includes(to) || ["running", "blocked_by_dependency", "expired", "cancelled", "failed"].includes(to);
	if (from === "running") return ["succeeded", "failed", "cancelled", ...WAITING].includes(to);
	return WAITING.includes(to);
}

export const moves: Checker = {
	name: "moves",
	check({ view, memory, events, marks }) {
		for (const event of events) {
			must(memory.lastSeq === 0 || event.seq === memory.lastSeq + 1, `event ${event.seq} follows ${memory.lastSeq}`);
			memory.lastSeq = event.seq;
			if (event.kind === "applied") memory.staged.push(event.data);
			if (event.job === null || !isMove(event)) continue;
			const { job } = event;
			const { from, to } = event.data;
			// Jobs of a large manifest are told of as a range, in whatever state they came.
			const isStaged = memory.staged.some((range) => range.from <= job && job <= range.to);
			const before = memory.replayed.get(job) ?? (isStaged ? (from ?? null) : null);
			must(
				(from ?? null) === before,
				`event ${event.seq}: job ${event.job} moves from ${from ?? "nothing"} to ${to}, but it was ${before ?? "nothing"}`,
			);
			must(from === to || isInTable(before, to), `event ${event.seq}: job ${event.job} may not move from ${before ?? "nothing"} to ${to}`);
			must(typeof event.by === "string" && event.by !== "", `event ${event.seq} does not say who`);
			memory.replayed.set(event.job, to);
			marks.hit(`move:${before ?? "none"}>${to}`);
		}
		if (events.length === 0) return;
		for (const job of view.values()) {
			const isStaged = memory.staged.some((range) => range.from <= job.id && job.id <= range.to);
			const replayed = memory.replayed.get(job.id) ?? (isStaged ? job.status : undefined);
			must(replayed === job.status, `job ${job.id} is ${job.status}; its events say ${replayed}`);
		}
	},
};
