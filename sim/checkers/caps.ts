// Caps are never exceeded: a count above its cap may be left over from a lowered cap or a forced run, but never grows by a start. A run that waits for jobs
// counts towards the safety cap and resources alone; when it comes back it counts again, above the cap if others have started meanwhile.

import { type Checker, must, running } from "./moment.ts";

/** Caps on runs, which a run that waits lends. */
const ON_RUNS = /^(?:max_concurrent|lane:|repo:|account:|host:)/;

export const caps: Checker = {
	name: "caps",
	check(moment) {
		const { state, memory } = moment;
		const { config } = state;
		const live = running(moment);
		const counted = live.filter((job) => job.waits_for === undefined);
		const returned = moment.events.filter(({ kind }) => kind === "wait_ended").length;
		const forced = new Set(state.jobs.filter((job) => job.run?.forced).map((job) => job.id));
		const limits = new Map<string, { limit: number; amount: number; fresh: boolean; pushed: number }>();
		const count = (name: string, limit: number | null | undefined, jobs: typeof live, amount = jobs.length) => {
			if (limit === null || limit === undefined) return;
			const begun = jobs.filter((job) => !memory.ran.has(job.id));
			// Forced runs begin above these caps, also behind others of the same claim; the model judges each start in its turn.
			const pushed = /^(max_concurrent|lane:)/.test(name) ? begun.filter((job) => forced.has(job.id)).length : 0;
			limits.set(name, { limit, amount, fresh: begun.length > pushed, pushed });
		};
		if (config.max_concurrent > 0) count("max_concurrent", config.max_concurrent, counted);
		if (config.safety_cap > 0) count("safety_cap", config.safety_cap, live);
		for (const [name, lane] of Object.entries(config.lanes))
			count(
				`lane:${name}`,
				lane.max,
				counted.filter((job) => job.lane === name),
			);
		for (const [name, repo] of Object.entries(config.repos))
			count(
				`repo:${name}`,
				repo.max,
				counted.filter((job) => job.repo === name),
			);
		for (const [name, account] of Object.entries(config.accounts))
			count(
				`account:${name}`,
				account.max,
				counted.filter((job) => job.run?.account === name),
			);
		for (const [name, host] of Object.entries(config.hosts))
			count(
				`host:${name}`,
				host.max,
				counted.filter((job) => job.run?.host === name),
			);
		for (const [name, amount] of Object.entries(config.resources)) {
			const users = live.filter((job) => (job.uses?.[name] ?? 0) > 0);
			count(
				`resource:${name}`,
				amount,
				users,
				users.reduce((sum, job) => sum + (job.uses?.[name] ?? 0), 0),
			);
		}
		for (const [name, { limit, amount, fresh, pushed }] of limits) {
			const before = memory.live.get(name) ?? 0;
			must(
				amount <= limit || !fresh || amount <= Math.max(limit, before) + pushed + (ON_RUNS.test(name) ? returned : 0),
				`${name}: ${amount} in use, the cap is ${limit}, it was ${before} before this step`,
			);
			memory.live.set(name, amount);
		}
	},
};
