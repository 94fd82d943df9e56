// Cron and file-watch triggers: keeps time for the configured ones and fires them through the scheduler, which records what has fired.
//
//   a slot is due            its job is added, unless the last one is still open (catch_up all: it is added when that one has ended)
//   slots were missed        catch_up decides what happens to them: core/time/slots.ts
//   a watched path changed   after `debounce` of quiet its job is added, unless the last one is still open
//   a job is refused         the log and `cron list` say so; the next slot tries again

import type { TriggerHandle, TriggerInfo } from "../api/context.ts";
import { troubleOf } from "../contracts/disk.ts";
import type { Clock, Host, ReadSchedule, WatchPaths } from "../contracts/host.ts";
import type { Log } from "../contracts/log.ts";
import type { Scheduler, TriggerView } from "../contracts/scheduler.ts";
import { SluiceError } from "../core/errors.ts";
import { nearest } from "../core/input/nearest.ts";
import type { JobInput } from "../core/job.ts";
import { dueSlot, type NextSlot } from "../core/time/slots.ts";
import type { CronSettings, Settings, WatchSettings } from "./config/settings.ts";

type Wanted = Pick<Settings, "cron" | "watches">;
type Entry = { name: string; mark: string; state: TriggerView } & (
	| { kind: "cron"; settings: CronSettings; timezone: string; next: NextSlot; nextAt: number | null; waits: boolean }
	| { kind: "watch"; settings: WatchSettings; end: () => void }
);
export type Triggers = TriggerHandle & {
	/** Takes over the configured triggers without firing any: runs of an earlier daemon may not have been found again yet. */
	arm(settings: Wanted): Promise<void>;
	/** Takes over these settings, or those that it has, and fires what is due. */
	reload(settings?: Wanted): Promise<void>;
	/** Resolves when no trigger is being fired any more. */
	stop(): Promise<void>;
};
export type TriggerParts = {
	scheduler: Scheduler;
	host: Pick<Host, "after">;
	clock: Clock;
	log: Log;
	readSchedule: ReadSchedule;
	watchPaths: WatchPaths;
	/** The jobs that a recipe makes. */
	expand: (input: JobInput) => Promise<{ jobs: JobInput[]; warnings: string[] }>;
	/** "others": further hosts have triggers in the same store; unknown ones are theirs. */
	company?: "alone" | "others";
};

/** Checks at least this often, because the wall clock may be set, and timers stand still while the machine sleeps. */
const LOOK_MS = 60_000;
/** In a shared store the leader fires triggers. Other hosts fire this much later as a fallback, in case the leader is down or does not have the trigger. */
const LATER_MS = 5_000;
/** Maximum number of slots that one trigger fires in a row before the next trigger is served. */
const IN_A_ROW = 50;

export function createTriggers(parts: TriggerParts): Triggers {
	const { scheduler, host, clock, log } = parts;
	const entries = new Map<string, Entry>();
	let configured: Wanted = { cron: {}, watches: {} };
	let cancel = () => {};
	let stopped = false;
	let queue: Promise<unknown> = Promise.resolve();
	/** A mutex: calls run one after the other, so that a slot is not fired twice. */
	const inTurn = <T>(call: () => Promise<T>): Promise<T> => {
		const result = queue.then(call);
		queue = result.catch(() => {});
		return result;
	};
	const unwatch = scheduler.watch(({ events, heard }) => {
		const all = [...events, ...heard];
		for (const entry of entries.values())
			if (entry.kind === "cron" && entry.waits && all.some(({ kind, job }) => kind === "ended" && job === entry.state.job)) {
				entry.waits = false;
				look();
			}
	});

	const look = () => void inTurn(lookAround).catch((error) => log.error("triggers could not be looked at", { error: troubleOf(error) }));

	async function lookAround(): Promise<void> {
		if (stopped) return;
		let wake = Number.POSITIVE_INFINITY;
		const later = parts.company === "others" && !(await scheduler.leads()) ? LATER_MS : 0;
		for (const entry of entries.values()) {
			if (entry.kind !== "cron") continue;
			if (later > 0) await catchUp(entry);
			await fireDue(entry, later);
			if (!entry.waits) wake = Math.min(wake, (entry.nextAt ?? Number.POSITIVE_INFINITY) + later);
		}
		cancel();
		if (entries.size > 0 && !stopped) cancel = host.after(Math.min(LOOK_MS, Math.max(0, wake - clock.now())), look);
	}

	/** Skips slots that the leader has fired meanwhile. */
	async function catchUp(entry: Entry & { kind: "cron" }): Promise<void> {
		if (entry.nextAt === null || entry.nextAt > clock.now()) return;
		entry.state = (await stateOf(entry.name)) ?? entry.state;
		const { slot } = entry.state;
		if (slot !== null && slot >= entry.nextAt) entry.nextAt = entry.next(slot);
	}

	async function fireDue(entry: Entry & { kind: "cron" }, later: number): Promise<void> {
		for (let count = 0; count < IN_A_ROW && !stopped; count++) {
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
	async function fireSlot(entry: Entry, slot: number, job: JobInput | undefined): Promise<"done" | "waits"> {
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
	const stateOf = async (name: string) => (await scheduler.triggers()).find((one) => one.name === name);

	/** Refuses a recipe with several jobs: a trigger waits for the end of a single job. */
	async function rendered(add: JobInput): Promise<JobInput> {
		if (add.recipe === undefined && add.item === undefined) return add;
		const { jobs, warnings } = await parts.expand(add);
		for (const warning of warnings) log.warn(warning, { recipe: add.recipe });
		const [only, ...more] = jobs;
		if (only && more.length === 0) return only;
		throw new SluiceError("invalid", `recipe ${add.recipe} makes ${more.length + 1} jobs, and a trigger adds one`, {
			field: "recipe",
			hint: "let it add a command that slings the recipe",
		});
	}

	/** Fires by hand, or because a watched path has changed. */
	async function fireNow(entry: Entry, by: string) {
		const result = await scheduler.fire(entry.name, { job: await rendered(entry.settings.add) }, { by });
		if (result.outcome === "added") log.info("a trigger has added its job", { trigger: entry.name, job: result.job, by });
		entry.state = (await stateOf(entry.name)) ?? entry.state;
		return result;
	}

	function watchEntry(name: string, settings: WatchSettings): () => void {
		let calm = () => {};
		const changed = () => {
			calm();
			calm = host.after(settings.debounce_ms, () => {
				const entry = entries.get(name);
				if (entry && !stopped)
					void inTurn(() => fireNow(entry, name)).catch((error) => {
						log.warn("a trigger's job could not be added", { trigger: name, error: troubleOf(error) });
						entry.state = { ...entry.state, error: troubleOf(error) };
					});
			});
		};
		const end = parts.watchPaths(settings.paths, changed);
		return () => {
			calm();
			end();
		};
	}

	async function take(): Promise<void> {
		const { cron, watches } = configured;
		const zone = scheduler.config().timezone;
		const wanted = new Map<string, [mark: string, make: (state: TriggerView, mark: string) => Entry]>();
		for (const [short, settings] of Object.entries(cron)) {
			const [name, timezone] = [`cron:${short}`, settings.timezone ?? zone];
			wanted.set(name, [
				JSON.stringify([settings.schedule, timezone]),
				(state, mark) => {
					const next = parts.readSchedule(settings.schedule, timezone);
					const nextAt = next(Math.max(state.since, state.slot ?? 0));
					return { kind: "cron", name, mark, state, settings, timezone, next, nextAt, waits: false };
				},
			]);
		}
		for (const [short, settings] of Object.entries(watches)) {
			const name = `watch:${short}`;
			wanted.set(name, [
				JSON.stringify([settings.paths, settings.debounce_ms]),
				(state, mark) => ({ kind: "watch", name, mark, state, settings, end: watchEntry(name, settings) }),
			]);
		}
		for (const { name } of await scheduler.triggers()) {
			const isOurs = parts.company !== "others" || entries.has(name);
			if (isOurs && /^(?:cron|watch):/.test(name) && !wanted.has(name)) await scheduler.disarm(name);
		}
		for (const [name, entry] of [...entries]) {
			if (wanted.get(name)?.[0] === entry.mark) continue;
			if (entry.kind === "watch") entry.end();
			entries.delete(name);
		}
		for (const [name, [mark, make]] of wanted) {
			const known = entries.get(name);
			// Only the job to add may have changed, which does not require arming the trigger again.
			if (known) entries.set(name, { ...known, settings: known.kind === "cron" ? cron[name.slice(5)] : watches[name.slice(6)] } as Entry);
			else entries.set(name, make(await scheduler.arm(name, mark), mark));
		}
	}

	function infoOf(entry: Entry): TriggerInfo {
		const { since, slot, fired_at, job, skipped, error } = entry.state;
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

	return {
		arm(settings) {
			configured = settings;
			return inTurn(take);
		},
		reload(settings = configured) {
			configured = settings;
			return inTurn(async () => {
				if (stopped) return;
				await take();
				await lookAround();
			});
		},
		list: async () => {
			const states = new Map((await scheduler.triggers()).map((one) => [one.name, one]));
			return [...entries.values()].map((entry) => infoOf({ ...entry, state: states.get(entry.name) ?? entry.state }));
		},
		async run(name, by) {
			const entry = entries.get(name) ?? entries.get(`cron:${name}`) ?? entries.get(`watch:${name}`);
			if (entry) return inTurn(() => fireNow(entry, by));
			const guess = nearest(
				name,
				[...entries.keys()].flatMap((one) => [one, one.slice(one.indexOf(":") + 1)]),
			);
			throw new SluiceError("not_found", `name: there is no trigger "${name}"`, {
				field: "name",
				hint: guess ? `did you mean "${guess}"?` : "cron list shows those that there are",
			});
		},
		async stop() {
			stopped = true;
			cancel();
			unwatch();
			for (const entry of entries.values()) if (entry.kind === "watch") entry.end();
			entries.clear();
			await queue;
		},
	};
}
