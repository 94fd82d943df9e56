// Records that a transaction has changed and not written yet: one entry a record, with its latest value. Records that the store does not have yet are kept
// apart.

import type { Changes, RecordKind } from "../../contracts/store.ts";

type Entry = { record: [RecordKind, string, unknown | null]; isNew: boolean };

export class Records {
	private readonly kinds = new Map<RecordKind, Map<string, Entry>>();
	size = 0;

	/**
	 * `isNew`: the store has no such record. Only the first `set` counts: by the second, memory shows this transaction's own change, not the store's state.
	 */
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

	/** Moves the entries into `Changes`. A record that was created and deleted in this transaction is left out. */
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
