// Keeps the page's jobs in sync with the daemon: a snapshot, then its events; after a break the events since; after a gap a new snapshot.
//
//   loading   the first snapshot is being loaded
//   live      events come as they happen
//   polling   a proxy buffers the stream: events are requested every few seconds, and the stream is tried again now and then
//   stale     nothing comes: what is shown is as old as `heardAt` says
//   refused   the daemon refuses this page's token: nothing more is tried

import type { EventDocument, ProgressDocument } from "../../src/api/documents.ts";
import type { Status } from "../../src/core/job.ts";
import type { Jobs } from "../state/jobs.ts";
import { FIELDS, type RowFields } from "../state/row.ts";
import { Refused, type RpcClient } from "./client.ts";
import { type Frame, SseReader } from "./sse.ts";

export type LinkPhase = "loading" | "live" | "polling" | "stale" | "refused";
export type LinkState = { phase: LinkPhase; heardAt: number; problem: string | null };

export type SyncParts = {
	door: RpcClient;
	/** The door's own stream, or one that all tabs share. */
	stream: RpcClient["stream"];
	/** Resolves when it is worth having a stream: at once while the page is in sight. */
	wanted?: () => Promise<void>;
	jobs: Jobs;
	after(ms: number, call: () => void): () => void;
	monotonic(): number;
	/** Called after a change: `events` are those that were just applied. */
	changed(events: readonly EventDocument[]): void;
	/** Called after runs have told what they are doing now. */
	progressed(): void;
	linked(link: LinkState): void;
};

const TIMES = {
	/** The stream's first bytes come at once, unless a proxy buffers it. */
	firstWordMs: 5000,
	/** The daemon sends a heartbeat every 15 s. */
	silenceMs: 33_000,
	pollMs: 2000,
	/** While polling: when the stream is tried again. */
	retryStreamMs: 60_000,
	againMs: [250, 500, 1000, 2000, 4000],
	/** Marked jobs are requested together after this delay. */
	gatherMs: 150,
};
const PAGE = 2000;
const PIECE = 500;
const RECENT = 2000;
const FAILURES = 500;
const BAD: Status[] = ["failed", "blocked_by_dependency", "expired"];

/** Frames about progress have no number, and are no events of the history. */
const isProgress = ({ event }: Frame): boolean => event === "progress";

export class Sync {
	private link: LinkState;
	private failures = 0;
	/** A snapshot has arrived: there is something to show that can become stale. */
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

	private isOver = (): boolean => this.stopped || this.link.phase === "refused";

	/** Runs until stopped or refused. */
	async run(): Promise<void> {
		let fresh = false;
		while (!this.isOver()) {
			try {
				if (!fresh) await this.snapshot();
				fresh = true;
				await this.parts.wanted?.();
				if ((await this.follow()) === "gap") fresh = false;
				else await this.rest();
			} catch (error) {
				this.lost(error);
				if (!this.isOver()) await this.rest();
			}
		}
	}

	/** Loads all active jobs and the latest ended ones. */
	private async snapshot(): Promise<void> {
		const { door, jobs } = this.parts;
		const found: RowFields[] = [];
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
		// However many succeeded since, what went wrong stays in sight.
		const bad = await door.call("job.list", { status: BAD, before: Number.MAX_SAFE_INTEGER, limit: FAILURES, fields: [...FIELDS] });
		// A job that ended between two requests is in several lists: the later one is newer.
		jobs.replace([...found, ...ended.jobs, ...bad.jobs], seq);
		this.loaded = true;
		this.heard();
		this.parts.changed([]);
	}

	/** Returns when the stream ends, or `gap` if a new snapshot is needed. */
	private async follow(): Promise<"over" | "gap"> {
		const { jobs, after, monotonic } = this.parts;
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
			await this.parts.stream(
				() => jobs.seq,
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

	/** Polls until it is time to try the stream again. */
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
		const [news, stored] = [frames.filter(isProgress), frames.filter((frame) => !isProgress(frame))];
		if (news.length > 0) {
			this.parts.jobs.progress.take(news.map(({ data }) => JSON.parse(data) as ProgressDocument));
			this.parts.progressed();
		}
		if (stored.length === 0) return "taken";
		const events = stored.map(({ data }) => JSON.parse(data) as EventDocument);
		this.parts.jobs.events(events);
		this.parts.changed(events);
		this.gather();
		return "taken";
	}

	/** Ends the stream, while the page is out of sight and has a stream of its own; `wanted` says when it is opened again. */
	drop(): void {
		this.cutting?.abort();
	}

	/** Requests the jobs that events have marked, together, after a short delay. */
	gather(): void {
		const { jobs, after } = this.parts;
		if (this.gathering || this.fetching || (jobs.marked.size === 0 && jobs.ranges.length === 0)) return;
		this.gathering = after(this.times.gatherMs, () => {
			this.gathering = null;
			this.fetching = true;
			void this.fetchMarked()
				.catch((error) => this.endIfSignedOut(error))
				.finally(() => {
					this.fetching = false;
					if (!this.isOver()) this.gather();
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
			// Requested again with the next event, or after the break.
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

	private say(change: Partial<LinkState>): void {
		this.link = { ...this.link, ...change };
		this.parts.linked(this.link);
	}

	private lost(error: unknown): void {
		if (this.stopped || this.endIfSignedOut(error)) return;
		this.failures++;
		this.say({ phase: this.loaded ? "stale" : "loading", problem: error instanceof Error ? error.message : String(error) });
	}

	private endIfSignedOut(error: unknown): boolean {
		if (!(error instanceof Refused) || error.code !== "signed_out") return false;
		if (!this.stopped) this.say({ phase: "refused", problem: error.message });
		this.cutting?.abort();
		return true;
	}

	private rest(): Promise<void> {
		const { againMs } = this.times;
		return this.pause(againMs[Math.min(this.failures, againMs.length - 1)] as number);
	}

	private pause = (ms: number): Promise<void> => new Promise((resolve) => void this.parts.after(ms, resolve));
}
