// Records that nearly every transaction changes: the last numbers given out, how deep lanes are, what is in use. They stand in `head`, whose row
// each transaction writes anyway; in the table of records each would be a row, and an entry of an index to be found, of its own. The few that
// were changed last stand there, the others in the table, where what `head` says counts for more.

import type { Changes, RecordKind, Replies, StoreRead } from "../../contracts/store.ts";

type Records = Changes["records"];

const COUNTING: ReadonlySet<RecordKind> = new Set<RecordKind>(["bucket", "depth", "usage"]);
const mayCount = (kind: RecordKind): boolean => COUNTING.has(kind) || kind === "meta";
export const counts = (kind: RecordKind, key: string): boolean =>
	COUNTING.has(kind) || (kind === "meta" && (key === "ids" || key === "pace"));

/** How many, and how many characters of them: more would be more to write each time than a row of their own. */
const MOST = 16;
const MOST_CHARS = 1_500;

/** `start`: its kind and key, as they stand in the text; `body`: its value there; `used`: when it was changed last, counted in transactions. */
type Counter = { kind: RecordKind; key: string; start: string; body: string; used: number };

export class Counters {
	private readonly kept = new Map<string, Counter>();
	private turn = 0;
	/** As it stands in `head`: a list of kind, key and value; null for one that is gone. */
	text: string | null = null;

	/** What `head` says: all of it. */
	learn(text: string | null): Records {
		const records = listed(text);
		if (text === this.text) return records;
		this.kept.clear();
		const lines = text === null ? [] : text.slice(1, -1).split(BETWEEN);
		for (const [index, [kind, key, value]] of records.entries()) {
			const line = lines.length === records.length ? lines[index] : undefined;
			this.keep(kind, key, line?.slice(startOf(kind, key).length, -1) ?? JSON.stringify(value));
		}
		this.text = text;
		return records;
	}

	/** Takes what belongs here; tells what is left for the table, among it what had to make room. */
	take(records: Records): Records {
		const left: Records = [];
		let changed = false;
		this.turn++;
		for (const record of records) {
			const [kind, key, value] = record;
			if (!counts(kind, key)) left.push(record);
			else {
				// Also that it is gone: the table may have it.
				this.keep(kind, key, JSON.stringify(value));
				changed = true;
			}
		}
		if (changed) {
			this.text = this.written();
			this.makeRoom(this.text?.length ?? 0, left);
		}
		return left;
	}

	/** An answer from the table, with what stands here. */
	amend<R extends StoreRead>(request: R, found: Replies[R["read"]]): Replies[R["read"]] {
		if (request.read === "standing") {
			const here = listed(this.text).filter(([kind, , value]) => value !== null && request.kinds.includes(kind));
			const others = (found as Replies["standing"]).filter(([kind, key]) => !this.kept.has(nameOf(kind, key)));
			return [...others, ...here] as Replies[R["read"]];
		}
		if (request.read === "records" && mayCount(request.kind)) {
			const rows = new Map(found as Replies["records"]);
			for (const [kind, key, value] of listed(this.text)) if (kind === request.kind && request.keys.includes(key)) rows.set(key, value);
			return [...rows].filter(([, value]) => value !== null) as Replies[R["read"]];
		}
		return found;
	}

	private keep(kind: RecordKind, key: string, body: string): void {
		const name = nameOf(kind, key);
		const one = this.kept.get(name);
		if (one) {
			one.body = body;
			one.used = this.turn;
		} else this.kept.set(name, { kind, key, start: startOf(kind, key), body, used: this.turn });
	}

	private written(): string | null {
		let text = "";
		for (const { start, body } of this.kept.values()) text += `${text === "" ? "[" : BETWEEN}${start}${body}]`;
		return text === "" ? null : `${text}]`;
	}

	/** Drops the counters that were not changed for longest. */
	private makeRoom(chars: number, left: Records): void {
		if (this.kept.size <= MOST && chars <= MOST_CHARS) return;
		let rest = chars;
		for (const { kind, key, start, body } of [...this.kept.values()].sort((a, b) => a.used - b.used)) {
			if (this.kept.size <= MOST && rest <= MOST_CHARS) break;
			this.kept.delete(nameOf(kind, key));
			rest -= start.length + body.length + 2;
			left.push([kind, key, JSON.parse(body)]);
		}
		this.text = this.written();
	}
}

/** A line for each: no value has such a break in it, so they can be told apart without being read. */
const BETWEEN = ",\n";
const startOf = (kind: RecordKind, key: string): string => `[${JSON.stringify(kind)},${JSON.stringify(key)},`;
const nameOf = (kind: RecordKind, key: string): string => `${kind}\n${key}`;
const listed = (text: string | null): [RecordKind, string, unknown][] => (text === null ? [] : JSON.parse(text));

/** Puts all of them back into the table, for code that reads and writes the table directly; the caller must hold the lock. */
export const settleCounters = (schema: string): string => {
	const counters = `(SELECT e.counter ->> 0 AS kind, e.counter ->> 1 AS key, nullif((e.counter -> 2)::text, 'null') AS body
FROM "${schema}".head, json_array_elements(head.counters::json) AS e (counter)) AS n`;
	return `DELETE FROM "${schema}".record USING ${counters} WHERE n.body IS NULL AND record.kind = n.kind AND record.key = n.key;
INSERT INTO "${schema}".record (kind, key, body) SELECT kind, key, body FROM ${counters} WHERE body IS NOT NULL ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body;
UPDATE "${schema}".head SET counters = NULL`;
};
