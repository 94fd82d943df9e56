// The floor of a job's life: the store's statements in bare transactions of `batch` jobs, and nothing around them.

import { createBare, slices, transaction } from "./bare.ts";
import { prepareLife } from "./statements.ts";
import { type Texts, texts } from "./texts.ts";

export type Floor = { jobs: number; batch: number };

/** Microseconds a cycle. */
export function bareCycle(path: string, { jobs, batch }: Floor): number {
	const db = createBare(path);
	const all = Array.from({ length: jobs }, (_, i) => texts(i + 1));
	const life = prepareLife(db);
	const start = performance.now();
	slices(jobs, batch, (from, to) => {
		transaction(db, () => {
			for (let i = from; i < to; i++) life.add(all[i] as Texts);
		});
		let claimed: Texts[] = [];
		transaction(db, () => {
			claimed = life.claim(all, batch);
		});
		transaction(db, () => life.complete(claimed));
	});
	const took = performance.now() - start;
	db.close();
	return (took * 1000) / jobs;
}
