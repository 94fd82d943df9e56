// apply as its caller sees it: prepares in turns, then one transaction or a stage.

import type { Config } from "../core/config.ts";
import { SluiceError } from "../core/errors.ts";
import { factKeys, isProbed, nameOfArtifact } from "../core/fact.ts";
import type { Clock, Host } from "../host.ts";
import type { ApplyOptions, ApplyResult, Manifest } from "../scheduler.ts";
import type { Op } from "../store.ts";
import { limitFor } from "./add.ts";
import * as applying from "./apply.ts";
import { decideNames, foreseeNames, lookUpNames, notNamed } from "./apply-known.ts";
import { outsideNames, type Prepared, prepare, putNumbers } from "./apply-prepare.ts";
import { updateJobs } from "./apply-update.ts";
import { deferItems } from "./backlog.ts";
import type { Engine, Task } from "./engine.ts";
import { jobNamed, numberNames } from "./names.ts";
import { learn, type Seen } from "./observe.ts";
import * as stages from "./stages.ts";
import type { Tx } from "./tx.ts";

export type ApplyParts = {
	engine: Engine;
	clock: Clock;
	host: Host;
	config: () => Config;
	lookFor: <T>(keys: string[], then: (seen: Seen) => Promise<T>) => Promise<T>;
	/** Names that mean an agent here; absent = any. */
	agents?: (() => readonly string[]) | undefined;
	/** Up to here an apply is one transaction; also the most that a stage's pieces hold. */
	piece: number;
};

/** An apply of the caller's own is never limited. */
const isLimited = ({ items }: ApplyOptions, config: Config): boolean => items !== undefined && limitFor(items, config).limit !== "none";

/** A piece is cut so that its transaction takes about this long, on whatever machine: nobody else is held up for longer. */
const PIECE_MS = 7;

export async function apply(parts: ApplyParts, manifest: Manifest, act: ApplyOptions): Promise<ApplyResult> {
	const { host, lookFor } = parts;
	const prepared = await prepareOrTellAll(parts, manifest, act);
	const numbers = await numbersOf(parts, prepared);
	putNumbers(prepared, numbers);
	return lookFor(await inTurns(probedKeys(prepared), host), async (seen) => {
		if (act.check === true) {
			await lookUp(parts, prepared, act);
			const refusal = foreseeNames(prepared, act);
			const skipped = await screened(parts, prepared, seen, act);
			return { jobs: [], names: {}, skipped, ...(prepared.full ? { deferred: prepared.full } : {}), ...(refusal ? { refusal } : {}) };
		}
		const given: Given = { manifest, prepared, numbers, seen };
		// Jobs that produce for each other in a circle must all be there before the first is decided: they cannot go in pieces.
		if (prepared.nodes.length > parts.piece && !prepared.circular) return applyStaged(parts, given, act);
		return applyWhole(parts, given, act);
	});
}

/** Where a manifest has mistakes, jobs that it names and that do not exist are told with them: the store is asked for that. */
async function prepareOrTellAll(parts: ApplyParts, manifest: Manifest, act: ApplyOptions): Promise<Prepared> {
	const { engine, config, host } = parts;
	const options = prepareOptions(parts, act);
	const asked = new Set<string>();
	try {
		return await inTurns(prepare(manifest, config(), { ...options, names: { asked } }), host);
	} catch (error) {
		if (!(error instanceof SluiceError) || asked.size === 0) throw error;
		const known = await engine.look((tx) => knownNames(tx, asked));
		return inTurns(prepare(manifest, config(), { ...options, names: { asked, known } }), host);
	}
}

function* knownNames(tx: Tx, names: ReadonlySet<string>): Op<Set<string>> {
	const known = new Set<string>();
	for (const name of names) if ((yield* jobNamed(tx, name)) !== null) known.add(name);
	return known;
}

/** The manifest as it was checked at first. `numbers`: of the jobs outside of it that it names where only numbers count. */
type Given = { manifest: Manifest; prepared: Prepared; numbers: ReadonlyMap<string, number>; seen: Seen };

const prepareOptions = ({ clock, agents }: ApplyParts, { force, env, items }: ApplyOptions, now = clock.now()) => ({
	now,
	force: force === true,
	env,
	agents: agents?.(),
	flows: items?.flows,
});

async function numbersOf({ engine }: ApplyParts, prepared: Prepared): Promise<ReadonlyMap<string, number>> {
	const names = outsideNames(prepared);
	return names.length === 0 ? new Map() : engine.look((tx) => numberNames(tx, names));
}

async function applyWhole(
	parts: ApplyParts,
	{ manifest, prepared: drafts, numbers, seen }: Given,
	act: ApplyOptions,
): Promise<ApplyResult> {
	const { engine, config } = parts;
	let prepared = drafts;
	let first = true;
	return engine.run(
		function* (tx) {
			// Run again after another operation of the group failed: the drafts were changed, so they are made anew.
			if (!first) {
				prepared = atOnce(prepare(manifest, config(), prepareOptions(parts, act, tx.now)));
				putNumbers(prepared, numbers);
			}
			first = false;
			yield* learn(tx, seen);
			yield* lookUpNames(tx, prepared.nodes);
			decideNames(prepared, act);
			const skipped = yield* applying.screen(tx, prepared, act.force === true);
			if (isLimited(act, tx.config)) skipped.push(...deferItems(tx, prepared));
			const nodes = applying.fresh(prepared);
			if (nodes.length > 0) {
				const range = applying.number(tx, nodes);
				yield* applying.insertNodes(tx, nodes, new Set());
				tx.event("applied", null, range);
			}
			const updates = yield* updated(tx, prepared, act);
			return { ...atOnce(applying.resultOf(prepared, skipped)), ...updates };
		},
		{ by: act.by },
	);
}

/** What `update` changes, and what it leaves though the manifest says something else, or nothing, of it. */
function* updated(tx: Tx, prepared: Prepared, { update }: ApplyOptions): Op<Pick<ApplyResult, "updated" | "not_named">> {
	if (!update) return {};
	return { updated: yield* updateJobs(tx, prepared), not_named: yield* notNamed(tx, prepared) };
}

const lookUp = (parts: ApplyParts, prepared: Prepared, { by }: ApplyOptions): Promise<void> =>
	inPieces(parts, prepared.nodes, (nodes) => parts.engine.run((tx) => lookUpNames(tx, nodes), { by }));

/** Only looked at, a piece at a time: a manifest that is refused has changed nothing. */
async function screened(parts: ApplyParts, prepared: Prepared, seen: Seen, act: ApplyOptions): Promise<ApplyResult["skipped"]> {
	const skipped: ApplyResult["skipped"] = [];
	const look = <T>(task: Task<T>) => parts.engine.run(task, { by: act.by });
	await inPieces(parts, prepared.nodes, async (nodes) => {
		const piece = { ...prepared, nodes };
		const screen: Task<ApplyResult["skipped"]> = function* (tx) {
			const found = yield* applying.screen(tx, piece, act.force === true, { seen: seen.facts });
			return isLimited(act, tx.config) ? [...found, ...deferItems(tx, prepared, nodes)] : found;
		};
		skipped.push(...(await look(screen)));
	});
	return skipped;
}

async function applyStaged(
	parts: ApplyParts,
	{ manifest, prepared: drafts, numbers, seen }: Given,
	act: ApplyOptions,
): Promise<ApplyResult> {
	const { engine, host, config } = parts;
	const run = <T>(task: Task<T>) => engine.run(task, { by: act.by });
	let prepared = drafts;
	const look = async () => {
		await lookUp(parts, prepared, act);
		decideNames(prepared, act);
		return screened(parts, prepared, seen, act);
	};
	let skipped = await look();
	// One that is refused leaves nothing behind, not even what was seen; by that another may be out of its way, so it is screened anew.
	if (Object.keys(seen.facts).length > 0 && (await run((tx) => learn(tx, seen)))) {
		prepared = await inTurns(prepare(manifest, config(), prepareOptions(parts, act)), host);
		putNumbers(prepared, numbers);
		skipped = await look();
	}
	const nodes = applying.fresh(prepared);
	if (nodes.length === 0) {
		const updates = act.update ? await run((tx) => updated(tx, prepared, act)) : {};
		return { ...(await inTurns(applying.resultOf(prepared, skipped), host)), ...updates };
	}
	const stage = await run((tx) => stages.openStage(tx, nodes));
	let updates: Pick<ApplyResult, "updated" | "not_named"> = {};
	try {
		await inPieces(parts, nodes, (piece) =>
			run(function* (tx) {
				stages.keepStage(tx, stage.stage);
				yield* applying.insertNodes(tx, piece, yield* applying.endedIn(stage.from, stage.to), stage);
			}),
		);
		updates = await run(function* (tx) {
			yield* stages.closeStage(tx, stage.stage, stage, nodes);
			return yield* updated(tx, prepared, act);
		});
	} catch (error) {
		await run((tx) => stages.dropStage(tx, stage.stage)).catch(() => {});
		throw error;
	}
	return { ...(await inTurns(applying.resultOf(prepared, skipped), host)), ...updates };
}

/** One piece after the other; each as large as the one before lets expect to be quick. */
async function inPieces<T>({ clock, piece }: ApplyParts, all: readonly T[], each: (some: T[]) => Promise<void>): Promise<void> {
	let size = Math.min(piece, 50);
	for (let at = 0; at < all.length; ) {
		const began = clock.monotonic();
		const some = all.slice(at, at + size);
		await each(some);
		at += some.length;
		const fitting = Math.round((some.length * PIECE_MS) / Math.max(0.1, clock.monotonic() - began));
		size = Math.max(Math.min(piece, 20), Math.min(piece, fitting, size * 2));
	}
}

/** The facts that a host should look at before the jobs go in. */
function* probedKeys({ nodes }: Prepared): Generator<void, string[], void> {
	const keys = new Set<string>();
	for (const [index, { draft }] of nodes.entries()) {
		if (index % 1000 === 999) yield;
		for (const key of factKeys(draft.job)) if (isProbed(key) && nameOfArtifact(key.slice("artifact:".length)) === undefined) keys.add(key);
	}
	return [...keys];
}

async function inTurns<T>(steps: Generator<void, T, void>, host: Host): Promise<T> {
	let step = steps.next();
	while (!step.done) {
		await host.turn();
		step = steps.next();
	}
	return step.value;
}

function atOnce<T>(steps: Generator<void, T, void>): T {
	let step = steps.next();
	while (!step.done) step = steps.next();
	return step.value;
}
