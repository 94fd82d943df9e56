// Whether a run may wait for jobs: not if one of them can end only after the run itself has ended. Pure: the caller supplies what each job depends on.
//
//   a job that          can end once
//   waits               its predecessors, the producers of its artifacts, the holders of its locks and the users of its resources have ended
//   runs                it likes, unless it waits for jobs itself: once those have ended
//   has ended           –

import { addTo } from "../text/lists-by-key.ts";

/** Why one job cannot end before another. `what`: the artifact, the lock, the resource. */
export type WaitLink = { to: number; kind: "waits" | "after" | "artifact" | "lock" | "resource"; what?: string };
/** Satisfied once jobs of `links` with a total weight of at least `least` have ended. */
export type Need = { links: (WaitLink & { weight: number })[]; least: number };

export const needs = (link: WaitLink): Need => ({ links: [{ ...link, weight: 1 }], least: 1 });
export const needsAnyOf = (links: readonly WaitLink[]): Need => ({ links: links.map((link) => ({ ...link, weight: 1 })), least: 1 });

/** One step of a cycle, from a job to a job that it depends on. */
export type WaitStep = WaitLink & { from: number };

/** Maximum jobs that are examined; with a larger graph the wait is allowed unchecked. */
const MAX_EXAMINED_JOBS = 10_000;

/** The steps by which the wait would lead back to the waiting job, or into an existing cycle; null if it may wait. */
export function* circleOf(
	waiter: number,
	awaited: readonly number[],
): Generator<number[], WaitStep[] | null, ReadonlyMap<number, readonly Need[]>> {
	const nodes = new Map<number, readonly Need[]>([[waiter, awaited.map((to) => needs({ to, kind: "waits" }))]]);
	for (let level = [...new Set(awaited)].filter((id) => id !== waiter); level.length > 0; ) {
		if (nodes.size + level.length > MAX_EXAMINED_JOBS) return null;
		const found: ReadonlyMap<number, readonly Need[]> = yield level;
		for (const id of level) nodes.set(id, found.get(id) ?? []);
		const next = level.flatMap((id) => (nodes.get(id) ?? []).flatMap(({ links }) => links.map(({ to }) => to)));
		level = [...new Set(next)].filter((id) => !nodes.has(id));
	}
	const free = canEnd(nodes);
	return free.has(waiter) ? null : pathOf(waiter, nodes, free);
}

/** Every job that can end, starting from jobs that depend on nothing. */
function canEnd(nodes: ReadonlyMap<number, readonly Need[]>): Set<number> {
	const free = new Set<number>();
	const open = new Map<number, number>();
	const waiters = new Map<number, { job: number; need: { left: number }; weight: number }[]>();
	const ready: number[] = [];
	for (const [job, all] of nodes) {
		const unmet = all.filter(({ least }) => least > 0);
		open.set(job, unmet.length);
		if (unmet.length === 0) ready.push(job);
		for (const { links, least } of unmet) {
			const need = { left: least };
			for (const { to, weight } of links) addTo(waiters, to, { job, need, weight });
		}
	}
	for (let job = ready.pop(); job !== undefined; job = ready.pop()) {
		free.add(job);
		for (const { job: other, need, weight } of waiters.get(job) ?? []) {
			if (need.left <= 0) continue;
			need.left -= weight;
			if (need.left > 0) continue;
			const left = (open.get(other) ?? 0) - 1;
			open.set(other, left);
			if (left === 0) ready.push(other);
		}
	}
	return free;
}

/** The shortest path over jobs that cannot end from the waiting job back to itself; else up to the first job that repeats. */
function pathOf(waiter: number, nodes: ReadonlyMap<number, readonly Need[]>, free: ReadonlySet<number>): WaitStep[] {
	const from = new Map<number, WaitStep>();
	let last: WaitStep | undefined;
	for (const open = [waiter]; open.length > 0 && last?.to !== waiter; ) {
		const job = open.shift() as number;
		for (const { links } of nodes.get(job) ?? [])
			for (const { weight: _, ...link } of links) {
				if (free.has(link.to) || last?.to === waiter) continue;
				const step = { from: job, ...link };
				if (link.to === waiter || from.has(link.to)) last = step;
				else {
					from.set(link.to, step);
					open.push(link.to);
				}
			}
	}
	const path: WaitStep[] = last ? [last] : [];
	for (let step = last; step && step.from !== waiter; step = from.get(step.from)) path.unshift(from.get(step.from) as WaitStep);
	return path;
}

const WORDS: Record<WaitLink["kind"], (step: WaitStep) => string> = {
	waits: ({ from, to }) => `job ${from} waits for job ${to}`,
	after: ({ from, to }) => `job ${from} comes after job ${to}`,
	artifact: ({ from, to, what }) => `job ${from} needs ${what}, which job ${to} makes`,
	lock: ({ from, to, what }) => `job ${from} needs lock ${what}, which job ${to} holds`,
	resource: ({ from, to, what }) => `job ${from} needs ${what}, which job ${to} keeps`,
};

/** `job 3 cannot wait for job 7: job 7 comes after job 5, job 5 needs lock db, which job 3 holds` */
export function circleWords(waiter: number, path: readonly WaitStep[]): string {
	const [first, ...rest] = path;
	if (first?.to === waiter) return `job ${waiter} cannot wait for itself`;
	return `job ${waiter} cannot wait for job ${first?.to}: ${rest.map((step) => WORDS[step.kind](step)).join(", ")}`;
}
