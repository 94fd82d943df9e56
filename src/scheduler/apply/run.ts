// `apply` as its caller sees it: prepares the manifest in several turns of the event loop, then adds it in one transaction or as a stage.

import type { Clock, Host } from "../../contracts/host.ts";
import type { ApplyOptions, ApplyResult, Manifest } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import type { Config } from "../../core/config.ts";
import { SluiceError } from "../../core/errors.ts";
import { isProbed, nameOfArtifact } from "../../core/fact.ts";
import { factKeys } from "../../core/gates/job-gates.ts";
import { deferItems } from "../limits/backlog.ts";
import { limitFor } from "../operations/add.ts";
import { jobNamed, numberNames, numberNeeds } from "../operations/names.ts";
import { learn, type ProbedFacts } from "../operations/observe.ts";
import type { Engine, Task } from "../transaction/group-commit.ts";
import type { Tx } from "../transaction/tx.ts";
import * as applying from "./apply.ts";
import { decideNames, foreseeNames, lookUpNames, notNamed } from "./known.ts";
import { outsideNames, type PreparedManifest, prepare, putNumbers } from "./prepare.ts";
import * as stages from "./stages.ts";
import { updateJobs } from "./update.ts";

export type ApplyParts = {
	engine: Engine;
	clock: Clock;
	host: Host;
	config: () => Config;
	lookFor: <T>(keys: string[], then: (seen: ProbedFacts) => Promise<T>) => Promise<T>;
	/** Known agent names; absent = any. */
	agents?: (() => readonly string[]) | undefined;
	/** A manifest of at most this many jobs is one transaction; also the most jobs in one piece of a stage. */
	piece: number;
};

/** The queue's hard limit applies only to items of a source, never to a manifest that a caller wrote. */
const isLimited = ({ items }: ApplyOptions, config: Config): boolean => items !== undefined && limitFor(items, config).limit !== "none";

/** The size of a piece is chosen so that its transaction takes about this long on any machine, and other calls wait no longer than that. */
const PIECE_MS = 7;

export async function apply(parts: ApplyParts, manifest: Manifest, act: ApplyOptions): Promise<ApplyResult> {
	const { host, lookFor } = parts;
	const prepared = await prepareOrTellAll(parts, manifest, act);
	// The host knows jobs by number. The names are looked up again when it has answered: until then a new job may take one.
	return lookFor(await inTurns(probedKeys(prepared, await numbersOf(parts, prepared)), host), async (seen) => {
		if (act.check === true) {
			putNumbers(prepared, await numbersOf(parts, prepared));
			await lookUp(parts, prepared, act);
			const refusal = foreseeNames(prepared, act);
			const skipped = await screened(parts, prepared, seen, act);
			return { jobs: [], names: {}, skipped, ...(prepared.full ? { deferred: prepared.full } : {}), ...(refusal ? { refusal } : {}) };
		}
		const given: Given = { manifest, prepared, seen };
		// Jobs that produce for each other in a circle must all be stored before the first is decided, so they cannot go in pieces.
		if (prepared.nodes.length > parts.piece && !prepared.circular) return applyStaged(parts, given, act);
		return applyWhole(parts, given, act);
	});
}

/** If a manifest has errors, the names in it that no job has are reported together with them; that needs a read of the store. */
async function prepareOrTellAll(parts: ApplyParts, manifest: Manifest, act: ApplyOptions): Promise<PreparedManifest> {
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

/** The manifest as it was checked first. */
type Given = { manifest: Manifest; prepared: PreparedManifest; seen: ProbedFacts };

const prepareOptions = ({ clock, agents }: ApplyParts, { force, env, items, within }: ApplyOptions, now = clock.now()) => ({
	now,
	force: force === true,
	env,
	agents: agents?.(),
	flows: items?.flows,
	within,
});

async function numbersOf({ engine }: ApplyParts, prepared: PreparedManifest): Promise<ReadonlyMap<string, number>> {
	const names = outsideNames(prepared);
	return names.length === 0 ? new Map() : engine.look((tx) => numberNames(tx, names));
}

async function applyWhole(parts: ApplyParts, { manifest, prepared: drafts, seen }: Given, act: ApplyOptions): Promise<ApplyResult> {
	const { engine, config } = parts;
	let prepared = drafts;
	let first = true;
	return engine.run(
		function* (tx) {
			// Another operation of the group failed and this one runs again: the drafts were changed, so make them anew.
			if (!first) prepared = runToEnd(prepare(manifest, config(), prepareOptions(parts, act, tx.now)));
			first = false;
			yield* learn(tx, seen);
			putNumbers(prepared, yield* numberNames(tx, outsideNames(prepared)));
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
			return { ...runToEnd(applying.resultOf(prepared, skipped)), ...updates };
		},
		{ by: act.by },
	);
}

/** Changes what `update` may change; also reports the open jobs of the batch that the manifest does not name. */
function* updated(tx: Tx, prepared: PreparedManifest, { update }: ApplyOptions): Op<Pick<ApplyResult, "updated" | "not_named">> {
	if (!update) return {};
	return { updated: yield* updateJobs(tx, prepared), not_named: yield* notNamed(tx, prepared) };
}

const lookUp = (parts: ApplyParts, prepared: PreparedManifest, { by }: ApplyOptions): Promise<void> =>
	inPieces(parts, prepared.nodes, (nodes) => parts.engine.run((tx) => lookUpNames(tx, nodes), { by }));

/** Screens the manifest without changes, a piece a transaction: a manifest that is refused has changed nothing. */
async function screened(
	parts: ApplyParts,
	prepared: PreparedManifest,
	seen: ProbedFacts,
	act: ApplyOptions,
): Promise<ApplyResult["skipped"]> {
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

async function applyStaged(parts: ApplyParts, { manifest, prepared: drafts, seen }: Given, act: ApplyOptions): Promise<ApplyResult> {
	const { engine, host, config } = parts;
	const run = <T>(task: Task<T>) => engine.run(task, { by: act.by });
	let prepared = drafts;
	const look = async () => {
		putNumbers(prepared, await numbersOf(parts, prepared));
		await lookUp(parts, prepared, act);
		decideNames(prepared, act);
		return screened(parts, prepared, seen, act);
	};
	let skipped = await look();
	// A refused manifest must leave nothing behind, so facts are stored only after the first screening. They may end jobs that were in its way: then screen
	// again.
	if (Object.keys(seen.facts).length > 0 && (await run((tx) => learn(tx, seen)))) {
		prepared = await inTurns(prepare(manifest, config(), prepareOptions(parts, act)), host);
		skipped = await look();
	}
	const nodes = applying.fresh(prepared);
	if (nodes.length === 0) {
		const updates = act.update ? await run((tx) => updated(tx, prepared, act)) : {};
		return { ...(await inTurns(applying.resultOf(prepared, skipped), host)), ...updates };
	}
	const stage = await engine.runPlain((tx) => stages.openStage(tx, nodes), { by: act.by });
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
		await engine.runPlain((tx) => stages.dropStage(tx, stage.stage), { by: act.by }).catch(() => {});
		throw error;
	}
	return { ...(await inTurns(applying.resultOf(prepared, skipped), host)), ...updates };
}

/** Runs the pieces in order; the time that a piece takes decides the size of the next one. */
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

/** The facts that a host should probe before the jobs are added. */
function* probedKeys({ nodes }: PreparedManifest, numbers: ReadonlyMap<string, number>): Generator<void, string[], void> {
	const keys = new Set<string>();
	for (const [index, { draft, mates }] of nodes.entries()) {
		if (index % 1000 === 999) yield;
		for (const key of factKeys(numberNeeds(draft.job, numbers, mates)))
			if (isProbed(key) && nameOfArtifact(key.slice("artifact:".length)) === undefined) keys.add(key);
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

function runToEnd<T>(steps: Generator<void, T, void>): T {
	let step = steps.next();
	while (!step.done) step = steps.next();
	return step.value;
}
