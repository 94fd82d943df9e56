// Lookups and lists for people: names, locks, batches, artifacts, the newest event.

import type { ArtifactView, BatchView, LockView } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { suggest } from "../../core/input/nearest.ts";
import { jobNamed, nearestName } from "../operations/names.ts";
import { mustFind } from "../transaction/find-job.ts";
import { storedRecords } from "../transaction/record-map.ts";
import type { Tx } from "../transaction/tx.ts";

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
	for (const [key, { holders }] of yield* storedRecords("lock"))
		views.set(key, { key, holders: holders.map(([job, mode]) => ({ job, mode })), reserved_for: null });
	for (const [key, { job }] of tx.memory.all("reserve")) {
		const view = views.get(key) ?? { key, holders: [], reserved_for: null };
		views.set(key, { ...view, reserved_for: job });
	}
	return [...views.values()].sort(by("key"));
}

export function* batches(): Op<BatchView[]> {
	const rows = yield* storedRecords("batch");
	return rows.map(([name, { open, total, owned }]) => ({ name, open, total, owned: owned === true })).sort(by("name"));
}

export function* closeBatch(tx: Tx, name: string): Op<BatchView> {
	const record = yield* tx.get("batch", name);
	if (!record) {
		const names = (yield* batches()).map((one) => one.name);
		throw new SluiceError("not_found", `name: there is no batch "${name}"`, {
			field: "name",
			hint: suggest(name, names, "sluice batch list --all shows the batches that exist"),
		});
	}
	const { open, total, owned } = record;
	if (owned) {
		tx.put("batch", name, { open, total });
		if (open === 0) tx.event("batch_closed", null, { batch: name, total });
	}
	return { name, open, total, owned: false };
}

export function* artifacts(): Op<ArtifactView[]> {
	const rows = yield* storedRecords("fact");
	return rows
		.flatMap(([key, { value, error, at }]) => {
			if (!key.startsWith("artifact:")) return [];
			// Artifacts of a repo end in `@repo`. A repo is a label: it has no slash and no colon.
			const [, artifact = "", repo] = /^artifact:(.*?)(?:@([\p{L}\p{N}_.+-]+))?$/su.exec(key) ?? [];
			return [{ artifact, repo: repo ?? null, present: typeof value === "boolean" ? value : null, observed_at: at, error: error ?? null }];
		})
		.sort(by("artifact"));
}

export const lastEvent = (tx: Tx): number => tx.memory.meta("ids")?.seq ?? 0;

const by =
	<K extends string>(key: K) =>
	(a: Record<K, string>, b: Record<K, string>): number =>
		a[key] < b[key] ? -1 : 1;
