// Records that a transaction has put and not written yet: each once, as it is now, apart those that were not there before.

import type { Changes, RecordKind } from "../store.ts";

type Entry = { record: [RecordKind, string, unknown | null]; isNew: boolean };

export class Records {
	private readonly entries = new Map<string, Entry>();

	get size(): number {
		return this.entries.size;
	}

	/** `isNew`: the store has none; it counts only for the first time, since what was put before may be gone by now. */
	set(kind: RecordKind, key: string, value: unknown | null, isNew: boolean): void {
		const name = `${kind}\n${key}`;
		const entry = this.entries.get(name);
		if (entry) entry.record[2] = value;
		else this.entries.set(name, { record: [kind, key, value], isNew });
	}

	/** Into what is to be written. One that came and went need not be. */
	drain({ records, fresh }: Changes): void {
		for (const { record, isNew } of this.entries.values()) {
			if (!isNew) records.push(record);
			else if (record[2] !== null) fresh.push(record);
		}
		this.entries.clear();
	}
}
