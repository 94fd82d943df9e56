// Reads the events that came since the last reading; the iterator itself would wait for more for ever.

import type { EventRow, Scheduler } from "../src/scheduler.ts";

const turns = async (count: number) => {
	for (let n = 0; n < count; n++) await new Promise<void>((done) => setImmediate(done));
};

export class EventReader {
	private last = 0;

	/** `slow`: the store answers after a while, so that the end is told by the last number, not by silence. */
	constructor(private readonly store: "prompt" | "slow") {}

	async read(scheduler: Scheduler): Promise<EventRow[]> {
		const rows: EventRow[] = [];
		const until = this.store === "slow" ? await scheduler.lastEvent() : Number.POSITIVE_INFINITY;
		const events = scheduler.events({ since: this.last })[Symbol.asyncIterator]();
		while (this.last < until) {
			const next = events.next();
			const one = await (this.store === "slow" ? next : Promise.race([next, turns(3).then(() => undefined)]));
			if (one === undefined || one.done) break;
			rows.push(one.value);
			this.last = one.value.seq;
		}
		void events.return?.();
		return rows;
	}
}
