// All jobs that the page knows, fed by lists and events. An event that is older than the known state of its job changes nothing, so a replay does no harm.
//
//   list     replaces the known state of its jobs
//   event    moves a job at once, and marks it: the list that is requested then brings the rest (labels, reasons)
//   gap      events are missing: everything is listed again

import type { EventDocument } from "../../src/api/documents.ts";
import { isMove, type MoveKind } from "../../src/core/event.ts";
import { isTerminal } from "../../src/core/job.ts";
import { Columns } from "./board.ts";
import { ToldProgress } from "./progress.ts";
import { type PageRow, type RowFields, rowOf } from "./row.ts";

/** Maximum jobs of each of both columns that are kept; the oldest are dropped first. Failures are kept apart, so that no number of successes drops them. */
const ENDED_KEPT = { failed: 1000, done: 3000 };

/** A list longer than this sorts all columns anew instead of inserting its rows one by one. */
const MANY = 500;

export class Jobs {
	readonly progress = new ToldProgress();
	readonly rows = new Map<number, PageRow>();
	readonly columns = new Columns();
	/** Incremented with every change. */
	version = 0;
	/** The last event that was seen. */
	seq = 0;
	/** Jobs with changes that their events do not describe completely. */
	readonly marked = new Set<number>();
	/** Jobs that were added together, with one event for all: from, to. */
	readonly ranges: [from: number, to: number][] = [];

	list(jobs: readonly RowFields[], seq: number): void {
		const isMany = jobs.length > MANY;
		for (const job of jobs) {
			const known = this.rows.get(job.id);
			if (known && known.seq > seq) continue;
			const row = rowOf(job, seq);
			// The daemon sends `ready_at` only until a run ends; the known value of this run is kept.
			if (known && known.startedAt === row.startedAt) row.readyAt ??= known.readyAt;
			if (isMany) this.rows.set(job.id, row);
			else this.set(row);
		}
		if (isMany) this.columns.fill(this.rows.values());
		if (jobs.length > 0) this.version++;
	}

	private set(row: PageRow): void {
		this.columns.change(this.rows.get(row.id), row);
		this.rows.set(row.id, row);
	}

	private drop(id: number): boolean {
		const known = this.rows.get(id);
		this.columns.change(known, undefined);
		return this.rows.delete(id);
	}

	/** A new snapshot: jobs that are not in it are gone. */
	replace(jobs: readonly RowFields[], seq: number): void {
		this.rows.clear();
		this.columns.fill([]);
		this.marked.clear();
		this.ranges.length = 0;
		this.list(jobs, seq);
		this.seq = seq;
		this.version++;
	}

	/** Jobs that were requested by number and are not in the answer. */
	forget(ids: Iterable<number>): void {
		for (const id of ids) if (this.drop(id)) this.version++;
	}

	events(events: readonly EventDocument[]): void {
		for (const event of events) this.event(event);
		this.progress.heard(events);
		this.trim();
	}

	private event(event: EventDocument): void {
		if (event.seq <= this.seq) return;
		this.seq = event.seq;
		if (event.kind === "applied") this.ranges.push([event.data.from, event.data.to]);
		if (event.kind === "gc") for (const [id, { status }] of this.rows) if (isTerminal(status)) this.marked.add(id);
		const { job } = event;
		if (job === null || (event.kind === "added" && event.data.kind === "kernel")) return;
		this.marked.add(job);
		const row = this.rows.get(job);
		if (!row || row.seq >= event.seq || !isMove(event)) return;
		this.set(moved(row, event));
		this.version++;
	}

	/** Drops the oldest of thousands of ended jobs. */
	private trim(): void {
		for (const column of ["failed", "done"] as const) {
			const rows = this.columns.all[column];
			if (rows.length <= ENDED_KEPT[column] * 1.2) continue;
			for (const { id } of rows.slice(ENDED_KEPT[column])) this.drop(id);
			this.version++;
		}
	}
}

function moved(row: PageRow, event: Extract<EventDocument, { kind: MoveKind }>): PageRow {
	const { kind, data, seq } = event;
	const { to } = data;
	const at = Date.parse(event.at);
	const next = { ...row, status: to, seq, ready: to === "queued" && kind === "ready" };
	if (kind === "started") {
		const readyAt = at - data.waited_ms;
		return { ...next, readyAt, startedAt: at, endedAt: null, reason: null, attempt: data.attempt };
	}
	if (isTerminal(to)) return { ...next, endedAt: at, asks: null, reason: kind === "ended" ? (data.end_reason ?? null) : null };
	if (kind === "reset") return { ...next, startedAt: null, endedAt: null, reason: null };
	if (kind === "requeued") return { ...next, startedAt: null };
	return next;
}
