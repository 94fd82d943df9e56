// What can be seen of the engine after a call: every job, every entry of the kernel, and the events since the last look.

import type { EventRow, JobView, ReadyEntry, Scheduler } from "../../src/contracts/scheduler.ts";
import { isMove } from "../../src/core/event.ts";
import { isTerminal } from "../../src/core/job.ts";
import type { State } from "../model/state.ts";
import { EventReader } from "./event-reader.ts";
import { patiently } from "./patiently.ts";

export type Glance = { jobs: Map<number, JobView>; events: EventRow[] };

const LOOKS = 10;
type With = "kernel" | "jobs";

/** Looks at the engine again and again. Ended jobs are mostly as they were: between looks at all, only those that an event names are fetched. */
export class Glancer {
	private readonly reader = new EventReader();
	private jobs: Glance["jobs"] = new Map();

	/** Looking is a call too, and may bring something about, such as the next reservation: then the jobs are looked at again. */
	async glance(scheduler: Scheduler, with_: With, which: "all" | "active"): Promise<Glance> {
		const events: EventRow[] = [];
		for (let look = 0; ; look++) {
			const { jobs, last } = await patiently(shown(scheduler, with_, which), "list");
			const news = await patiently(this.reader.read(scheduler, last), "events");
			events.push(...news);
			if (which === "active") await this.addEnded(scheduler, jobs, events);
			if (look > LOOKS || (await patiently(scheduler.lastEvent(), "lastEvent")) === last) {
				this.jobs = jobs;
				return { jobs, events };
			}
		}
	}

	private async addEnded(scheduler: Scheduler, jobs: Glance["jobs"], events: EventRow[]): Promise<void> {
		const named = new Set(events.flatMap(({ job }) => (job === null || jobs.has(job) ? [] : [job])));
		for (const [id, job] of this.jobs) {
			if (jobs.has(id)) continue;
			if (isEnded(job)) jobs.set(id, job);
			else named.add(id);
		}
		if (named.size === 0) return;
		for (const job of await patiently(scheduler.list({ ids: [...named] }), "list")) jobs.set(job.id, job);
	}
}

const isEnded = (job: JobView) => isTerminal(job.status);

/** All that is asked in one turn is answered in one transaction. */
async function shown(scheduler: Scheduler, with_: With, which: "all" | "active"): Promise<{ jobs: Glance["jobs"]; last: number }> {
	const [list, kernel, last] = await Promise.all([
		scheduler.list({ all: which === "all", limit: 100_000 }),
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

/** `now`: the keys that were reserved when a job started, or (undefined) after all of these events. `ever`: at any time until then. */
export function keptDuring(events: EventRow[], before: Reserved): (job: number | undefined) => { now: Reserved; ever: Reserved } {
	const at = new Map<number, { now: Reserved; ever: Reserved }>();
	let ever: Reserved = before;
	let now: Reserved = before;
	for (const event of events) {
		const { job } = event;
		if (job === null) continue;
		if (event.kind === "reserved") {
			const { key } = event.data;
			now = [...now.filter((one) => one.key !== key), { key, job }];
			ever = [...ever, { key, job }];
		}
		if (event.kind === "unreserved") now = now.filter((one) => one.key !== event.data.key || one.job !== job);
		if (!isMove(event)) continue;
		const { to } = event.data;
		if (to === "running") at.set(job, { now, ever });
		if (to === "running" || isTerminal(to)) now = now.filter((one) => one.job !== job);
	}
	return (job) => (job === undefined ? undefined : at.get(job)) ?? { now, ever };
}
