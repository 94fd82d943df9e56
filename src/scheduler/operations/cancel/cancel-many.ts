// Cancels more jobs than one transaction should read: in slices, with other calls in between.
//
//   look     reads the jobs, and with a subtree all that comes after them, a slice a transaction; this process claims nothing meanwhile;
//            nothing is changed, and a number that does not exist refuses the whole call
//   begin    one transaction stores all their numbers in durable notes: from here on none of them starts, and a crash cannot lose the cancel
//   end      settle.ts ends a piece a transaction
//   report   reads what became of each, a slice a transaction
//
// A job that starts between `look` and `begin` is asked to stop; a job that is added below the subtree meanwhile is found by `begin`.

import type { CancelReport } from "../../../contracts/scheduler.ts";
import { ask, type Op } from "../../../contracts/store.ts";
import { nth, SluiceError } from "../../../core/errors.ts";
import { isTerminal, isWaiting, type Job, nothingToCancel } from "../../../core/job.ts";
import { queuePolicy } from "../../../core/queue-policy.ts";
import { addTo } from "../../../core/text/lists-by-key.ts";
import { mustFind } from "../../transaction/find-job.ts";
import { reading } from "../../transaction/pending.ts";
import type { Tx } from "../../transaction/tx.ts";
import { type Continuation, continuationKey, continueLater, dropContinuation } from "../../waiting/continuation.ts";
import type { Core } from "../core.ts";
import { cancelMore } from "./cancel.ts";

/** Jobs that one transaction reads. */
const sliceOf = (piece: number): number => 5 * piece;
/** Numbers in one note. Bounded, because each piece writes its whole note again. */
const notedAtOnce = (piece: number): number => 10 * piece;
const MAX_SUBTREE = 1_000_000;

type Seen = Pick<Job, "id" | "status"> & { dependents: boolean; runs: boolean };
const seen = ({ id, status, dependents, run }: Job): Seen => ({ id, status, dependents: Boolean(dependents), runs: run !== undefined });
type How = { reason: string; subtree: boolean; piece: number; by: string | undefined };

/** This process starts no job from the call on; another host that shares the store starts none of these jobs from `begin` on. */
export async function cancelMany(core: Core, ids: readonly number[], how: How): Promise<CancelReport> {
	const letGo = core.holdClaims();
	try {
		return await inSlices(core, ids, how, letGo);
	} catch (error) {
		letGo();
		// Wake workers for the jobs that could have started meanwhile.
		await core.call("stir", {});
		throw error;
	}
}

export function stir(tx: Tx): void {
	tx.stirred = true;
}

/** `begun`: called once the notes are stored and keep the jobs from starting. */
async function inSlices(core: Core, ids: readonly number[], how: How, begun: () => void): Promise<CancelReport> {
	const roots: Seen[] = [];
	const slice = sliceOf(how.piece);
	const newest = await core.look(reading((tx) => tx.memory.meta("ids")?.job ?? 0));
	for (const some of slices(ids, slice)) roots.push(...(await core.look((tx) => mustFindAll(tx, some))));
	const found = how.subtree ? await subtree(core, roots, slice) : new Map(roots.map((one) => [one.id, one]));
	const report: CancelReport = { cancelled: [], requested: [], ended: [], refused: [] };
	const open: number[] = [];
	for (const { id, status, runs } of found.values()) {
		if (isWaiting(status) || runs) open.push(id);
		else if (!how.subtree && isTerminal(status)) {
			const { code, message } = nothingToCancel(id, status);
			report.refused.push({ job: id, code, message });
		}
	}
	if (open.length === 0) {
		begun();
		await core.call("stir", {});
		return report;
	}
	const below = how.subtree ? { found: [...found.keys()], newest } : null;
	const { note, all } = await core.call("beginCancel", { open, below, reason: how.reason, piece: how.piece }, how);
	begun();
	while (await core.call("goOnWithCancel", { note }));
	for (const some of slices(all.reverse(), slice))
		for (const { id, became } of await core.look((tx) => outcomes(tx, some))) report[found.get(id)?.runs ? "requested" : became].push(id);
	return report;
}

/** The numbers of all waiting jobs, read a slice a transaction. */
export async function waitingJobs(core: Core, piece: number): Promise<number[]> {
	const all: number[] = [];
	const slice = sliceOf(piece);
	for (let after: number | null = 0; after !== null; ) {
		const from: number = after;
		const page: Job[] = await core.look(() => ask({ read: "active", filter: {}, after: from, limit: slice }));
		for (const { id, status, kind } of page) if (isWaiting(status) && queuePolicy(kind).isListed) all.push(id);
		after = page.length < slice ? null : nth(page, -1).id;
	}
	return all;
}

function* slices<T>(all: readonly T[], size: number): Generator<T[]> {
	for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}

function* mustFindAll(tx: Tx, ids: readonly number[]): Op<Seen[]> {
	yield* tx.load(ids);
	const found: Seen[] = [];
	for (const id of ids) found.push(seen(yield* mustFind(tx, id)));
	return found;
}

/** The jobs, their dependents and their descendants, transitively. */
async function subtree(core: Core, roots: readonly Seen[], slice: number): Promise<Map<number, Seen>> {
	const children = await childrenOf(core, slice);
	const found = new Map(roots.map((one) => [one.id, one]));
	let open: Place[] = roots.map((one) => ({ of: one, child: 0, after: 0 }));
	while (open.length > 0) {
		const some = open.slice(0, slice);
		const { added, left } = await core.look((tx) => follow(tx, some, { children, found, slice }));
		for (const one of added) found.set(one.id, one);
		open = [...left, ...open.slice(slice)];
		if (found.size > MAX_SUBTREE)
			throw new SluiceError("limit", `job ${roots[0]?.id} has more than ${MAX_SUBTREE} dependents`, {
				field: "id",
				hint: "cancel its batch instead",
			});
	}
	return found;
}

async function childrenOf(core: Core, slice: number): Promise<Map<number, number[]>> {
	const children = new Map<number, number[]>();
	for (let after: number | null = 0; after !== null; ) {
		const from: number = after;
		const page: Job[] = await core.look(() => ask({ read: "active", filter: {}, after: from, limit: slice }));
		for (const { id, path } of page) for (const ancestor of path ?? []) addTo(children, ancestor, id);
		after = page.length < slice ? null : nth(page, -1).id;
	}
	return children;
}

/** A job whose followers are to be read: its descendants from index `child` of their list on, then the jobs after it with a higher number than `after`. */
type Place = { of: Seen; child: number; after: number };

/** Continues from these places until a slice of rows was read. Changes none of its arguments, because the task may run again. */
function* follow(
	tx: Tx,
	places: readonly Place[],
	{ children, found, slice }: { children: ReadonlyMap<number, number[]>; found: ReadonlyMap<number, Seen>; slice: number },
): Op<{ added: Seen[]; left: Place[] }> {
	const added = new Map<number, Seen>();
	const open = [...places];
	let at = 0;
	for (let rows = 0; at < open.length && rows < slice; at++) {
		const { of, child, after } = nth(open, at);
		const own = children.get(of.id) ?? [];
		const next = own.slice(child, child + slice);
		if (child + slice < own.length) open.push({ of, child: child + slice, after });
		else if (of.dependents) {
			const edges = yield* ask({ read: "edges", pred: of.id, after, limit: slice });
			next.push(...edges.map((edge) => edge.job));
			if (edges.length === slice) open.push({ of, child: own.length, after: nth(edges, -1).job });
		}
		const fresh = next.filter((id) => !found.has(id) && !added.has(id));
		rows += 1 + next.length;
		yield* tx.load(fresh);
		for (const id of fresh) {
			const job = tx.peek(id);
			if (!job || added.has(id)) continue;
			added.set(id, seen(job));
			open.push({ of: added.get(id) as Seen, child: 0, after: 0 });
		}
	}
	return { added: [...added.values()], left: open.slice(at) };
}

/** `below`: the jobs of the subtree, and the newest job when it began to be read; null if no subtree is cancelled. */
export type CancelBeginning = {
	open: number[];
	below: { found: number[]; newest: number } | null;
	reason: string;
	piece: number;
};

/**
 * Stores all numbers in notes, newest job first: a dependent is thus cancelled itself before the end of its predecessor could block it. Ends the first piece.
 */
export function* beginCancel(tx: Tx, { open, below, reason, piece }: CancelBeginning): Op<{ note: string; all: number[] }> {
	const late = below === null ? [] : yield* addedSince(below, sliceOf(piece));
	const noted = notedAtOnce(piece);
	const all = [...open, ...late].sort((a, b) => b - a);
	const number = tx.nextId("token");
	const parts: Extract<Continuation, { do: "cancel" }>[] = [];
	for (let from = 0; from < all.length; from += noted) {
		// Zero-padded, so that the notes are in the order of their keys after a restart, too.
		const of = `${number}/${String(from / noted).padStart(6, "0")}`;
		parts.push({ do: "cancel", of, after: 0, ids: all.slice(from, from + noted), reason, by: tx.by, piece });
	}
	for (const part of parts) continueLater(tx, part);
	const first = nth(parts, 0);
	const next = yield* cancelMore(tx, first);
	if (next === null) dropContinuation(tx, first);
	else continueLater(tx, { ...first, after: next });
	return { note: continuationKey({ do: "cancel", of: String(number) }), all };
}

/** Jobs that were added below the subtree while it was being read. */
function* addedSince(below: NonNullable<CancelBeginning["below"]>, slice: number): Op<number[]> {
	const found = new Set(below.found);
	const above = new Map<number, number[]>();
	for (let after: number | null = below.newest; after !== null; ) {
		const page: Job[] = yield* ask({ read: "active", filter: {}, after, limit: slice });
		for (const { id, path = [] } of page) if (!found.has(id)) above.set(id, [...path]);
		if (page.length > 0)
			for (const { job, pred } of yield* ask({ read: "preds_of", jobs: page.map(({ id }) => id) })) above.get(job)?.push(pred);
		after = page.length < slice ? null : nth(page, -1).id;
	}
	return followersAmong(above, found);
}

/** The jobs of `above` that lead to one of `found`, directly or over each other. A manifest may declare a job before the one that it comes after, so the order of the numbers does not help. */
function followersAmong(above: ReadonlyMap<number, readonly number[]>, found: ReadonlySet<number>): number[] {
	const below = new Map<number, number[]>();
	const open: number[] = [];
	for (const [id, preds] of above)
		for (const pred of preds) {
			if (found.has(pred)) open.push(id);
			addTo(below, pred, id);
		}
	const late = new Set<number>();
	for (let id = open.pop(); id !== undefined; id = open.pop()) {
		if (late.has(id)) continue;
		late.add(id);
		for (const next of below.get(id) ?? []) open.push(next);
	}
	return [...late];
}

/** What became of each job: cancelled, asked to stop, or ended in another way before its piece was reached. */
function* outcomes(tx: Tx, ids: readonly number[]): Op<{ id: number; became: "cancelled" | "requested" | "ended" }[]> {
	yield* tx.load(ids);
	return ids.map((id) => {
		const job = tx.peek(id);
		if (job?.status === "cancelled") return { id, became: "cancelled" };
		return { id, became: job?.run?.intent?.kind === "cancelled" ? "requested" : "ended" };
	});
}
