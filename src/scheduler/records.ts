// Records that a transaction has put and not written yet: each once, as it is now, apart those that were not there before.

import type { Changes, RecordKind } from "../store.ts";

type Entry = { record: [RecordKind, string, unknown | null]; isNew: boolean };

export class Records {
	private readonly kinds = new Map<RecordKind, Map<string, Entry>>();
	size = 0;

	/** `isNew`: the store has none; it counts only for the first time, since what was put before may be gone by now. */
	set(kind: RecordKind, key: string, value: unknown | null, isNew: boolean): void {
		let entries = this.kinds.get(kind);
		if (!entries) {
			entries = new Map();
			this.kinds.set(kind, entries);
		}
		const entry = entries.get(key);
		if (entry) entry.record[2] = value;
		else {
			entries.set(key, { record: [kind, key, value], isNew });
			this.size++;
		}
	}

	/** Into what is to be written. One that came and went need not be. */
	drain({ records, fresh }: Changes): void {
		for (const entries of this.kinds.values())
			for (const { record, isNew } of entries.values()) {
				if (!isNew) records.push(record);
				else if (record[2] !== null) fresh.push(record);
			}
		this.kinds.clear();
		this.size = 0;
	}
}
