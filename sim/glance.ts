// What can be seen of the engine after a call: every job, every entry of the kernel, and the events since the last look.

import type { EventRow, JobView, ReadyEntry, Scheduler } from "../src/scheduler.ts";
import { patiently } from "./attempt.ts";
import type { EventReader } from "./event-reader.ts";
import type { State } from "./model/state.ts";

export type Glance = { jobs: Map<number, JobView>; events: EventRow[] };

/** Looking is a call too, and may bring something about, such as the next reservation: then the jobs are looked at again. */
export async function glance(scheduler: Scheduler, reader: EventReader, with_: "kernel" | "jobs"): Promise<Glance> {
	const events: EventRow[] = [];
	for (let look = 0; ; look++) {
		const { jobs, last } = await patiently(shown(scheduler, with_), "list");
		const news = await patiently(reader.read(scheduler, last), "events");
		events.push(...news);
		if (look > LOOKS || (await patiently(scheduler.lastEvent(), "lastEvent")) === last) return { jobs, events };
	}
}

const LOOKS = 10;

/** All that is asked in one turn is answered in one transaction. */
async function shown(scheduler: Scheduler, with_: "kernel" | "jobs"): Promise<{ jobs: Glance["jobs"]; last: number }> {
	const [list, kernel, last] = await Promise.all([
		scheduler.list({ all: true, limit: 100_000 }),
		// Entries of the kernel have a list of their own.
		with_ === "kernel" ? scheduler.kernel.list({ limit: 1000 }) : undefined,
		scheduler.lastEvent(),
	]);
	const jobs = new Map(list.map((job) => [job.id, job]));
	for (const entry of kernel?.entries ?? []) jobs.set(entry.sched_id, entryView(entry, jobs.get(entry.sched_id)));
	return { jobs, last };
}

const STATUS_OF = { queued: "queued", dispatched: "running", completed: "succeeded", expired: "expired", cancelled: "cancelled" } as const;
const BARE = {
	attempt: 0,
	lane: "kernel",
	after: [],
	parent: null,
	depth: 0,
	blocked: false,
	spec: { version: 1 as const, enqueued_at: 0 },
};

/** 004 knows one completed state; how it ended is its exit kind. */
const endOf = (entry: ReadyEntry) =>
	entry.exit_kind === "completed" ? "succeeded" : entry.exit_kind === "cancelled" ? "cancelled" : "failed";

/** A kernel entry as if it were a job. */
const entryView = (entry: ReadyEntry, job: JobView | undefined): JobView => ({
	...BARE,
	...job,
	id: entry.sched_id,
	kind: "kernel",
	status: entry.state === "completed" ? endOf(entry) : STATUS_OF[entry.state],
	priority: entry.priority,
	trigger: entry.trigger,
	created_at: Math.round(entry.created_at * 1000),
	runnable_at: Math.round(entry.runnable_at * 1000),
});

type Reserved = State["reserved"];

/** The keys that were reserved when a job started, or (undefined) after all of these events. */
export function keptDuring(events: EventRow[], before: Reserved): (job: number | undefined) => Reserved {
	const at = new Map<number, Reserved>();
	let now: Reserved = before;
	for (const { kind, job, data } of events) {
		if (job === null) continue;
		const key = String(data.key);
		if (kind === "reserved") now = [...now.filter((one) => one.key !== key), { key, job }];
		if (kind === "unreserved") now = now.filter((one) => one.key !== key || one.job !== job);
		if (data.to === "running") {
			at.set(job, now);
			now = now.filter((one) => one.job !== job);
		}
		if (["succeeded", "failed", "cancelled", "blocked_by_dependency", "expired"].includes(String(data.to)))
			now = now.filter((one) => one.job !== job);
	}
	return (job) => (job === undefined ? now : (at.get(job) ?? now));
}
