// Right before a run starts, checks its item and its pinned head once more: the gates checked them some seconds ago.

import type { Facts } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { JobView, Scheduler } from "../../contracts/scheduler.ts";
import type { Sources } from "../../contracts/source.ts";
import { headKey, itemKey } from "../../core/fact.ts";
import { moved } from "../../core/gates/head.ts";
import { unready } from "../../core/gates/item.ts";

export type Confirmed = Pick<JobView, "item" | "repo" | "pinned_head">;
type Parts = {
	sources: Pick<Sources, "confirm">;
	probe: (keys: string[]) => Promise<Facts>;
	scheduler: Pick<Scheduler, "observe">;
	log: Log;
};

/** Why the run must not start, or null. The scheduler receives the new facts first, so that the job waits for them once the run is taken back. */
export async function confirmStart(job: Confirmed, { sources, probe, scheduler, log }: Parts): Promise<string | null> {
	try {
		const found = (await lookAtItem(job, sources)) ?? (await lookAtHead(job, probe));
		if (found === null) return null;
		await scheduler.observe(found.facts);
		return found.refused;
	} catch (error) {
		log.warn("what a run waits for could not be looked at once more", { item: job.item, error });
		return null;
	}
}

type Found = { refused: string; facts: Facts } | null;

async function lookAtItem({ item }: Confirmed, sources: Pick<Sources, "confirm">): Promise<Found> {
	const fact = item === undefined ? null : await sources.confirm(item);
	const refused = item === undefined || fact === null ? null : unready(item, fact);
	return refused === null ? null : { refused, facts: { [itemKey(item as string)]: fact } };
}

async function lookAtHead(job: Confirmed, probe: Parts["probe"]): Promise<Found> {
	if (!job.pinned_head) return null;
	const key = headKey(job);
	const head = (await probe([key]))[key];
	// Undefined: this host cannot determine the head, so there is no reason to refuse.
	const refused = head === undefined ? null : moved(job.pinned_head, head);
	return refused === null ? null : { refused, facts: { [key]: head ?? null } };
}
