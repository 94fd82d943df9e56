// Reservations: only for jobs that wait for locks and are overdue, one a key; and they work: nobody who came later takes a key from such a job.

import { clash, isExempt, isOverdue, overdueForLocks } from "../model/locks.ts";
import { find, isWaiting } from "../model/state.ts";
import { type Checker, must, running } from "./moment.ts";

export const reservations: Checker = {
	name: "reservations",
	check(moment) {
		const { state, events, memory, marks } = moment;
		for (const event of events) {
			if (event.kind !== "reserved" || event.job === null) continue;
			marks.hit("deed:reserved");
			const key = String(event.data.key);
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
				memory.kept.set(job.id, { place: index + 1, passed: 0 });
				return;
			}
			const robbers = started.filter((other) => {
				const model = find(state, other.id);
				return (other.locks ?? []).some(
					(lock) => job.locks.some((wanted) => clash(wanted, lock)) && !(model !== undefined && isExempt(state, model, lock.key)),
				);
			});
			since.passed += robbers.length;
			must(
				since.passed <= since.place,
				`job ${job.id} was number ${since.place} of those overdue for locks, and ${since.passed} others took its keys since (last: ${robbers.map((other) => other.id).join(", ")})`,
			);
		});
	},
};
