// Fires triggers through the scheduler, which records what has fired.

import type { Clock } from "../contracts/host.ts";
import type { Log } from "../contracts/log.ts";
import type { FireResult, Scheduler } from "../contracts/scheduler.ts";
import { SluiceError } from "../core/errors.ts";
import type { JobInput } from "../core/job.ts";
import { dueSlot } from "../core/time/slots.ts";
import type { CronEntry, TriggerEntry } from "./trigger-entries.ts";

export type FiringParts = {
	scheduler: Pick<Scheduler, "fire" | "triggers">;
	clock: Clock;
	log: Log;
	/** The jobs that a recipe makes. */
	expand: (input: JobInput) => Promise<{ jobs: JobInput[]; warnings: string[] }>;
	isStopped: () => boolean;
};

/** Maximum number of slots that one trigger fires in a row before the next trigger is served. */
const IN_A_ROW = 50;

export function createFiring({ scheduler, clock, log, expand, isStopped }: FiringParts) {
	const stateOf = async (name: string) => (await scheduler.triggers()).find((one) => one.name === name);

	/** Skips slots that the leader has fired meanwhile. */
	async function catchUp(entry: CronEntry): Promise<void> {
		if (entry.nextAt === null || entry.nextAt > clock.now()) return;
		entry.state = (await stateOf(entry.name)) ?? entry.state;
		const { slot } = entry.state;
		if (slot !== null && slot >= entry.nextAt) entry.nextAt = entry.next(slot);
	}

	/** `later`: how much later than due its slots are fired here. */
	async function fireDue(entry: CronEntry, later: number): Promise<void> {
		for (let count = 0; count < IN_A_ROW && !isStopped(); count++) {
			const now = clock.now() - later;
			const { since, slot: last } = entry.state;
			const from = Math.max(since, last ?? since);
			if (entry.nextAt === null || entry.nextAt > now) return;
			const due = dueSlot(entry.next, from, now, entry.settings.catch_up);
			if (!due) {
				entry.nextAt = entry.next(Math.max(now, from));
				return;
			}
			const slot = "fire" in due ? due.fire : due.pass;
			if ("pass" in due) log.info("a trigger's slots were missed", { trigger: entry.name, newest: new Date(slot).toISOString() });
			const done = await fireSlot(entry, slot, "fire" in due ? entry.settings.add : undefined);
			entry.waits = done === "waits";
			if (entry.waits) return;
			entry.nextAt = entry.next(slot);
		}
	}

	/** `waits`: the slot must be fired after the open job has ended. */
	async function fireSlot(entry: TriggerEntry, slot: number, job: JobInput | undefined): Promise<"done" | "waits"> {
		const when_open = entry.kind === "cron" && entry.settings.catch_up === "all" ? "wait" : "skip";
		const by = { by: entry.name };
		try {
			const result = await scheduler.fire(entry.name, { slot, when_open, ...(job ? { job: await rendered(job) } : {}) }, by);
			if (result.outcome === "added") log.info("a trigger has added its job", { trigger: entry.name, job: result.job });
			if (result.outcome === "open" && when_open === "wait") {
				entry.state = { ...entry.state, job: result.job };
				return "waits";
			}
		} catch (error) {
			if (!(error instanceof SluiceError) || error.code === "store" || error.code === "closed") throw error;
			log.warn("a trigger's job could not be added", { trigger: entry.name, error: error.message });
			await scheduler.fire(entry.name, { slot, error: error.message }, by);
		}
		entry.state = (await stateOf(entry.name)) ?? entry.state;
		return "done";
	}

	/** Refuses a recipe with several jobs: a trigger waits for the end of a single job. */
	async function rendered(add: JobInput): Promise<JobInput> {
		if (add.recipe === undefined && add.item === undefined) return add;
		const { jobs, warnings } = await expand(add);
		for (const warning of warnings) log.warn(warning, { recipe: add.recipe });
		const [only, ...more] = jobs;
		if (only && more.length === 0) return only;
		throw new SluiceError("invalid", `recipe ${add.recipe} makes ${more.length + 1} jobs, and a trigger adds one`, {
			field: "recipe",
			hint: "let it add a command that slings the recipe",
		});
	}

	/** Fires by hand, or because a watched path has changed. */
	async function fireNow(entry: TriggerEntry, by: string): Promise<FireResult> {
		const result = await scheduler.fire(entry.name, { job: await rendered(entry.settings.add) }, { by });
		if (result.outcome === "added") log.info("a trigger has added its job", { trigger: entry.name, job: result.job, by });
		entry.state = (await stateOf(entry.name)) ?? entry.state;
		return result;
	}

	return { catchUp, fireDue, fireNow };
}
