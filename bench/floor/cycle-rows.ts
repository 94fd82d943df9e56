// The same floor strictly row by row: also what the store reads and removes a list at a time goes one by one.

import { INSERT_JOB, UPDATE_JOB } from "../../src/stores/sql/writes.ts";
import { clocked, createBare, type Floor, prepare, transaction } from "./bare.ts";
import { AT, LEASE_UNTIL, type Texts, texts } from "./texts.ts";

/** Microseconds a cycle. */
export function bareRowCycle(path: string, floor: Floor): number {
	const db = createBare(path);
	const all = Array.from({ length: (floor.warm ?? 0) + floor.jobs }, (_, i) => texts(i + 1));
	const insert = prepare(db, INSERT_JOB);
	const update = prepare(db, UPDATE_JOB);
	const spec = prepare(db, "INSERT INTO spec (id, body) VALUES (?, ?)");
	const event = prepare(db, "INSERT INTO event (seq, at, kind, job, by, data) VALUES (?, ?, ?, ?, ?, ?)");
	const head = prepare(db, "SELECT id, doc FROM job WHERE line = '' AND bucket = 1 ORDER BY rank DESC, level DESC, age_at, id LIMIT 1");
	const find = prepare(db, "SELECT doc FROM job WHERE id = ?");
	const body = prepare(db, "SELECT body FROM spec WHERE id = ?");
	const remove = prepare(db, "DELETE FROM job WHERE id = ?");
	const done = prepare(db, "INSERT INTO done (id, status, lane, batch, ended_at, doc) VALUES (?, ?, ?, ?, ?, ?)");
	let seq = 0;
	const took = clocked(floor, (from, to) => {
		const each = (work: (t: Texts) => void) =>
			transaction(db, () => {
				for (let i = from; i < to; i++) work(all[i] as Texts);
			});
		each((t) => {
			insert.run("", 1, 0, 0, AT, AT, null, "queued", "default", null, t.queued, t.id);
			spec.run(t.id, t.spec);
			event.run(++seq, AT, "added", t.id, "bench", t.added);
		});
		each((t) => {
			head.all();
			update.run("run", 1, 0, 0, AT, null, LEASE_UNTIL, "running", "default", null, t.running, t.id);
			body.all(t.id);
			event.run(++seq, AT, "started", t.id, "bench", t.started);
		});
		each((t) => {
			find.all(t.id);
			remove.run(t.id);
			done.run(t.id, "succeeded", "default", null, AT, t.ended);
			event.run(++seq, AT, "ended", t.id, "bench", t.finished);
		});
	});
	db.close();
	return took;
}
