// Cache of the first ready jobs of a bucket, kept between claims: a few rows of each level that can matter, updated as jobs enter and leave.

import { ask, type Op } from "../../contracts/store.ts";
import type { Bucket } from "../../core/bucket.ts";
import { READY } from "../../core/parked.ts";
import { headsOf, isMissing, NONE_TAKEN, oldestOf, type ReadyJob, type ReadyRows } from "../../core/planning/ready-rows.ts";

/** Rows fetched in one read; a level is refilled when its rows are used up. */
const ROWS = 128;

/** A ReadyLevel that changes. */
type Level = { rank: number; level: number; rows: ReadyJob[]; next: number; complete: boolean };

type Elders = { rows: ReadyJob[]; next: number; complete: boolean };

/** Number of jobs in a level: exact up to MANY, a lower bound beyond it. `newest` is the last job in the order, when known. */
export type Tally = {
	count: number;
	capped: boolean;
	newest: ReadyJob | undefined;
	/** A job at or after this position has more than MANY jobs before it. */
	far?: { age_at: number; id: number } | undefined;
};
export const MANY = 1000;
const tallyKey = (head: { rank: number; level: number }) => `${head.rank}/${head.level}`;

export class Window implements ReadyRows {
	private readonly tallies = new Map<string, Tally>();
	/** Highest first, without gaps down to the lowest one here; `complete`: there are no levels below it. */
	levels: Level[] = [];
	complete = false;
	/** The jobs that have been ready longest, once `oldest` had to read them; `complete`: these are all. */
	elders: Elders | undefined;
	/** No job of the bucket has been ready since before this moment; undefined: not known. */
	since: number | undefined;

	/** Reads until the heads are known. */
	*heads(bucket: Bucket, reach: number): Op<ReadyJob[]> {
		for (;;) {
			while (this.levels.length > 0 && isEmpty(this.levels[0] as Level)) this.levels.shift();
			const heads = headsOf<Level>(this, reach, bucket.ready, NONE_TAKEN);
			if (!isMissing(heads)) return heads;
			if (heads.read === "level") yield* this.refill(bucket, heads.level);
			else if (heads.read === "lower") yield* this.fetch(bucket, heads.below);
		}
	}

	/**
	 * Reads until the job that has been ready longest is known, or that none has been ready since `by`. Fetches several rows at once, because each read first flushes
	 * the transaction's changes; but at first one row alone, which mostly says that no job is overdue.
	 */
	*oldest(bucket: Bucket, by: number): Op<ReadyJob | undefined> {
		for (;;) {
			const oldest = oldestOf(this, by, NONE_TAKEN);
			if (!isMissing(oldest)) return oldest;
			const limit = this.since === undefined ? 1 : ROWS;
			const rows = yield* ask({ read: "oldest", bucket: bucket.id, limit });
			if (limit === ROWS) this.elders = { rows, next: 0, complete: rows.length < ROWS };
			this.since = rows[0]?.ready_at ?? Number.POSITIVE_INFINITY;
		}
	}

	/** The next ids that the planner is likely to ask for, so that their documents come in one read. */
	upcoming(id: number, count: number): number[] {
		for (const level of this.levels) {
			const at = level.rows.findIndex((row, index) => index >= level.next && row.id === id);
			if (at >= 0) return level.rows.slice(at, at + count).map((row) => row.id);
		}
		return [id];
	}

	/** All levels from the highest down to `floor`, at most about a thousand. */
	*levelsDownTo(bucket: Bucket, floor: { rank: number; level: number }): Op<{ rank: number; level: number }[]> {
		for (;;) {
			const lowest = this.levels[this.levels.length - 1];
			const covered = lowest && (lowest.rank < floor.rank || (lowest.rank === floor.rank && lowest.level < floor.level));
			if (this.complete || covered || this.levels.length > MANY) return this.levels.filter((level) => !isEmpty(level));
			yield* this.fetch(bucket, lowest);
		}
	}

	/** Number of jobs before `head` if it is the last one of the only level, as a job that was just added mostly is; undefined if that is not known. */
	beforeLast(head: ReadyJob): number | undefined {
		const only = this.levels.length === 1 && this.complete ? this.levels[0] : undefined;
		if (only?.rank !== head.rank || only.level !== head.level) return undefined;
		const tally = this.tallies.get(tallyKey(head));
		return tally && tally.newest?.id === head.id ? tally.count - 1 : undefined;
	}

	/** Number of jobs of `level` that come before `bound`. `self`: the head, where the job in question is of this level itself. */
	*ahead(bucket: Bucket, level: { rank: number; level: number }, bound: { age_at: number; id: number }, self?: ReadyJob): Op<number> {
		const key = tallyKey(level);
		let tally = this.tallies.get(key);
		if (!tally) {
			const all = { age_at: Number.MAX_SAFE_INTEGER, id: 0 };
			const count = yield* ask({ read: "ahead", bucket: bucket.id, ...pick(level), ...all, limit: MANY + 1 });
			tally = { count, capped: count > MANY, newest: undefined };
			this.tallies.set(key, tally);
		}
		// The job is the only one of its level, counted exactly: no read needed.
		if (self && !tally.capped && tally.count === 1) tally.newest = self;
		if (tally.newest && earlier(tally.newest, bound)) return tally.count;
		if (tally.newest && tally.newest.id === bound.id) return tally.count - 1;
		if (tally.far && !earlier(bound, tally.far)) return MANY + 1;
		const before = yield* ask({ read: "ahead", bucket: bucket.id, ...pick(level), ...bound, limit: MANY + 1 });
		if (before > MANY) tally.far = bound;
		if (self && !tally.capped && before === tally.count - 1) tally.newest = self;
		return before;
	}

	private count(head: ReadyJob, by: 1 | -1): void {
		const key = tallyKey(head);
		const tally = this.tallies.get(key);
		if (!tally) return;
		tally.count += by;
		if (by === 1) {
			if (tally.newest && earlier(tally.newest, head)) tally.newest = head;
		} else {
			if (tally.newest?.id === head.id) tally.newest = undefined;
			tally.far = undefined;
		}
		// A lower bound cannot be counted down to an exact number: count again when it is next asked for.
		if (tally.capped && tally.count <= MANY) this.tallies.delete(key);
	}

	/** Reads the rows below a level; all levels but the last one read are then complete. */
	private *fetch(bucket: Bucket, below: Level | undefined): Op<void> {
		const rows = yield* ask({
			read: "line",
			line: READY,
			bucket: bucket.id,
			...(below ? { below: { rank: below.rank, level: below.level } } : {}),
			limit: ROWS,
		});
		for (const row of rows) {
			const last = this.levels[this.levels.length - 1];
			if (last && last.rank === row.rank && last.level === row.level) last.rows.push(row);
			else {
				if (last && last !== below) last.complete = true;
				this.levels.push({ rank: row.rank, level: row.level, rows: [row], next: 0, complete: false });
			}
		}
		if (rows.length < ROWS) {
			this.complete = true;
			const last = this.levels[this.levels.length - 1];
			if (last && last !== below) last.complete = true;
		}
	}

	private *refill(bucket: Bucket, level: Level, limit = ROWS): Op<void> {
		const last = level.rows[level.rows.length - 1];
		const after = last ? { age_at: last.age_at, id: last.id } : { age_at: -1, id: 0 };
		const rows = yield* ask({
			read: "line",
			line: READY,
			bucket: bucket.id,
			after: { rank: level.rank, level: level.level, ...after },
			limit,
		});
		level.rows = rows;
		level.next = 0;
		if (rows.length < limit) level.complete = true;
	}

	enter(head: ReadyJob): void {
		this.count(head, 1);
		if (this.elders) join(this.elders, head);
		if (this.since !== undefined) this.since = Math.min(this.since, head.ready_at);
		let index = 0;
		for (; index < this.levels.length; index++) {
			const level = this.levels[index] as Level;
			if (level.rank === head.rank && level.level === head.level) {
				insert(level, head);
				return;
			}
			if (level.rank < head.rank || (level.rank === head.rank && level.level < head.level)) break;
		}
		// Below the lowest cached level there may be levels that were not read.
		if (index === this.levels.length && !this.complete) return;
		this.levels.splice(index, 0, { rank: head.rank, level: head.level, rows: [head], next: 0, complete: true });
	}

	/** Removes a row that should no longer be here, from whatever level has it. The tally was already reduced when the job left. */
	discard(id: number): void {
		if (this.elders) part(this.elders, id);
		for (const level of this.levels) {
			const at = level.rows.findIndex((row, index) => index >= level.next && row.id === id);
			if (at >= 0) level.rows.splice(at, 1);
		}
	}

	leave(head: ReadyJob): void {
		this.count(head, -1);
		if (this.elders) part(this.elders, head.id);
		for (const level of this.levels) {
			if (level.rank !== head.rank || level.level !== head.level) continue;
			if (level.rows[level.next]?.id === head.id) {
				level.next++;
				return;
			}
			const at = level.rows.findIndex((row, index) => index >= level.next && row.id === head.id);
			if (at >= 0) level.rows.splice(at, 1);
			return;
		}
	}
}

const isEmpty = (level: Level) => level.complete && level.next >= level.rows.length;

const pick = ({ rank, level }: { rank: number; level: number }) => ({ rank, level });
const earlier = (a: { age_at: number; id: number }, b: { age_at: number; id: number }) =>
	a.age_at !== b.age_at ? a.age_at < b.age_at : a.id < b.id;
const older = (a: ReadyJob, b: ReadyJob) => (a.ready_at !== b.ready_at ? a.ready_at < b.ready_at : a.id < b.id);

/** Inserts at its place; a row behind all known ones of an incomplete list is left for the next read. */
function join(elders: Elders, head: ReadyJob): void {
	const { rows, next } = elders;
	let at = rows.length;
	while (at > next && older(head, rows[at - 1] as ReadyJob)) at--;
	if (at === rows.length && !elders.complete) return;
	rows.splice(at, 0, head);
	if (rows.length <= 2 * ROWS) return;
	// Drop the rows that have left, and those far from their turn.
	elders.complete &&= rows.length - next <= ROWS;
	elders.rows = rows.slice(next, next + ROWS);
	elders.next = 0;
}

function part(elders: Elders, id: number): void {
	const { rows, next } = elders;
	if (rows[next]?.id === id) {
		elders.next++;
		return;
	}
	for (let at = next + 1; at < rows.length; at++)
		if ((rows[at] as ReadyJob).id === id) {
			rows.splice(at, 1);
			return;
		}
}

/** Inserts at its place; a row past the end of an incomplete level is left for the refill. */
function insert(level: Level, head: ReadyJob): void {
	const last = level.rows[level.rows.length - 1];
	if (!level.complete && level.next >= level.rows.length) {
		// All rows have left: the refill begins at the front again, since the new row may come before rows that have left.
		level.rows = [];
		level.next = 0;
		return;
	}
	if (!level.complete && (!last || earlier(last, head))) return;
	let at = level.rows.length;
	while (at > level.next && earlier(head, level.rows[at - 1] as ReadyJob)) at--;
	if (level.next > 1000) {
		level.rows = level.rows.slice(level.next);
		at -= level.next;
		level.next = 0;
	}
	level.rows.splice(at, 0, head);
}
