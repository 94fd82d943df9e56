// Reservations: only for jobs that wait for locks and are overdue, one a key; and they work: nobody who came later takes a key from such a job.

import type { Lock } from "../../src/core/job.ts";
import { clash, isExempt, isOverdue, overdueForLocks } from "../model/gates/locks.ts";
import { find, isWaiting, type ModelJob } from "../model/state.ts";
import { type Checker, type Moment, must, running } from "./moment.ts";

/** Keys are reserved in their order: up to the first that somebody already had alone, or that was kept for another. */
function keysDue({ view, memory }: Moment, job: ModelJob): Lock[] {
	const had = [...view.values()].filter((other) => other.id !== job.id && other.status === "running" && memory.ran.has(other.id));
	const due: Lock[] = [];
	for (const lock of [...job.locks].sort((a, b) => (a.key < b.key ? -1 : 1))) {
		const isKept = [...memory.kept_keys].some((kept) => kept.startsWith(`${lock.key}/`) && kept !== `${lock.key}/${job.id}`);
		if (isKept) break;
		due.push(lock);
		if (had.some((other) => other.locks?.some((held) => held.key === lock.key && held.mode === "exclusive"))) break;
	}
	return due;
}

const retryAfter = (overdue_after: number) => Math.max(1000, Math.min(60_000, overdue_after));

export const reservations: Checker = {
	name: "reservations",
	check(moment) {
		const { state, events, memory, marks } = moment;
		for (const event of events) {
			if (event.kind !== "reserved" || event.job === null) continue;
			marks.hit("deed:reserved");
			const { key } = event.data;
			memory.kept_keys.add(`${key}/${event.job}`);
			const job = find(state, event.job);
			// One that became ready anew in the same step was overdue before that.
			if (job === undefined || !isWaiting(job) || job.ready_at === undefined || job.ready_at >= event.at) continue;
			must(
				job.locks.some((lock) => lock.key === key),
				`key ${key} is reserved for job ${job.id}, which does not want it`,
			);
			must(isOverdue(state, job), `key ${key} is reserved for job ${job.id}, which is not overdue`);
		}
		for (const one of state.reserved) {
			const other = state.reserved.find((mate) => mate.key === one.key && mate.job !== one.job);
			must(other === undefined, `key ${one.key} is reserved for jobs ${one.job} and ${other?.job}`);
		}
		const overdue = overdueForLocks(state);
		for (const id of memory.kept.keys()) if (!overdue.some((job) => job.id === id)) memory.kept.delete(id);
		const started = running(moment).filter((job) => !memory.ran.has(job.id));
		overdue.forEach((job, index) => {
			const since = memory.kept.get(job.id);
			if (since === undefined) {
				memory.kept.set(job.id, { place: index + 1, passed: 0, at: state.now });
				return;
			}
			// One that something else held back until now tries for its keys again after a while.
			if (state.now - since.at < retryAfter(state.config.order.overdue_after_ms)) return;
			const due = keysDue(moment, job);
			const robbers = started.filter((other) => {
				const model = find(state, other.id);
				return (other.locks ?? []).some(
					(lock) =>
						due.some((wanted) => clash(wanted, lock)) &&
						// It was kept for that one, while this one still waited for an earlier key.
						!memory.kept_keys.has(`${lock.key}/${other.id}`) &&
						!(model !== undefined && isExempt(state, model, lock.key)),
				);
			});
			since.passed += robbers.length;
			must(
				since.passed <= since.place,
				`job ${job.id} was number ${since.place} of those overdue for locks, and ${since.passed} others took its keys since (last: ${robbers.map((other) => other.id).join(", ")})`,
			);
		});
		memory.kept_keys = new Set(state.reserved.map(({ key, job }) => `${key}/${job}`));
	},
};
