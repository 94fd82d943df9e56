// What the queue keeps lists of, for people to look at: names, locks, batches, artifacts, the newest event.

import { SluiceError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import type { ArtifactView, BatchView, LockView } from "../scheduler.ts";
import { ask, type Op } from "../store.ts";
import type { FactRecord, Reservation } from "./facts.ts";
import { holdersIn, type LockRecord } from "./lock-reads.ts";
import { mustFind } from "./look.ts";
import type { Ids } from "./memory.ts";
import { jobNamed, nearestName } from "./names.ts";
import type { BatchRecord } from "./place.ts";
import type { Tx } from "./tx.ts";
import { runningJobs } from "./upkeep.ts";

export function* find(tx: Tx, name: string): Op<number> {
	const id = yield* jobNamed(tx, name);
	if (id !== null) return (yield* mustFind(tx, id)).id;
	const guess = yield* nearestName(name);
	throw new SluiceError("not_found", `there is no job called "${name}"`, {
		field: "id",
		hint: guess ? `did you mean "${guess}"?` : "sluice list --all shows the jobs that exist",
	});
}

export function* locks(tx: Tx): Op<LockView[]> {
	const views = new Map<string, LockView>();
	for (const [, key, value] of yield* ask({ read: "standing", kinds: ["lock"] })) {
		const holders = holdersIn(value as LockRecord);
		views.set(key, { key, holders: holders.map(([job, mode]) => ({ job, mode })), reserved_for: null });
	}
	for (const job of yield* runningJobs(tx))
		for (const { key, mode } of job.locks ?? [])
			if (!views.has(key)) views.set(key, { key, holders: [{ job: job.id, mode }], reserved_for: null });
	for (const [key, value] of tx.memory.all("reserve")) {
		const view = views.get(key) ?? { key, holders: [], reserved_for: null };
		views.set(key, { ...view, reserved_for: (value as Reservation).job });
	}
	return [...views.values()].sort(by("key"));
}

export function* batches(): Op<BatchView[]> {
	const rows = yield* ask({ read: "standing", kinds: ["batch"] });
	return rows
		.map(([, name, value]) => {
			const { open, total, owned } = value as BatchRecord;
			return { name, open, total, owned: owned === true };
		})
		.sort(by("name"));
}

export function* closeBatch(tx: Tx, name: string): Op<BatchView> {
	const record = yield* tx.get<BatchRecord>("batch", name);
	if (!record) {
		const names = (yield* batches()).map((one) => one.name);
		const guess = nearest(name, names);
		throw new SluiceError("not_found", `name: there is no batch "${name}"`, {
			field: "name",
			hint: guess ? `did you mean "${guess}"?` : "sluice batch list --all shows the batches that exist",
		});
	}
	const { open, total, owned } = record;
	if (owned) {
		tx.put("batch", name, { open, total } satisfies BatchRecord);
		if (open === 0) tx.event("batch_closed", null, { batch: name, total });
	}
	return { name, open, total, owned: false };
}

export function* artifacts(): Op<ArtifactView[]> {
	const rows = yield* ask({ read: "standing", kinds: ["fact"] });
	return rows
		.flatMap(([, key, record]) => {
			if (!key.startsWith("artifact:")) return [];
			const { value, error, at } = record as FactRecord;
			// Repo-bound ones end in `@repo`, which is a label: no slash, no colon.
			const [, artifact = "", repo] = /^artifact:(.*?)(?:@([\p{L}\p{N}_.+-]+))?$/su.exec(key) ?? [];
			return [{ artifact, repo: repo ?? null, present: typeof value === "boolean" ? value : null, observed_at: at, error: error ?? null }];
		})
		.sort(by("artifact"));
}

export function* lastEvent(tx: Tx): Op<number> {
	yield* [];
	return (tx.memory.recall("meta", "ids") as Ids | null)?.seq ?? 0;
}

const by =
	<K extends string>(key: K) =>
	(a: Record<K, string>, b: Record<K, string>): number =>
		a[key] < b[key] ? -1 : 1;
