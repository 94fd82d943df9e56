// Gate `capacity`: a free slot in every cap that applies. All caps are in the configuration; raising one applies to jobs that are already queued.

import type { Bucket } from "../../bucket.ts";
import { isDirect, laneOf } from "../../config.ts";
import type { LimitsView } from "../../limits-view.ts";
import { inWords, type Reason } from "../../reason.ts";
import { type BucketGate, pass, refuse } from "../gate.ts";
import { accountsOf, isOpen } from "./holds.ts";
import { ableHosts } from "./host.ts";

/** Live runs that count against a cap, without runs that wait for other jobs and lend their slot meanwhile. */
export const inUse = (subject: string, { usage }: Pick<LimitsView, "usage">): number =>
	(usage.get(subject) ?? 0) - (usage.get(`lent:${subject}`) ?? 0);

const full = (code: "capacity" | "safety_cap", subject: string, used: number, limit: number, lent: number): Reason =>
	refuse(
		"capacity",
		code,
		subject,
		`${subject === "all" ? "max_concurrent" : inWords(subject)} is full: ${used} of ${limit} running${lent > 0 ? `, ${lent} more ${lent === 1 ? "waits for jobs and lends its slot" : "wait for jobs and lend their slots"}` : ""}`,
	);

const isFull = (subject: string, limit: number | null | undefined, world: LimitsView): boolean =>
	limit !== null && limit !== undefined && inUse(subject, world) >= limit;

/** Free slots for all jobs: the smaller of max_concurrent and the safety cap, which counts every live run. */
export function freeSlots(world: LimitsView): number {
	const { max_concurrent, safety_cap } = world.config;
	const deferred = isDirect(world.config) ? Number.POSITIVE_INFINITY : max_concurrent - inUse("all", world);
	const safe = safety_cap === 0 ? Number.POSITIVE_INFINITY : safety_cap - (world.usage.get("all") ?? 0);
	return Math.max(0, Math.min(deferred, safe));
}

/** Free slots on one host, which may have its own cap. */
export function freeOn(host: string | undefined, world: LimitsView): number {
	const max = host === undefined ? undefined : world.config.hosts[host]?.max;
	if (max === undefined || max === null) return freeSlots(world);
	return Math.min(freeSlots(world), Math.max(0, max - inUse(`host:${host}`, world)));
}

export const capacity: BucketGate = {
	name: "capacity",
	ask(bucket, world) {
		let reasons: Reason[] | null = pass;
		const check = (subject: string, limit: number | null | undefined, amount = 1, code: "capacity" | "safety_cap" = "capacity") => {
			if (limit === null || limit === undefined) return;
			const live = world.usage.get(subject) ?? 0;
			// The safety cap counts every process, including runs that wait for jobs.
			const used = code === "safety_cap" ? live : inUse(subject, world);
			if (used + amount <= limit) return;
			reasons ??= [];
			reasons.push(full(code, code === "safety_cap" ? "safety_cap" : subject, used, limit, live - used));
		};
		const { config } = world;
		if (config.safety_cap > 0) check("all", config.safety_cap, 1, "safety_cap");
		if (!bucket.forced) {
			if (!isDirect(config)) check("all", config.max_concurrent);
			check(`lane:${bucket.lane}`, laneOf(config, bucket.lane).max);
		}
		if (bucket.repo !== undefined) check(`repo:${bucket.repo}`, config.repos[bucket.repo]?.max);
		if (world.host !== undefined) check(`host:${world.host}`, config.hosts[world.host]?.max);
		else if (bucket.kind !== "payload" || bucket.labels) {
			// No particular host asks: the cap is full if every able host is full.
			const able = ableHosts(bucket, world.hosts, world.now);
			const busy = able.filter((one) => isFull(`host:${one.name}`, config.hosts[one.name]?.max, world));
			if (able.length > 0 && busy.length === able.length) for (const one of able) check(`host:${one.name}`, config.hosts[one.name]?.max);
		}
		if (bucket.uses) for (const [name, amount] of Object.entries(bucket.uses)) check(`resource:${name}`, config.resources[name], amount);
		const accounts = accountsOf(bucket, world);
		if (accounts[0] !== undefined && chooseAccount(bucket, world) === null)
			for (const name of accounts) if (name !== undefined) check(`account:${name}`, config.accounts[name]?.max);
		return reasons;
	},
};

/** The first account that is open and has room; undefined if the job needs none, null if all are closed or full. */
export function chooseAccount(bucket: Bucket, world: LimitsView): string | undefined | null {
	for (const name of accountsOf(bucket, world)) {
		if (name === undefined) return isOpen(bucket, name, world) ? undefined : null;
		const max = world.config.accounts[name]?.max;
		const room = max === null || max === undefined || inUse(`account:${name}`, world) < max;
		if (room && isOpen(bucket, name, world)) return name;
	}
	return null;
}

/** What a start adds to the counts, and the run's end subtracts. */
export function footprint(
	bucket: { lane: string; kind: Bucket["kind"]; repo?: string | undefined; uses?: Record<string, number> | undefined },
	account: string | undefined,
	hostName: string | undefined,
): [string, number][] {
	if (bucket.kind === "kernel") return [];
	const counts: [string, number][] = [
		["all", 1],
		[`lane:${bucket.lane}`, 1],
	];
	if (bucket.repo !== undefined) counts.push([`repo:${bucket.repo}`, 1]);
	if (account !== undefined) counts.push([`account:${account}`, 1]);
	if (hostName !== undefined) counts.push([`host:${hostName}`, 1]);
	if (bucket.uses) for (const [name, amount] of Object.entries(bucket.uses)) counts.push([`resource:${name}`, amount]);
	return counts;
}

/** What a waiting run lends: its slot in every cap on runs. Like locks, resources are not lent: the run still uses what they stand for. */
export const lentBy = (job: Parameters<typeof footprint>[0], { account, host }: { account?: string; host: string }): [string, number][] =>
	footprint(job, account, host === "" ? undefined : host).flatMap(([key, amount]) =>
		key.startsWith("resource:") ? [] : [[`lent:${key}`, amount] as [string, number]],
	);
