// Adding one job: every check first, then one write.

import type { OfItems } from "../adding.ts";
import type { Predecessor } from "../core/answer.ts";
import { type Config, hardLimit } from "../core/config.ts";
import { SluiceError } from "../core/errors.ts";
import { artifactKey, factKeys, isMarker, itemKey, jobOfArtifact } from "../core/fact.ts";
import { deadEnd, fits } from "../core/gates/after.ts";
import { lacks } from "../core/gates/host.ts";
import type { Draft } from "../core/input.ts";
import { isTerminal, isWaiting, type Job, type Policy, type Status } from "../core/job.ts";
import type { Facts } from "../host.ts";
import type { AddResult } from "../scheduler.ts";
import { ask, type Op } from "../store.ts";
import { backlog, counts, deferred, delayWarning } from "./backlog.ts";
import { type FactRecord, factsOf, isUnsettled, plainFacts } from "./facts.ts";
import { heldOf, position, toView, viewJob } from "./look.ts";
import { jobNamed, nearestName, refuseTaken, takeName } from "./names.ts";
import { learn, type Seen } from "./observe.ts";
import { type ChainRecord, countBatch, endJob, joinChain, openJobs, place, tellAwaiting } from "./place.ts";
import { cascade, settle } from "./settle.ts";
import type { Tx } from "./tx.ts";

/** `limit` "none": a full queue does not turn it away; triggers are not asked to come again later. */
export type AddOptions = { force: boolean; seen?: Seen | undefined; limit?: "none" };

/** Whether the hard limit of the queue holds for it. */
export const limitFor = (items: OfItems | undefined, { queue }: Config): { limit?: "none" } =>
	items && (items.limit === "never" || (items.limit === "as_configured" && !queue.limit_items)) ? { limit: "none" } : {};

export function* addJob(tx: Tx, draft: Draft, { force, seen, limit: bound }: AddOptions): Op<AddResult> {
	if (seen) yield* learn(tx, seen);
	const { job } = draft;
	if (concernsOthers(draft)) yield* checkJob(tx, draft, force);
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
	// One that is to be replaced makes room, and stays if that is not enough.
	const twinJob = replaced === undefined ? undefined : yield* tx.find(replaced);
	const room = twinJob && counts(tx, twinJob) ? 1 : 0;
	if (bound !== "none" && backlog(tx) - room >= hardLimit(tx.config)) return { outcome: "deferred", ...deferred(tx) };
	if (replaced !== undefined) yield* replaceTwin(tx, replaced);

	job.id = tx.nextId("job");
	// Looked at again: a twin that was replaced may be one of them.
	const preds = after.length > 0 ? yield* predecessors(tx, after) : [];
	yield* arrive(tx, job, yield* storeJob(tx, draft, preds), "announce");
	markPredecessors(tx, preds);
	// A twin that was replaced may have been its predecessor: the answer tells what has come of that.
	if (tx.ended.length > 0) yield* cascade(tx);
	if (replaced !== undefined && tx.memory.all("settle").size > 0) yield* settle(tx);
	const view = preds.length === 0 ? toView(job, draft.spec, [], { held: heldOf(tx, job) }) : yield* viewJob(tx, job);
	const warnings = job.needs || delayWarning(tx) !== null ? yield* warningsOf(tx, job) : [];
	const result: AddResult = { outcome: "queued", job: view, position: yield* position(tx, job) };
	if (warnings.length > 0) result.warning = warnings.join("; ");
	return result;
}

/** Names and numbers of predecessors → numbers; what does not exist is the caller's mistake. */
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
			// What the caller says of its parent counts, not the gate.
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

/** `after: merged` on a job that will never merge can never be met. */
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

/** Whether there is anything for `checkJob` to look up: for most jobs there is not. */
const concernsOthers = ({ job, parent }: Draft): boolean =>
	job.name !== undefined ||
	parent !== undefined ||
	job.item !== undefined ||
	job.host_labels !== undefined ||
	job.repo !== undefined ||
	job.needs !== undefined;

/** What depends on the state of the world: names, items, parents, hosts. */
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
	if ((job.host_labels || (job.repo !== undefined && job.kind !== "payload")) && !force) {
		const wish = { ...(job.repo === undefined ? {} : { repo: job.repo }), ...(job.host_labels ? { labels: job.host_labels } : {}) };
		// One that is draining, stale or gone may come back; one that was removed will not.
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

/** `coming`: descendants that the same manifest brings, by root. */
function* addToFamily(tx: Tx, draft: Draft, id: number, field: string, coming: Map<number, number>): Op<void> {
	const parent = yield* tx.find(id);
	if (!parent) throw new SluiceError("not_found", `${field}: there is no job ${id}`, { field });
	if (parent.kind === "kernel")
		throw new SluiceError("invalid", `${field}: job ${id} is a kernel entry and cannot have children`, { field });
	const path = [...(parent.path ?? []), id];
	const { max_depth, max_descendants } = tx.config.parents;
	if (path.length > max_depth)
		throw new SluiceError("limit", `${field}: depth ${path.length}, at most ${max_depth}`, {
			field,
			hint: "raise it: sluice config set parents.max_depth N",
		});
	const root = path[0] as number;
	const size = ((yield* tx.get<number>("family", String(root))) ?? 0) + (coming.get(root) ?? 0);
	if (size >= max_descendants)
		throw new SluiceError("limit", `${field}: job ${root} has ${size} descendants already, at most ${max_descendants}`, {
			field,
			hint: "raise it: sluice config set parents.max_descendants N",
		});
	coming.set(root, (coming.get(root) ?? 0) + 1);
	draft.job.path = path;
	// Whoever pays for a job pays for what it brings about.
	if (parent.owner !== undefined) draft.job.owner ??= parent.owner;
	if (draft.parent_gate && !draft.after.some((one) => one.ref === id)) draft.after.push({ ref: id, policy: "success", gate: true });
}

/** `seen`: what a host has just said, where it is not on record yet. */
function* checkItem(tx: Tx, job: Job, force: boolean, field: string, seen: Facts | undefined): Op<void> {
	const key = itemKey(job.item as string);
	const value = (seen?.[key] ?? (yield* tx.get<FactRecord>("fact", key))?.value) as
		| { open?: boolean; in_progress?: boolean; taken?: string }
		| null
		| undefined;
	if (value && value.open === false)
		throw new SluiceError("forbidden", `${field}: item ${job.item} is closed`, { field, hint: "reopen it in its source first" });
	// In progress through our own chain: that is answered as already_running.
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
	const chain = yield* tx.get<ChainRecord>("chain", job.item);
	return chain ? (openJobs(chain)[0] ?? chain.chain) : undefined;
}

export type UniqueRecord = { job: number; at: number; window_ms: number | null };

/**
 * The job that a unique key stands for, when this one is not to be added: the last one under the key, within the window that the new job gives,
 * else within its own; with neither, for as long as it is open. One that is replaced ends here, or is left to `replaced`.
 */
export function* findTwin(tx: Tx, { unique }: Draft, field = "unique", replaced?: (twin: number) => void): Op<number | undefined> {
	if (!unique) return undefined;
	const known = yield* tx.get<UniqueRecord>("unique", unique.key);
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
	// The one that comes in its place may be the first that needs something of it.
	if (!twin.awaited) yield* tellAwaiting(tx, twin);
}

/** What a job comes with: the stage that hides it, the chain of its item. */
type Company = { stage?: number | undefined; chain?: number | undefined };

/** Stores it with all that finds it again; where it waits is still to be decided. Returns its predecessors as they count for it. */
export function* storeJob(tx: Tx, draft: Draft, given: readonly Predecessor[], company: Company = {}): Op<Predecessor[]> {
	const { job, spec, unique } = draft;
	const preds =
		given.length === 0 ? [] : given.map((pred) => (isUnsettled(tx, pred.job, job.id) ? { ...pred, status: "running" as const } : pred));
	if (preds.length > 0) {
		let open = 0;
		for (const [seq, pred] of preds.entries()) {
			tx.changes.edges.push({ pred: pred.job, job: job.id, policy: pred.policy, seq });
			if (isOpen(pred)) open++;
		}
		if (open > 0) job.deps_left = open;
	}
	if (job.needs || job.pinned_head || job.conditions || job.item !== undefined || job.produces) yield* linkFacts(tx, job);
	yield* takeName(tx, job);
	if (job.path) {
		const root = String(job.path[0]);
		tx.put("family", root, ((yield* tx.get<number>("family", root)) ?? 0) + 1);
	}
	if (unique) tx.put("unique", unique.key, { job: job.id, at: tx.now, window_ms: unique.window_ms ?? null } satisfies UniqueRecord);
	if (job.item !== undefined) {
		const chain = yield* tx.get<ChainRecord>("chain", job.item);
		job.chain = chain?.chain ?? company.chain ?? job.id;
		tx.put("chain", job.item, joinChain(chain, job));
	}
	if (job.batch !== undefined) yield* countBatch(tx, job.batch, "added", spec.owned === true);
	job.bucket = tx.bucketFor(job, company.stage).id;
	job.line = "new";
	tx.create(job, spec);
	if (job.kind !== "kernel") tx.count("depth", job.lane, 1);
	return preds;
}

/** Links it to the facts that decide about it, and to what it produces. */
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

/** Its first place. That is part of its being added, not a move of its own. */
export function* arrive(tx: Tx, job: Job, preds: readonly Predecessor[], how: "announce" | "quiet"): Op<void> {
	const alone = withoutDeps(job);
	const facts = plainFacts(tx, alone) ?? (yield* factsOf(tx, alone));
	tx.arriving = job.id;
	yield* place(tx, job, preds.length > 0 ? { ...facts, after: telling(preds) } : facts);
	tx.arriving = 0;
	if (how === "announce") announce(tx, job);
	if (job.produces) yield* doubtMissing(tx, job);
}

function announce(tx: Tx, job: Job): void {
	const data: Record<string, unknown> = { from: null, to: job.status, lane: job.lane };
	if (job.name !== undefined) data.name = job.name;
	if (job.end_reason !== undefined) data.end_reason = job.end_reason;
	else if (job.wait_reason) data.reason = job.wait_reason;
	tx.event("added", job.id, data);
	if (job.line === "human" && job.approval === "needed") tx.event("approval_asked", job.id, {});
}

/** The predecessors come from the caller here: the edges are not stored yet. */
const withoutDeps = (job: Job): Job => (job.deps_left ? { ...job, deps_left: 0 } : job);

const isOpen = (pred: Predecessor): boolean =>
	deadEnd(pred) === undefined && fits(pred.policy, pred.status as Status, pred.merge_status) === "open";

/** Of many predecessors, those that say something: the dead ends, and the first that is open. */
function telling(preds: readonly Predecessor[]): Predecessor[] {
	const dead = preds.filter((pred) => deadEnd(pred) !== undefined);
	const open = preds.find(isOpen);
	return open ? [...dead, open] : dead;
}

/** A new producer: consumers that await one may have something to hope for. */
function* doubtMissing(tx: Tx, job: Job): Op<void> {
	for (const artifact of job.produces ?? []) {
		const key = artifactKey(artifact, job.repo);
		const [consumer] = yield* ask({ read: "links", key, role: "needs", after: 0, limit: 1 });
		if (consumer !== undefined) tx.put("settle", `fact/${key}`, { after: 0 });
	}
}

/** So that their end looks for dependents. */
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
			const fact = yield* tx.get<FactRecord>("fact", key);
			const makers = yield* ask({ read: "links", key, role: "makes", after: 0, limit: 1 });
			if (fact?.value !== true && makers.length === 0) warnings.push(`nothing produces ${artifact} yet`);
		}
	}
	return warnings;
}
