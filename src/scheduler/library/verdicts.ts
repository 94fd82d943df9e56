// The scheduler's methods for what runs say: verdict, result, takeResults.

import type { Act, Scheduler } from "../../contracts/scheduler.ts";
import * as check from "../../core/input/check.ts";
import { readResult, readVerdict } from "../../core/runs/verdict.ts";
import { sayResult, sayVerdict, takeResults } from "../operations/verdicts.ts";
import type { Engine, Task } from "../transaction/group-commit.ts";
import { checkAct } from "./input.ts";

export const voiceMethods = (engine: Engine): Pick<Scheduler, "verdict" | "result" | "takeResults"> => {
	const run = <T>(task: Task<T>, act: Act | undefined, job: number) => engine.run(task, { by: checkAct(act)?.by, jobs: [job] });
	return {
		verdict: async (at, said, act) => {
			const { job, token } = checkRun(at);
			const given = check.record(said, "said");
			check.knownKeys(given, ["verdict", "text"], "");
			const word = readVerdict(given.verdict, given.text);
			return run((tx) => sayVerdict(tx, { job, token }, word), act, job);
		},
		result: async (at, value, act) => {
			const { job, token } = checkRun(at);
			const text = check.taking("result", () => readResult(value));
			await run((tx) => sayResult(tx, { job, token }, text), act, job);
			return { bytes: new TextEncoder().encode(text).length };
		},
		takeResults: async (at) => {
			const { job, token } = checkRun(at);
			return run((tx) => takeResults(tx, { job, token }), undefined, job);
		},
	};
};

const checkRun = (run: { job: number; token: number }) =>
	check.taking("run", () => ({
		job: check.integer(run?.job, "job", 1),
		token: check.integer(run?.token, "token", 1),
	}));
