// Methods by which a run reports about itself: its verdict, its result.

import { SluiceError } from "../../core/errors.ts";
import { type At, doc, type Handlers } from "../call.ts";
import { rfc3339 } from "../documents.ts";

export const runMethods: Handlers<"run"> = {
	"run.verdict": async ({ verdict, text }, at) => {
		const run = runOf(at, "run.verdict");
		const { scheduler, supervisor } = at.context;
		const said = await spoken(at, scheduler.verdict(run, { verdict, ...(text === undefined ? {} : { text }) }, { by: at.by }));
		// The host decides by it what to do with the run's workspace before the end is recorded.
		supervisor.noteVerdict(run, said);
		return doc({ job: run.job, verdict: said.verdict, text: said.text, at: rfc3339(said.at) });
	},
	"run.result": async ({ result }, at) => {
		const run = runOf(at, "run.result");
		const { bytes } = await spoken(at, at.context.scheduler.result(run, result, { by: at.by }));
		return doc({ job: run.job, bytes });
	},
};

/** Only a run reports for itself; a person answers, cancels or rejects its job instead. */
function runOf({ session }: At, method: string): { job: number; token: number } {
	const { job, token } = session.caller;
	if (job !== undefined && token !== undefined) return { job, token };
	throw new SluiceError("forbidden", `${method} is for runs alone: this call does not come from inside one`, {
		hint: "from outside, sluice answer ID TEXT answers a question, and sluice cancel ID ends a job",
	});
}

/** Rewords the error of a fenced run, so that the run understands it. */
async function spoken<T>({ session }: At, saying: Promise<T>): Promise<T> {
	try {
		return await saying;
	} catch (error) {
		if (!(error instanceof SluiceError) || error.code !== "fenced") throw error;
		throw new SluiceError("fenced", `${session.caller.by} is over: what it says now does not count`, {
			hint: `sluice show ${session.caller.job} tells how it ended; a newer attempt speaks for itself`,
		});
	}
}
