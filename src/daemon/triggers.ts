// Cron and file-watch triggers: keeps time for the configured ones and fires them through the scheduler, which records what has fired.
//
//   a slot is due            its job is added, unless the last one is still open (catch_up all: it is added when that one has ended)
//   slots were missed        catch_up decides what happens to them: core/time/slots.ts
//   a watched path changed   after `debounce` of quiet its job is added, unless the last one is still open
//   a job is refused         the log and `cron list` say so; the next slot tries again

import type { FireResult, Scheduler } from "../contracts/scheduler.ts";
import { createTurns } from "../contracts/turns.ts";
import { messageOf } from "../core/errors.ts";
import { createEntries, type EntryParts, findEntry, infoOf, type TriggerSettings } from "./trigger-entries.ts";
import { createFiring, type FiringParts } from "./trigger-firing.ts";

export type Triggers = ReturnType<typeof createTriggers>;
export type TriggerParts = Omit<EntryParts, "changed"> & Omit<FiringParts, "isStopped"> & { scheduler: Scheduler };

/** Checks at least this often, because the wall clock may be set, and timers stand still while the machine sleeps. */
const LOOK_MS = 60_000;
/** In a shared store the leader fires triggers. Other hosts fire this much later as a fallback, in case the leader is down or does not have the trigger. */
const LATER_MS = 5_000;

export function createTriggers(parts: TriggerParts) {
	const { scheduler, host, clock, log } = parts;
	let configured: TriggerSettings = { cron: {}, watches: {} };
	let cancel = () => {};
	let stopped = false;
	/** Calls run one after the other, so that a slot is not fired twice. */
	const { inTurn, idle } = createTurns();
	const firing = createFiring({ ...parts, isStopped: () => stopped });
	const entries = createEntries({ ...parts, changed });
	const unwatch = scheduler.watch(({ events, heard }) => {
		const all = [...events, ...heard];
		for (const entry of entries.all.values())
			if (entry.kind === "cron" && entry.waits && all.some(({ kind, job }) => kind === "ended" && job === entry.state.job)) {
				entry.waits = false;
				look();
			}
	});

	function changed(name: string): void {
		const entry = entries.all.get(name);
		if (!entry || stopped) return;
		void inTurn(() => firing.fireNow(entry, name)).catch((error) => {
			log.warn("a trigger's job could not be added", { trigger: name, error: messageOf(error) });
			entry.state = { ...entry.state, error: messageOf(error) };
		});
	}

	function look(): void {
		void inTurn(lookAround).catch((error) => log.error("triggers could not be looked at", { error: messageOf(error) }));
	}

	async function lookAround(): Promise<void> {
		if (stopped) return;
		let wake = Number.POSITIVE_INFINITY;
		const later = parts.company === "others" && !(await scheduler.leads()) ? LATER_MS : 0;
		for (const entry of entries.all.values()) {
			if (entry.kind !== "cron") continue;
			if (later > 0) await firing.catchUp(entry);
			await firing.fireDue(entry, later);
			if (!entry.waits) wake = Math.min(wake, (entry.nextAt ?? Number.POSITIVE_INFINITY) + later);
		}
		cancel();
		if (entries.all.size > 0 && !stopped) cancel = host.after(Math.min(LOOK_MS, Math.max(0, wake - clock.now())), look);
	}

	return {
		list: async () => {
			const states = new Map((await scheduler.triggers()).map((one) => [one.name, one]));
			return [...entries.all.values()].map((entry) => infoOf(entry, states.get(entry.name) ?? entry.state));
		},
		async run(name: string, by: string): Promise<FireResult> {
			const entry = findEntry(entries.all, name);
			return inTurn(() => firing.fireNow(entry, by));
		},
		/** Takes over the configured triggers without firing any: runs of an earlier daemon may not have been found again yet. */
		arm(settings: TriggerSettings): Promise<void> {
			configured = settings;
			return inTurn(() => entries.take(configured));
		},
		/** Takes over these settings, or those that it has, and fires what is due. */
		reload(settings: TriggerSettings = configured): Promise<void> {
			configured = settings;
			return inTurn(async () => {
				if (stopped) return;
				await entries.take(configured);
				await lookAround();
			});
		},
		/** Resolves when no trigger is being fired any more. */
		async stop(): Promise<void> {
			stopped = true;
			cancel();
			unwatch();
			entries.end();
			await idle();
		},
	};
}
