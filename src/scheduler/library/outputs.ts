// Output of runs that is kept for other hosts: record output/<job>.<n>, large, for attempt n. Deleted with its job, or when attempt n + 20 is kept.

import type { Outputs, RunOutput } from "../../contracts/output.ts";
import { ask, type Op } from "../../contracts/store.ts";
import { mustFind } from "../transaction/find-job.ts";
import type { Engine } from "../transaction/group-commit.ts";
import { storedRecords } from "../transaction/record-map.ts";
import type { Tx } from "../transaction/tx.ts";

/** Number of attempts of one job whose output is kept. */
const KEPT_ATTEMPTS = 20;
const keyOf = (job: number, attempt: number) => `${job}.${attempt}`;

/** Deletes the kept output of a job that is being forgotten. */
export function dropOutputs(tx: Tx, job: number, attempts: number): void {
	if (tx.memory.meta("outputs") === null) return;
	for (let attempt = attempts; attempt > Math.max(0, attempts - KEPT_ATTEMPTS); attempt--) tx.putAside("output", keyOf(job, attempt), null);
}

function* keep(tx: Tx, id: number, attempt: number, output: RunOutput): Op<void> {
	const job = yield* tx.find(id);
	if (!job || attempt > job.attempt) return;
	if (tx.memory.meta("outputs") === null) tx.putMeta("outputs", true);
	tx.putAside("output", keyOf(id, attempt), output);
	if (attempt > KEPT_ATTEMPTS) tx.putAside("output", keyOf(id, attempt - KEPT_ATTEMPTS), null);
}

function* ranOn(tx: Tx, id: number, attempt: number): Op<string | null> {
	const job = yield* mustFind(tx, id);
	for (const run of [job.run, job.last_run]) if (run?.attempt === attempt) return run.host ?? null;
	const runs = yield* ask({ read: "runs", job: id });
	return runs.find((run) => run.attempt === attempt)?.host ?? null;
}

/** The methods for kept output, without the questions between hosts: questions.ts. */
export const outputMethods = (engine: Engine): Omit<Outputs, "inquire" | "answer"> => ({
	keep: (job, attempt, output) => engine.run((tx) => keep(tx, job, attempt, output)),
	read: (job, attempt) =>
		engine.run(function* () {
			const [kept] = yield* storedRecords("output", [keyOf(job, attempt)]);
			return kept?.[1] ?? null;
		}),
	missing: (runs) =>
		engine.run(function* (tx) {
			yield* tx.load(runs.map(({ job }) => job));
			const there = runs.filter(({ job }) => tx.peek(job) !== undefined);
			const wanted = there.map(({ job, attempt }) => keyOf(job, attempt));
			const kept = new Map(yield* storedRecords("output", wanted));
			return there.filter(({ job, attempt }) => !kept.has(keyOf(job, attempt)));
		}),
	ranOn: (job, attempt) => engine.run((tx) => ranOn(tx, job, attempt)),
});
