// What a checker sees: the engine's jobs after a step, the model's state, and what earlier steps left in memory.

import type { EventRow, JobView, Scheduler, Why } from "../../src/contracts/scheduler.ts";
import type { Marks } from "../marks.ts";
import type { State } from "../model/state.ts";
import { newRolledUp, type RolledUp } from "./rolled-up.ts";

export class CheckFailed extends Error {
	override readonly name = "CheckFailed";
}

export function must(truth: unknown, message: string): asserts truth {
	if (!truth) throw new CheckFailed(message);
}

export type Memory = {
	/** Highest attempt seen, by job. */
	attempts: Map<number, number>;
	/** Token → run. */
	tokens: Map<number, string>;
	/** Jobs whose add was acknowledged. */
	accepted: Set<number>;
	/** Live runs at the last step, by cap. */
	live: Map<string, number>;
	lastSeq: number;
	/** Ids that came with a large manifest. */
	staged: { from: number; to: number }[];
	/** Status by replaying events. */
	replayed: Map<number, string>;
	/** Overdue for locks: their place when first seen so, and when that was; how many took a key of theirs since. */
	kept: Map<number, { place: number; passed: number; at: number }>;
	/** Keys that were kept for a job at the last step: "key/job". */
	kept_keys: Set<string>;
	/** Ran at the last step. */
	ran: Set<number>;
	/** What the events say that the rollups must have. */
	rolled: RolledUp;
};

export const newMemory = (): Memory => ({
	attempts: new Map(),
	tokens: new Map(),
	accepted: new Set(),
	live: new Map(),
	lastSeq: 0,
	staged: [],
	replayed: new Map(),
	kept: new Map(),
	kept_keys: new Set(),
	ran: new Set(),
	rolled: newRolledUp(),
});

export type Moment = {
	step: number;
	state: State;
	/** State before this step. */
	view: ReadonlyMap<number, JobView>;
	scheduler: Scheduler;
	/** What the engine says of jobs that wait. */
	whys: () => Promise<ReadonlyMap<number, Why>>;
	marks: Marks;
	memory: Memory;
	/** Events that came with this step. */
	events: EventRow[];
	/** Look at everything, not at a sample. */
	thorough: boolean;
	/** Checkers to leave out, while their bug is being mended. */
	skip: string[];
};

export type Checker = { name: string; check(moment: Moment): void | Promise<void> };

export const running = (moment: Moment) => [...moment.view.values()].filter((job) => job.status === "running" && job.kind !== "kernel");
