// `apply` as its caller sees it: prepares the manifest in several turns of the event loop, then adds it in one transaction or as a stage.

import type { Clock, Host } from "../../contracts/host.ts";
import type { ApplyOptions, ApplyResult, Manifest } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import type { Config } from "../../core/config.ts";
import { SluiceError } from "../../core/errors.ts";
import { isProbed, nameOfArtifact } from "../../core/fact.ts";
import { factKeys } from "../../core/gates/job-gates.ts";
import { deferItems } from "../limits/backlog.ts";
import type { Core } from "../operations/core.ts";
import { jobNamed, numberNames, numberNeeds } from "../operations/names.ts";
import type { Tx } from "../transaction/tx.ts";
import type { LookFor, Probed } from "../waiting/fact-probes.ts";
import * as applying from "./apply.ts";
import { decideNames, foreseeNames, lookUpNames } from "./known.ts";
import { manifestUpdate, numberedNode, plainManifest } from "./plain.ts";
import { type ManifestNode, outsideNames, type PreparedManifest, prepare, putNumbers } from "./prepare.ts";

export type ApplyParts = {
	core: Core;
	clock: Clock;
	host: Host;
	config: () => Config;
	lookFor: LookFor;
	/** Known agent names; absent = any. */
	agents?: (() => readonly string[]) | undefined;
	/** A manifest of at most this many jobs is one transaction; also the most jobs in one piece of a stage. */
	piece: number;
};

/** The size of a piece is chosen so that its transaction takes about this long on any machine, and other calls wait no longer than that. */
const PIECE_MS = 7;

export async function apply(parts: ApplyParts, manifest: Manifest, act: ApplyOptions): Promise<ApplyResult> {
	const { host, lookFor } = parts;
	const prepared = await prepareOrTellAll(parts, manifest, act);
	// The host knows jobs by number. The names are looked up again when it has answered: until then a new job may take one.
	return lookFor(await inTurns(probedKeys(prepared, await numbersOf(parts, prepared)), host), async (seen) => {
		if (act.check === true) {
			putNumbers(prepared, await numbersOf(parts, prepared));
			await lookUp(parts, prepared);
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
	const { core, config, host } = parts;
	const options = prepareOptions(parts, act);
	const asked = new Set<string>();
	try {
		return await inTurns(prepare(manifest, config(), { ...options, names: { asked } }), host);
	} catch (error) {
		if (!(error instanceof SluiceError) || asked.size === 0) throw error;
		const known = await core.look((tx) => knownNames(tx, asked));
		return inTurns(prepare(manifest, config(), { ...options, names: { asked, known } }), host);
	}
}

function* knownNames(tx: Tx, names: ReadonlySet<string>): Op<Set<string>> {
	const known = new Set<string>();
	for (const name of names) if ((yield* jobNamed(tx, name)) !== null) known.add(name);
	return known;
}

/** The manifest as it was checked first. */
type Given = { manifest: Manifest; prepared: PreparedManifest; seen: Probed };

const prepareOptions = ({ clock, agents }: ApplyParts, { force, env, items, within }: ApplyOptions) => ({
	now: clock.now(),
	force: force === true,
	env,
	agents: agents?.(),
	flows: items?.flows,
	within,
});

async function numbersOf({ core }: ApplyParts, prepared: PreparedManifest): Promise<ReadonlyMap<string, number>> {
	const names = outsideNames(prepared);
	return names.length === 0 ? new Map() : core.look((tx) => numberNames(tx, names));
}

async function applyWhole(parts: ApplyParts, { manifest, prepared: drafts, seen }: Given, act: ApplyOptions): Promise<ApplyResult> {
	const { core, config } = parts;
	const { force, update, again, items } = act;
	let first = true;
	return core.call(
		"apply",
		() => {
			// Another operation of the group failed and this one runs again: the drafts were changed, so make them anew.
			const prepared = first ? drafts : applying.runToEnd(prepare(manifest, config(), prepareOptions(parts, act)));
			first = false;
			return { manifest: plainManifest(prepared), seen: seen(), force, update, again, items };
		},
		act,
	);
}

const lookUp = (parts: ApplyParts, prepared: PreparedManifest): Promise<void> =>
	inPieces(parts, prepared.nodes, (nodes) => parts.core.look((tx) => lookUpNames(tx, nodes)));

/** Screens the manifest without changes, a piece a transaction: a manifest that is refused has changed nothing. */
async function screened(parts: ApplyParts, prepared: PreparedManifest, seen: Probed, act: ApplyOptions): Promise<ApplyResult["skipped"]> {
	const skipped: ApplyResult["skipped"] = [];
	await inPieces(parts, prepared.nodes, async (nodes) => {
		const piece = { ...prepared, nodes };
		const screenAgain = applying.beforeScreening(prepared, nodes);
		let first = true;
		const found = await parts.core.look(function* (tx) {
			// A store that could not answer the first attempt makes another one: what the first one noted in the nodes is discarded.
			if (!first) screenAgain();
			first = false;
			const found = yield* applying.screen(tx, piece, act.force === true, { seen: seen().facts });
			return applying.isLimited(act, tx.config) ? [...found, ...deferItems(tx, prepared, nodes)] : found;
		});
		skipped.push(...found);
	});
	return skipped;
}

async function applyStaged(parts: ApplyParts, { manifest, prepared: drafts, seen }: Given, act: ApplyOptions): Promise<ApplyResult> {
	const { core, host, config } = parts;
	let prepared = drafts;
	const look = async () => {
		putNumbers(prepared, await numbersOf(parts, prepared));
		await lookUp(parts, prepared);
		decideNames(prepared, act);
		return screened(parts, prepared, seen, act);
	};
	let skipped = await look();
	// A refused manifest must leave nothing behind, so facts are stored only after the first screening. They may end jobs that were in its way: then screen
	// again.
	if (Object.keys(seen().facts).length > 0 && (await core.call("learnFacts", seen, act))) {
		prepared = await inTurns(prepare(manifest, config(), prepareOptions(parts, act)), host);
		skipped = await look();
	}
	const nodes = applying.fresh(prepared);
	const updates = nodes.length > 0 ? await addStaged(parts, prepared, nodes, act) : await updateAlone(parts, prepared, act);
	applying.noteUpdates(prepared, updates);
	return { ...(await inTurns(applying.resultOf(prepared, skipped), host)), ...updates };
}

type Updates = Pick<ApplyResult, "updated" | "not_named">;

const updateAlone = async ({ core }: ApplyParts, prepared: PreparedManifest, act: ApplyOptions): Promise<Updates> =>
	act.update ? core.call("updateJobs", manifestUpdate(prepared), act) : {};

/** Adds the nodes as a stage, in pieces. */
async function addStaged(
	parts: ApplyParts,
	prepared: PreparedManifest,
	nodes: readonly ManifestNode[],
	act: ApplyOptions,
): Promise<Updates> {
	const { core } = parts;
	const batches = [...new Set(nodes.flatMap(({ draft }) => draft.job.batch ?? []))];
	const stage = await core.call("openStage", { jobs: nodes.length, batches }, act);
	try {
		applying.number(nodes, stage.from);
		await inPieces(parts, nodes, (piece) => core.call("insertPiece", { ...stage, nodes: piece.map(numberedNode) }, act));
		const twins = nodes.flatMap(({ twin }) => twin ?? []);
		return await core.call("closeStage", { ...stage, twins, update: act.update ? manifestUpdate(prepared) : null }, act);
	} catch (error) {
		await core.call("dropStage", { stage: stage.stage }, act).catch(() => {});
		throw error;
	}
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
