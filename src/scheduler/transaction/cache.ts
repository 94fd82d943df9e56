// Cache of one process between transactions: the standing records, recent jobs, the heads of ready buckets. It never knows more than the store: the engine
// drops it whole when another process has committed (unless the store hands over what was added: `learn`), and after every rollback.

import type { Arrivals, RecordKind } from "../../contracts/store.ts";
import type { Bucket } from "../../core/bucket.ts";
import { lockOfLine } from "../../core/gates/locks.ts";
import type { Job, JobSpec, StartedBy } from "../../core/job.ts";
import type { Hold, HostRecord, Ledger } from "../../core/limits-view.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { Window } from "../waiting/ready-queue.ts";

export const STANDING = [
	"meta",
	"bucket",
	"hold",
	"host",
	"usage",
	"depth",
	"ledger",
	"reserve",
	"settle",
	"stage",
	"breaker",
	"wait",
	"ask",
] as const;
const KEPT_JOBS = 20_000;
const KEPT_KEYS = 50_000;
/** Specs longer than this are not cached but read again when they are needed. */
const KEPT_SPEC_CHARS = 4_000;

export type Ids = { job: number; token: number; seq: number; bucket: number; rank: number };
/** `cycle_left`: starts that the current cycle may still make; `cycle_by`: what opened it. */
export type Pace = {
	last_cycle_at: number;
	cycle_left?: number;
	cycle_by?: StartedBy;
	last_start_at: number;
	starts: number;
	last_dispatch_at: number | null;
};
/** A cached job, and the table that has its row. */
export type Entry = { job: Job; at: "new" | "job" | "done" };

/**
 * Contention for a lock. `wants`: all jobs with a link of role `wants`. `shares`: whether any job may have a link of role `shares`. `exclusive`, `shared`:
 * whether any job may be parked on the key in that mode.
 */
export type Rivals = { wants: Set<number>; shares: boolean; exclusive: boolean; shared: boolean };

export class Memory {
	readonly jobs = new Map<number, Entry>();
	readonly specs = new Map<number, JobSpec>();
	readonly buckets = new Map<number, Bucket>();
	readonly bucketIds = new Map<string, number>();
	readonly bucketKeys = new Map<number, string>();
	readonly windows = new Map<number, Window>();
	readonly holds = new Map<string, Hold>();
	readonly hosts = new Map<string, HostRecord>();
	readonly usage = new Map<string, number>();
	readonly depth = new Map<string, number>();
	readonly ledgers = new Map<string, Ledger[]>();
	/** By lock key. A missing entry means unknown, not uncontended. */
	readonly rivals = new Map<string, Rivals>();
	/** Ready jobs that count towards queue limits: all but kernel entries and jobs of an apply that is still coming in. */
	ready = 0;
	/** No job is due before this; null: no job is due at any time; undefined: not known, ask the store. */
	nextDue: number | null | undefined;
	private readonly records = new Map<RecordKind, Map<string, unknown>>();

	static from(rows: readonly [RecordKind, string, unknown][]): Memory {
		const memory = new Memory();
		for (const kind of STANDING) memory.records.set(kind, new Map());
		for (const [kind, key, value] of rows) memory.remember(kind, key, value);
		memory.countReady();
		return memory;
	}

	countReady(): void {
		this.ready = 0;
		for (const bucket of this.buckets.values())
			if (queuePolicy(bucket.kind).isCounted && bucket.stage === undefined) this.ready += bucket.ready;
	}

	/** Adds what other processes have committed since. The store hands these over only if the commits added jobs and changed nothing else. */
	learn({ insert, specs, records }: Arrivals): void {
		for (const [kind, key, value] of records) {
			// All jobs of a new bucket are among these arrivals: its window starts empty and is complete.
			if (kind === "bucket" && value !== null && !this.bucketIds.has(key)) this.windows.set((value as Bucket).id, new Window("empty"));
			this.remember(kind, key, value);
		}
		for (const { id, line, bucket, rank, level, age_at, ready_at, due_at, job } of insert) {
			this.jobs.set(id, { job, at: "job" });
			if (line === "") this.windows.get(bucket)?.enter({ id, rank, level, age_at, ready_at: ready_at ?? age_at });
			this.joinLine(line);
			if (due_at !== null && this.nextDue !== undefined) this.nextDue = Math.min(this.nextDue ?? due_at, due_at);
		}
		for (const [id, spec] of specs) this.keepSpec(id, spec);
		this.countReady();
	}

	/** Notes that a job is now parked on this line, if it is a lock's. */
	joinLine(line: string): void {
		const lock = lockOfLine(line);
		const rivals = lock && this.rivals.get(lock.key);
		if (rivals) rivals[lock.mode] = true;
	}

	/** undefined: not remembered; null: known to be absent. */
	recall(kind: RecordKind, key: string): unknown {
		const map = this.records.get(kind);
		const value = map?.get(key);
		if (value === undefined && isStanding(kind)) return null;
		return value;
	}

	all(kind: (typeof STANDING)[number]): Map<string, unknown> {
		return this.records.get(kind) as Map<string, unknown>;
	}

	remember(kind: RecordKind, key: string, value: unknown): void {
		let map = this.records.get(kind);
		if (!map) {
			map = new Map();
			this.records.set(kind, map);
		}
		if (value === null && isStanding(kind)) map.delete(key);
		else map.set(key, value);
		switch (kind) {
			case "bucket":
				this.rememberBucket(key, value as Bucket | null);
				break;
			case "hold":
				set(this.holds, key, value as Hold | null);
				break;
			case "host":
				set(this.hosts, key, value as HostRecord | null);
				break;
			case "usage":
				set(this.usage, key, value as number | null);
				break;
			case "depth":
				set(this.depth, key, value as number | null);
				break;
			case "ledger":
				this.rememberLedger(key, value as Ledger | null);
				break;
			default:
				// Records of the other kinds are read from `records` alone.
				break;
		}
	}

	private rememberBucket(key: string, value: Bucket | null): void {
		if (value) {
			this.bucketIds.set(key, value.id);
			this.bucketKeys.set(value.id, key);
			this.buckets.set(value.id, value);
			return;
		}
		const id = this.bucketIds.get(key);
		if (id === undefined) return;
		this.bucketIds.delete(key);
		this.bucketKeys.delete(id);
		this.buckets.delete(id);
		this.windows.delete(id);
	}

	private rememberLedger(key: string, value: Ledger | null): void {
		const subject = key.slice(0, key.lastIndexOf("/"));
		const dim = key.slice(key.lastIndexOf("/") + 1);
		const rest = (this.ledgers.get(subject) ?? []).filter((ledger) => ledger.dim !== dim);
		this.ledgers.set(subject, value ? [...rest, value] : rest);
	}

	keepSpec(id: number, spec: JobSpec): void {
		if (restOf(KEPT_SPEC_CHARS, spec) >= 0) this.specs.set(id, spec);
	}

	/** Drops jobs that are unlikely to be read again soon: kept, they would only be carried from one garbage collection to the next. */
	forget(over: readonly number[]): void {
		for (const id of over) {
			this.jobs.delete(id);
			this.specs.delete(id);
		}
	}

	/** Drops the oldest entries between transactions, so that memory grows with activity, not with the queue. */
	trim(): void {
		trimMap(this.jobs, KEPT_JOBS);
		trimMap(this.specs, KEPT_JOBS);
		for (const [kind, map] of this.records) if (!isStanding(kind)) trimMap(map, KEPT_KEYS);
		trimMap(this.rivals, KEPT_KEYS);
	}
}

export const isStanding = (kind: RecordKind) => (STANDING as readonly string[]).includes(kind);

function set<V>(map: Map<string, V>, key: string, value: V | null): void {
	if (value === null) map.delete(key);
	else map.set(key, value);
}

/** Remaining character budget after `value` is serialised, roughly; negative as soon as it is exceeded. */
function restOf(chars: number, value: unknown): number {
	if (typeof value === "string") return chars - value.length - 2;
	if (typeof value !== "object" || value === null) return chars - 8;
	let rest = chars;
	for (const key in value) {
		rest = restOf(rest - key.length - 4, (value as Record<string, unknown>)[key]);
		if (rest < 0) break;
	}
	return rest;
}

function trimMap<K>(map: Map<K, unknown>, kept: number): void {
	if (map.size <= kept) return;
	let surplus = map.size - Math.floor(kept * 0.75);
	for (const key of map.keys()) {
		if (surplus-- <= 0) break;
		map.delete(key);
	}
}
