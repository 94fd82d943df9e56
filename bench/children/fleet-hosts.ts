// Many simulated hosts in one process, and what they measured.

import { SimulatedHost } from "../fleet/host.ts";
import { answerQuestions, cpuUsed } from "../fleet/processes.ts";

type HostsOf = { url: string; from: number; count: number; restMs: number };
/** `runMs`: how long runs last. `spread`: those that start before `measure` is asked for end at any moment of that time. */
export type LoadOf = { runMs: number; addsPerSecond: number; spread: boolean };
export type Seen = { sinceEnd: number[]; sinceAdd: number[]; adds: number[]; ends: number[]; starts: number; failed: string[] };

const nothing = (): Seen => ({ sinceEnd: [], sinceAdd: [], adds: [], ends: [], starts: 0, failed: [] });
/** Hosts that join at the same time. */
const JOIN_AT_ONCE = 20;

let hosts: SimulatedHost[] = [];
let seen = nothing();
let load: LoadOf = { runMs: 0, addsPerSecond: 0, spread: false };
let adding: NodeJS.Timeout | undefined;

const told = {
	added: (ms: number) => void seen.adds.push(ms),
	ended: (ms: number) => void seen.ends.push(ms),
	started({ sinceEnd, sinceAdd }: { sinceEnd: number | undefined; sinceAdd: number }) {
		seen.starts++;
		if (sinceEnd !== undefined) seen.sinceEnd.push(sinceEnd);
		seen.sinceAdd.push(sinceAdd);
	},
	failed: (error: unknown) => void seen.failed.push(String(error)),
};

async function join({ url, from, count, restMs }: HostsOf): Promise<void> {
	const next = () => load.runMs * (load.spread ? Math.random() : 1);
	hosts = Array.from({ length: count }, (_, i) => new SimulatedHost(url, `host-${from + i}`, { next, restMs, told }));
	for (let at = 0; at < count; at += JOIN_AT_ONCE) await Promise.all(hosts.slice(at, at + JOIN_AT_ONCE).map((host) => host.join()));
}

/** Adds at even pauses, each on another host, whether or not earlier ones were answered. */
function setLoad(given: LoadOf): void {
	load = given;
	clearInterval(adding);
	if (load.addsPerSecond === 0) return;
	let due = performance.now();
	let turn = 0;
	adding = setInterval(() => {
		for (; due <= performance.now(); due += 1000 / load.addsPerSecond) hosts[turn++ % hosts.length]?.add().catch(told.failed);
	}, 5);
}

answerQuestions(
	{
		join,
		setLoad,
		claim: () => {
			for (const host of hosts) host.claim();
		},
		/** What was seen since the last time. */
		collect: () => {
			const all = seen;
			seen = nothing();
			return all;
		},
		cpu: cpuUsed,
	},
	() => Promise.all(hosts.map((host) => host.stop())),
);
