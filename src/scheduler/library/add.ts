// `add` as its caller sees it: checks the input, probes the facts it needs, then adds the job in one transaction. And triggers, which add jobs in the same way.

import type { OfItems } from "../../contracts/adding.ts";
import type { Act, AddResult, EditResult, FireResult, Scheduler } from "../../contracts/scheduler.ts";
import { isProbed } from "../../core/fact.ts";
import { factKeys } from "../../core/gates/job-gates.ts";
import { given } from "../../core/given.ts";
import { type Draft, draftJob } from "../../core/input/job.ts";
import { exactPayload } from "../../core/input/payload.ts";
import type { Job, JobInput } from "../../core/job.ts";
import { copy } from "../../core/text/copy.ts";
import { JsonText } from "../../core/text/json-text.ts";
import type { RunBounds } from "../../core/trust/run-bounds.ts";
import { type Edit, factsOfEdit } from "../apply/edit.ts";
import { limitFor, type NewJob } from "../operations/add.ts";
import { namesIn, numberNames, numberNeeds } from "../operations/names.ts";
import { triggers } from "../operations/triggers.ts";
import type { LookFor, Probed } from "../waiting/fact-probes.ts";
import type { LibraryParts } from "./parts.ts";

type Parts = Pick<LibraryParts, "core" | "clock" | "config"> & {
	lookFor: LookFor;
	/** Known agent names; absent = any. */
	agents?: (() => readonly string[]) | undefined;
};
type AddAct = Act & { force?: boolean; items?: OfItems; within?: RunBounds };
type EditedFields = Parameters<Scheduler["edit"]>[1];
/** Calls the operation that adds the job: `add`, or `fire` for the job of a trigger. */
type Call<T> = (given: () => NewJob) => Promise<T>;
type Firing = { trigger: string; slot: number | null; when_open: "skip" | "wait" };

/** Its functions are not async: they return the operation's promise, since an async function would make and resolve one more promise for each job. */
export function createAdding({ core, clock, config, lookFor, agents }: Parts) {
	const draftNow = (input: JobInput, { force, items, within }: AddAct) =>
		draftJob(input, config(), { now: clock.now(), force: force === true, flows: items?.flows, agents: agents?.(), within });
	/** `probed`: the draft's job, with numbers for the jobs that its needs name. */
	function enter<T>(input: JobInput, draft: Draft, act: AddAct, call: Call<T>, probed: Job): Promise<T> {
		const keys = factKeys(probed).filter(isProbed);
		let first = true;
		const then = (seen?: Probed) =>
			call(() => {
				// The operation may be run twice; what the first attempt changed in the draft must be discarded with it.
				const mine = first ? draft : draftNow(input, act);
				first = false;
				const { limit } = limitFor(act.items, config());
				return { draft: mine, undelayed: input.runnable_at === undefined, force: act.force === true, seen: seen?.(), limit };
			});
		return keys.length > 0 ? lookFor(keys, then) : then();
	}

	function adding<T>(input: JobInput, act: AddAct, call: Call<T>): Promise<T> {
		const draft = draftNow(input, act);
		const names = namesIn(draft);
		if (names.length === 0) return enter(input, draft, act, call, draft.job);
		// The host knows jobs by number. What counts is the look-up in the transaction that adds the job: until then a new job may take a name.
		return core.look((tx) => numberNames(tx, names)).then((numbers) => enter(input, draft, act, call, numberNeeds(draft.job, numbers)));
	}

	return {
		add: (input: JobInput, act: AddAct): Promise<AddResult> => adding(input, act, (given) => core.call("add", given, act)),
		edit: async (job: number, { set = {}, unset = [] }: EditedFields, act: Act | undefined): Promise<EditResult> => {
			const { payload } = set;
			const edit: Edit = {
				...{ job, set, unset, agents: agents?.() },
				...(payload instanceof JsonText ? { payload_json: payload.text, set: { ...set, payload: null } } : {}),
			};
			const keys = await core.look((tx) => factsOfEdit(tx, edit));
			const { fields, ...edited } = await lookFor(keys, (seen) =>
				core.call("edit", () => ({ ...edit, set: copy(edit.set), seen: seen() }), act),
			);
			return { ...edited, fields: { ...fields, ...given({ payload: exactPayload(edited.job.spec) }) } };
		},
		fire: (input: JobInput, act: AddAct, firing: Firing): Promise<FireResult> =>
			adding(input, act, (given) => core.call("fire", () => ({ ...given(), ...firing }), act)),
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

export const triggerMethods = ({ core }: LibraryParts, { fire }: Pick<ReturnType<typeof createAdding>, "fire">) =>
	({
		arm: async (trigger, mark) => core.call("arm", { trigger, mark }),
		disarm: async (trigger) => core.call("disarm", { trigger }),
		triggers: () => core.look(triggers),
		fire: async (trigger, { slot = null, job, when_open = "skip", error = null }, act) => {
			if (job) return fire({ ...job, trigger }, act ?? {}, { trigger, slot, when_open });
			if (slot !== null) await core.call("passSlot", { trigger, slot, error }, act);
			return { outcome: "past" };
		},
	}) satisfies Partial<Scheduler>;
