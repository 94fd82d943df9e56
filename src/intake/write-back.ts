// Follows the events of jobs that work on items, and writes their state to each item's source. Continues after a restart where it stopped: writing the same
// thing twice has the same result as writing it once, so nothing is lost and nothing is doubled.
//
//   event                      status                                   line of history
//   added, reset               queued                                   if history_on_queue is set
//   started                    running                                  –
//   requeued, a failure        failed                                   the run, and what went wrong
//   requeued, else             queued                                   –
//   backoff_over, refunded     queued                                   –
//   rerun, rewound in back-off queued                                   if history_on_queue is set
//   ended                      succeeded, failed, canceled              the run, and how it ended
//   ended, other jobs open     running or queued, as those jobs are     the same

import type { Log } from "../contracts/log.ts";
import { everyJob } from "../contracts/queue.ts";
import type { EventRow, JobView, Scheduler } from "../contracts/scheduler.ts";
import type { AgentStatus, Change, Source } from "../contracts/source.ts";
import { messageOf } from "../core/errors.ts";
import type { EventOf } from "../core/event.ts";

/** The number of the last event that was handled, stored so that a restart finds it. */
export type Cursor = { read(): number | null; write(seq: number): void };

export type WriteBackParts = { scheduler: Scheduler; source: (name: string) => Source | undefined; log: Log; cursor: Cursor };

export type WriteBack = ReturnType<typeof createWriteBack>;

type Tracked = { item: string; source: string; id: string; lane: string };
/** The state of an item while jobs work on it. */
type Chain = { open: Map<number, "waiting" | "running">; failed: boolean; canceled: boolean; succeeded: boolean };

const PAGE = 1000;
const MOST_WORDS = 200;

export function createWriteBack({ scheduler, source, log, cursor }: WriteBackParts) {
	const jobs = new Map<number, Tracked | null>();
	const chains = new Map<string, Chain>();
	const troubles = new Map<string, string>();
	/** Ended jobs that a rewind has put back, until the event about the whole rewind: that also concerns waiting jobs, which have no event of their own. */
	const reset = new Set<number>();
	let done = 0;
	let waiting: { seq: number; resolve: () => void }[] = [];
	let events: AsyncIterator<EventRow> | undefined;
	let busy: Promise<void> | undefined;
	let stopped = false;
	let touched = false;
	let isFollowing = false;

	function chainOf(item: string): Chain {
		const known = chains.get(item) ?? { open: new Map(), failed: false, canceled: false, succeeded: false };
		chains.set(item, known);
		return known;
	}

	function track(view: JobView): Tracked | null {
		const tracked = trackedIn(view);
		jobs.set(view.id, tracked);
		return tracked;
	}

	async function tracked(id: number): Promise<Tracked | null> {
		const known = jobs.get(id);
		if (known !== undefined) return known;
		try {
			return track(await scheduler.show(id));
		} catch {
			// gc has deleted the job meanwhile.
			return null;
		}
	}

	async function load(): Promise<void> {
		for await (const view of everyJob(scheduler)) {
			const one = track(view);
			if (one) chainOf(one.item).open.set(view.id, view.status === "running" ? "running" : "waiting");
		}
	}

	async function handle(event: EventRow): Promise<void> {
		const { job } = event;
		if (event.kind === "applied") return applied(event);
		if (job === null) return;
		switch (event.kind) {
			case "added":
				return added(job, event);
			case "reset":
				reset.add(job);
				return added(job, event);
			case "started":
				return began(job);
			case "requeued":
				return requeued(job, event);
			case "backoff_over":
			case "refunded":
				return again(job);
			case "rerun":
			case "rewound":
				for (const one of event.data.reset) if (!reset.has(one)) await again(one, event);
				reset.clear();
				return;
			case "ended":
				return ended(job, event);
		}
	}

	/** A large manifest has one event for all its jobs. */
	async function applied(event: EventOf<"applied">): Promise<void> {
		const { from, to } = event.data;
		if (to - from < 300) return;
		for (let after = from - 1; after < to; ) {
			const views = await scheduler.list({ after, limit: PAGE, all: true });
			for (const view of views) if (view.id <= to && view.item !== undefined) await added(view.id, event);
			after = views.at(-1)?.id ?? to;
		}
	}

	/** The line of history for a job that was queued, if its source wants one. */
	const queuedLine = (one: Tracked, event: EventRow, text: string): Pick<Change, "line"> =>
		source(one.source)?.settings.history_on_queue ? { line: lineOf(event, text) } : {};

	/** The item says `failed` while its job is in back-off; now the job is queued. `event`: a person asked for it. */
	async function again(job: number, event?: EventRow): Promise<void> {
		const one = await tracked(job);
		const chain = one && chains.get(one.item);
		if (!one || !chain?.open.has(job)) return;
		await write(one, { status: statusOf(chain), ...(event && queuedLine(one, event, `job ${job} ${one.lane}: queued again`)) });
	}

	async function added(job: number, event: EventRow): Promise<void> {
		const one = await tracked(job);
		if (!one) return;
		const chain = chainOf(one.item);
		chain.open.set(job, "waiting");
		const line = event.kind === "added" ? queuedLine(one, event, `job ${job} ${one.lane}: queued`) : {};
		await write(one, { status: statusOf(chain), ...line });
	}

	async function began(job: number): Promise<void> {
		const one = await tracked(job);
		if (!one) return;
		chainOf(one.item).open.set(job, "running");
		await write(one, { status: "running" });
	}

	async function requeued(job: number, event: EventOf<"requeued">): Promise<void> {
		const one = await tracked(job);
		if (!one) return;
		const { data } = event;
		const chain = chainOf(one.item);
		chain.open.set(job, "waiting");
		if (data.burns !== "failure" && data.burns !== "dispatch") return write(one, { status: statusOf(chain) });
		const said = words(data.message ?? data.exit_kind);
		await write(one, { status: "failed", line: lineOf(event, `run ${job}.${data.attempt} ${one.lane}: failed: ${said}; is tried again`) });
	}

	async function ended(job: number, event: EventOf<"ended">): Promise<void> {
		const one = await tracked(job);
		jobs.delete(job);
		if (!one) return;
		const { to, ...data } = event.data;
		const chain = chainOf(one.item);
		chain.open.delete(job);
		if (to === "succeeded") chain.succeeded = true;
		else if (to === "cancelled") chain.canceled = true;
		else if (to !== "blocked_by_dependency") chain.failed = true;
		const status = statusOf(chain);
		if (chain.open.size === 0) chains.delete(one.item);
		// A step that is not needed or not reached does not end the chain.
		if (to === "blocked_by_dependency") return write(one, { status });
		const result = to === "succeeded" ? "succeeded" : to === "cancelled" ? "canceled" : "failed";
		const why = to === "succeeded" ? "" : words(data.end_reason ?? (to === "failed" ? exitWords(data) : ""));
		// A run that was found lost at the start had ended before its jobs were read here: only the event says that a run ended.
		const who = data.from === "running" ? `run ${job}.${data.attempt}` : `job ${job}`;
		const line = lineOf(event, `${who} ${one.lane}: ${result}${why === "" ? "" : `: ${why}`}`);
		await write(one, { status, line }, data.end_reason === "item_closed" ? "quiet" : "loud");
	}

	/** `quiet`: do not log that a person has written something else. */
	async function write(one: Tracked, change: Change, how: "loud" | "quiet" = "loud"): Promise<void> {
		const target = source(one.source);
		if (!target?.write || target.settings.write_back === null) return;
		touched = true;
		try {
			const { left } = await target.write(one.id, change);
			if (left === null || how === "quiet") troubles.delete(one.item);
			else {
				troubles.set(one.item, left);
				log.warn("an item was left as it is", { item: one.item, reason: left });
			}
		} catch (error) {
			troubles.set(one.item, `${change.status} could not be written: ${messageOf(error)}`);
			log.warn("an item could not be written", { item: one.item, status: change.status, error });
		}
	}

	function settle(seq: number): void {
		done = seq;
		const due = waiting.filter((one) => one.seq <= seq);
		waiting = waiting.filter((one) => one.seq > seq);
		for (const one of due) one.resolve();
	}

	async function follow(since: number): Promise<void> {
		settle(since);
		events = scheduler.events({ since })[Symbol.asyncIterator]();
		for (;;) {
			const { value, done: over } = await events.next();
			if (over || stopped) return;
			const event: EventRow = value;
			if (event.job !== null || event.kind === "applied") {
				busy = handle(event).catch((error) => log.error("an event could not be written back", { seq: event.seq, error }));
				await busy;
			}
			settle(event.seq);
			// An event that concerns no item may be read twice.
			if (touched) cursor.write(event.seq);
			touched = false;
		}
	}

	return {
		async start(): Promise<void> {
			if (isFollowing) return;
			isFollowing = true;
			const last = await scheduler.lastEvent();
			await load();
			const since = cursor.read();
			// A number from another store means nothing here.
			void follow(since === null || since > last ? last : since).catch((error) => {
				if (!stopped) log.error("following events has ended", { error });
			});
		},
		/** Resolves when everything that has happened so far is written. */
		async caughtUp(): Promise<void> {
			const seq = isFollowing ? await scheduler.lastEvent() : 0;
			if (stopped || done >= seq) return;
			await new Promise<void>((resolve) => waiting.push({ seq, resolve }));
		},
		/** The jobs that work on the item, as far as events have been read. */
		openJobs: (item: string): number[] => [...(chains.get(item)?.open.keys() ?? [])],
		/** Writes the state of the item's jobs once more, after a person has written something else. */
		async restate(item: string): Promise<void> {
			const chain = chains.get(item);
			const one = chain && jobs.get([...chain.open.keys()][0] ?? 0);
			if (chain && one) await write(one, { status: statusOf(chain) });
		},
		/** What could not be written, by item. */
		troubles: (): ReadonlyMap<string, string> => troubles,
		async stop(): Promise<void> {
			if (stopped) return;
			stopped = true;
			await busy;
			if (isFollowing) cursor.write(done);
			settle(Number.MAX_SAFE_INTEGER);
		},
	};
}

/** Null for a job that works on no item. */
function trackedIn({ item, lane }: JobView): Tracked | null {
	if (item === undefined) return null;
	const colon = item.indexOf(":");
	return { item, source: item.slice(0, colon), id: item.slice(colon + 1), lane };
}

function statusOf({ open, failed, canceled, succeeded }: Chain): AgentStatus {
	if (open.size > 0) return [...open.values()].includes("running") ? "running" : "queued";
	return failed ? "failed" : canceled ? "canceled" : succeeded ? "succeeded" : "failed";
}

/** One line, truncated. */
const words = (value: unknown): string => {
	const text = String(value ?? "")
		.replace(/\s+/g, " ")
		.trim();
	return text.length > MOST_WORDS ? `${text.slice(0, MOST_WORDS)}…` : text;
};
const exitWords = ({ exit_kind, exit_code }: Record<string, unknown>): string =>
	exit_kind === "failed" || exit_kind === undefined ? `exit code ${exit_code}` : String(exit_kind);

export function lineOf(event: Pick<EventRow, "at">, text: string): NonNullable<Change["line"]> {
	const line = `${new Date(event.at).toISOString().replace(/\.\d+Z$/, "Z")} ${text}`;
	return { text: line, once: line };
}
