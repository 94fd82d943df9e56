// The jobs that a person has selected on the board, for one action on all of them.

import { app } from "../app.ts";

class Selection {
	private ids: ReadonlySet<number> = new Set();
	/** The job that was selected last: Shift selects from there. */
	private last: number | null = null;

	get size(): number {
		return this.ids.size;
	}
	has = (id: number): boolean => this.ids.has(id);
	all = (): number[] => [...this.ids];

	toggle(id: number): void {
		const next = new Set(this.ids);
		if (!next.delete(id)) next.add(id);
		this.last = id;
		this.become(next);
	}

	/** Selects from the last one to this one, in the order of a list that has both; without such a list this one alone. */
	extend(id: number, lists: readonly (readonly { id: number }[])[]): void {
		const { last } = this;
		const at = (rows: readonly { id: number }[], one: number | null) => rows.findIndex((row) => row.id === one);
		const rows = lists.find((list) => at(list, last) >= 0 && at(list, id) >= 0);
		if (!rows) {
			this.toggle(id);
			return;
		}
		const [from, to] = [at(rows, last), at(rows, id)].sort((a, b) => a - b) as [number, number];
		this.last = id;
		this.become(new Set([...this.ids, ...rows.slice(from, to + 1).map((row) => row.id)]));
	}

	select(ids: Iterable<number>): void {
		this.become(new Set(ids));
	}

	clear(): void {
		this.last = null;
		this.become(new Set());
	}

	private become(ids: ReadonlySet<number>): void {
		this.ids = ids;
		app.tell("place");
	}
}

export const selection = new Selection();
