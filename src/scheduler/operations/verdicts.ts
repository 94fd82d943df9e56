// What a run reports about itself (its verdict, its result), recorded before the caller gets its answer. And the results of predecessors that a run is
// given.

import type { ResultView } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import { askedOf, placesIn } from "../../core/recipes/after-result.ts";
import type { RunVerdict } from "../../core/runs/verdict.ts";
import { mustFind, runningJob } from "../transaction/find-job.ts";
import type { Tx } from "../transaction/tx.ts";
import { edgesOf } from "../waiting/gate-facts.ts";

type RunRef = { job: number; token: number };

/** Maximum length of a text in an event. */
const SHOWN = 1000;

export function* sayVerdict(tx: Tx, run: RunRef, { verdict, text }: Omit<RunVerdict, "at">): Op<RunVerdict> {
	const job = yield* runningJob(tx, run);
	const said: RunVerdict = { verdict, text, at: tx.now };
	job.run.verdict = said;
	tx.touch(job);
	tx.event("verdict", job.id, { attempt: job.run.attempt, verdict, ...(text === "" ? {} : { text: text.slice(0, SHOWN) }) });
	return said;
}

/** `result`: compact JSON. */
export function* sayResult(tx: Tx, run: RunRef, result: string): Op<void> {
	const job = yield* runningJob(tx, run);
	job.result = result;
	tx.touch(job);
	tx.event("result", job.id, { attempt: job.run.attempt, bytes: new TextEncoder().encode(result).length });
}

/** The results of its predecessors that a job's prompt asks for. */
export function* resultsFor(tx: Tx, id: number): Op<ResultView[]> {
	const job = yield* mustFind(tx, id);
	const spec = tx.spec(id) ?? (yield* tx.specs([id])).get(id);
	const places = placesIn(spec?.prompt ?? "");
	if (places.length === 0) return [];
	const ids = (yield* edgesOf(job)).map(({ pred }) => pred);
	yield* tx.load(ids);
	const found = ids.flatMap((pred): ResultView[] => {
		const one = tx.peek(pred);
		if (!one) return [];
		const { name, result, status } = one;
		return [{ job: pred, name: name ?? null, status, result: result ?? null }];
	});
	return askedOf(places, found);
}

/** `resultsFor` a run that is about to start; appends an event that says which results it was given and which were missing. */
export function* takeResults(tx: Tx, run: RunRef): Op<ResultView[]> {
	const job = yield* runningJob(tx, run);
	const found = yield* resultsFor(tx, job.id);
	const jobs = (which: "there" | "missing") => found.filter((one) => (one.result === null) === (which === "missing")).map((one) => one.job);
	const [handed, missing] = [jobs("there"), jobs("missing")];
	if (found.length > 0)
		tx.event("results_handed", job.id, {
			attempt: job.run.attempt,
			...(handed.length === 0 ? {} : { of_jobs: handed }),
			...(missing.length === 0 ? {} : { missing_of_jobs: missing }),
		});
	return found;
}
