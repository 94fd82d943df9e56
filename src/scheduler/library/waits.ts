// The scheduler's methods for runs that wait for jobs: beginWait, endWait, endWaits.

import type { Scheduler } from "../../contracts/scheduler.ts";
import * as check from "../../core/input/check.ts";
import { beginWait, endWait, endWaits } from "../operations/waits.ts";
import type { Engine } from "../transaction/group-commit.ts";
import { checkIds } from "./input.ts";

export const waitMethods = (engine: Engine, hostName: string): Pick<Scheduler, "beginWait" | "endWait" | "endWaits"> => ({
	beginWait: async (run, ids) => {
		const wanted = checkIds(ids);
		return engine.run((tx) => beginWait(tx, checkRun(run), wanted), { jobs: [checkRun(run).job] });
	},
	endWait: async (run, wait) =>
		engine.run((tx) => endWait(tx, checkRun(run), check.integer(wait, "wait", 1)), { jobs: [checkRun(run).job] }),
	endWaits: async (host = hostName) => engine.run((tx) => endWaits(tx, host)),
});

const checkRun = (run: { job: number; token: number }) => ({
	job: check.integer(run?.job, "job", 1),
	token: check.integer(run?.token, "token", 1),
});
