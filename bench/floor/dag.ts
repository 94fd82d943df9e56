// The floor of a DAG: bare inserts of its rows, and a bare claim+complete+release loop over it.

import { type Bare, createBare, prepare, transaction } from "./bare.ts";
import { prepareLife } from "./statements.ts";
import { type Texts, texts } from "./texts.ts";

const WIDTH = 1000;

/** `jobs` jobs in layers of 1,000, each after its two neighbours of the layer before; a few after three, so that there are exactly two edges a job. */
export function dagEdges(jobs: number): number[][] {
	const width = Math.min(WIDTH, Math.floor(jobs / 10));
	let missing = 2 * width;
	return Array.from({ length: jobs }, (_, i) => {
		if (i < width) return [];
		const layer = Math.floor(i / width) - 1;
		const above = (shift: number) => layer * width + ((i + shift) % width);
		const extra = missing > 0 ? [above(2)] : [];
		missing -= extra.length;
		return [above(0), above(1), ...extra];
	});
}

/** Names are how the jobs of a manifest find each other, so the engine has to store them: so does the floor. One transaction. Milliseconds. */
function bareApply(db: Bare, life: ReturnType<typeof prepareLife>, all: readonly Texts[], edges: readonly number[][]): number {
	const edge = prepare(db, "INSERT INTO edge (pred, job, policy, seq) VALUES (?, ?, ?, ?)");
	const name = prepare(db, "INSERT INTO record (kind, key, body) VALUES (?, ?, ?)");
	const start = performance.now();
	transaction(db, () => {
		for (const [i, t] of all.entries()) {
			const after = edges[i] as number[];
			if (after.length === 0) life.add(t);
			else life.addParked(t);
			for (const [seq, before] of after.entries()) edge.run(before + 1, t.id, "success", seq);
			name.run("name", `n${i}`, String(t.id));
		}
	});
	return performance.now() - start;
}

/** Claims up to 100, completes them, releases what depended on them, until all is done. Microseconds a job. */
function bareRunThrough(db: Bare, life: ReturnType<typeof prepareLife>, all: readonly Texts[], left: number[], batch = 100): number {
	const edgesOf = prepare(db, "SELECT job, policy FROM edge WHERE pred = ? AND job > ? ORDER BY job LIMIT ?");
	const start = performance.now();
	let finished = 0;
	while (finished < all.length) {
		let claimed: Texts[] = [];
		transaction(db, () => {
			claimed = life.claim(all, batch);
		});
		if (claimed.length === 0) throw new Error(`bare run-through is stuck at ${finished} of ${all.length}`);
		transaction(db, () => {
			life.complete(claimed);
			// One that loses two of its edges in this transaction is written once, as the engine does.
			const touched = new Set<Texts>();
			for (const t of claimed) {
				for (const [job] of edgesOf.all(t.id, 0, 1000) as [number][]) {
					left[job - 1] = (left[job - 1] as number) - 1;
					touched.add(all[job - 1] as Texts);
				}
			}
			if (touched.size > 0) life.release([...touched], (t) => left[t.id - 1] === 0);
		});
		finished += claimed.length;
	}
	return ((performance.now() - start) * 1000) / all.length;
}

export function bareDag(path: string, jobs: number): { applyMs: number; runUs: number } {
	const edges = dagEdges(jobs);
	const all = edges.map((after, i) =>
		texts(
			i + 1,
			after.map((before) => before + 1),
		),
	);
	const db = createBare(path);
	const life = prepareLife(db);
	const applyMs = bareApply(db, life, all, edges);
	const runUs = bareRunThrough(
		db,
		life,
		all,
		edges.map((after) => after.length),
	);
	db.close();
	return { applyMs, runUs };
}
