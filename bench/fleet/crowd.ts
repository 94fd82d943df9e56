// One leader in a process of its own and many simulated hosts in a few more: started together, measured over a while, ended together.

import { setTimeout as pause } from "node:timers/promises";
import { restMs } from "../../src/fleet/core.ts";
import type { LoadOf, Seen } from "../children/fleet-hosts.ts";
import type { Leading } from "../children/fleet-leader.ts";
import { databaseCpuMs } from "../postgres.ts";
import { type Child, startChild } from "./processes.ts";

/** Processes that the hosts are spread over. */
const PROCESSES = 4;

/** Processor: milliseconds a millisecond, that is, cores. */
export type Observed = Omit<Seen, "failed"> & { ms: number; leaderCores: number; databaseCores: number; hostCores: number };

type CrowdOptions = { hosts: number; runsEach: number; jobs: number };

export class Crowd {
	private constructor(
		private readonly url: string,
		readonly leader: Child,
		private readonly children: readonly Child[],
	) {}

	/** `jobs`: how many are queued before the hosts come. `runsEach`: the cap of each host. */
	static async open(url: string, { hosts, runsEach, jobs }: CrowdOptions): Promise<Crowd> {
		// SLUICE_BENCH_LEADER: flags of Node for the leader, such as --cpu-prof.
		const leader = startChild("fleet-leader", process.env.SLUICE_BENCH_LEADER?.split(" "));
		const children = Array.from({ length: PROCESSES }, () => startChild("fleet-hosts"));
		const crowd = new Crowd(url, leader, children);
		try {
			const caps = Object.fromEntries(Array.from({ length: hosts }, (_, i) => [`host-${i}`, { max: runsEach }]));
			await leader.ask("open", { url, config: { max_concurrent: 1_000_000, hosts: caps } });
			await crowd.add(jobs);
			const share = Math.ceil(hosts / PROCESSES);
			await Promise.all(
				children.map((child, i) =>
					child.ask("join", { url, restMs: restMs(hosts), from: i * share, count: Math.min(share, hosts - i * share) }),
				),
			);
			return crowd;
		} catch (error) {
			await crowd.end();
			throw error;
		}
	}

	/** The leader queues jobs. */
	async add(jobs: number): Promise<void> {
		await this.leader.ask("add", { jobs, command: ["true"] });
	}

	async load(load: LoadOf): Promise<void> {
		await Promise.all(this.children.map((child) => child.ask("setLoad", { ...load, addsPerSecond: load.addsPerSecond / PROCESSES })));
	}

	/** All hosts have room, and let a claim stand. */
	async claim(): Promise<void> {
		await Promise.all(this.children.map((child) => child.ask("claim")));
	}

	state = (): Promise<Leading> => this.leader.ask<Leading>("state");

	/** Until so many jobs run, and as many wait: runs that end meanwhile are replaced from the queue, and an empty queue would let hosts wait for adds. */
	async fill(running: number, waiting: number, progress: (line: string) => void): Promise<void> {
		for (let state = await this.state(); state.running < running || state.queued < waiting; state = await this.state()) {
			progress(`${state.queued} queued, ${state.running} running`);
			if (state.queued < waiting) await this.add(waiting);
			await pause(500);
		}
	}

	/** What the hosts see within so many milliseconds from now. */
	async observe(ms: number): Promise<Observed> {
		const before = await this.processors();
		await this.collect();
		const begun = performance.now();
		await pause(ms);
		const seen = await this.collect();
		const took = performance.now() - begun;
		const after = await this.processors();
		const failed = seen.flatMap((one) => one.failed);
		if (failed.length > 0) throw new Error(`${failed.length} calls of simulated hosts failed: ${failed[0]}`);
		const all = <K extends "sinceEnd" | "sinceAdd" | "adds" | "ends">(key: K) => seen.flatMap((one) => one[key]);
		const cores = (part: keyof typeof before) => (after[part] - before[part]) / (after.at - before.at);
		return {
			sinceEnd: all("sinceEnd"),
			sinceAdd: all("sinceAdd"),
			adds: all("adds"),
			ends: all("ends"),
			starts: seen.reduce((sum, one) => sum + one.starts, 0),
			ms: took,
			leaderCores: cores("leader"),
			databaseCores: cores("database"),
			hostCores: cores("hosts"),
		};
	}

	async end(): Promise<void> {
		await Promise.all([...this.children, this.leader].map((child) => child.end()));
	}

	private collect = () => Promise.all(this.children.map((child) => child.ask<Seen>("collect")));

	private async processors() {
		const [leader, database] = await Promise.all([this.leader.ask<{ cpuMs: number }>("cpu"), databaseCpuMs(this.url)]);
		const hosts = (await Promise.all(this.children.map((child) => child.ask<{ cpuMs: number }>("cpu")))).reduce(
			(sum, { cpuMs }) => sum + cpuMs,
			0,
		);
		return { leader: leader.cpuMs, database, hosts, at: performance.now() };
	}
}
