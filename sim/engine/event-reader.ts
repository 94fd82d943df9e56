// Reads the events that came since the last reading, up to the last there is: the iterator itself would wait for more for ever.

import type { EventRow, Scheduler } from "../../src/contracts/scheduler.ts";

export class EventReader {
	private last = 0;

	async read(scheduler: Scheduler, upTo: number): Promise<EventRow[]> {
		const rows: EventRow[] = [];
		if (upTo <= this.last) return rows;
		for await (const row of scheduler.events({ since: this.last })) {
			rows.push(row);
			this.last = row.seq;
			if (row.seq >= upTo) break;
		}
		return rows;
	}
}
