// Facts from outside: written down, and the jobs that hang on them decided again.

import { SluiceError } from "../core/errors.ts";
import { artifactFault, isMarker, jobOfArtifact } from "../core/fact.ts";
import type { Facts, FactValue } from "../host.ts";
import type { Op } from "../store.ts";
import type { FactRecord } from "./facts.ts";
import { settle } from "./settle.ts";
import type { Tx } from "./tx.ts";

const isError = (value: FactValue | { error: string }): value is { error: string } =>
	value !== null && typeof value === "object" && "error" in value;

/** What was seen, and for which keys that still counts: one that came into doubt after the looking began must be looked at again. */
export type Seen = { facts: Facts; counts: (key: string) => boolean };
export const always = () => true;
export const patchKey = (job: number | null) => `artifact:patch:${job}`;

/** It came into doubt in this very transaction. A job that ends may leave a patch, be it asked for or not. */
function isInDoubt(tx: Tx, key: string): boolean {
	if (tx.probes.has(key) || tx.doubted.has(key)) return true;
	return key.startsWith("artifact:patch:") && tx.events.some(({ kind, job }) => kind === "ended" && key === patchKey(job));
}

/** Returns whether anything has changed that jobs may hang on: `settle` tells them. */
export function* record(tx: Tx, { facts, counts }: Seen): Op<boolean> {
	let news = false;
	yield* tx.fetch("fact", Object.keys(facts));
	for (const [key, seen] of Object.entries(facts)) {
		if (isInDoubt(tx, key) || !counts(key)) continue;
		const known = yield* tx.get<FactRecord>("fact", key);
		const next: FactRecord = isError(seen) ? { error: seen.error, at: tx.now } : { value: seen, at: tx.now };
		const same = known && !known.asked && JSON.stringify([known.value, known.error]) === JSON.stringify([next.value, next.error]);
		if (same) continue;
		tx.put("fact", key, next);
		if (known) {
			tx.put("settle", `fact/${key}`, { after: 0 });
			news = true;
		} else yield* awaitEnd(tx, key);
	}
	return news;
}

/** Its end brings into doubt what was seen of its patch, also when whoever asked for it is not there yet. */
function* awaitEnd(tx: Tx, key: string): Op<void> {
	const id = jobOfArtifact(key.slice("artifact:".length));
	const job = id === undefined ? undefined : yield* tx.find(id);
	if (!job || job.awaited) return;
	job.awaited = true;
	tx.touch(job);
}

/** Before jobs are added by it: it counts for all, so whoever ends by it no longer has the item, the key or the room that a new one wants. */
export function* learn(tx: Tx, seen: Seen): Op<boolean> {
	const news = yield* record(tx, seen);
	if (news) yield* settle(tx);
	return news;
}

/** `custom:` and `sentinel:` markers are facts that we keep ourselves. */
export function* mark(tx: Tx, artifact: string, state: "present" | "absent"): Op<void> {
	const fault = artifactFault(artifact);
	if (fault !== undefined) throw new SluiceError("invalid", `artifact: ${fault}`, { field: "artifact" });
	if (!isMarker(artifact))
		throw new SluiceError("invalid", `artifact: ${artifact} cannot be set by hand`, {
			field: "artifact",
			hint: "custom:<type>:<key> and sentinel:<slug> can",
		});
	const key = `artifact:${artifact}`;
	const known = yield* tx.get<FactRecord>("fact", key);
	if ((known?.value === true) === (state === "present")) return;
	tx.put("fact", key, state === "present" ? ({ value: true, at: tx.now } satisfies FactRecord) : null);
	tx.event("marked", null, { artifact, state });
	tx.put("settle", `fact/${key}`, { after: 0 });
}
