// apply as its caller sees it: prepares in turns, then one transaction or a stage.

import type { OfItems } from "../adding.ts";
import type { Config } from "../core/config.ts";
import { factKeys, isProbed } from "../core/fact.ts";
import type { Clock, Host } from "../host.ts";
import type { Act, ApplyResult, Manifest } from "../scheduler.ts";
import { limitFor } from "./add.ts";
import * as applying from "./apply.ts";
import { deferItems } from "./backlog.ts";
import type { Engine, Task } from "./engine.ts";
import { learn, type Seen } from "./observe.ts";
import * as stages from "./stages.ts";

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

type ApplyAct = Act & { force?: boolean; check?: boolean; items?: OfItems };

/** An apply of the caller's own is never limited. */
const isLimited = ({ items }: ApplyAct, config: Config): boolean => items !== undefined && limitFor(items, config).limit !== "none";

const draftingOf = (act: ApplyAct) => ({ force: act.force === true, flows: act.items?.flows });

/** A piece is cut so that its transaction takes about this long, on whatever machine: nobody else is held up for longer. */
const PIECE_MS = 7;

export async function apply(parts: ApplyParts, manifest: Manifest, act: ApplyAct): Promise<ApplyResult> {
	const { clock, host, config, lookFor, agents } = parts;
	const options = { now: clock.now(), agents: agents?.(), ...draftingOf(act) };
	const prepared = await inTurns(applying.prepare(manifest, config(), options), host);
	return lookFor(await inTurns(probedKeys(prepared), host), async (seen) => {
		if (act.check === true) {
			const skipped = await screened(parts, prepared, seen, act);
			return { jobs: [], names: {}, skipped, ...(prepared.full ? { deferred: prepared.full } : {}) };
		}
		// Jobs that produce for each other in a circle must all be there before the first is decided: they cannot go in pieces.
		if (prepared.nodes.length > parts.piece && !prepared.circular) return applyStaged(parts, manifest, prepared, seen, act);
		return applyWhole(parts, manifest, prepared, seen, act);
	});
}

async function applyWhole(
	{ engine, config }: ApplyParts,
	manifest: Manifest,
	drafts: applying.Prepared,
	seen: Seen,
	act: ApplyAct,
): Promise<ApplyResult> {
	const force = act.force === true;
	let prepared = drafts;
	let first = true;
	return engine.run(
		function* (tx) {
			// Run again after another operation of the group failed: the drafts were changed, so they are made anew.
			if (!first) prepared = atOnce(applying.prepare(manifest, config(), { now: tx.now, ...draftingOf(act) }));
			first = false;
			yield* learn(tx, seen);
			const skipped = yield* applying.screen(tx, prepared, force);
			if (isLimited(act, tx.config)) skipped.push(...deferItems(tx, prepared));
			const nodes = applying.fresh(prepared);
			if (nodes.length > 0) {
				const range = applying.number(tx, nodes);
				yield* applying.insertNodes(tx, nodes, new Set());
				tx.event("applied", null, range);
			}
			return atOnce(applying.resultOf(prepared, skipped));
		},
		{ by: act.by },
	);
}

/** Only looked at, a piece at a time: a manifest that is refused has changed nothing. */
async function screened(parts: ApplyParts, prepared: applying.Prepared, seen: Seen, act: ApplyAct): Promise<ApplyResult["skipped"]> {
	const skipped: ApplyResult["skipped"] = [];
	await inPieces(parts, prepared.nodes, async (nodes) => {
		const piece = { ...prepared, nodes };
		const screen: Task<ApplyResult["skipped"]> = function* (tx) {
			const found = yield* applying.screen(tx, piece, act.force === true, { seen: seen.facts });
			return isLimited(act, tx.config) ? [...found, ...deferItems(tx, prepared, nodes)] : found;
		};
		skipped.push(...(await parts.engine.run(screen, { by: act.by })));
	});
	return skipped;
}

async function applyStaged(
	parts: ApplyParts,
	manifest: Manifest,
	drafts: applying.Prepared,
	seen: Seen,
	act: ApplyAct,
): Promise<ApplyResult> {
	const { engine, clock, host, config } = parts;
	const run = <T>(task: Task<T>) => engine.run(task, { by: act.by });
	let prepared = drafts;
	let skipped = await screened(parts, prepared, seen, act);
	// One that is refused leaves nothing behind, not even what was seen; by that another may be out of its way, so it is screened anew.
	if (Object.keys(seen.facts).length > 0 && (await run((tx) => learn(tx, seen)))) {
		prepared = await inTurns(applying.prepare(manifest, config(), { now: clock.now(), ...draftingOf(act) }), host);
		skipped = await screened(parts, prepared, seen, act);
	}
	const nodes = applying.fresh(prepared);
	if (nodes.length === 0) return inTurns(applying.resultOf(prepared, skipped), host);
	const stage = await run((tx) => stages.openStage(tx, nodes));
	try {
		await inPieces(parts, nodes, (piece) =>
			run(function* (tx) {
				stages.keepStage(tx, stage.stage);
				yield* applying.insertNodes(tx, piece, yield* applying.endedIn(stage.from, stage.to), stage);
			}),
		);
		await run((tx) => stages.closeStage(tx, stage.stage, stage, nodes));
	} catch (error) {
		await run((tx) => stages.dropStage(tx, stage.stage)).catch(() => {});
		throw error;
	}
	return inTurns(applying.resultOf(prepared, skipped), host);
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
function* probedKeys({ nodes }: applying.Prepared): Generator<void, string[], void> {
	const keys = new Set<string>();
	for (const [index, { draft }] of nodes.entries()) {
		if (index % 1000 === 999) yield;
		for (const key of factKeys(draft.job)) if (isProbed(key)) keys.add(key);
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
