// The library's methods for runs: their course and end, their waits for jobs, what they say of themselves, and which of them a host has.

import type { Act, Scheduler } from "../../contracts/scheduler.ts";
import * as check from "../../core/input/check.ts";
import { readResult, readVerdict } from "../../core/runs/verdict.ts";
import { answered, extend, finish, started, stop } from "../operations/finish.ts";
import { assigned, recover } from "../operations/upkeep.ts";
import { sayResult, sayVerdict, takeResults } from "../operations/verdicts.ts";
import { beginWait, endWait, endWaits } from "../operations/waits.ts";
import type { Engine, Task } from "../transaction/group-commit.ts";
import { promised } from "./add.ts";
import { checkAct, checkEnding, checkIds } from "./input.ts";

type Parts = {
	engine: Engine;
	run: <T>(task: Task<T>, act: Act | undefined, jobs?: readonly number[]) => Promise<T>;
	hostName: string;
};
type Methods = Pick<
	Scheduler,
	"started" | "answered" | "extend" | "stop" | "assigned" | "complete" | "recover" | "beginWait" | "endWait" | "endWaits"
>;

export const runMethods = ({ engine, run, hostName }: Parts): Methods => ({
	started: (at) => engine.run((tx) => started(tx, checkRun(at)), { jobs: [at.job] }),
	answered: (at) => engine.run((tx) => answered(tx, checkRun(at)), { jobs: [at.job] }),
	extend: (at) => engine.run((tx) => extend(tx, checkRun(at)), { jobs: [at.job] }),
	stop: (at, wanted, act) => run((tx) => stop(tx, at, wanted), act, [at.job]),
	assigned: (name = hostName) => engine.look((tx) => assigned(tx, name)),
	complete: (ending) =>
		promised(() => {
			check.taking("ending", () => checkEnding(ending));
			return engine.run((tx) => finish(tx, ending), { jobs: [ending.job], phase: "end" });
		}),
	recover: async (found, more = {}) => engine.run((tx) => recover(tx, more.host ?? hostName, found, more.reboot === true)),
	beginWait: async (at, ids) => {
		const wanted = checkIds(ids);
		return engine.run((tx) => beginWait(tx, checkRun(at), wanted), { jobs: [checkRun(at).job] });
	},
	endWait: async (at, wait) => engine.run((tx) => endWait(tx, checkRun(at), check.integer(wait, "wait", 1)), { jobs: [checkRun(at).job] }),
	endWaits: async (host = hostName) => engine.run((tx) => endWaits(tx, host)),
});

/** What a run says of itself: verdict, result, takeResults. */
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
