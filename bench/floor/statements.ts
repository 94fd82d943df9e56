// The statements of a job's life, in the store's own words: rows are written one by one; documents are read, and rows removed, a list at a time.

import { INSERT_JOB, UPDATE_JOB } from "../../src/stores/sql/writes.ts";
import { type Bare, prepare } from "./bare.ts";
import { AT, LEASE_UNTIL, type Texts } from "./texts.ts";

/** Left out, and so to the floor's favour: the counters that the engine keeps in `record`, some rows a transaction. */
export function prepareLife(db: Bare) {
	const insert = prepare(db, INSERT_JOB);
	const update = prepare(db, UPDATE_JOB);
	const spec = prepare(db, "INSERT INTO spec (id, body) VALUES (?, ?)");
	const event = prepare(db, "INSERT INTO event (seq, at, kind, job, by, data) VALUES (?, ?, ?, ?, ?, ?)");
	const line = prepare(
		db,
		"SELECT id, rank, level, age_at, coalesce(ready_at, age_at) FROM job WHERE line = ? AND bucket = ? ORDER BY rank DESC, level DESC, age_at, id LIMIT ?",
	);
	const jobs = prepare(db, "SELECT doc FROM job WHERE id IN (SELECT value FROM json_each(?))");
	const specs = prepare(db, "SELECT id, body FROM spec WHERE id IN (SELECT value FROM json_each(?))");
	const remove = prepare(db, "DELETE FROM job WHERE id IN (SELECT value FROM json_each(?))");
	const done = prepare(db, "INSERT INTO done (id, status, lane, batch, ended_at, doc) VALUES (?, ?, ?, ?, ?, ?)");
	let seq = 0;
	const tell = (kind: string, job: number, data: string) => event.run(++seq, AT, kind, job, "bench", data);
	return {
		add(t: Texts) {
			insert.run("", 1, 0, 0, AT, AT, null, "queued", "default", null, t.queued, t.id);
			spec.run(t.id, t.spec);
			tell("added", t.id, t.added);
		},
		/** Parked until what it comes after has ended. */
		addParked(t: Texts) {
			insert.run("after", 1, 0, 0, AT, null, null, "waiting_on_deps", "default", null, t.queued, t.id);
			spec.run(t.id, t.spec);
			tell("added", t.id, t.added);
		},
		/** Picks up to `max` of the line's heads and starts them. */
		claim(all: readonly Texts[], max: number): Texts[] {
			const ids = (line.all("", 1, max) as [number][]).map(([id]) => id);
			const list = JSON.stringify(ids);
			jobs.all(list);
			const picked = ids.map((id) => all[id - 1] as Texts);
			for (const t of picked) {
				update.run("run", 1, 0, 0, AT, null, LEASE_UNTIL, "running", "default", null, t.running, t.id);
				tell("started", t.id, t.started);
			}
			specs.all(list);
			return picked;
		},
		complete(ended: readonly Texts[]) {
			const list = JSON.stringify(ended.map((t) => t.id));
			jobs.all(list);
			remove.run(list);
			for (const t of ended) {
				done.run(t.id, "succeeded", "default", null, AT, t.ended);
				tell("ended", t.id, t.finished);
			}
		},
		/** Counts dependents down; those that reach zero become ready. */
		release(dependents: readonly Texts[], isReady: (t: Texts) => boolean) {
			jobs.all(JSON.stringify(dependents.map((t) => t.id)));
			for (const t of dependents) {
				if (isReady(t)) {
					update.run("", 1, 0, 0, AT, AT, null, "queued", "default", null, t.queued, t.id);
					tell("ready", t.id, t.added);
				} else update.run("after", 1, 0, 0, AT, null, null, "waiting_on_deps", "default", null, t.queued, t.id);
			}
		},
	};
}
