// Opens the scheduler under test the way every row does: real disk, every feature on, caps that count but do not bind.

import { type ConfigInput, openScheduler, type Scheduler } from "../src/index.ts";

/** The default order (ageing, depth, overdue share) and a deferred mode whose caps are counted at each claim; only out of the way. */
export const CONFIG: ConfigInput = { max_concurrent: 10_000, safety_cap: 0 };

export const openEngine = (path: string): Promise<Scheduler> => openScheduler({ path, config: CONFIG, by: "bench" });

/** No-op work: a payload, as plainjob's jobs have one, and nothing else. */
export const payload = (n: number) => ({ payload: { n } });

export const success = ({ job, run }: { job: { id: number }; run: { token: number } }) =>
	({ job: job.id, token: run.token, exit_kind: "completed", exit_code: 0 }) as const;
