// apply as its caller sees it: prepares in turns, then one transaction or a stage.

import type { Config } from "../core/config.ts";
import { factKeys, isProbed } from "../core/fact.ts";
import type { Clock, Host } from "../host.ts";
import type { Act, ApplyResult, Manifest } from "../scheduler.ts";
import * as applying from "./apply.ts";
import type { Engine, Task } from "./engine.ts";
import { always, record, type Seen } from "./observe.ts";

export type ApplyParts = {
	engine: Engine;
	clock: Clock;
	host: Host;
	config: () => Config;
	lookFor: (keys: string[]) => Promise<Seen>;
	/** Up to here an apply is one transaction; also the size of a stage's pieces. */
	piece: number;
};

export async function apply(parts: ApplyParts, manifest: Manifest, act: Act & { force?: boolean }): Promise<ApplyResult> {
	const { engine, clock, host, config, lookFor } = parts;
	const force = act.force === true;
	let prepared = await inTurns(applying.prepare(manifest, config(), { now: clock.now(), force }), host);
	const keys = await inTurns(probedKeys(prepared), host);
	const seen: Seen = keys.length > 0 ? await lookFor(keys) : { facts: {}, counts: always };
	// Jobs that produce for each other in a circle must all be there before the first is decided: they cannot go in pieces.
	if (prepared.nodes.length > parts.piece && !prepared.circular) return applyStaged(parts, prepared, seen, act);
	let first = true;
	return engine.run(
		function* (tx) {
			// Run again after another operation of the group failed: the drafts were changed, so they are made anew.
			if (!first) prepared = atOnce(applying.prepare(manifest, config(), { now: tx.now, force }));
			first = false;
			yield* record(tx, seen);
			const skipped = yield* applying.screen(tx, prepared, force);
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

async function applyStaged(
	parts: ApplyParts,
	prepared: applying.Prepared,
	seen: Seen,
	act: Act & { force?: boolean },
): Promise<ApplyResult> {
	const { engine, piece: size } = parts;
	const run = <T>(task: Task<T>) => engine.run(task, { by: act.by });
	const skipped: ApplyResult["skipped"] = [];
	// Only looked at: a manifest that is refused has changed nothing.
	for (let at = 0; at < prepared.nodes.length; at += size) {
		const piece = { ...prepared, nodes: prepared.nodes.slice(at, at + size) };
		skipped.push(...(await run((tx) => applying.screen(tx, piece, act.force === true, { seen: seen.facts }))));
	}
	const nodes = applying.fresh(prepared);
	if (nodes.length === 0) return inTurns(applying.resultOf(prepared, skipped), parts.host);
	const stage = await run(function* (tx) {
		yield* record(tx, seen);
		return yield* applying.openStage(tx, nodes);
	});
	try {
		for (let at = 0; at < nodes.length; at += size) {
			const piece = nodes.slice(at, at + size);
			await run(function* (tx) {
				applying.keepStage(tx, stage.stage);
				yield* applying.insertNodes(tx, piece, yield* applying.endedIn(stage.from, stage.to), stage);
			});
		}
		await run((tx) => applying.closeStage(tx, stage.stage, stage, nodes));
	} catch (error) {
		await run((tx) => applying.dropStage(tx, stage.stage)).catch(() => {});
		throw error;
	}
	return inTurns(applying.resultOf(prepared, skipped), parts.host);
}

/** The facts that a host should look at before the jobs go in. */
function* probedKeys({ nodes }: applying.Prepared): Generator<void, string[], void> {
	const keys = new Set<string>();
	for (const [index, { draft }] of nodes.entries()) {
		if (index % 5000 === 4999) yield;
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
