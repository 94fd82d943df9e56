// The same floor with one statement a table and transaction: the batch's rows travel as one JSON array through json_each.

import { clocked, createBare, type Floor, prepare, slices, transaction } from "./bare.ts";
import { AT, LEASE_UNTIL, type Texts, texts } from "./texts.ts";

const KEYS = ["spec", "queued", "added", "running", "started", "ended", "finished"] as const satisfies (keyof Texts)[];

/** Microseconds a cycle. */
export function bareSetCycle(path: string, floor: Floor): number {
	const { batch } = floor;
	const db = createBare(path);
	const all = Array.from({ length: (floor.warm ?? 0) + floor.jobs }, (_, i) => texts(i + 1));
	const insert = prepare(
		db,
		`INSERT INTO job (line, bucket, rank, level, age_at, ready_at, due_at, status, lane, batch, doc, id)
		SELECT '', 1, 0, 0, ?1, ?1, NULL, 'queued', 'default', NULL, value ->> 1, value ->> 0 FROM json_each(?2)`,
	);
	const spec = prepare(db, "INSERT INTO spec (id, body) SELECT value ->> 0, value ->> 1 FROM json_each(?)");
	const event = prepare(
		db,
		"INSERT INTO event (seq, at, kind, job, by, data) SELECT ?1 + key, ?2, ?3, value ->> 0, 'bench', value ->> 1 FROM json_each(?4)",
	);
	const line = prepare(db, "SELECT id, doc FROM job WHERE line = '' AND bucket = 1 ORDER BY rank DESC, level DESC, age_at, id LIMIT ?");
	const update = prepare(
		db,
		`UPDATE job SET line = 'running', ready_at = NULL, due_at = ?, status = 'running', doc = e.value ->> 1
		FROM json_each(?) AS e WHERE job.id = e.value ->> 0`,
	);
	const specs = prepare(db, "SELECT id, body FROM spec WHERE id IN (SELECT value FROM json_each(?))");
	const find = prepare(db, "SELECT doc FROM job WHERE id IN (SELECT value FROM json_each(?))");
	const remove = prepare(db, "DELETE FROM job WHERE id IN (SELECT value FROM json_each(?))");
	const done = prepare(
		db,
		"INSERT INTO done (id, status, lane, batch, ended_at, doc) SELECT value ->> 0, 'succeeded', 'default', NULL, ?, value ->> 1 FROM json_each(?)",
	);
	// What each statement gets is made before the clock starts; only the fields that it reads.
	type Lists = Record<"ids" | (typeof KEYS)[number], string>;
	const batches: Lists[] = [];
	slices(all.length, batch, (from, to) => {
		const part = all.slice(from, to);
		const lists = KEYS.map((key) => [key, JSON.stringify(part.map((t) => [t.id, t[key]]))]);
		batches.push({ ids: JSON.stringify(part.map((t) => t.id)), ...Object.fromEntries(lists) });
	});
	let seq = 1;
	const tell = (kind: string, list: string) => {
		event.run(seq, AT, kind, list);
		seq += batch;
	};
	const took = clocked(floor, (from) => {
		const b = batches[from / batch] as Lists;
		transaction(db, () => {
			insert.run(AT, b.queued);
			spec.run(b.spec);
			tell("added", b.added);
		});
		transaction(db, () => {
			line.all(batch);
			update.run(LEASE_UNTIL, b.running);
			specs.all(b.ids);
			tell("started", b.started);
		});
		transaction(db, () => {
			find.all(b.ids);
			remove.run(b.ids);
			done.run(AT, b.ended);
			tell("ended", b.finished);
		});
	});
	db.close();
	return took;
}
