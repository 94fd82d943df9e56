// Keeps the page's jobs the same as the daemon's: a snapshot, then its events; after a break the events since; after a gap a new snapshot.
//
//   loading   the first snapshot is on its way
//   live      events come as they happen
//   polling   something between holds the stream back: events are asked for every few seconds, and the stream is tried again now and then
//   stale     nothing comes: what is shown is as old as `heardAt` says
//   refused   the token is wrong: nothing more is tried

import type { EventDocument } from "../../src/api/documents.ts";
import type { Jobs } from "../state/jobs.ts";
import { FIELDS, type Wanted } from "../state/row.ts";
import { type Door, Refused } from "./door.ts";
import { SseReader } from "./sse.ts";

export type Phase = "loading" | "live" | "polling" | "stale" | "refused";
export type Link = { phase: Phase; heardAt: number; problem: string | null };

export type SyncParts = {
	door: Door;
	jobs: Jobs;
	after(ms: number, call: () => void): () => void;
	monotonic(): number;
	/** Something has changed: `events` are those that were just taken in. */
	changed(events: readonly EventDocument[]): void;
	linked(link: Link): void;
};

export const TIMES = {
	/** The stream's first word comes at once, unless something holds it back. */
	firstWordMs: 5000,
	/** The daemon's heart beats every 15 s. */
	silenceMs: 33_000,
	pollMs: 2000,
	/** Polling: when the stream is tried again. */
	retryStreamMs: 60_000,
	againMs: [250, 500, 1000, 2000, 4000],
	/** Marked jobs are asked for together. */
	gatherMs: 150,
};
const PAGE = 2000;
const PIECE = 500;
const RECENT = 2000;

export class Sync {
	private link: Link;
	private failures = 0;
	/** A snapshot has come: there is something to show, and it can grow old. */
	private loaded = false;
	private stopped = false;
	private fetching = false;
	private gathering: (() => void) | null = null;
	private cutting: AbortController | null = null;

	constructor(
		private readonly parts: SyncParts,
		private readonly times = TIMES,
	) {
		this.link = { phase: "loading", heardAt: parts.monotonic(), problem: null };
	}

	stop(): void {
		this.stopped = true;
		this.cutting?.abort();
		this.gathering?.();
	}

	/** Until stopped, or refused. */
	async run(): Promise<void> {
		let fresh = false;
		while (!this.stopped && this.link.phase !== "refused") {
			try {
				if (!fresh) await this.snapshot();
				fresh = true;
				if ((await this.follow()) === "gap") fresh = false;
				else await this.rest();
			} catch (error) {
				this.lost(error);
				await this.rest();
			}
		}
	}

	/** Everything that is active, and what ended last. */
	private async snapshot(): Promise<void> {
		const { door, jobs } = this.parts;
		const found: Wanted[] = [];
		let seq: number | null = null;
		for (let after = 0; ; ) {
			const page = await door.call("job.list", { limit: PAGE, after, fields: [...FIELDS] });
			seq ??= page.seq;
			found.push(...page.jobs);
			const last = page.jobs.at(-1);
			if (last === undefined || page.jobs.length < PAGE) break;
			after = last.id;
		}
		const ended = await door.call("job.list", { recent: RECENT, limit: RECENT, fields: [...FIELDS] });
		// One that ended between the two lists is in both: the second knows better.
		jobs.replace([...found, ...ended.jobs], seq);
		this.loaded = true;
		this.heard();
		this.parts.changed([]);
	}

	/** Ends when the stream does, or with the word that a new snapshot is needed. */
	private async follow(): Promise<"over" | "gap"> {
		const { door, jobs, after, monotonic } = this.parts;
		const cutting = new AbortController();
		this.cutting = cutting;
		const reader = new SseReader();
		let gap = false;
		let words = 0;
		let lastAt = monotonic();
		let cancel = () => {};
		const watch = () => {
			const limit = words === 0 ? this.times.firstWordMs : this.times.silenceMs;
			const left = lastAt + limit - monotonic();
			if (left <= 0) cutting.abort();
			else cancel = after(left + 1, watch);
		};
		watch();
		try {
			await door.stream(
				jobs.seq,
				(text) => {
					words++;
					lastAt = monotonic();
					this.failures = 0;
					this.say({ phase: "live", problem: null });
					this.heard();
					if (this.take(reader.feed(text)) === "gap") {
						gap = true;
						cutting.abort();
					}
				},
				cutting.signal,
			);
		} catch (error) {
			if (gap) return "gap";
			if (this.stopped) return "over";
			if (error instanceof Refused) throw error;
			if (words === 0) return this.poll();
			this.lost(new Refused("offline", "the daemon is silent"));
		} finally {
			cancel();
		}
		if (gap) return "gap";
		if (words === 0) return this.poll();
		this.lost(new Refused("offline", "the connection was cut"));
		return "over";
	}

	/** For as long as the stream is not tried again. */
	private async poll(): Promise<"over" | "gap"> {
		const { door, jobs, monotonic } = this.parts;
		const until = monotonic() + this.times.retryStreamMs;
		while (!this.stopped && monotonic() < until) {
			const text = await door.poll(jobs.seq);
			this.failures = 0;
			this.say({ phase: "polling", problem: "something between holds the stream back" });
			this.heard();
			if (this.take(new SseReader().feed(text)) === "gap") return "gap";
			await this.pause(this.times.pollMs);
		}
		return "over";
	}

	private take(frames: ReturnType<SseReader["feed"]>): "taken" | "gap" {
		if (frames.length === 0) return "taken";
		if (frames.some(({ event }) => event === "gap")) return "gap";
		const events = frames.map(({ data }) => JSON.parse(data) as EventDocument);
		this.parts.jobs.events(events);
		this.parts.changed(events);
		this.gather();
		return "taken";
	}

	/** Asks for what events have marked, a little later and together. */
	gather(): void {
		const { jobs, after } = this.parts;
		if (this.gathering || this.fetching || (jobs.marked.size === 0 && jobs.ranges.length === 0)) return;
		this.gathering = after(this.times.gatherMs, () => {
			this.gathering = null;
			this.fetching = true;
			void this.fetchMarked()
				.catch(() => {})
				.finally(() => {
					this.fetching = false;
					if (!this.stopped) this.gather();
				});
		});
	}

	private async fetchMarked(): Promise<void> {
		const { door, jobs } = this.parts;
		const ids = [...jobs.marked].slice(0, PIECE);
		const range = jobs.ranges.shift();
		for (const id of ids) jobs.marked.delete(id);
		try {
			if (ids.length > 0) {
				const { jobs: found, seq } = await door.call("job.list", { ids, limit: PIECE, fields: [...FIELDS] });
				jobs.list(found, seq);
				const there = new Set(found.map(({ id }) => id));
				jobs.forget(ids.filter((id) => !there.has(id)));
			}
			for (let next = range?.[0] ?? 1; range && next <= range[1]; ) {
				const { jobs: found, seq } = await door.call("job.list", { after: next - 1, limit: PAGE, all: true, fields: [...FIELDS] });
				jobs.list(found, seq);
				next = (found.at(-1)?.id ?? range[1]) + 1;
			}
		} catch (error) {
			// Asked for again with the next event, or after the break.
			for (const id of ids) jobs.marked.add(id);
			if (range) jobs.ranges.unshift(range);
			throw error;
		}
		this.parts.changed([]);
	}

	private heard(): void {
		this.link = { ...this.link, heardAt: this.parts.monotonic() };
		this.parts.linked(this.link);
	}

	private say(news: Partial<Link>): void {
		this.link = { ...this.link, ...news };
		this.parts.linked(this.link);
	}

	private lost(error: unknown): void {
		if (this.stopped) return;
		const refused = error instanceof Refused && error.code === "wrong_token";
		this.failures++;
		const phase = refused ? "refused" : this.loaded ? "stale" : "loading";
		this.say({ phase, problem: error instanceof Error ? error.message : String(error) });
	}

	private rest(): Promise<void> {
		const { againMs } = this.times;
		return this.pause(againMs[Math.min(this.failures, againMs.length - 1)] as number);
	}

	private pause = (ms: number): Promise<void> => new Promise((resolve) => void this.parts.after(ms, resolve));
}
