// What runs say of themselves before they end. Apart from the other chances: what a seed was before, it is also with its words.

import type { Op, Plan } from "../operation.ts";
import { hash, type Random, randomFrom } from "../random.ts";

/** One in so many seeds has runs that speak. */
const ONE_IN = 3;
/** Above the numbers of all other operations. */
const FIRST_ID = 500_000;

export function addWords(plan: Plan): void {
	if (hash("words", plan.seed) % ONE_IN !== 0) return;
	const random = randomFrom(hash("word", plan.seed));
	let id = FIRST_ID;
	plan.ops = plan.ops.flatMap((op) => {
		if (op.kind !== "end" || op.token !== undefined || random.chance(0.25)) return [op];
		const words = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => drawWord(random, ++id, op));
		return [...words, answered(random, op)];
	});
}

/** Of the run that ends next, mostly; a run that has been overtaken speaks in vain. */
function drawWord(random: Random, id: number, { whom, via }: Op & { kind: "end" }): Op {
	const by = { id, whom, ...(via === undefined ? {} : { via }), ...(random.chance(0.1) ? { stale: true as const } : {}) };
	if (random.chance(0.35)) return { ...by, kind: "result", value: random.pick([id, `text ${id}`, { of: id }]) };
	return { ...by, kind: "verdict", verdict: random.pick(["ok", "ok", "fail", "fail", "ask"]) };
}

/** Some end with a question that was only guessed, and exit code 0: `ok` settles it. Some with a session, which goes on after an interruption. */
function answered(random: Random, op: Op & { kind: "end" }): Op {
	if (random.chance(0.25)) return { ...op, end: { kind: "needs_human", code: random.pick([0, 0, 0, 1]), question: "which one?" } };
	if (random.chance(0.15)) return { ...op, end: { kind: random.pick(["drained", "preempted", "completed"]), session: `s${op.id}` } };
	if (random.chance(0.1))
		return { ...op, end: { kind: "crashed", code: 1, session: `s${op.id}`, ...(random.chance(0.7) ? { goes_on: true } : {}) } };
	return op;
}
