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
import { readEnding } from "./input.ts";

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
	started: (at) => engine.run((tx) => started(tx, at), { jobs: [at.job] }),
	answered: (at) => engine.run((tx) => answered(tx, at), { jobs: [at.job] }),
	extend: (at) => engine.run((tx) => extend(tx, at), { jobs: [at.job] }),
	stop: (at, wanted, act) => run((tx) => stop(tx, at, wanted), act, [at.job]),
	assigned: (name = hostName) => engine.look((tx) => assigned(tx, name)),
	complete: (ending) =>
		promised(() => {
			const own = readEnding(ending);
			return engine.run((tx) => finish(tx, own), { jobs: [own.job], phase: "end" });
		}),
	recover: async (found, more = {}) => engine.run((tx) => recover(tx, more.host ?? hostName, found, more.reboot === true)),
	beginWait: async (at, ids) => engine.run((tx) => beginWait(tx, at, ids), { jobs: [at.job] }),
	endWait: async (at, wait) => engine.run((tx) => endWait(tx, at, wait), { jobs: [at.job] }),
	endWaits: async (host = hostName) => engine.run((tx) => endWaits(tx, host)),
});

/** What a run says of itself: verdict, result, takeResults. */
export const voiceMethods = (engine: Engine): Pick<Scheduler, "verdict" | "result" | "takeResults"> => {
	const run = <T>(task: Task<T>, act: Act | undefined, job: number) => engine.run(task, { by: act?.by, jobs: [job] });
	return {
		verdict: async (at, { verdict, text }, act) => {
			const word = readVerdict(verdict, text);
			return run((tx) => sayVerdict(tx, at, word), act, at.job);
		},
		result: async (at, value, act) => {
			const text = check.taking("result", () => readResult(value));
			await run((tx) => sayResult(tx, at, text), act, at.job);
			return { bytes: new TextEncoder().encode(text).length };
		},
		takeResults: async (at) => run((tx) => takeResults(tx, at), undefined, at.job),
	};
};
