// Adding one job: all checks first, then one write.

import type { OfItems } from "../../contracts/adding.ts";
import type { Facts } from "../../contracts/host.ts";
import type { AddResult } from "../../contracts/scheduler.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { type Config, hardLimit } from "../../core/config.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import type { EventMap } from "../../core/event.ts";
import { artifactKey, isMarker, itemKey, jobOfArtifact } from "../../core/fact.ts";
import { deadEnd, fits } from "../../core/gates/after.ts";
import { lacks } from "../../core/gates/buckets/host.ts";
import type { Predecessor } from "../../core/gates/gate.ts";
import { factKeys } from "../../core/gates/job-gates.ts";
import type { Draft } from "../../core/input/job.ts";
import { isTerminal, isWaiting, type Job, type Policy, type Status } from "../../core/job.ts";
import { queuePolicy } from "../../core/queue-policy.ts";
import { isBelow, refuseStranger } from "../../core/trust/run-bounds.ts";
import { backlog, counts, deferred, delayWarning } from "../limits/backlog.ts";
import type { Tx } from "../transaction/tx.ts";
import { heldOf, position, toView, viewJob } from "../views/jobs.ts";
import { hasContinuations, wakeByFact } from "../waiting/continuation.ts";
import { drain } from "../waiting/drain.ts";
import { factsOf, isUntold, plainFacts } from "../waiting/gate-facts.ts";
import { countBatch, endJob, joinChain, openJobs, reevaluate, tellAwaiting } from "../waiting/park.ts";
import { runPendingWakeups } from "../waiting/wakeups.ts";
import { jobNamed, namesIn, nearestName, numberNames, putNumbersInto, refuseTaken, takeName } from "./names.ts";
import { learn, type ProbedFacts } from "./observe.ts";

/** `seen`: facts that were probed for the job. `limit` "none": a full queue does not defer the job. For jobs of triggers, which do not retry, and for items that the limit does not apply to. */
export type AddOptions = { force: boolean; seen?: ProbedFacts | undefined; limit?: "none" | undefined };

/** A job that is to be added. Its draft is changed when it is added. `undelayed`: its input names no `runnable_at`. */
export type NewJob = AddOptions & { draft: Draft; undelayed: boolean };

/** The draft was made before the transaction began: its job was created now. */
export function restamp({ draft: { job }, undelayed }: NewJob, now: number): void {
	job.created_at = now;
	if (undelayed) job.runnable_at = now;
}

/** Whether the queue's hard limit applies to jobs made of these items. */
export const limitFor = (items: OfItems | undefined, { queue }: Config): { limit?: "none" } =>
	items && (items.limit === "never" || (items.limit === "as_configured" && !queue.limit_items)) ? { limit: "none" } : {};

export function* addJob(tx: Tx, draft: Draft, { force, seen, limit: bound }: AddOptions): Op<AddResult> {
	if (seen) yield* learn(tx, seen);
	const names = namesIn(draft);
	if (names.length > 0) putNumbersInto(draft, yield* numberNames(tx, names));
	const { job } = draft;
	yield* checkJob(tx, draft, force);
	const after = draft.after.length > 0 ? yield* resolveAfter(tx, draft.after) : [];
	if (after.length > 0) refuseUnmergeable(tx, yield* predecessors(tx, after));

	const chain = job.item === undefined ? undefined : yield* openChain(tx, job);
	if (chain !== undefined) return { outcome: "already_running", job: chain, holder: chain };
	let replaced: number | undefined;
	const noteTwin = (id: number) => {
		replaced = id;
	};
	const twin = draft.unique ? yield* findTwin(tx, draft, "unique", noteTwin) : undefined;
	if (twin !== undefined) return { outcome: "duplicate", job: twin };
	// A job that will be replaced frees its place in the queue; it stays if the queue is full even so.
	const twinJob = replaced === undefined ? undefined : yield* tx.find(replaced);
	const room = twinJob && counts(tx, twinJob) ? 1 : 0;
	if (bound !== "none" && backlog(tx) - room >= hardLimit(tx.config)) return { outcome: "deferred", ...deferred(tx) };
	if (replaced !== undefined) yield* replaceTwin(tx, replaced);

	job.id = tx.nextId("job");
	// Read the predecessors again: the replaced job may be one of them.
	const preds = after.length > 0 ? yield* predecessors(tx, after) : [];
	yield* arrive(tx, job, yield* storeJob(tx, draft, preds), "announce");
	markPredecessors(tx, preds);
	// The replaced job may have been a predecessor: the answer must include what followed from its end.
	if (!tx.work.isEmpty) yield* drain(tx);
	if (replaced !== undefined && hasContinuations(tx)) yield* runPendingWakeups(tx);
	const view = preds.length === 0 ? toView(job, draft.spec, [], { held: heldOf(tx, job) }) : yield* viewJob(tx, job);
	const warnings = [...draft.warnings, ...(job.needs || delayWarning(tx) !== null ? yield* warningsOf(tx, job) : [])];
	const result: AddResult = { outcome: "queued", job: view, position: yield* position(tx, job) };
	if (warnings.length > 0) result.warning = warnings.join("; ");
	return result;
}

/** Resolves names of predecessors to job numbers; an unknown name is the caller's error. */
export function* resolveAfter(tx: Tx, after: Draft["after"], field = "after"): Op<{ job: number; policy: Policy }[]> {
	const resolved: { job: number; policy: Policy }[] = [];
	for (const [index, { ref, policy, gate }] of after.entries()) {
		const job = typeof ref === "number" ? ref : yield* jobNamed(tx, ref);
		if (job === null) {
			const guess = yield* nearestName(String(ref));
			throw new SluiceError("not_found", `${field}[${index}]: there is no job named "${ref}"`, {
				field: `${field}[${index}]`,
				hint: guess ? `did you mean "${guess}"?` : "add it first, or apply both together",
			});
		}
		if (resolved.some((one) => one.job === job)) {
			// The caller named its parent explicitly: that policy counts, not the implicit gate.
			if (gate) continue;
			throw new SluiceError("invalid", `${field}[${index}]: names job ${job} a second time`, {
				field: `${field}[${index}]`,
				hint: "name each predecessor once",
			});
		}
		resolved.push({ job, policy });
	}
	return resolved;
}

export function* predecessors(tx: Tx, after: readonly { job: number; policy: Policy }[]): Op<Predecessor[]> {
	yield* tx.load(after.map((one) => one.job));
	return after.map(({ job: id, policy }, index) => {
		const job = tx.peek(id);
		if (!job)
			throw new SluiceError("not_found", `after[${index}]: there is no job ${id}`, {
				field: `after[${index}]`,
				hint: "sluice list --all shows the jobs that exist",
			});
		if (job.broken !== undefined) return { job: id, policy, status: { error: job.broken } };
		return { job: id, policy, status: job.status, ...(job.merge_status === undefined ? {} : { merge_status: job.merge_status }) };
	});
}

/** Refuses `after: merged` on a job that will never merge: it could never be met. */
export function refuseUnmergeable(tx: Tx, preds: readonly Pick<Predecessor, "job" | "policy">[], field = "after"): void {
	for (const { job: id, policy } of preds) {
		const job = tx.peek(id);
		if (policy === "merged" && job && !job.will_merge)
			throw new SluiceError("impossible", `${field}: job ${id} will not merge, so nothing can wait for its merge`, {
				field,
				hint: "use the policy success, or give that job a repo",
			});
	}
}

/** Checks that depend on the store: names, items, parents, hosts. */
export function* checkJob(
	tx: Tx,
	draft: Draft,
	force: boolean,
	field = "",
	coming: Map<number, number> = new Map(),
	seen?: Facts,
): Op<void> {
	const { job } = draft;
	const at = (key: string) => (field === "" ? key : `${field}.${key}`);
	if (job.name !== undefined) yield* refuseTaken(tx, job.name, at("name"));
	if (typeof draft.parent === "number") yield* addToFamily(tx, draft, draft.parent, at("parent"), coming);
	if (job.item !== undefined) yield* checkItem(tx, job, force, at("item"), seen);
	yield* checkPlace(tx, job, force, at);
}

/** Refuses a job that no host can run, and one that needs something of a job that does not exist. */
export function* checkPlace(tx: Tx, job: Job, force: boolean, at: (key: string) => string): Op<void> {
	if ((job.host_labels || (job.repo !== undefined && job.kind !== "payload")) && !force) {
		const wish = { ...(job.repo === undefined ? {} : { repo: job.repo }), ...(job.host_labels ? { labels: job.host_labels } : {}) };
		// A host that is draining, stale or gone still counts, since it may come back; a removed host has no record.
		if (![...tx.memory.hosts.values()].some((host) => lacks(host, wish).length === 0)) {
			const wants = [
				...(job.repo === undefined ? [] : [`repo ${job.repo}`]),
				...(job.host_labels ?? []).map((label) => `label ${label}`),
			].join(", ");
			const field = at(job.host_labels ? "host_labels" : "repo");
			throw new SluiceError("impossible", `${field}: no host has ${wants}: this job could never run`, {
				field,
				hint: "start such a host, or add it with --force",
			});
		}
	}
	for (const artifact of job.needs ?? []) {
		const number = jobOfArtifact(artifact);
		if (number !== undefined && !(yield* tx.find(number)))
			throw new SluiceError("not_found", `${at("needs")}: ${artifact}: there is no job ${number}`, { field: at("needs") });
	}
}

/** Makes the job a child of job `id`. `coming`: descendants that the same manifest adds, by root. */
function* addToFamily(tx: Tx, draft: Draft, id: number, field: string, coming: Map<number, number>): Op<void> {
	const parent = yield* tx.find(id);
	if (!parent) throw new SluiceError("not_found", `${field}: there is no job ${id}`, { field });
	if (draft.within !== undefined && !isBelow(parent, draft.within))
		throw refuseStranger({ field, run: draft.within, job: id, act: "add to" });
	if (parent.kind === "kernel")
		throw new SluiceError("invalid", `${field}: job ${id} is a kernel entry and cannot have children`, { field });
	const path = [...(parent.path ?? []), id];
	const { max_depth, max_descendants } = tx.config.parents;
	if (path.length > max_depth)
		throw new SluiceError("limit", `${field}: depth ${path.length}, at most ${max_depth}`, {
			field,
			hint: "raise it: sluice config set parents.max_depth N",
		});
	const root = nth(path, 0);
	const size = ((yield* tx.get("family", String(root))) ?? 0) + (coming.get(root) ?? 0);
	if (size >= max_descendants)
		throw new SluiceError("limit", `${field}: job ${root} has ${size} descendants already, at most ${max_descendants}`, {
			field,
			hint: "raise it: sluice config set parents.max_descendants N",
		});
	coming.set(root, (coming.get(root) ?? 0) + 1);
	draft.job.path = path;
	// A child is charged to its parent's owner, unless it names its own.
	if (parent.owner !== undefined) draft.job.owner ??= parent.owner;
	if (draft.parent_gate && !draft.after.some((one) => one.ref === id)) draft.after.push({ ref: id, policy: "success", gate: true });
}

/** `seen`: facts that a host has just probed and that are not stored yet. */
function* checkItem(tx: Tx, job: Job, force: boolean, field: string, seen: Facts | undefined): Op<void> {
	const key = itemKey(job.item as string);
	const value = (seen?.[key] ?? (yield* tx.get("fact", key))?.value) as
		| { open?: boolean; in_progress?: boolean; taken?: string }
		| null
		| undefined;
	if (value && value.open === false)
		throw new SluiceError("forbidden", `${field}: item ${job.item} is closed`, { field, hint: "reopen it in its source first" });
	// If the item is in progress through our own chain, the answer is `already_running`.
	if (value?.in_progress && !force && (yield* openChain(tx, job)) === undefined)
		throw new SluiceError("forbidden", `${field}: item ${job.item} is in progress elsewhere`, {
			field,
			hint: "wait for it, or add it with --force",
		});
	if (value?.taken !== undefined && force) job.take_over = true;
}

/** The open job of the item's chain, if there is one. */
export function* openChain(tx: Tx, job: Job): Op<number | undefined> {
	if (job.item === undefined) return undefined;
	const chain = yield* tx.get("chain", job.item);
	return chain ? (openJobs(chain)[0] ?? chain.chain) : undefined;
}

export type UniqueRecord = { job: number; at: number; window_ms: number | null };

/**
 * The existing job because of which a new job with the same unique key is not added; undefined if it is to be added. The last job under the key counts within
 * the window that the new job gives, else within its own window, and without a window for as long as it is open. With policy "replace", the existing job ends
 * here, or `replaced` gets its number and the caller ends it.
 */
export function* findTwin(tx: Tx, { unique, within }: Draft, field = "unique", replaced?: (twin: number) => void): Op<number | undefined> {
	if (!unique) return undefined;
	const known = yield* tx.get("unique", unique.key);
	const twin = known ? yield* tx.find(known.job) : undefined;
	if (!known || !twin) return undefined;
	const window = unique.window_ms ?? known.window_ms;
	if (window === null ? isTerminal(twin.status) : tx.now >= known.at + window) return undefined;
	if (unique.policy === "error")
		throw new SluiceError("conflict", `${field}: job ${twin.id} has the key "${unique.key}"`, {
			field: `${field}.key`,
			hint: "wait for it, or use the policy skip or replace",
		});
	if (unique.policy !== "replace" || !isWaiting(twin.status)) return twin.id;
	if (within !== undefined && !isBelow(twin, within)) throw refuseStranger({ field, run: within, job: twin.id, act: "replace" });
	if (replaced) {
		replaced(twin.id);
		return undefined;
	}
	yield* replaceTwin(tx, twin.id);
	return undefined;
}

export function* replaceTwin(tx: Tx, id: number): Op<void> {
	const twin = yield* tx.find(id);
	if (!twin || !isWaiting(twin.status)) return;
	yield* endJob(tx, twin, { status: "cancelled", exit_kind: "cancelled", exit_code: 143, end_reason: "replaced" });
	// The new job may be the first that needs an artifact of the replaced one, which is then not marked as awaited: have its consumers decided all the same.
	if (!twin.awaited) yield* tellAwaiting(tx, twin);
}

/** The stage that hides a new job, and the chain of its item. */
type Company = { stage?: number | undefined; chain?: number | undefined };

/**
 * Stores a job with its edges, links, name and counts; where it waits is decided later. Returns its predecessors as they count for it: an ended
 * one that has not told its dependents counts as running.
 */
export function* storeJob(tx: Tx, draft: Draft, given: readonly Predecessor[], company: Company = {}): Op<Predecessor[]> {
	const { job, spec, unique } = draft;
	const preds =
		given.length === 0 ? [] : given.map((pred) => (isUntold(tx, pred, job.id) ? { ...pred, status: "running" as const } : pred));
	if (preds.length > 0) {
		let open = 0;
		for (const [seq, pred] of preds.entries()) {
			tx.changes.edges.push({ pred: pred.job, job: job.id, policy: pred.policy, seq });
			if (isOpen(pred)) open++;
		}
		if (open > 0) job.deps_left = open;
	}
	if (job.hold) job.hold = { by: tx.by, since: tx.now };
	yield* linkFacts(tx, job);
	yield* takeName(tx, job);
	if (job.path) {
		const root = String(job.path[0]);
		tx.put("family", root, ((yield* tx.get("family", root)) ?? 0) + 1);
	}
	if (unique) tx.put("unique", unique.key, { job: job.id, at: tx.now, window_ms: unique.window_ms ?? null });
	if (job.item !== undefined) {
		const chain = yield* tx.get("chain", job.item);
		job.chain = chain?.chain ?? company.chain ?? job.id;
		tx.put("chain", job.item, joinChain(chain, job));
	}
	if (job.batch !== undefined) yield* countBatch(tx, job.batch, "added", spec.owned === true);
	job.bucket = tx.bucketFor(job, company.stage).id;
	job.parked_on = "new";
	tx.create(job, spec);
	if (queuePolicy(job.kind).isCounted) tx.count("depth", job.lane, 1);
	return preds;
}

/** Links a job to the facts that it depends on, and to what it produces. */
export function* linkFacts(tx: Tx, job: Job): Op<void> {
	for (const key of factKeys(job)) tx.changes.links.push({ key, role: "needs", job: job.id });
	const awaited = (job.needs ?? []).flatMap((artifact) => jobOfArtifact(artifact) ?? []);
	if (awaited.length > 0) yield* tx.load(awaited);
	for (const id of awaited) {
		const target = tx.peek(id);
		if (!target || target.awaited) continue;
		target.awaited = true;
		tx.touch(target);
	}
	for (const artifact of job.produces ?? []) tx.changes.links.push({ key: artifactKey(artifact, job.repo), role: "makes", job: job.id });
}

/** Decides where a new job waits first. The `added` event includes that; it is no separate move. */
export function* arrive(tx: Tx, job: Job, preds: readonly Predecessor[], how: "announce" | "quiet"): Op<void> {
	const alone = withoutDeps(job);
	const facts = plainFacts(tx, alone) ?? (yield* factsOf(tx, alone));
	tx.arriving = job.id;
	yield* reevaluate(tx, job, preds.length > 0 ? { ...facts, after: decisivePredecessors(preds) } : facts);
	tx.arriving = 0;
	if (how === "announce") announce(tx, job);
	if (job.produces) yield* doubtMissing(tx, job);
}

function announce(tx: Tx, job: Job): void {
	const data: EventMap["added"] = { from: null, to: job.status, lane: job.lane };
	if (job.name !== undefined) data.name = job.name;
	if (job.end_reason !== undefined) data.end_reason = job.end_reason;
	else if (job.wait_reason) data.reason = job.wait_reason;
	tx.event("added", job.id, data);
	if (job.parked_on === "human" && job.approval === "needed") tx.event("approval_asked", job.id, {});
}

/** The caller passes the predecessors, because the edges are not stored yet. */
const withoutDeps = (job: Job): Job => (job.deps_left ? { ...job, deps_left: 0 } : job);

const isOpen = (pred: Predecessor): boolean =>
	deadEnd(pred) === undefined && fits(pred.policy, pred.status as Status, pred.merge_status) === "open";

/** The decisive ones of many predecessors: all dead ends, and the first open one. */
function decisivePredecessors(preds: readonly Predecessor[]): Predecessor[] {
	const dead = preds.filter((pred) => deadEnd(pred) !== undefined);
	const open = preds.find(isOpen);
	return open ? [...dead, open] : dead;
}

/** A new job produces an artifact: its consumers are decided again, because their missing artifact may now come. */
function* doubtMissing(tx: Tx, job: Job): Op<void> {
	for (const artifact of job.produces ?? []) {
		const key = artifactKey(artifact, job.repo);
		const [consumer] = yield* ask({ read: "links", key, role: "needs", after: 0, limit: 1 });
		if (consumer !== undefined) wakeByFact(tx, key);
	}
}

/** Marks the predecessors, so that their end looks for dependents. */
export function markPredecessors(tx: Tx, preds: readonly Predecessor[]): void {
	for (const { job: id } of preds) {
		const job = tx.peek(id);
		if (!job || job.dependents) continue;
		job.dependents = true;
		tx.touch(job);
	}
}

function* warningsOf(tx: Tx, job: Job): Op<string[]> {
	const warnings: string[] = [];
	const delay = delayWarning(tx);
	if (delay !== null) warnings.push(delay);
	for (const artifact of job.needs ?? []) {
		if (isMarker(artifact) || jobOfArtifact(artifact) === undefined) {
			const key = artifactKey(artifact, job.repo);
			const fact = yield* tx.get("fact", key);
			const makers = yield* ask({ read: "links", key, role: "makes", after: 0, limit: 1 });
			if (fact?.value !== true && makers.length === 0) warnings.push(`nothing produces ${artifact} yet`);
		}
	}
	return warnings;
}
