// `add` as its caller sees it: checks the input, probes the facts it needs, then adds the job in one transaction. And triggers, which add jobs in the same way.

import type { OfItems } from "../../contracts/adding.ts";
import type { Act, Scheduler } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import { isProbed } from "../../core/fact.ts";
import { factKeys } from "../../core/gates/job-gates.ts";
import { type Draft, draftJob } from "../../core/input/job.ts";
import type { Job, JobInput } from "../../core/job.ts";
import type { RunBounds } from "../../core/trust/run-bounds.ts";
import { type AddOptions, limitFor } from "../operations/add.ts";
import { namesIn, numberNames, numberNeeds } from "../operations/names.ts";
import type { ProbedFacts } from "../operations/observe.ts";
import * as triggers from "../operations/triggers.ts";
import type { Tx } from "../transaction/tx.ts";
import { restamp } from "./input.ts";
import type { LibraryParts } from "./parts.ts";

type Parts = Pick<LibraryParts, "engine" | "clock" | "config"> & {
	lookFor: <T>(keys: string[], then: (seen: ProbedFacts) => Promise<T>) => Promise<T>;
	/** Known agent names; absent = any. */
	agents?: (() => readonly string[]) | undefined;
};
type AddAct = Act & { force?: boolean; items?: OfItems; within?: RunBounds };
/** Adds the draft: as a plain job, or as the job of a trigger that fired. */
type Add<T> = (tx: Tx, draft: Draft, options: AddOptions) => Op<T>;
type Adding = <T>(input: JobInput, act: AddAct, add: Add<T>) => Promise<T>;

/** Not async: it returns the transaction's promise, since an async function would make and resolve one more promise for each job. */
export function createAdding({ engine, clock, config, lookFor, agents }: Parts): Adding {
	const draftAt = (input: JobInput, now: number, { force, items, within }: AddAct) =>
		draftJob(input, config(), { now, force: force === true, flows: items?.flows, agents: agents?.(), within });
	/** `probed`: the draft's job, with numbers for the jobs that its needs name. */
	function enter<T>(input: JobInput, draft: Draft, act: AddAct, add: Add<T>, probed: Job): Promise<T> {
		const force = act.force === true;
		const keys = factKeys(probed).filter(isProbed);
		let first = true;
		const then = (seen?: ProbedFacts) =>
			engine.run(
				(tx) => {
					// The group may run twice; what the first attempt changed in the draft must be discarded with it.
					const mine = first ? draft : draftAt(input, tx.now, act);
					first = false;
					restamp(mine.job, tx.now, input.runnable_at === undefined);
					return add(tx, mine, { force, seen, ...limitFor(act.items, config()) });
				},
				{ by: act.by, locks: (draft.job.locks ?? []).map(({ key }) => key) },
			);
		return keys.length > 0 ? lookFor(keys, then) : then();
	}

	return (input, act, add) => {
		const draft = draftAt(input, clock.now(), act);
		const names = namesIn(draft);
		if (names.length === 0) return enter(input, draft, act, add, draft.job);
		// The host knows jobs by number. What counts is the look-up in the transaction that adds the job: until then a new job may take a name.
		return engine.look((tx) => numberNames(tx, names)).then((numbers) => enter(input, draft, act, add, numberNeeds(draft.job, numbers)));
	};
}

/** Turns errors in the arguments into a rejection, too, without one more promise. */
export function promised<T>(call: () => Promise<T>): Promise<T> {
	try {
		return call();
	} catch (error) {
		return Promise.reject(error);
	}
}

export const triggerMethods = ({ engine, run }: LibraryParts, adding: Adding) =>
	({
		arm: async (name, mark) => engine.run((tx) => triggers.arm(tx, name, mark)),
		disarm: async (name) => engine.run((tx) => triggers.disarm(tx, name)),
		triggers: () => engine.look(() => triggers.triggers()),
		fire: async (name, { slot = null, job, when_open = "skip", error = null }, act) => {
			if (job)
				return adding({ ...job, trigger: name }, act ?? {}, (tx, draft, more) => triggers.fire(tx, name, slot, when_open, draft, more));
			if (slot !== null) await run((tx) => triggers.pass(tx, name, slot, error), act);
			return { outcome: "past" };
		},
	}) satisfies Partial<Scheduler>;
