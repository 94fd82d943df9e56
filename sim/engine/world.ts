// The outside of one simulated run: a clock, a host that answers probes, faults, and the engines that live and die in it.

import type { Clock, Facts, FactValue, Host } from "../../src/contracts/host.ts";
import type { OpenOptions, Scheduler } from "../../src/contracts/scheduler.ts";
import type { Config } from "../../src/core/config.ts";
import { openScheduler } from "../../src/index.ts";
import type { Marks } from "../marks.ts";
import type { Fault, Plan } from "../operation.ts";
import { hash, randomFrom } from "../random.ts";
import { type Place, sqlitePlace } from "./place.ts";
import { Notices } from "./told.ts";

export class Crash extends Error {
	override readonly name = "Crash";
}

/** One scheduler on the store, with its own host name. */
export type Engine = { scheduler: Scheduler; host: string; life: Life };

/** A process's time on earth: once over, nothing it started goes on. */
type Life = { over: boolean; end: () => void; ended: Promise<void> };

function newLife(): Life {
	let resolve = () => {};
	const ended = new Promise<void>((done) => {
		resolve = done;
	});
	const life: Life = { over: false, ended, end: () => undefined };
	life.end = () => {
		life.over = true;
		resolve();
	};
	return life;
}

/** A host of a fleet has a home of its own, and by that a lease. */
export const homeOf = (plan: Plan, index: number) => (plan.fleet ? `home-${index}` : undefined);

export class World {
	wall: number;
	mono = 1_000_000;
	readonly facts: Map<string, FactValue | { error: string }>;
	/** What probes answered since this was last emptied, in the model's spelling. */
	probed: Facts[] = [];
	/** Our spelling of a fact's key → the engine's. */
	readonly spelling = new Map<string, string>();
	/** Which faults were really met. */
	readonly met = new Map<string, number>();
	readonly engines: (Engine | undefined)[] = [];
	private readonly plan: Plan;
	readonly place: Place;
	private readonly chance: () => number;
	private readonly notices: Notices | undefined;
	private fault: { plan: Fault; passed: number; life: Life | undefined } | undefined;

	constructor(plan: Plan, marks: Marks, place: Place = sqlitePlace(plan.file ? "file" : "memory")) {
		this.plan = plan;
		this.wall = plan.start;
		this.facts = new Map(Object.entries(plan.facts));
		this.place = place;
		if (plan.told) this.notices = new Notices(marks);
		this.chance = randomFrom(plan.seed ^ 0x5eed).next;
	}

	get clock(): Clock {
		return { now: () => this.wall, monotonic: () => this.mono };
	}

	async open(index: number, config: Config): Promise<Engine> {
		const home = homeOf(this.plan, index);
		const engine = await this.openAs(index, config, home === undefined ? {} : { home });
		this.engines[index] = engine;
		return engine;
	}

	/** A process like that of a host, which it may not be. */
	async openAs(index: number, config: Config, as: { name?: string; home?: string }): Promise<Engine> {
		const life = newLife();
		const joined = this.plan.hosts[index];
		if (joined === undefined) throw new Error(`no host ${index} in this plan`);
		const where = await this.place.options();
		const options = {
			config: config as unknown as Record<string, unknown>,
			clock: this.clock,
			host: this.hostFor(life),
			chance: this.chance,
			by: `sim-${index}`,
			join: {
				name: joined.name,
				labels: joined.labels,
				...(joined.repos === undefined ? {} : { repos: joined.repos }),
				...as,
			},
			drive: "manual",
			fault: (point: string) => this.pass(life, point),
			piece: this.plan.piece,
			...(this.plan.preset === undefined ? {} : { preset: this.plan.preset }),
		} satisfies OpenOptions;
		const { notices } = this;
		const opening = notices && "path" in where ? notices.open({ ...where, ...options }) : openScheduler({ ...where, ...options });
		return { scheduler: await opening, host: joined.name, life };
	}

	/** The process is gone; whatever it had not committed is gone with it. */
	kill(index: number): void {
		this.engines[index]?.life.end();
		this.engines[index] = undefined;
	}

	/** Meant for one of them: another may hear of what it does, and come to look, before the call is over. */
	arm(fault: Fault | undefined, engine?: Engine): void {
		this.fault = fault === undefined ? undefined : { plan: fault, passed: 0, life: engine?.life };
	}

	private pass(life: Life, point: string): void {
		if (life.over) throw new Crash(`dead at ${point}`);
		const armed = this.fault;
		if (armed === undefined || armed.plan.point !== point || (armed.life ?? life) !== life) return;
		armed.passed += 1;
		if (armed.passed !== armed.plan.nth) return;
		const name = `${armed.plan.kind}:${point}`;
		this.met.set(name, (this.met.get(name) ?? 0) + 1);
		if (armed.plan.kind === "crash") {
			life.end();
			throw new Crash(`crash at ${point}`);
		}
		const error = this.place.trouble(armed.plan);
		if (error) throw error;
	}

	/** Waiting for the host is a place to die in, too. */
	private async pause(life: Life, point: string): Promise<void> {
		try {
			this.pass(life, point);
		} catch (error) {
			if (error instanceof Crash) await new Promise(() => {});
			throw error;
		}
		await new Promise<void>((done) => setImmediate(done));
		if (life.over) await new Promise(() => {});
	}

	private hostFor(life: Life): Host {
		return {
			probe: async (keys) => {
				const found: Facts = {};
				const known: Facts = {};
				for (const key of keys) {
					const ours = this.translate(key);
					this.spelling.set(ours, key);
					const value = this.facts.get(ours) ?? (ours.startsWith("artifact:patch:") ? hash(this.plan.seed, ours) % 4 === 0 : undefined);
					if (value === undefined) continue;
					found[key] = value;
					known[ours] = value;
				}
				await this.pause(life, "probe");
				if (Object.keys(known).length > 0) this.probed.push(known);
				return found;
			},
			after: () => () => {},
			turn: () => this.pause(life, "turn"),
		};
	}

	/** The engine's name of a condition in our spelling; other keys are spelled the same. */
	translate(key: string): string {
		if (!key.startsWith("condition:") || this.facts.has(key)) return key;
		for (const ours of this.facts.keys()) {
			if (!ours.startsWith("condition:")) continue;
			const [text = "", repo] = ours.slice("condition:".length).split("@");
			const words = text.split(/[: ]/);
			const fits = words.every((word) => key.includes(word)) && (repo === undefined ? !key.includes("@") : key.endsWith(`@${repo}`));
			if (fits) return ours;
		}
		return key;
	}

	async end(): Promise<void> {
		for (const engine of this.engines) {
			if (engine !== undefined && !engine.life.over) await engine.scheduler.close();
		}
		await this.place.end();
	}
}
