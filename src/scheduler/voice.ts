// What a run says of itself, on record before the caller hears that it was heard: its verdict, its result. And what a run is handed of the results of the
// jobs that it comes after.

import { placesIn, resultOf } from "../core/after-result.ts";
import type { RunVerdict } from "../core/verdict.ts";
import type { ResultView } from "../scheduler.ts";
import type { Op } from "../store.ts";
import { edgesOf } from "./facts.ts";
import { runningJob } from "./finish.ts";
import { mustFind } from "./look.ts";
import type { Tx } from "./tx.ts";

type RunRef = { job: number; token: number };

/** What an event shows of a text. */
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

/** The results that a job's prompt asks for, of the jobs that it comes after. */
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
	return found.filter((one) => places.some((place) => resultOf(place, [one]) !== null));
}

/** The same for a run that is about to start, and on record where there was none. */
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
