// The floor of a job's life: the store's statements in bare transactions of `batch` jobs, and nothing around them.

import { clocked, createBare, type Floor, transaction } from "./bare.ts";
import { prepareLife } from "./statements.ts";
import { type Texts, texts } from "./texts.ts";

/** Microseconds a cycle. */
export function bareCycle(path: string, floor: Floor): number {
	const db = createBare(path);
	const all = Array.from({ length: (floor.warm ?? 0) + floor.jobs }, (_, i) => texts(i + 1));
	const life = prepareLife(db);
	const took = clocked(floor, (from, to) => {
		transaction(db, () => {
			for (let i = from; i < to; i++) life.add(all[i] as Texts);
		});
		let claimed: Texts[] = [];
		transaction(db, () => {
			claimed = life.claim(all, floor.batch);
		});
		transaction(db, () => life.complete(claimed));
	});
	db.close();
	return took;
}
