// The library's methods for runs: their course and end, their waits for jobs, what they say of themselves, and which of them a host has.

import type { Scheduler } from "../../contracts/scheduler.ts";
import * as check from "../../core/input/check.ts";
import { readResult, readVerdict } from "../../core/runs/verdict.ts";
import { assigned } from "../operations/upkeep.ts";
import type { LibraryParts } from "./parts.ts";

export const runMethods = ({ core, hostName }: LibraryParts) =>
	({
		started: (at) => core.call("started", at),
		answered: (at) => core.call("answered", at),
		extend: (at) => core.call("extend", at),
		stop: (at, { kind, reason, resumes }, act) => core.call("stop", { ...at, kind, reason, resumes }, act),
		takeBackStop: (at) => core.call("takeBackStop", at),
		toldGiven: (at, numbers) => core.call("toldGiven", { ...at, numbers: [...numbers] }),
		assigned: (name = hostName) => core.look((tx) => assigned(tx, name)),
		complete: (ending) => core.call("finish", ending),
		recover: async (found, more = {}) => core.call("recover", { host: more.host ?? hostName, found, reboot: more.reboot === true }),
		beginWait: async (at, ids) => core.call("beginWait", { ...at, ids: [...ids] }),
		endWait: async (at, wait) => core.call("endWait", { ...at, wait }),
		endWaits: async (host = hostName) => core.call("endWaits", { host }),
		verdict: async (at, { verdict, text }, act) => core.call("sayVerdict", { ...at, ...readVerdict(verdict, text) }, act),
		result: async (at, value, act) => {
			const text = check.taking("result", () => readResult(value));
			await core.call("sayResult", { ...at, result: text }, act);
			return { bytes: new TextEncoder().encode(text).length };
		},
		takeResults: async (at) => core.call("takeResults", at),
	}) satisfies Partial<Scheduler>;
