// The library's methods for runs: their course and end, their waits for jobs, what they say of themselves, and which of them a host has.

import type { Scheduler } from "../../contracts/scheduler.ts";
import * as check from "../../core/input/check.ts";
import { readResult, readVerdict } from "../../core/runs/verdict.ts";
import { answered, extend, finish, started, stop } from "../operations/finish.ts";
import { assigned, recover } from "../operations/upkeep.ts";
import { sayResult, sayVerdict, takeResults } from "../operations/verdicts.ts";
import { beginWait, endWait, endWaits } from "../operations/waits.ts";
import type { LibraryParts } from "./parts.ts";

export const runMethods = ({ engine, run, hostName }: LibraryParts) =>
	({
		started: (at) => engine.run((tx) => started(tx, at), { jobs: [at.job] }),
		answered: (at) => engine.run((tx) => answered(tx, at), { jobs: [at.job] }),
		extend: (at) => engine.run((tx) => extend(tx, at), { jobs: [at.job] }),
		stop: (at, wanted, act) => run((tx) => stop(tx, at, wanted), act, [at.job]),
		assigned: (name = hostName) => engine.look((tx) => assigned(tx, name)),
		complete: (ending) => engine.run((tx) => finish(tx, ending), { jobs: [ending.job], phase: "end" }),
		recover: async (found, more = {}) => engine.run((tx) => recover(tx, more.host ?? hostName, found, more.reboot === true)),
		beginWait: async (at, ids) => engine.run((tx) => beginWait(tx, at, ids), { jobs: [at.job] }),
		endWait: async (at, wait) => engine.run((tx) => endWait(tx, at, wait), { jobs: [at.job] }),
		endWaits: async (host = hostName) => engine.run((tx) => endWaits(tx, host)),
		verdict: async (at, { verdict, text }, act) => {
			const word = readVerdict(verdict, text);
			return run((tx) => sayVerdict(tx, at, word), act, [at.job]);
		},
		result: async (at, value, act) => {
			const text = check.taking("result", () => readResult(value));
			await run((tx) => sayResult(tx, at, text), act, [at.job]);
			return { bytes: new TextEncoder().encode(text).length };
		},
		takeResults: async (at) => engine.run((tx) => takeResults(tx, at), { jobs: [at.job] }),
	}) satisfies Partial<Scheduler>;
