// Cache of one process between transactions: the standing records, recent jobs, the heads of ready buckets. It never knows more than the store: the engine
// drops it whole when another process has committed, and after every rollback.

import type { RecordKind, Replies } from "../../contracts/store.ts";
import type { Bucket } from "../../core/bucket.ts";
import type { Job, JobSpec } from "../../core/job.ts";
import type { Hold, HostRecord, Ledger } from "../../core/limits-view.ts";
import { lockOf, type Parked } from "../../core/parked.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import type { Window } from "../waiting/ready-queue.ts";
import type { MetaMap, RecordMap } from "./record-map.ts";

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
	"rollup_open",
] as const satisfies readonly RecordKind[];
type StandingKind = (typeof STANDING)[number];
const STANDING_KINDS: ReadonlySet<string> = new Set(STANDING);
const KEPT_JOBS = 20_000;
const KEPT_KEYS = 50_000;
/** Specs longer than this are not cached but read again when they are needed. */
const KEPT_SPEC_CHARS = 4_000;

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
	/** How often a job became ready or ceased to be. */
	readyMoves = 0;
	/** No job is due before this; null: no job is due at any time; undefined: not known, ask the store. */
	nextDue: number | null | undefined;
	private readonly records = new Map<RecordKind, Map<string, unknown>>();
	/** Other forms in which the records of some kinds are kept besides. */
	private readonly mirrors: { [K in RecordKind]?: (key: string, value: RecordMap[K] | null) => void } = {
		bucket: (key, value) => this.rememberBucket(key, value),
		hold: (key, value) => set(this.holds, key, value),
		host: (key, value) => set(this.hosts, key, value),
		usage: (key, value) => set(this.usage, key, value),
		depth: (key, value) => set(this.depth, key, value),
		ledger: (key, value) => this.rememberLedger(key, value),
	};

	static from(rows: Replies["standing"]): Memory {
		const memory = new Memory();
		for (const [kind, key, value] of rows) memory.remember(kind, key, value as RecordMap[typeof kind]);
		memory.countReady();
		return memory;
	}

	/** A job becomes ready, or is ready no longer. */
	moveReady(bucket: Bucket, by: 1 | -1): void {
		this.readyMoves++;
		bucket.ready += by;
		if (bucket.stage === undefined && queuePolicy(bucket.kind).isCounted) this.ready += by;
	}

	countReady(): void {
		this.ready = 0;
		for (const bucket of this.buckets.values())
			if (queuePolicy(bucket.kind).isCounted && bucket.stage === undefined) this.ready += bucket.ready;
	}

	/** Notes that a job now waits for a lock, if that is what it is parked on. */
	joinWaitQueue(parked: Parked): void {
		const lock = lockOf(parked);
		const rivals = lock && this.rivals.get(lock.key);
		if (rivals) rivals[lock.mode] = true;
	}

	/** undefined: not remembered; null: known to be absent. */
	recall<K extends StandingKind>(kind: K, key: string): RecordMap[K] | null;
	recall<K extends RecordKind>(kind: K, key: string): RecordMap[K] | null | undefined;
	recall<K extends RecordKind>(kind: K, key: string): RecordMap[K] | null | undefined {
		const value = this.recordsOf(kind).get(key);
		if (value === undefined && isStanding(kind)) return null;
		return value;
	}

	/** The one record of kind `meta` with this key. */
	meta<M extends keyof MetaMap>(key: M): MetaMap[M] | null {
		return this.recall("meta", key) as MetaMap[M] | null;
	}

	all<K extends StandingKind>(kind: K): Map<string, RecordMap[K]> {
		return this.recordsOf(kind) as Map<string, RecordMap[K]>;
	}

	private recordsOf<K extends RecordKind>(kind: K): Map<string, RecordMap[K] | null> {
		let map = this.records.get(kind);
		if (!map) {
			map = new Map();
			this.records.set(kind, map);
		}
		return map as Map<string, RecordMap[K] | null>;
	}

	remember<K extends RecordKind>(kind: K, key: string, value: RecordMap[K] | null): void {
		const map = this.recordsOf(kind);
		if (value === null && isStanding(kind)) map.delete(key);
		else map.set(key, value);
		this.mirrors[kind]?.(key, value);
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

export const isStanding = (kind: string): boolean => STANDING_KINDS.has(kind);

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
