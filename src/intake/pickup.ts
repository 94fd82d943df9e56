// Watched sources: every eligible item becomes a job automatically, once.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { dirname } from "node:path";
import type { Deferred } from "../contracts/adding.ts";
import type { Host } from "../contracts/host.ts";
import type { Log } from "../contracts/log.ts";
import type { Scheduler } from "../contracts/scheduler.ts";
import type { Item, Source } from "../contracts/source.ts";
import { createTurns } from "../contracts/turns.ts";
import { messageOf, SluiceError } from "../core/errors.ts";
import type { JobInput } from "../core/job.ts";
import { fullWords } from "./sling.ts";
import type { WriteBack } from "./write-back.ts";

/** Interval for sources that do not report changes. */
const POLL_MS = 5000;
/** Retry interval while the queue is full. */
const AGAIN_MS = 5000;
/** For sources without write-back: the same text is never picked up twice. */
const FOR_EVER_MS = 100 * 365 * 86_400_000;

export type PickupParts = {
	scheduler: Scheduler;
	host: Pick<Host, "after">;
	log: Log;
	written: WriteBack;
	/** The jobs that an item becomes. */
	jobsOf(item: Item): Promise<JobInput[]>;
};

/** `deferred`: the queue is full, and the item is picked up when there is room. */
type Trouble = { code: "conflict" | "deferred"; message: string; hint: string | null };
const FULL_HINT = "it is taken up by itself when there is room; raise max_concurrent or the lane's max to have it sooner";

export function createPickup({ scheduler, host, log, written, jobsOf }: PickupParts) {
	const endings: (() => void)[] = [];
	const timers = new Map<string, () => void>();
	const troubles = new Map<string, Trouble>();
	/** Refused items with their content at that time: they are tried again when they have changed. */
	const refused = new Map<string, string>();
	let closed = false;
	/** An item is not picked up twice. */
	const { inTurn } = createTurns();

	async function takeOne(source: Source, id: string): Promise<number[]> {
		const key = `${source.name}:${id}`;
		let item: Item | null = null;
		if (!(await looksEligible(source, id))) return [];
		// The item must show everything that has happened to it before it is judged.
		await written.caughtUp();
		try {
			item = await source.read(id);
			if (!item?.eligible) forget(key);
			if (closed || !item?.eligible) return [];
			const open = written.openJobs(key);
			if (open.length > 0) {
				if (source.settings.write_back !== null) await again(source, key, open);
				return [];
			}
			if (refused.get(key) === item.mark) return [];
			if (source.settings.write_back !== null && source.settings.kind === "cards") await mustBeWritable(item.place);
			const jobs = await jobsOf(item);
			const added = await add(source, item, jobs);
			if ("limit" in added) {
				postpone(source, id, added);
				return [];
			}
			forget(key);
			return added;
		} catch (error) {
			const message = messageOf(error);
			if (item) refused.set(key, item.mark);
			if (troubles.get(key)?.message !== message) log.warn("an item could not be taken up", { item: key, error: message });
			troubles.set(key, { code: "conflict", message, hint: error instanceof SluiceError ? (error.hint ?? null) : null });
			return [];
		}
	}

	/** A person has set the card back to idle while its jobs are open: a job in back-off is rerun; a waiting job is already what the person asks for. */
	async function again(source: Source, key: string, open: readonly number[]): Promise<void> {
		const views = await Promise.all(open.map((id) => scheduler.show(id)));
		if (views.some(({ status }) => status === "running")) return;
		const resting = views.filter(({ backoff_until }) => backoff_until !== undefined);
		for (const { id } of resting) {
			await scheduler.rerun(id, { by: `source:${source.name}` });
			log.info("a card was set back to idle during back-off: its job is run again", { item: key, job: id });
		}
		if (resting.length === 0) await written.restate(key);
	}

	/** A cheap first check. An item that cannot be read counts as eligible, so that the full check reports the problem. */
	async function looksEligible(source: Source, id: string): Promise<boolean> {
		try {
			if ((await source.read(id))?.eligible) return true;
		} catch {
			return true;
		}
		forget(`${source.name}:${id}`);
		return false;
	}

	const forget = (key: string) => {
		troubles.delete(key);
		refused.delete(key);
	};

	/** The queue is full: the item stays as it is, and is tried again later. Logged once, and shown at the item for as long as it lasts. */
	function postpone(source: Source, id: string, deferred: Deferred): void {
		const key = `${source.name}:${id}`;
		const message = fullWords(deferred);
		if (troubles.get(key)?.code !== "deferred") log.info("an item stays as it is", { item: key, reason: message, hint: FULL_HINT });
		troubles.set(key, { code: "deferred", message, hint: FULL_HINT });
		const cancel = host.after(AGAIN_MS, () => void take(source, [id]));
		timers.set(key, cancel);
	}

	async function add(source: Source, item: Item, jobs: JobInput[]): Promise<number[] | Deferred> {
		const act = { by: `source:${source.name}`, items: { flows: item.flow === null ? [] : [item.flow], limit: "as_configured" as const } };
		const once =
			source.settings.write_back === null
				? {
						unique: {
							key: `pickup:${createHash("sha256").update(`${act.by}\0${item.id}\0${item.mark}`).digest("hex")}`,
							window_ms: FOR_EVER_MS,
						},
					}
				: {};
		const [first, ...rest] = jobs;
		if (rest.length > 0) {
			const { jobs: numbers, deferred } = await scheduler.apply({ jobs: [{ ...first, ...once }, ...rest] }, act);
			return deferred ?? numbers;
		}
		const result = await scheduler.add({ ...first, ...once }, act);
		if (result.outcome === "deferred") return result;
		if (result.outcome !== "queued") return [];
		log.info("an item was taken up", { item: `${item.source}:${item.id}`, job: result.job.id });
		return [result.job.id];
	}

	/** Checks these items now; returns the jobs that were added. */
	async function take(source: Source, ids: readonly string[]): Promise<number[]> {
		const added: number[] = [];
		for (const id of ids) if (!closed) added.push(...(await inTurn(() => takeOne(source, id))));
		return added;
	}

	/** Again and again, until `close`. */
	async function poll(source: Source): Promise<void> {
		try {
			await take(source, eligibleIn((await source.scan()).items));
		} catch (error) {
			log.warn("a source could not be looked at", { source: source.name, error: messageOf(error) });
		}
		const next = () => void poll(source);
		if (!closed) timers.set(source.name, host.after(POLL_MS, next));
	}

	return {
		/** Watches the source until `close`. */
		follow(source: Source): void {
			if (closed || !source.settings.watch) return;
			if (source.watch) endings.push(source.watch((ids) => void take(source, ids)));
			else void poll(source);
		},
		take,
		/** Eligible items that were not picked up, with the reason. */
		troubles: (): ReadonlyMap<string, Trouble> => troubles,
		close(): void {
			closed = true;
			for (const end of [...endings, ...timers.values()]) end();
		},
	};
}

export const eligibleIn = (items: readonly Item[]): string[] => items.flatMap(({ eligible, id }) => (eligible ? [id] : []));

async function mustBeWritable(path: string): Promise<void> {
	await access(path, constants.W_OK);
	await access(dirname(path), constants.W_OK);
}
