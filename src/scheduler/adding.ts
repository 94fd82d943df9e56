// `add` as its caller sees it: the input is checked, what it names is looked up, what it needs is probed; then it goes in by one transaction.

import type { OfItems } from "../adding.ts";
import type { Config } from "../core/config.ts";
import { factKeys, isProbed } from "../core/fact.ts";
import { type Draft, draftJob } from "../core/input.ts";
import type { JobInput } from "../core/job.ts";
import type { Clock } from "../host.ts";
import type { Act } from "../scheduler.ts";
import type { Op } from "../store.ts";
import { type AddOptions, limitFor } from "./add.ts";
import { namesIn, putNumbersInto } from "./apply-prepare.ts";
import type { Engine } from "./engine.ts";
import { restamp } from "./library-input.ts";
import { numberNames } from "./names.ts";
import type { Seen } from "./observe.ts";
import type { Tx } from "./tx.ts";

type Parts = {
	engine: Engine;
	clock: Clock;
	config: () => Config;
	lookFor: <T>(keys: string[], then: (seen: Seen) => Promise<T>) => Promise<T>;
	/** Names that mean an agent here; absent = any. */
	agents?: (() => readonly string[]) | undefined;
};
type AddAct = Act & { force?: boolean; items?: OfItems };
/** How the draft goes in: as a job that was added, or as one that a trigger fired. */
type Add<T> = (tx: Tx, draft: Draft, options: AddOptions) => Op<T>;
export type Adding = <T>(input: JobInput, act: AddAct, add: Add<T>) => Promise<T>;

/** Not async: the promise of the transaction is the answer, and one around it would be made, resolved and thrown away for each job. */
export function createAdding({ engine, clock, config, lookFor, agents }: Parts): Adding {
	const draftAt = (input: JobInput, now: number, { force, items }: AddAct) =>
		draftJob(input, config(), { now, force: force === true, flows: items?.flows, agents: agents?.() });
	/** `numbers`: of jobs that the input names where only numbers count. */
	function enter<T>(input: JobInput, draft: Draft, act: AddAct, add: Add<T>, numbers?: Map<string, number>): Promise<T> {
		const force = act.force === true;
		if (numbers) putNumbersInto(draft, numbers);
		const { job } = draft;
		const special = job.needs !== undefined || job.item !== undefined || job.pinned_head !== undefined || job.conditions !== undefined;
		const keys = special ? factKeys(job).filter(isProbed) : [];
		let first = true;
		const then = (seen?: Seen) =>
			engine.run(
				(tx) => {
					// The group may run twice; what the first run changed in the draft is thrown away with it.
					const mine = first ? draft : draftAt(input, tx.now, act);
					if (!first && numbers) putNumbersInto(mine, numbers);
					first = false;
					restamp(mine.job, tx.now, input.runnable_at === undefined);
					return add(tx, mine, { force, seen, ...limitFor(act.items, config()) });
				},
				{ by: act.by, locks: (job.locks ?? []).map(({ key }) => key) },
			);
		return keys.length > 0 ? lookFor(keys, then) : then();
	}

	return (input, act, add) => {
		const draft = draftAt(input, clock.now(), act);
		const names = namesIn(draft);
		if (names.length === 0) return enter(input, draft, act, add);
		return engine.look((tx) => numberNames(tx, names)).then((numbers) => enter(input, draft, act, add, numbers));
	};
}
