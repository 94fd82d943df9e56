// Records facts from outside and re-evaluates the jobs that depend on them.

import type { Facts, FactValue } from "../../contracts/host.ts";
import type { Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { artifactFault, isMarker, jobOfArtifact, patchKey } from "../../core/fact.ts";
import type { Tx } from "../transaction/tx.ts";
import { wakeByFact } from "../waiting/continuation.ts";
import type { FactRecord } from "../waiting/gate-facts.ts";
import { runPendingWakeups } from "../waiting/wakeups.ts";

const isError = (value: FactValue | { error: string }): value is { error: string } =>
	value !== null && typeof value === "object" && "error" in value;

/**
 * Results of a probe. `stale`: keys whose result must not be recorded: the fact was invalidated after the probe began, and is probed again. `since`: the last event
 * that the process had heard of when the probe began, if its own commits do not show all that happened.
 */
export type ProbedFacts = { facts: Facts; stale: string[]; since?: number };

/** True if this transaction invalidated the fact. A job that ends may leave a patch, whether or not a job has asked for it. */
function isInDoubt(tx: Tx, key: string): boolean {
	if (tx.probes.has(key) || tx.doubted.has(key)) return true;
	return key.startsWith("artifact:patch:") && tx.events.some(({ kind, job }) => kind === "ended" && key === patchKey(job));
}

/** Records the results of a probe. Returns whether a fact changed that jobs may depend on: `settle` re-evaluates them. */
export function* record(tx: Tx, { facts, stale, since }: ProbedFacts): Op<boolean> {
	let news = false;
	const outdated = new Set(stale);
	yield* tx.fetch("fact", Object.keys(facts));
	for (const [key, seen] of Object.entries(facts)) {
		if (isInDoubt(tx, key) || outdated.has(key) || (since !== undefined && tx.wasDoubted(key, since))) continue;
		const known = yield* tx.get("fact", key);
		const next: FactRecord = isError(seen) ? { error: seen.error, at: tx.now } : { value: seen, at: tx.now };
		const same = known && !known.asked && JSON.stringify([known.value, known.error]) === JSON.stringify([next.value, next.error]);
		if (same) continue;
		tx.put("fact", key, next);
		if (known) {
			wakeByFact(tx, key);
			news = true;
		} else yield* awaitEnd(tx, key);
	}
	return news;
}

/** Marks the job whose patch was probed, so that its end invalidates the fact, even if the job that asked for the patch has not been added yet. */
function* awaitEnd(tx: Tx, key: string): Op<void> {
	const id = jobOfArtifact(key.slice("artifact:".length));
	const job = id === undefined ? undefined : yield* tx.find(id);
	if (!job || job.awaited) return;
	job.awaited = true;
	tx.touch(job);
}

/** Applies probed facts to existing jobs before a new job is admitted. A job that ends because of them frees its item, unique key or queue slot first. */
export function* learn(tx: Tx, seen: ProbedFacts): Op<boolean> {
	const news = yield* record(tx, seen);
	if (news) yield* runPendingWakeups(tx);
	return news;
}

/** Sets or removes a `custom:` or `sentinel:` marker: a fact that lives only in the store. */
export function* mark(tx: Tx, artifact: string, state: "present" | "absent"): Op<void> {
	const fault = artifactFault(artifact);
	if (fault !== undefined) throw new SluiceError("invalid", `artifact: ${fault}`, { field: "artifact" });
	if (!isMarker(artifact))
		throw new SluiceError("invalid", `artifact: ${artifact} cannot be set by hand`, {
			field: "artifact",
			hint: "custom:<type>:<key> and sentinel:<slug> can",
		});
	const key = `artifact:${artifact}`;
	const known = yield* tx.get("fact", key);
	if ((known?.value === true) === (state === "present")) return;
	tx.put("fact", key, state === "present" ? { value: true, at: tx.now } : null);
	tx.event("marked", null, { artifact, state });
	wakeByFact(tx, key);
}
