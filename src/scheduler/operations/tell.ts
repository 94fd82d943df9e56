// What people tell a job's agent: recorded with the job, and marked when a run has got it. core/runs/told.ts says how it gets there.

import type { Op } from "../../contracts/store.ts";
import { SluiceError } from "../../core/errors.ts";
import { cutTo } from "../../core/input/storable.ts";
import { isTerminal, type Job } from "../../core/job.ts";
import { pendingOf, TOLD_PENDING, withTold } from "../../core/runs/told.ts";
import { mustFind, runningJob } from "../transaction/find-job.ts";
import type { Tx } from "../transaction/tx.ts";

/** An event has the beginning of a long text; the job has all of it. */
const EVENT_CHARACTERS = 1000;

export function* tell(tx: Tx, id: number, text: string): Op<{ number: number }> {
	const job = yield* mustFind(tx, id);
	refuseToTell(job);
	job.told = withTold(job.told, text, tx.by, tx.now);
	const { number } = job.told.at(-1) as { number: number };
	tx.touch(job);
	tx.event("told", id, { number, text: cutTo(EVENT_CHARACTERS, text) });
	return { number };
}

function refuseToTell(job: Job): void {
	const { id, kind, status } = job;
	if (kind !== "agent")
		throw new SluiceError("invalid", `job ${id} runs no agent: only an agent can be told something`, {
			field: "id",
			hint: `sluice logs ${id} shows what it writes; sluice cancel ${id} ends it`,
		});
	if (isTerminal(status))
		throw new SluiceError("illegal_transition", `job ${id} has ended (${status}): there is nothing left to tell`, {
			field: "id",
			hint: `sluice retry ${id} runs it again; a job that asks gets its answer with sluice answer`,
		});
	if (job.question !== undefined)
		throw new SluiceError("illegal_transition", `job ${id} waits for an answer`, { field: "id", hint: `sluice answer ${id} TEXT` });
	if (pendingOf(job.told).length >= TOLD_PENDING)
		throw new SluiceError("limit", `job ${id} has ${TOLD_PENDING} texts that no run has got yet`, {
			field: "id",
			hint: `sluice show ${id} lists them`,
		});
}

/** The run has got these texts, in its prompt. Texts that a run has got already stay as they are. */
export function* toldGiven(tx: Tx, { numbers, ...run }: { job: number; token: number; numbers: number[] }): Op<void> {
	const job = yield* runningJob(tx, run);
	const { attempt } = job.run;
	const given = pendingOf(job.told).filter(({ number }) => numbers.includes(number));
	if (given.length === 0) return;
	const got = new Set(given.map(({ number }) => number));
	job.told = (job.told ?? []).map((one) => (got.has(one.number) ? { ...one, attempt } : one));
	tx.touch(job);
	tx.event("told_given", job.id, { numbers: [...got], attempt });
}
