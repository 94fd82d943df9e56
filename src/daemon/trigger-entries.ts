// The triggers that are armed now: made from the settings, kept while their schedule or paths stay the same.

import type { TriggerInfo } from "../api/context.ts";
import { noSuch } from "../api/known.ts";
import type { Host, ReadSchedule, WatchPaths } from "../contracts/host.ts";
import type { Scheduler, TriggerView } from "../contracts/scheduler.ts";
import type { NextSlot } from "../core/time/slots.ts";
import type { CronSettings, Settings, WatchSettings } from "./config/settings.ts";

export type TriggerSettings = Pick<Settings, "cron" | "watches">;
/** `mark`: what the trigger was armed with; another one arms it again. */
type Armed = { name: string; mark: string; state: TriggerView };
export type CronEntry = Armed & {
	kind: "cron";
	settings: CronSettings;
	timezone: string;
	next: NextSlot;
	nextAt: number | null;
	/** Its slot is due, and the job of the last one is still open. */
	waits: boolean;
};
type WatchEntry = Armed & { kind: "watch"; settings: WatchSettings; end: () => void };
export type TriggerEntry = CronEntry | WatchEntry;

export type EntryParts = {
	scheduler: Pick<Scheduler, "arm" | "disarm" | "triggers" | "config">;
	host: Pick<Host, "after">;
	readSchedule: ReadSchedule;
	watchPaths: WatchPaths;
	/** "others": further hosts have triggers in the same store; unknown ones are theirs. */
	company?: "alone" | "others";
	/** A watched path of this trigger has changed and then was quiet for its `debounce`. */
	changed: (name: string) => void;
};

type Making = { mark: string; make: (state: TriggerView, mark: string) => TriggerEntry };

export function createEntries(parts: EntryParts) {
	const { scheduler } = parts;
	const entries = new Map<string, TriggerEntry>();

	async function take({ cron, watches }: TriggerSettings): Promise<void> {
		const zone = scheduler.config().timezone;
		const wanted = new Map<string, Making>();
		for (const [short, settings] of Object.entries(cron)) wanted.set(`cron:${short}`, cronOf(`cron:${short}`, settings, zone));
		for (const [short, settings] of Object.entries(watches)) wanted.set(`watch:${short}`, watchOf(`watch:${short}`, settings));
		for (const { name } of await scheduler.triggers()) {
			const isOurs = parts.company !== "others" || entries.has(name);
			if (isOurs && /^(?:cron|watch):/.test(name) && !wanted.has(name)) await scheduler.disarm(name);
		}
		for (const [name, entry] of [...entries]) {
			if (wanted.get(name)?.mark === entry.mark) continue;
			if (entry.kind === "watch") entry.end();
			entries.delete(name);
		}
		for (const [name, { mark, make }] of wanted) {
			const known = entries.get(name);
			// Only the job to add may have changed, which does not require arming the trigger again.
			if (known)
				entries.set(name, { ...known, settings: known.kind === "cron" ? cron[name.slice(5)] : watches[name.slice(6)] } as TriggerEntry);
			else entries.set(name, make(await scheduler.arm(name, mark), mark));
		}
	}

	function cronOf(name: string, settings: CronSettings, zone: string): Making {
		const timezone = settings.timezone ?? zone;
		return {
			mark: JSON.stringify([settings.schedule, timezone]),
			make: (state, mark) => {
				const next = parts.readSchedule(settings.schedule, timezone);
				const nextAt = next(Math.max(state.since, state.slot ?? 0));
				return { kind: "cron", name, mark, state, settings, timezone, next, nextAt, waits: false };
			},
		};
	}

	const watchOf = (name: string, settings: WatchSettings): Making => ({
		mark: JSON.stringify([settings.paths, settings.debounce_ms]),
		make: (state, mark) => ({ kind: "watch", name, mark, state, settings, end: watchFor(name, settings) }),
	});

	function watchFor(name: string, settings: WatchSettings): () => void {
		let calm = () => {};
		const end = parts.watchPaths(settings.paths, () => {
			calm();
			calm = parts.host.after(settings.debounce_ms, () => parts.changed(name));
		});
		return () => {
			calm();
			end();
		};
	}

	return {
		all: entries as ReadonlyMap<string, TriggerEntry>,
		take,
		end() {
			for (const entry of entries.values()) if (entry.kind === "watch") entry.end();
			entries.clear();
		},
	};
}

/** `name`: with or without its kind. */
export function findEntry(entries: ReadonlyMap<string, TriggerEntry>, name: string): TriggerEntry {
	const entry = entries.get(name) ?? entries.get(`cron:${name}`) ?? entries.get(`watch:${name}`);
	if (entry) return entry;
	const names = [...entries.keys()].flatMap((one) => [one, one.slice(one.indexOf(":") + 1)]);
	throw noSuch("trigger", name, names, "cron list shows those that there are");
}

export function infoOf(entry: TriggerEntry, { since, slot, fired_at, job, skipped, error }: TriggerView): TriggerInfo {
	const more =
		entry.kind === "cron"
			? {
					schedule: entry.settings.schedule,
					timezone: entry.timezone,
					catch_up: entry.settings.catch_up,
					paths: null,
					next_at: entry.nextAt,
				}
			: { schedule: null, timezone: null, catch_up: null, paths: entry.settings.paths, next_at: null };
	return { name: entry.name, kind: entry.kind, ...more, since, slot, fired_at, job, skipped, error, add: entry.settings.add };
}
