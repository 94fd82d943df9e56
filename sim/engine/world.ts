// The outside of one simulated run: a clock, a host that answers probes, faults, and the engines that live and die in it.

import type { Clock, Facts, FactValue, Host } from "../../src/contracts/host.ts";
import type { OpenOptions, Scheduler } from "../../src/contracts/scheduler.ts";
import type { Config } from "../../src/core/config.ts";
import { openFleetScheduler } from "../../src/fleet/open.ts";
import { openScheduler } from "../../src/index.ts";
import { Disagreement } from "../model/agree.ts";
import type { Fault, Plan } from "../operation.ts";
import { hash, randomFrom } from "../random.ts";
import { EventQueue } from "./event-queue.ts";
import { type Mishap, SimulatedDatabase, SimulatedFleet } from "./fleet-database.ts";
import { patiently } from "./patiently.ts";
import { type Place, sqlitePlace } from "./place.ts";

export class Crash extends Error {
	override readonly name = "Crash";
}

/** One scheduler on the store, with its own host name. `database`: how it reaches the database of a fleet with a leader. */
export type Engine = { scheduler: Scheduler; host: string; life: Life; database?: SimulatedDatabase };

/** A process's time on earth: once over, nothing it started goes on. `left`: what its death does to the world. */
type Life = { over: boolean; end: () => void; ended: Promise<void>; left: () => void };

function newLife(): Life {
	let resolve = () => {};
	const ended = new Promise<void>((done) => {
		resolve = done;
	});
	const life: Life = { over: false, ended, end: () => undefined, left: () => undefined };
	life.end = () => {
		if (life.over) return;
		life.over = true;
		life.left();
		resolve();
	};
	return life;
}

/** How long a caller waits for the leader, unless a fault says otherwise. */
const PATIENCE_MS = 30_000;
/** Longer than any pause after which a leader reads its whole inbox, looks for withdrawn requests and for the state of its session. */
const PAUSE_MS = 13_000;
/** Enough for a few statements one after the other. */
const TURN_MS = 200;
/** The same on a real database, in real time. */
const REAL_TURNS = 600;
const REAL_TURN_MS = 50;
const TURNS = 60;
/** These are met by a process that is about to lead: there must be an election. */
const ELECTION: readonly Fault["point"][] = ["lead", "consumed", "tries"];
/** The leader comes to these only now and then: it must be time for them. */
const RARE: readonly Fault["point"][] = ["beats", "session"];

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
	private fault: { plan: Fault; passed: number; life: Life | undefined } | undefined;
	/** Time and database of a fleet with a leader. */
	readonly queue = new EventQueue();
	readonly fleet: SimulatedFleet | undefined;
	private patienceMs = PATIENCE_MS;
	private members = 0;

	constructor(plan: Plan, place: Place = sqlitePlace(plan.file ? "file" : "memory")) {
		this.plan = plan;
		this.wall = plan.start;
		this.facts = new Map(Object.entries(plan.facts));
		this.place = place;
		this.chance = randomFrom(plan.seed ^ 0x5eed).next;
		if (plan.leader && this.place.file !== undefined)
			this.fleet = new SimulatedFleet({
				path: this.place.file,
				now: () => this.wall,
				queue: this.queue,
				random: randomFrom(hash("network", plan.seed)),
				mark: (name) => this.note(`message:${name}`),
			});
	}

	private note(name: string): void {
		this.met.set(name, (this.met.get(name) ?? 0) + 1);
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
		const options = {
			config: config as unknown as Record<string, unknown>,
			by: `sim-${index}`,
			join: {
				name: joined.name,
				labels: joined.labels,
				...(joined.repos === undefined ? {} : { repos: joined.repos }),
				...as,
			},
			drive: "manual",
			piece: this.plan.piece,
			...(this.plan.preset === undefined ? {} : { preset: this.plan.preset }),
		} satisfies OpenOptions;
		const parts = { clock: this.clock, host: this.hostFor(life), chance: this.chance };
		if (this.fleet) return this.openMember(this.fleet, options, parts, { life, host: joined.name });
		const fault = (point: string) => void this.pass(life, point);
		await this.place.bury?.();
		const where = await this.place.options();
		return { scheduler: await openScheduler({ ...where, ...options, ...parts, fault }), host: joined.name, life };
	}

	private async openMember(
		fleet: SimulatedFleet,
		options: Parameters<typeof openFleetScheduler>[0],
		parts: Pick<Parameters<typeof openFleetScheduler>[1], "clock" | "host" | "chance">,
		{ life, host }: { life: Life; host: string },
	): Promise<Engine> {
		const isAlive = () => !life.over;
		const database = new SimulatedDatabase(fleet, {
			member: `member-${++this.members}`,
			host,
			isAlive,
			mayLead: true,
			meet: (point, by) => this.pass(life, point, by),
			die: (of) => this.die(life, of),
		});
		life.left = () => database.drop();
		const { queue } = this;
		const opening = openFleetScheduler(options, {
			...parts,
			database,
			time: { monotonic: () => queue.now, after: (ms, call) => queue.after(ms, call, isAlive) },
			patienceMs: () => this.patienceMs,
		});
		const died = life.ended.then(() => undefined);
		const scheduler = await patiently(Promise.race([opening, died]), "openScheduler");
		if (scheduler === undefined) throw new Crash(`died while it was opened`);
		return { scheduler, host, life, database };
	}

	/** The process is gone; whatever it had not committed is gone with it. */
	kill(index: number): void {
		this.engines[index]?.life.end();
		this.engines[index] = undefined;
	}

	/** Meant for one of them: another may hear of what it does, and come to look, before the call is over. */
	async arm(fault: Fault | undefined, engine?: Engine): Promise<void> {
		this.fault = fault === undefined ? undefined : { plan: fault, passed: 0, life: engine?.life };
		const { fleet, queue } = this;
		if (!fleet || !fault) return;
		if (fault.patience !== undefined) this.patienceMs = fault.patience;
		if (ELECTION.includes(fault.point)) fleet.cut();
		if (RARE.includes(fault.point)) queue.pass(3 * PAUSE_MS);
		if (fault.point !== "call") return;
		// Before the call is made.
		this.meetFault(fault, engine?.life);
		// Long enough for another process to lead, and mostly too short for the old one to notice.
		if (fault.kind === "cut") await queue.sleep(fault.nth * 400);
	}

	/** No more faults; what they have begun comes to its end. */
	async disarm(): Promise<void> {
		const wasArmed = this.fault !== undefined;
		this.fault = undefined;
		this.patienceMs = PATIENCE_MS;
		if (this.fleet && wasArmed) await this.settle();
	}

	/** Until a leader has decided all that was asked for. */
	async settle(): Promise<void> {
		const { fleet, queue } = this;
		if (!fleet) return;
		for (let turn = 0; turn < TURNS; turn++) {
			if (fleet.broken) throw new Disagreement(fleet.broken);
			queue.pass(PAUSE_MS);
			await queue.sleep(TURN_MS);
			for (const [index, engine] of this.engines.entries()) if (engine?.life.over) this.kill(index);
			if (!this.engines.some((engine) => engine !== undefined)) return;
			if (!fleet.isAway && !fleet.hasWork && (await this.leading())) return;
		}
		throw new Disagreement(`requests are left that no leader decides: ${[...fleet.requests.keys()].join(", ")}`);
	}

	/** Lets the leader hear of the heartbeats that hosts have left. */
	async letHear(): Promise<void> {
		if (!this.fleet) return;
		this.queue.pass(3 * PAUSE_MS);
		await this.queue.sleep(TURN_MS);
	}

	/** On a real database: the process that leads. Only its looks do what is due. */
	async leaderOnPostgres(first: Engine): Promise<Engine> {
		for (let turn = 0; turn < REAL_TURNS; turn++) {
			for (const engine of this.engines) if (engine && (await engine.scheduler.leads())) return engine;
			if (await first.scheduler.leads()) return first;
			// A pass of a process that may lead tries to.
			await patiently(first.scheduler.tick(), "tick").catch(() => undefined);
			await new Promise<void>((resolve) => setTimeout(resolve, REAL_TURN_MS));
		}
		throw new Disagreement("no process leads");
	}

	/** The process that leads; undefined if none lives. */
	async leader(): Promise<Engine | undefined> {
		if (this.fleet?.broken) throw new Disagreement(this.fleet.broken);
		for (let turn = 0; turn < TURNS; turn++) {
			const engine = await this.leading();
			if (engine || !this.engines.some((one) => one !== undefined)) return engine;
			await this.queue.sleep(TURN_MS);
		}
		throw new Disagreement("no process leads");
	}

	private async leading(): Promise<Engine | undefined> {
		const engine = this.engines.find((one) => one?.database?.leads);
		return engine && (await engine.scheduler.leads()) ? engine : undefined;
	}

	private pass(life: Life, point: string, database?: SimulatedDatabase): Mishap | undefined {
		if (life.over) throw new Crash(`dead at ${point}`);
		const armed = this.fault;
		if (armed === undefined || armed.plan.point !== point) return undefined;
		const isMeant = armed.plan.of === "leader" ? database?.leads || ELECTION.includes(armed.plan.point) : (armed.life ?? life) === life;
		if (!isMeant) return undefined;
		armed.passed += 1;
		if (armed.passed !== armed.plan.nth) return undefined;
		return this.meetFault(armed.plan, life);
	}

	private meetFault(fault: Fault, life: Life | undefined): Mishap | undefined {
		const { kind, point } = fault;
		this.note(`fault:${fault.of === "leader" ? "leader-" : ""}${kind}:${point}`);
		switch (kind) {
			case "crash":
				return life && this.die(life, point);
			case "cut":
				return void this.fleet?.cut();
			case "away":
				return void this.fleet?.goAway(fault.ms ?? 0);
			case "outdated":
				if (this.fleet) this.fleet.hasSuccessor = true;
				return undefined;
			case "withdraw":
				return undefined;
			case "full":
			case "busy": {
				const error = this.place.trouble(fault);
				if (error) throw error;
				return undefined;
			}
			default:
				return kind;
		}
	}

	private die(life: Life, point: string): never {
		if (point === "poison") this.note("message:poison");
		life.end();
		throw new Crash(`crash at ${point}`);
	}

	/** Waiting for the host is a place to die in, too. */
	private async pause(life: Life, point: string): Promise<void> {
		try {
			this.pass(life, point);
		} catch (error) {
			if (error instanceof Crash) await new Promise(() => {});
			throw error;
		}
		if (this.fleet) await this.queue.sleep(Math.floor(this.chance() * 3));
		else await new Promise<void>((done) => setImmediate(done));
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
		try {
			for (const engine of this.engines) if (engine !== undefined && !engine.life.over) await engine.scheduler.close();
		} finally {
			this.queue.end();
			await this.place.end();
		}
	}
}
