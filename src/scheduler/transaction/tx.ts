// One transaction: what it has read and what it will write. Operations change jobs and records here; the engine's `take` hands the changes to the store.

import { ask, type Changes, noChanges, type Op, type RecordKind } from "../../contracts/store.ts";
import { type Bucket, bucketKey, bucketOf } from "../../core/bucket.ts";
import type { Config } from "../../core/config.ts";
import { assert } from "../../core/errors.ts";
import type { EventKind, EventMap, EventRow, MoveKind, MoveMap } from "../../core/event.ts";
import { type JobFacts, noFacts } from "../../core/gates/gate.ts";
import { checkMove, isTerminal, isWaiting, type Job, type JobSpec, type Status } from "../../core/job.ts";
import type { LimitsView } from "../../core/limits-view.ts";
import type { ReadyJob } from "../../core/planning/ready-rows.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { HeldBuckets } from "../rollups/held.ts";
import type { RollupNote } from "../rollups/notes.ts";
import { LockWaiters } from "../waiting/lock-waiters.ts";
import { Window } from "../waiting/ready-queue.ts";
import { Worklist } from "../waiting/worklist.ts";
import { isStanding, type Memory } from "./cache.ts";
import { rowOf } from "./job-row.ts";
import { worldOf } from "./limits-view.ts";
import { type Ids, type MetaMap, type Pace, type RecordMap, storedRecords } from "./record-map.ts";
import { Records } from "./records.ts";

export type TxOptions = {
	now: number;
	config: Config;
	chance: () => number;
	by: string;
	cancelling?: boolean;
	wasDoubted?: (key: string, since: number) => boolean;
	held?: HeldBuckets;
};

const NO_PACE: Pace = { last_cycle_at: -1e15, last_start_at: -1e15, starts: 0, last_dispatch_at: null };

export class Tx {
	/** Whether a commit after the event `since` has invalidated a fact. */
	readonly wasDoubted: (key: string, since: number) => boolean;
	readonly now: number;
	readonly config: Config;
	readonly chance: () => number;
	readonly memory: Memory;
	/** A call of this process is about to cancel very many jobs, and has not got to all of them yet. */
	readonly cancelling: boolean;
	by: string;
	changes: Changes = noChanges();
	/** What has to be looked at again before the transaction ends. */
	readonly work = new Worklist();
	/** Functions that complete the answers of operations; see `answerLater`. */
	private readonly late: (() => void)[] = [];
	/** Jobs that were written as ended, or into a stage: dropped from memory after the commit. */
	readonly over: number[] = [];
	/** Keys of facts that a host should probe once this transaction is committed. */
	readonly probes = new Set<string>();
	/** Keys of facts without a record that may have changed: the result of a probe that began before this commit must not be recorded. */
	readonly doubted = new Set<string>();
	/** The job that is being added, else 0. Its `added` event says where it was placed, so `move` appends no other. */
	arriving = 0;
	/** Something may have become startable: claimers are woken after the commit. */
	stirred = false;
	readonly events: EventRow[] = [];
	/** Grows with every change: shows the engine whether a failed operation has left changes behind. */
	mutations = 0;
	/** Facts of jobs that depend on nothing but time, shared by all of them. */
	readonly plainFacts: JobFacts;
	private readonly dirty = new Set<number>();
	private readonly newSpecs = new Map<number, JobSpec>();
	private readonly counters = { usage: new Set<string>(), depth: new Set<string>(), bucket: new Set<number>() };
	private readonly records = new Records();
	readonly lockWaiters = new LockWaiters();
	/** What held the buckets of ready jobs until this transaction. */
	readonly held: HeldBuckets;
	/** Starts and ends that the rollups have to count. */
	readonly rollupNotes: RollupNote[] = [];
	private readonly ids: Ids;
	private readonly pace: Pace;
	private readonly counted = { ids: false, pace: false };
	private readonly worlds = new Map<string, LimitsView>();

	constructor(memory: Memory, options: TxOptions) {
		this.memory = memory;
		this.now = options.now;
		this.config = options.config;
		this.chance = options.chance;
		this.by = options.by;
		this.cancelling = options.cancelling ?? false;
		this.held = options.held ?? new HeldBuckets();
		this.plainFacts = noFacts(options.now);
		this.wasDoubted = options.wasDoubted ?? (() => false);
		this.ids = { ...(memory.meta("ids") ?? { job: 0, token: 0, seq: 0, bucket: 0, rank: 0 }) };
		this.pace = { ...(memory.meta("pace") ?? NO_PACE) };
	}

	world(host?: string): LimitsView {
		const key = host ?? "";
		let world = this.worlds.get(key);
		if (!world) {
			world = worldOf({ memory: this.memory, now: this.now, config: this.config, pace: this.pace, host });
			this.worlds.set(key, world);
		}
		return world;
	}

	/** `complete` is called once the worklist is empty, before the next operation that is no end of a run. */
	answerLater(complete: () => void): void {
		this.late.push(complete);
	}

	answerLate(): void {
		if (this.late.length > 0) for (const complete of this.late.splice(0)) complete();
	}

	nextId(kind: keyof Ids): number {
		this.mutations++;
		this.counted.ids = true;
		return ++this.ids[kind];
	}

	/** Reserves `count` consecutive job ids for jobs that are added together. Returns the first. */
	nextIds(count: number): number {
		this.mutations++;
		this.counted.ids = true;
		const first = this.ids.job + 1;
		this.ids.job += count;
		return first;
	}

	countStart(): void {
		this.counted.pace = true;
		this.pace.starts++;
	}

	setPace(change: Partial<Pace>): void {
		this.counted.pace = true;
		Object.assign(this.pace, change);
	}

	getPace(): Readonly<Pace> {
		return this.pace;
	}

	/** True for a job of an apply that is still coming in. Callers must not see such a job, nor events about it, until the apply is complete. */
	isComing(id: number): boolean {
		const stages = this.memory.all("stage");
		if (stages.size === 0) return false;
		for (const { from, to } of stages.values()) if (id >= from && id <= to) return true;
		return false;
	}

	event<K extends EventKind>(kind: K, job: number | null, data: EventMap[K]): void {
		if (job !== null && this.isComing(job)) return;
		this.events.push({ seq: this.nextId("seq"), at: this.now, kind, job, by: this.by, data } as EventRow);
	}

	// ---- jobs -----------------------------------------------------------------------------------------------------------------------

	/** An active or ended job. The object is shared by the whole transaction: change it, then call `touch`. */
	*find(id: number): Op<Job | undefined> {
		const entry = this.memory.jobs.get(id);
		if (entry) return entry.job;
		yield* this.load([id]);
		return this.memory.jobs.get(id)?.job;
	}

	*load(ids: Iterable<number>): Op<void> {
		const missing = [...new Set(ids)].filter((id) => !this.memory.jobs.has(id));
		if (missing.length === 0) return;
		for (const job of yield* ask({ read: "jobs", ids: missing })) this.memory.jobs.set(job.id, { job, at: "job" });
		const rest = missing.filter((id) => !this.memory.jobs.has(id));
		if (rest.length === 0) return;
		for (const job of yield* ask({ read: "done", ids: rest })) this.memory.jobs.set(job.id, { job, at: "done" });
	}

	/** A spec that is cached; reads nothing. */
	spec(id: number): JobSpec | undefined {
		return this.memory.specs.get(id) ?? this.newSpecs.get(id);
	}

	*specs(ids: readonly number[]): Op<Map<number, JobSpec>> {
		const found = new Map<number, JobSpec>();
		const missing: number[] = [];
		for (const id of ids) {
			const spec = this.spec(id);
			if (spec) found.set(id, spec);
			else missing.push(id);
		}
		if (missing.length === 0) return found;
		for (const [id, spec] of yield* ask({ read: "specs", ids: missing })) {
			found.set(id, spec);
			this.memory.keepSpec(id, spec);
		}
		return found;
	}

	peek(id: number): Job | undefined {
		return this.memory.jobs.get(id)?.job;
	}

	create(job: Job, spec: JobSpec): void {
		this.memory.jobs.set(job.id, { job, at: "new" });
		this.dirty.add(job.id);
		this.putSpec(job.id, spec);
	}

	putSpec(id: number, spec: JobSpec): void {
		this.memory.specs.delete(id);
		this.changes.specs.push([id, spec]);
		this.newSpecs.set(id, spec);
		this.memory.keepSpec(id, spec);
	}

	touch(job: Job): void {
		this.mutations++;
		assert(this.memory.jobs.get(job.id)?.job === job, () => `job ${job.id} is not the remembered one`);
		this.dirty.add(job.id);
		this.lockWaiters.touched(job);
	}

	/** The only way a stored job changes its status. */
	move<K extends MoveKind>(job: Job, to: Status, kind: K, data: MoveMap[K]): void {
		const from = job.status;
		if (from !== to) checkMove(job.id, from, to);
		job.status = to;
		this.touch(job);
		const entered = Number(isWaiting(to)) - Number(isWaiting(from));
		if (entered !== 0 && queuePolicy(job.kind).isCounted) this.count("depth", job.lane, entered);
		if (job.id !== this.arriving) this.event(kind, job.id, { from, to, ...data } as EventMap[K]);
	}

	forget(id: number): void {
		this.memory.jobs.delete(id);
		this.memory.specs.delete(id);
		this.dirty.delete(id);
		this.changes.forget.push(id);
	}

	// ---- buckets --------------------------------------------------------------------------------------------------------------------

	bucketFor(job: Job, stage?: number): Bucket {
		const key = bucketKey(job, stage);
		const id = this.memory.bucketIds.get(key);
		const known = id === undefined ? undefined : this.memory.buckets.get(id);
		if (known) return known;
		const bucket = bucketOf(job, this.nextId("bucket"), stage);
		this.put("bucket", key, bucket);
		return bucket;
	}

	/** The bucket of a waiting job; recreated if it became empty and was dropped since. */
	bucketOf(job: Job): Bucket {
		return this.memory.buckets.get(job.bucket) ?? bucketOf(job, job.bucket);
	}

	/** Adds a job to the ready jobs of its bucket, and to the bucket's window. */
	enter(job: Job): void {
		let bucket = this.memory.buckets.get(job.bucket);
		if (!bucket) {
			bucket = this.bucketFor(job);
			job.bucket = bucket.id;
		}
		if (bucket.stage === undefined) this.stirred = true;
		this.memory.moveReady(bucket, 1);
		this.counters.bucket.add(bucket.id);
		this.window(bucket).enter(this.headOf(job));
	}

	leave(job: Job): void {
		const bucket = this.memory.buckets.get(job.bucket);
		assert(bucket && bucket.ready > 0, () => `job ${job.id} leaves bucket ${job.bucket}, which has none ready`);
		this.memory.moveReady(bucket, -1);
		this.window(bucket).leave(this.headOf(job));
		this.counters.bucket.add(bucket.id);
	}

	window(bucket: Bucket): Window {
		let window = this.memory.windows.get(bucket.id);
		if (!window) {
			window = new Window();
			this.memory.windows.set(bucket.id, window);
		}
		return window;
	}

	headOf(job: Job): ReadyJob {
		const { id, rank = 0, ready_at = job.created_at } = job;
		const { order } = queuePolicy(job.kind);
		return { id, rank, level: order.levelOf(job, this.config), age_at: order.ageAt(job, this.config), ready_at };
	}

	// ---- records --------------------------------------------------------------------------------------------------------------------

	/** Returns a record; reads it from the store if it is not in memory. */
	*get<K extends RecordKind>(kind: K, key: string): Op<RecordMap[K] | null> {
		const known = this.memory.recall(kind, key);
		if (known !== undefined) return known;
		yield* this.fetch(kind, [key]);
		return this.memory.recall(kind, key) ?? null;
	}

	*fetch<K extends RecordKind>(kind: K, keys: Iterable<string>): Op<void> {
		const missing = [...new Set(keys)].filter((key) => this.memory.recall(kind, key) === undefined);
		if (missing.length === 0) return;
		const found = new Map(yield* storedRecords(kind, missing));
		for (const key of missing) this.memory.remember(kind, key, found.get(key) ?? null);
	}

	put<K extends RecordKind>(kind: K, key: string, value: RecordMap[K] | null): void {
		this.mutations++;
		// `isNew` lets the store insert without looking for a row. Never for standing kinds: PostgreSQL keeps some of them outside the record table, so that one
		// that is absent from memory may still have a row.
		this.records.set(kind, key, value, !isStanding(kind) && this.memory.recall(kind, key) === null);
		this.memory.remember(kind, key, value);
	}

	putMeta<M extends keyof MetaMap>(key: M, value: MetaMap[M]): void {
		this.put("meta", key, value);
	}

	/** Writes a record without keeping it in memory because it is large; every reader reads it from the store. */
	putAside<K extends "output" | "reply" | "rollup">(kind: K, key: string, value: RecordMap[K] | null): void {
		this.mutations++;
		this.changes.records.push([kind, key, value]);
	}

	count(kind: "usage" | "depth", key: string, by: number): void {
		const map = this.memory[kind];
		const next = (map.get(key) ?? 0) + by;
		assert(next >= 0, () => `${kind} of ${key} fell to ${next}`);
		this.mutations++;
		if (next === 0) map.delete(key);
		else map.set(key, next);
		this.counters[kind].add(key);
	}

	// ---- out ------------------------------------------------------------------------------------------------------------------------

	/** Whether there is anything to write. */
	pending(): boolean {
		return (
			this.dirty.size > 0 ||
			this.counters.usage.size > 0 ||
			this.counters.depth.size > 0 ||
			this.counters.bucket.size > 0 ||
			this.records.size > 0 ||
			this.events.length > this.flushedEvents ||
			this.counted.ids ||
			this.counted.pace ||
			Object.values(this.changes).some((list) => list.length > 0)
		);
	}

	private flushedEvents = 0;

	/** Returns the changes so far, for the store to write; the transaction goes on with an empty set. */
	take(): Changes {
		const { changes, memory } = this;
		for (const id of this.dirty) {
			const entry = memory.jobs.get(id);
			if (!entry) continue;
			const { job } = entry;
			const to = isTerminal(job.status) ? "done" : "job";
			if (to === "done") {
				if (entry.at === "job") changes.remove.push(id);
				else if (entry.at === "done") changes.undone.push(id);
				changes.done.push(job);
				this.over.push(id);
			} else if (entry.at === "job") (job.parked_on === "run" ? changes.running : changes.update).push(rowOf(this, job));
			else {
				if (entry.at === "done") changes.undone.push(id);
				changes.insert.push(rowOf(this, job));
			}
			entry.at = to;
		}
		this.dirty.clear();
		for (const event of this.events.slice(this.flushedEvents)) changes.events.push(event);
		this.flushedEvents = this.events.length;
		if (this.counted.ids) {
			this.counted.ids = false;
			this.putMeta("ids", { ...this.ids });
		}
		if (this.counted.pace) {
			this.counted.pace = false;
			this.putMeta("pace", { ...this.pace });
		}
		for (const kind of ["usage", "depth"] as const) {
			for (const key of this.counters[kind]) changes.records.push([kind, key, memory[kind].get(key) ?? null]);
			this.counters[kind].clear();
		}
		for (const id of this.counters.bucket) {
			const key = memory.bucketKeys.get(id);
			// A bucket that was dropped has no key in memory; its deletion is already among the records.
			if (key !== undefined) this.records.set("bucket", key, memory.buckets.get(id), false);
		}
		this.counters.bucket.clear();
		this.records.drain(changes);
		this.changes = noChanges();
		return changes;
	}
}
