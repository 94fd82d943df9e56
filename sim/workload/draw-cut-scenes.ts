// Scenes of work that takes several transactions, where the process dies between two of them, of a report that comes twice, and of work that piles up: manifests
// by stages, cancels of many jobs, merges, reviews. Random steps hardly ever come to them: the jobs are too few, or the fault comes before the work begins.

import type { Config } from "../../src/core/config.ts";
import type { Fault, JobPlan, Op, Plan, Whom } from "../operation.ts";
import { hash, type Random, randomFrom } from "../random.ts";

/** Larger pieces would need hundreds of jobs. */
const MOST_PIECE = 5;

/** Apart from the other chances: what a seed was before, it is also with these. */
export function drawCutScenes(plan: Plan, calm: Config): Op[] {
	const { seed, piece } = plan;
	const settings: Config = { ...calm, repos: { app: { max: null, prefix: null }, ...calm.repos } };
	const random = randomFrom(hash("cut", seed));
	const isIn = (scene: string, of: number) => hash(scene, seed) % of === 0;
	const drawn: Op[] = [];
	if (isIn("merges", 4)) drawn.push(...drawMergedTwice(random));
	if (piece <= MOST_PIECE && isIn("stages", 3)) drawn.push(...drawStages(random, plan));
	if (piece <= MOST_PIECE && plan.file && isIn("crowd", 4)) drawn.push(...drawCancelOfMany(random, plan));
	const pile = isIn("reviews", 4) ? drawReviews(randomFrom(hash("reviews of", seed)), settings) : [];
	return [...(drawn.length === 0 ? [] : [{ id: 0, kind: "configure" as const, config: settings }, ...drawn]), ...pile];
}

const any = (random: Random, of: Whom["of"]): Whom => ({ of, pick: random.int(2 ** 31) });
const claim = (): Op => ({ id: 0, kind: "claim", host: "h0", max: 10 });
const apply = (jobs: JobPlan[], fault?: Fault): Op => ({ id: 0, kind: "apply", force: true, jobs, ...(fault ? { fault } : {}) });
const plain = (name: string): JobPlan => ({ input: { command: ["true"], name, priority: 900 } });

/** One of the transactions of a call that takes up to so many. */
const dies = (random: Random, transactions: number): Fault => ({
	kind: "crash",
	point: random.pick(["begin", "flush", "commit", "committed"]),
	nth: random.between(1, transactions),
});

/** A job comes after a merge that its host reports twice, and after another job, which is still open then. */
function drawMergedTwice(random: Random): Op[] {
	const jobs: JobPlan[] = [
		{ input: { command: ["true"], name: "branch", repo: "app", merge: "direct", priority: 950 } },
		{ input: { command: ["true"], name: "other", requires_approval: true } },
		{ input: { command: ["true"], name: "last" }, after_names: [{ name: "branch", policy: "merged" }, { name: "other" }] },
	];
	const rounds = Array.from({ length: 4 }, (): Op[] => {
		const report: Op = { id: 0, kind: "merged", whom: any(random, "merging"), status: random.pick(["merged", "merged", "conflict"]) };
		return [{ id: 0, kind: "end", whom: any(random, "running"), end: { kind: "completed" } }, report, report, claim()];
	});
	return [apply(jobs), claim(), ...rounds.flat()];
}

/** Jobs of one repo whose work piles up until the cap on unreviewed work is reached; persons merge some of it, give some up, and run some again. */
function drawReviews(random: Random, settings: Config): Op[] {
	const own = random.pick([undefined, undefined, 1, 2, null]);
	const app = { max: null, prefix: null, ...(own === undefined ? {} : { max_open: own }) };
	const config: Config = { ...settings, review: { max_open: random.between(1, 2) }, repos: { ...settings.repos, app } };
	const add = (index: number): Op => ({
		id: 0,
		kind: "add",
		force: true,
		job: {
			input: { command: ["true"], repo: "app", priority: 950, ...(index % 4 === 3 ? { no_merge: true } : { merge: "direct" as const }) },
		},
	});
	const end = (): Op => ({
		id: 0,
		kind: "end",
		whom: any(random, "running"),
		end: { kind: "completed", merge_status: random.pick(["requested", "requested", "conflict", "pending"]) },
	});
	const review = (): Op =>
		random.chance(0.3)
			? { id: 0, kind: "act", what: random.pick(["retry", "rerun"]), whom: any(random, "merging") }
			: { id: 0, kind: "merged", whom: any(random, "merging"), status: random.pick(["merged", "kept", "requested", "verify_failed"]) };
	const rounds = Array.from({ length: 6 }, (_, index): Op[] => [
		add(index),
		claim(),
		end(),
		end(),
		...(index % 2 === 0 ? [] : [review()]),
		claim(),
	]);
	return [{ id: 0, kind: "configure", config }, add(0), add(1), add(2), ...rounds.flat()];
}

/** Jobs that end as they come, and take those of their piece along; then a manifest that is cut off, and comes again under the same names. */
function drawStages(random: Random, { piece, file }: Plan): Op[] {
	const size = piece * random.between(2, 3) + 1;
	const chain = Array.from({ length: size }, (_, index): JobPlan => {
		const { input } = plain(`chain${index}`);
		if (index % piece === 0 && random.chance(0.5)) return { input: { ...input, needs: ["custom:report:none"], on_missing: "block" } };
		return { input, ...(index > 0 ? { after_names: [{ name: `chain${index - 1}` }] } : {}) };
	});
	const names = Array.from({ length: size }, (_, index) => plain(`cut${index}`));
	// The first transaction that writes opens the stage, each of the next ones stores a piece.
	const fault: Fault = { kind: "crash", point: "flush", nth: random.between(2, Math.ceil(size / piece) + 1) };
	const cut: Op[] = file ? [apply(names, fault), apply(names), claim()] : [];
	return [apply(chain), ...cut];
}

/** So many that they are read in slices. */
function drawCancelOfMany(random: Random, { piece }: Plan): Op[] {
	const size = 10 * piece + random.between(5, 15);
	const jobs = Array.from({ length: size }, (): JobPlan => ({ input: { command: ["true"] }, runnable_in: 600_000 }));
	const fault = dies(random, 40);
	const picks = () => Array.from({ length: 4 * size }, () => random.int(2 ** 31));
	const cancel: Op = random.chance(0.5)
		? { id: 0, kind: "clear", fault }
		: { id: 0, kind: "cancel_all", of: "waiting", picks: picks(), fault };
	return [apply(jobs), cancel, claim()];
}
