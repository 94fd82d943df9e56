// The first ready jobs of one bucket, as far as they are known without a read, and which of them can be started next. Pure: says what is missing instead of
// reading it.

/** A ready job as the order sees it. */
export type ReadyJob = { id: number; rank: number; level: number; age_at: number; ready_at: number };

/** The first rows of one level, in dispatch order; those before `next` have left. `complete`: no more rows of the level are stored. */
export type ReadyLevel = {
	readonly rank: number;
	readonly level: number;
	readonly rows: readonly ReadyJob[];
	readonly next: number;
	readonly complete: boolean;
};

export type ReadyRows<L extends ReadyLevel = ReadyLevel> = {
	/** Highest first, without gaps down to the lowest one here. */
	readonly levels: readonly L[];
	/** There are no levels below the lowest one. */
	readonly complete: boolean;
	/** No job of the bucket has been ready since before this moment; undefined: not known. */
	readonly since: number | undefined;
	/** The jobs that have been ready longest, if they were read. */
	readonly elders: RowList | undefined;
};
type RowList = Pick<ReadyLevel, "rows" | "next" | "complete">;

/** What has to be read first: more rows of a level, the levels below one (below none: the highest), or the jobs that have been ready longest. */
export type MissingRows<L> = { read: "level"; level: L } | { read: "lower"; below: L | undefined } | { read: "elders" };

export const isMissing = <L>(found: readonly ReadyJob[] | ReadyJob | MissingRows<L> | undefined): found is MissingRows<L> =>
	found !== undefined && "read" in found;

/** Jobs of one bucket that a plan has taken: they count as having left, though the rows still have them. */
export class TakenJobs {
	private readonly ids = new Set<number>();
	/** All rows before this index have left. */
	private readonly passed = new Map<RowList, number>();

	get count(): number {
		return this.ids.size;
	}

	add(id: number): void {
		this.ids.add(id);
	}

	/** The first row that has not left. */
	firstOf(list: RowList): ReadyJob | undefined {
		if (this.ids.size === 0) return list.rows[list.next];
		let at = this.passed.get(list) ?? list.next;
		while (at < list.rows.length && this.ids.has((list.rows[at] as ReadyJob).id)) at++;
		this.passed.set(list, at);
		return list.rows[at];
	}
}
export const NONE_TAKEN = new TakenJobs();

/**
 * The heads that could be dispatched first: that of the highest promoted level, and of the jobs that are not promoted those of all levels within reach of the
 * age boost. `ready`: how many jobs of the bucket are ready and not taken.
 */
export function headsOf<L extends ReadyLevel>(
	{ levels, complete }: ReadyRows<L>,
	reach: number,
	ready: number,
	taken: TakenJobs,
): ReadyJob[] | MissingRows<L> {
	const found: ReadyJob[] = [];
	let top: L | undefined;
	let plain: L | undefined;
	for (const level of levels) {
		const head = taken.firstOf(level);
		if (!head && level.complete) continue;
		const isTop = top === undefined;
		top ??= level;
		if (level.rank <= 0) plain ??= level;
		// Of the promoted jobs only the first one matters; of the others those that aging can bring to the front.
		const matters = level.rank > 0 ? isTop : plain !== undefined && level.rank === plain.rank && level.level >= plain.level - reach;
		if (!matters) continue;
		if (!head) return { read: "level", level };
		found.push(head);
	}
	if (!top) return complete || ready <= 0 ? [] : { read: "lower", below: undefined };
	const lowest = levels[levels.length - 1] as L;
	const isFar = plain && (lowest.rank < plain.rank || lowest.level < plain.level - reach);
	return complete || isFar ? found : { read: "lower", below: lowest };
}

/** The job that has been ready longest, if it has been so since `by`. Mostly there is none, and `since` says so. */
export function oldestOf({ since, elders }: ReadyRows, by: number, taken: TakenJobs): ReadyJob | undefined | MissingRows<never> {
	if (by === Number.NEGATIVE_INFINITY || (since !== undefined && since > by)) return undefined;
	if (since === undefined || !elders) return { read: "elders" };
	const oldest = taken.firstOf(elders);
	if (!oldest && !elders.complete) return { read: "elders" };
	return oldest && oldest.ready_at <= by ? oldest : undefined;
}
