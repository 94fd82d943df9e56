// No run twice: one live token a job, tokens never reused, attempts strictly increase.

import { type Checker, must } from "./moment.ts";

export const runOnce: Checker = {
	name: "run-once",
	check({ view, memory }) {
		for (const job of view.values()) {
			const last = memory.attempts.get(job.id) ?? 0;
			must(job.attempt >= last, `job ${job.id}: attempt went from ${last} back to ${job.attempt}`);
			memory.attempts.set(job.id, job.attempt);
			if (job.kind === "kernel") continue;
			must(
				(job.status === "running") === (job.run !== undefined),
				`job ${job.id} is ${job.status} ${job.run === undefined ? "without" : "with"} a run`,
			);
			if (job.run === undefined) continue;
			const run = `${job.id}.${job.run.attempt}`;
			const before = memory.tokens.get(job.run.token);
			must(before === undefined || before === run, `token ${job.run.token} belongs to ${before} and to ${run}`);
			memory.tokens.set(job.run.token, run);
			must(job.run.attempt === job.attempt, `job ${job.id}: its run is attempt ${job.run.attempt}, the job is at ${job.attempt}`);
			const others = [...memory.tokens].filter(([token, name]) => name === run && token !== job.run?.token);
			must(others.length === 0, `run ${run} has tokens ${[job.run.token, ...others.map(([token]) => token)].join(" and ")}`);
		}
	},
};
