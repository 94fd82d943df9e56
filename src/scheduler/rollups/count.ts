// Adds what a transaction noted (notes.ts) to the open cells, in the same transaction: a rollup counts a start or an end exactly when the store has it.
//
//   record                          holds                                    written
//   rollup_open  <hour>/<names>     a cell of an hour that is not packed     by each transaction that counts in it
//   meta         rollups            the open hour, its caps, what is kept    once an hour, and when a cap changed
//   rollup       hour/<n>  day/<n>  the cells of a whole hour or day         by packing, once an hour (packing.ts)

import type { Op } from "../../contracts/store.ts";
import type { Config } from "../../core/config.ts";
import type { Job, Run } from "../../core/job.ts";
import { addCounts, binOf, byHour, type CellNames, hourOf, namesOf, OTHER, type RollupCounts } from "../../core/rollups/cell.ts";
import { capsIn, otherOf, type RollupCaps } from "../../core/rollups/period.ts";
import type { Tx } from "../transaction/tx.ts";
import { openKey } from "./keys.ts";
import type { RollupNote } from "./notes.ts";
import { packRollups } from "./packing.ts";

/** Most open records before new cells are told apart by lane alone, and before they are not told apart at all. */
const OPEN_CELLS = 300;
const OPEN_LANES = 400;

/** Call it when the transaction changes nothing more. Assigns field by field: this runs for every start and every end. */
export function* countNotes(tx: Tx): Op<void> {
	const hour = hourOf(tx.now);
	let cell: OpenCell | undefined;
	const cells = new Map<string, OpenCell>();
	for (const note of tx.rollupNotes) {
		// Most transactions start and end jobs that are alike.
		if (!cell || !isOf(cell, note)) cell = cellOf(tx, cells, hour, note);
		count(tx, cells, cell, note, hour);
	}
	tx.rollupNotes.length = 0;
	for (const [key, { counts }] of cells) tx.put("rollup_open", key, counts);
	const state = tx.memory.meta("rollups");
	const caps = currentCaps(tx.config);
	if (state?.hour !== hour) yield* packRollups(tx, hour, caps);
	else if (state.caps !== caps && JSON.stringify(state.caps) !== JSON.stringify(caps)) tx.putMeta("rollups", { ...state, caps });
}

/** A cell that this transaction adds to, in place: the cache is dropped whenever a transaction is not committed. */
type OpenCell = { lane: string; agent?: string; model?: string; owner?: string; repo?: string; account?: string; counts: RollupCounts };

const accountOf = ({ job, run }: RollupNote): string | undefined => run?.account ?? job.account;

const isOf = (cell: OpenCell, note: RollupNote): boolean =>
	cell.lane === note.job.lane &&
	cell.owner === note.job.owner &&
	cell.agent === note.job.agent &&
	cell.repo === note.job.repo &&
	cell.model === note.run?.model &&
	cell.account === accountOf(note);

function cellOf(tx: Tx, cells: Map<string, OpenCell>, hour: number, note: RollupNote): OpenCell {
	const { lane, agent, owner, repo } = note.job;
	const key = keyFor(tx, cells, hour, traitsOf(note.job, note.run));
	const counts = cells.get(key)?.counts ?? tx.memory.recall("rollup_open", key) ?? {};
	const cell: OpenCell = { lane, counts };
	if (agent !== undefined) cell.agent = agent;
	if (owner !== undefined) cell.owner = owner;
	if (repo !== undefined) cell.repo = repo;
	if (note.run?.model !== undefined) cell.model = note.run.model;
	const account = accountOf(note);
	if (account !== undefined) cell.account = account;
	cells.set(key, cell);
	return cell;
}

/** The caps of a configuration, computed once for it. */
const capsOf = new WeakMap<Config, RollupCaps>();

export function currentCaps(config: Config): RollupCaps {
	let caps = capsOf.get(config);
	if (!caps) {
		caps = capsIn(config);
		capsOf.set(config, caps);
	}
	return caps;
}

export const traitsOf = (job: Job, run: Pick<Run, "account" | "model"> | undefined): CellNames =>
	namesOf({
		lane: job.lane,
		agent: job.agent,
		model: run?.model,
		owner: job.owner,
		repo: job.repo,
		account: run?.account ?? job.account,
	});

function count(tx: Tx, cells: Map<string, OpenCell>, { counts }: OpenCell, note: RollupNote, hour: number): void {
	switch (note.of) {
		case "start": {
			counts.started = (counts.started ?? 0) + 1;
			counts.start_bins ??= {};
			const bin = binOf(note.ready_ms);
			counts.start_bins[bin] = (counts.start_bins[bin] ?? 0) + 1;
			addWaits(counts, note.waits);
			return;
		}
		case "end":
			counts[note.status] = (counts[note.status] ?? 0) + 1;
			addWaits(counts, note.waits);
			return;
		case "run": {
			const { run, usage, after } = note;
			counts.runs = (counts.runs ?? 0) + 1;
			if (after !== "end") counts.requeued = (counts.requeued ?? 0) + 1;
			if (after === "retry") counts.retried = (counts.retried ?? 0) + 1;
			if (usage) addCounts(counts, usedIn(usage));
			const held = tx.now - run.started_at - (run.lent_ms ?? 0);
			if (hourOf(run.started_at) === hour) {
				if (held > 0) counts.slot_ms = (counts.slot_ms ?? 0) + held;
			} else
				for (const [at, slot_ms] of byHour(run.started_at, tx.now, held)) {
					const part = at === hour ? counts : cellOf(tx, cells, at, note).counts;
					addCounts(part, { slot_ms });
				}
		}
	}
}

const usedIn = ({ cost_micro = 0, tokens = 0 }: Record<string, number>): RollupCounts => ({ cost_micro, tokens });

function addWaits(counts: RollupCounts, waits: RollupNote["waits"]): void {
	if (!waits) return;
	counts.wait_ms ??= {};
	for (const code in waits) counts.wait_ms[code] = (counts.wait_ms[code] ?? 0) + (waits[code] ?? 0);
}

/** A caller may write any number of owners and models: beyond a bound, new ones share a cell. */
function keyFor(tx: Tx, cells: ReadonlyMap<string, OpenCell>, hour: number, names: CellNames): string {
	const key = openKey(hour, names);
	const open = tx.memory.all("rollup_open").size + cells.size;
	if (open < OPEN_CELLS || cells.has(key) || tx.memory.recall("rollup_open", key) !== null) return key;
	return openKey(hour, otherOf(open < OPEN_LANES ? names[0] : OTHER));
}
