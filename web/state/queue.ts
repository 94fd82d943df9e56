// The queue as the daemon tells it: the place of each ready job, what each waits for, how many jobs have each status. Nothing is derived here. Pure.

import type { Result } from "../../src/api/protocol.ts";
import type { Status } from "../../src/core/job.ts";
import type { BoardColumn } from "./column.ts";
import type { PageRow } from "./row.ts";
import { localTimes } from "./words.ts";

type Told = Pick<Result<"job.queue">, "jobs" | "causes" | "locked" | "counts" | "ready">;
const NOTHING: Told = { jobs: [], causes: [], locked: [], counts: {} as Told["counts"], ready: 0 };

/** The statuses of each column. `asks` has jobs of several statuses, and is counted by its rows. */
const STATUSES: Partial<Record<BoardColumn, Status[]>> = {
	running: ["running"],
	failed: ["failed", "blocked_by_dependency", "expired"],
	done: ["succeeded", "cancelled"],
};

export class ToldQueue {
	private readonly places: Map<number, number>;
	private readonly words: Map<number, string>;

	constructor(
		readonly told: Told = NOTHING,
		private readonly frozen: ReadonlySet<number> = new Set(),
	) {
		this.places = new Map(told.jobs.map(({ id }, index) => [id, index + 1]));
		this.words = new Map(told.locked.map(({ id, detail }) => [id, detail]));
		for (const { id, cause } of told.jobs) if (cause !== null) this.words.set(id, told.causes[cause]?.detail ?? "");
	}

	/** The place of a ready job in the order of the starts; undefined beyond what the daemon has listed. */
	placeOf = ({ id, status }: PageRow): number | undefined => (status === "queued" ? this.places.get(id) : undefined);

	/** What a job waits for, in the daemon's words; null if its own row says it. */
	wordOf = (row: PageRow): string | null => {
		if (row.status === "running") return this.frozen.has(row.id) ? "frozen: it goes on when it is resumed" : null;
		if (row.status === "waiting_on_locks") return this.words.get(row.id) ?? null;
		if (!row.ready) return null;
		const place = this.places.get(row.id);
		const word = this.words.get(row.id);
		if (place === undefined) return null;
		return word === undefined ? `starts now, number ${place}` : `${localTimes(word)} · number ${place}`;
	};

	/** Jobs of a column that the daemon has, listed here or not; undefined if only the rows say it. */
	countOf(column: BoardColumn): number | undefined {
		const { counts } = this.told;
		return STATUSES[column]?.reduce((sum, status) => sum + (counts[status] ?? 0), 0);
	}

	/** Ready jobs by their place, then the rest by number. */
	inOrder(rows: readonly PageRow[]): PageRow[] {
		const at = (row: PageRow) => this.placeOf(row) ?? Number.POSITIVE_INFINITY;
		return [...rows].sort((a, b) => {
			const [x, y] = [at(a), at(b)];
			return x === y ? Number(b.ready) - Number(a.ready) || a.id - b.id : x - y;
		});
	}
}
