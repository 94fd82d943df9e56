// Opens a scheduler on PostgreSQL the way every row does: events, caps and fencing on, caps that count but do not bind. The first process that opens a database leads.

import { type ConfigInput, openScheduler, type Scheduler } from "../../src/index.ts";
import { payload, success } from "../engine.ts";

const CONFIG: ConfigInput = { max_concurrent: 10_000, safety_cap: 0 };

type FleetOptions = { config?: ConfigInput; name?: string; drive?: "auto" | "manual"; lead?: "prefer" | "may" | "never" };

export const openFleet = (
	url: string,
	{ config = {}, name = "bench", drive = "auto", lead = "may" }: FleetOptions = {},
): Promise<Scheduler> => openScheduler({ url, config: { ...CONFIG, ...config }, by: "bench", join: { name }, drive, lead });

/** Adds jobs, `batch` at a time: those of one turn of the event loop share a transaction. */
export async function addAll(engine: Scheduler, jobs: number, batch: number, input: (n: number) => object = payload): Promise<void> {
	for (let from = 0; from < jobs; from += batch)
		await Promise.all(Array.from({ length: Math.min(batch, jobs - from) }, (_, i) => engine.add(input(from + i))));
}

export const completeAll = (engine: Scheduler, claimed: readonly { job: { id: number }; run: { token: number } }[]) =>
	Promise.all(claimed.map((one) => engine.complete(success(one))));

export async function claimExactly(engine: Scheduler, max: number) {
	const claimed = await engine.claim({ worker: "bench", max });
	if (claimed.length !== max) throw new Error(`claimed ${claimed.length} instead of ${max}`);
	return claimed;
}
