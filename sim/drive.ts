// Plays a plan: each operation against the engine and against the model, then every check.

import type { EventRow, JobView, Why } from "../src/contracts/scheduler.ts";
import { isWaiting } from "../src/core/job.ts";
import { checkAll } from "./checkers/index.ts";
import { type Memory, newMemory } from "./checkers/moment.ts";
import { untrueReasons } from "./checkers/reasons.ts";
import { checkTimer } from "./checkers/timer.ts";
import { difference } from "./compare.ts";
import { attempt, isStoreTrouble, type Outcome } from "./engine/attempt.ts";
import { type Call, perform } from "./engine/call.ts";
import { type Glance, Glancer, keptDuring } from "./engine/glance.ts";
import { look } from "./engine/look.ts";
import { patiently } from "./engine/patiently.ts";
import type { Place } from "./engine/place.ts";
import { type Engine, homeOf, World } from "./engine/world.ts";
import { isDoing, isFleetOp, playFleet, resolveFleet } from "./fleet.ts";
import { type Fitting, followCall, followFault, followOrder } from "./follow.ts";
import { checkKnown, isOneOperation, renewedBy } from "./leader.ts";
import { Marks } from "./marks.ts";
import { Disagreement, type Seen } from "./model/agree.ts";
import { isOverBudget } from "./model/gates/ledgers.ts";
import { type Joining, join } from "./model/hosts.ts";
import { copyState, emptyState, type State } from "./model/state.ts";
import { sweep } from "./model/sweep.ts";
import { type Context, LOOKS_TWICE } from "./model.ts";
import { noteCall } from "./note.ts";
import type { Op, Plan, Slot } from "./operation.ts";
import { type Names, recoverCall, resolve } from "./resolve.ts";

/** Calls that may end more jobs than one transaction can. */
const IN_PIECES: readonly Call["method"][] = ["cancel", "cancelAll", "clear"];
/** Done twice is done once: after a fault they are simply called again. */
const AGAIN = [
	"tick",
	"mark",
	"pause",
	"resume",
	"observe",
	"clearAccount",
	"configure",
	"grant",
	"heartbeat",
	"acquireCall",
	"releaseCall",
	"drain",
	"undrain",
	"started",
	"answered",
	"extend",
	"kernel.extend",
	"kernel.ledger.grant",
	"kernel.ledger.check",
];

/** What may change many ended jobs at once is looked at in full, and everything now and then. */
const WIDE = ["gc", "apply", "retry", "rerun"];
const LOOK_AT_ALL = 8;

const STAGE_DEAD_MS = 61_000;
const GRACE_MS = 30_000;

const waitingOf = (seen: Glance) => [...seen.jobs.values()].filter((job) => isWaiting(job.status) && job.kind !== "kernel");

/** Its reasons tell what is known of the world. */
const hangsOnFacts = (job: JobView) =>
	job.needs !== undefined || job.conditions !== undefined || job.pinned_head !== undefined || job.item !== undefined;

const looksOf = ({ status, wait_reason, ready_at, attempt, backoff_until, priority, rank }: JobView) =>
	[status, wait_reason?.detail, ready_at, attempt, backoff_until, priority, rank].join("|");

export type DriveOptions = { thorough?: boolean; skip?: string[]; place?: (seed: number) => Place };

export class Drive {
	readonly world: World;
	readonly marks = new Marks();
	readonly plan: Plan;
	state: State;
	steps = 0;
	thorough: boolean;
	private readonly skip: string[];
	private readonly memory: Memory = newMemory();
	private readonly slots = new Map<Slot, number>();
	private readonly ids = new Map<number, Slot>();
	private readonly glancer = new Glancer();
	/** By the monotonic clock: until then leases are spared, since the wall clock has jumped. */
	private graceUntil = Number.NEGATIVE_INFINITY;
	private looks = 0;
	/** Events read since the last check. */
	private events: EventRow[] = [];
	/** What `why` said of jobs at the last glance. */
	private answers: { at: Glance; whys: Map<number, Why> } | undefined;
	/** Waiting jobs as they were seen at the last check. */
	private before = new Map<number, string>();
	readonly names: Names = { idOf: (slot) => this.slots.get(slot), slotOf: (id) => this.ids.get(id) ?? `#${id}` };

	constructor(plan: Plan, options: DriveOptions = {}) {
		this.plan = plan;
		this.world = new World(plan, options.place?.(plan.seed));
		this.state = { ...emptyState(plan.config, plan.start), fleet: plan.fleet === true };
		this.thorough = options.thorough ?? false;
		this.skip = options.skip ?? [];
	}

	async begin(): Promise<void> {
		for (let index = 0; index < this.plan.hosts.length; index++) await this.open(index);
	}

	async open(index: number): Promise<Engine> {
		const engine = await this.world.open(index, this.state.config);
		join(this.state, this.joining(index));
		this.noteTerms();
		return engine;
	}

	/** What a new leader did when its term began, to the model as it is now. */
	noteTerms(): void {
		this.takeRenewal()?.(this.state);
	}

	/** What a new leader did to leases when its term began; undefined if none began since this was last asked. */
	private takeRenewal(): ((state: State) => void) | undefined {
		const { world } = this;
		if (!world.fleet?.begun) return undefined;
		world.fleet.begun = 0;
		// Leases of runs are spared for a while.
		this.graceUntil = Math.max(this.graceUntil, world.mono + GRACE_MS);
		this.marks.hit("leader:began");
		return renewedBy(world.wall);
	}

	private joining(index: number): Joining {
		const host = this.plan.hosts[index];
		if (host === undefined) throw new Error("no such host");
		const home = homeOf(this.plan, index);
		return { name: host.name, labels: host.labels, repos: host.repos ?? null, ...(home === undefined ? {} : { home }) };
	}

	async engine(index: number): Promise<Engine> {
		return this.world.engines[index] ?? (await this.open(index));
	}

	/** Whoever is asked about things: in a fleet one that lives, since one that is started for it would be back. */
	async looker(): Promise<Engine> {
		if (this.world.fleet) {
			const engine = (await this.world.leader()) ?? (await this.open(0));
			this.noteTerms();
			return engine;
		}
		const first = (this.plan.fleet ? this.world.engines.find((engine) => engine !== undefined) : undefined) ?? (await this.engine(0));
		return this.world.place.bury ? this.world.leaderOnPostgres(first) : first;
	}

	/** Came with a manifest that was told of as a range. */
	isStaged(id: number): boolean {
		return this.memory.staged.some((range) => range.from <= id && id <= range.to);
	}

	/** One operation of the plan. */
	async play(op: Op): Promise<void> {
		this.steps += 1;
		const { state, world } = this;
		const via = op.via ?? 0;
		if (op.kind === "advance") {
			this.advance(op.ms, op.jump ?? 0);
			await this.compareAndCheck(await this.glance("tick"));
			for (const index of op.awake ?? []) if (world.engines[index] !== undefined) await this.call({ method: "heartbeat", args: [] }, index);
			return;
		}
		if (op.kind === "crash") {
			world.kill(via);
			this.marks.hit("fault:kill");
			await this.open(via);
			return this.compareAndCheck(await this.glance());
		}
		if (op.kind === "fact") return this.fact(op, via);
		if (op.kind === "look") return look(this, op, via);
		if (op.kind === "together") return this.together(op.ops, via);
		if (op.kind === "recover")
			return this.call(recoverCall(op.pick, op.reboot === true, (await this.engine(via)).host, state, this.names), via, op);
		if (isDoing(op)) {
			await playFleet(this, op, via);
			return this.compareAndCheck(await this.glance());
		}
		const call = this.callFor(op);
		if (call === undefined) return;
		if (op.kind === "end" && op.started && call.method === "complete" && op.token === undefined && op.end.kind !== "launch_failed")
			await this.call({ method: "started", args: [{ job: call.args[0].job, token: call.args[0].token }] }, via);
		await this.call(call, via, op);
	}

	/** In a fleet with a leader only the leader looks at the clock. */
	private async ticker(via: number): Promise<number> {
		return this.world.fleet ? this.world.engines.indexOf(await this.looker()) : via;
	}

	callFor(op: Op): Call | undefined {
		return isFleetOp(op) ? resolveFleet(op, this.state, this.plan.hosts) : resolve(op, this.state, this.names);
	}

	advance(ms: number, jump: number): void {
		const { state, world } = this;
		const before = world.mono;
		world.wall += ms + jump;
		world.mono += ms;
		state.now = world.wall;
		if (jump !== 0) this.graceUntil = world.mono + GRACE_MS;
		// Leases are spared for a while after a jump, also those that began since; a second process counts from when it notices.
		else if (before >= this.graceUntil) return;
		else if (this.plan.hosts.length > 1 && !world.fleet) this.graceUntil = Number.POSITIVE_INFINITY;
		for (const job of state.jobs) if (job.run?.lease_until !== undefined) job.run.unsure = true;
		if (jump === 0) return;
		this.marks.hit(jump > 0 ? "fault:jump-forward" : "fault:jump-back");
	}

	/** A leader tells two heartbeats apart by their times: under other settings the second one at the same moment would mean another lease. */
	private passMoment(): void {
		const { hosts, now, config } = this.state;
		const isTwice = hosts.some((host) => host.heartbeat_at === now && (host.lease_until ?? 0) !== now + config.stale_after_ms);
		if (this.world.fleet && isTwice) this.advance(1, 0);
	}

	private async fact(op: Op & { kind: "fact" }, via: number): Promise<void> {
		if (op.value === "gone") this.world.facts.delete(op.key);
		else this.world.facts.set(op.key, op.value);
		if (!op.told || op.value === "gone") return;
		const spelled = this.world.spelling.get(op.key) ?? op.key;
		if (op.key.startsWith("condition:") && !this.world.spelling.has(op.key)) return;
		await this.call({ method: "observe", args: [{ [spelled]: op.value }] }, via, undefined, { [op.key]: op.value });
	}

	/** One call, alone: engine, model, comparison, checks. `told`: the facts of an observe, in the model's spelling. */
	async call(call: Call, by = 0, op?: Op, told?: Record<string, unknown>): Promise<void> {
		const { world } = this;
		const via = call.method === "tick" ? await this.ticker(by) : by;
		if (call.method === "heartbeat") this.passMoment();
		const engine = await this.engine(via);
		this.prepare();
		const isLeader = !world.fleet || engine.database?.leads === true;
		await world.arm(op?.fault, engine);
		const outcome = await attempt(engine, call);
		if (world.fleet) checkKnown(call, outcome);
		if (outcome === "died") world.kill(via);
		await world.disarm();
		if (outcome === "died") await world.open(via, this.state.config);
		if (call.method === "heartbeat") await world.letHear();
		const renew = this.takeRenewal();
		if (op?.fault !== undefined && IN_PIECES.includes(call.method)) await this.goOn();
		const seen = await this.glance(outcome === "died" || op?.fault !== undefined ? undefined : call.method);
		const { jobs } = seen;
		const context: Context = {
			host: engine.host,
			probed: world.probed,
			...(op?.kind === "configure" ? { config: op.config } : {}),
			...(outcome === "died" ? { reopened: this.joining(via) } : {}),
			...(isLeader || !LOOKS_TWICE.includes(call.method) ? {} : { unwatched: true as const }),
		};
		const modelCall = told === undefined ? call : ({ method: "observe", args: [told] } as Call);
		// A pass of upkeep by a leader whose term is over meanwhile is none, and nothing is lost by that.
		const isEnded = world.fleet !== undefined && call.method === "tick" && renew !== undefined;
		const faulted = op?.fault !== undefined && (outcome === "died" || isStoreTrouble(outcome) || isEnded);
		const isWatching = call.method === "heartbeat" || (call.method === "tick" && world.fleet !== undefined);
		// Where the error says that nothing was carried out, that is held against what is seen.
		const isInDoubt = faulted && (outcome === "died" || !world.fleet);
		if (isInDoubt && AGAIN.includes(call.method) && !(this.plan.fleet && isWatching)) {
			if (context.reopened !== undefined) join(this.state, context.reopened);
			renew?.(this.state);
			return this.call(call, via, withoutFault(op), told);
		}
		const fresh = [...jobs.keys()].filter((id) => !this.state.jobs.some((job) => job.id === id)).sort((a, b) => a - b);
		const sight: Seen = {
			job: (id) => jobs.get(id),
			kept: keptDuring(seen.events, this.state.reserved),
			outages: outagesIn(seen.events),
			fresh,
		};
		if (faulted) {
			const isCut = call.method === "apply" && call.args[0].jobs.length > this.plan.piece && fresh.length === 0;
			if (isCut) this.marks.hit("deed:stage-cut");
			const { scheduler } = await this.looker();
			const ledgers = await patiently(scheduler.ledgers(), "ledgers");
			const hosts = await patiently(scheduler.hosts(), "hosts");
			const { holds } = await patiently(scheduler.status(), "status");
			const agents = await patiently(scheduler.kernel.agent.list(), "kernel.agent.list");
			const isCertain = world.fleet ? isOneOperation(call) : op.fault?.point !== "committed" && (op.fault?.nth ?? 1) === 1;
			const mayHaveHappened = outcome === "died" || !isCertain;
			const shown = { view: jobs, ledgers, holds, agents, hosts, events: this.events };
			this.state = await this.choose(followFault(this.state, modelCall, sight, context, shown, { mayHaveHappened, renew }), seen);
			// A second limit at the same moment shows only in what the third one brings: better to begin anew than to guess.
			if (call.method === "limit") return this.call({ method: "clearAccount", args: [call.args[0]] }, via);
			// Its names, items and counts are taken until somebody takes it for dead.
			if (isCut && outcome === "died") {
				this.advance(STAGE_DEAD_MS, 0);
				return this.call({ method: "tick", args: [] }, via);
			}
		} else {
			if (outcome !== "died") Object.assign(sight, "error" in outcome ? { error: outcome.error } : { result: outcome.result });
			const hosts = renew ? await patiently((await this.looker()).scheduler.hosts(), "hosts") : [];
			const beside = { renew, shown: { hosts, events: this.events } };
			this.state = await this.choose(followCall(this.state, modelCall, sight, context, jobs, beside), seen);
		}
		if (call.method === "configure" && !faulted) await this.spread(call, via);
		if (outcome !== "died") noteCall(this.marks, call, outcome, this.state, this.plan.piece);
		this.nameFresh(op, call, sight);
		if (call.method === "tick" && !faulted) checkTimer(this.state, sight.result);
		// The other processes have got the settings only now, and what they do by them counts.
		await this.compareAndCheck(call.method === "configure" ? await this.glance(call.method) : seen);
	}

	/** Settings are each process's own: the other one reads the same file. */
	private async spread(call: Call, via: number): Promise<void> {
		for (const [index, engine] of this.world.engines.entries()) {
			if (index !== via && engine !== undefined) await perform(engine.scheduler, call);
		}
		this.answers = undefined;
	}

	/** Calls of one turn, none waiting for another; in a fleet perhaps of several processes. */
	private async together(ops: Op[], via: number): Promise<void> {
		const engines = new Map<Op, Engine>();
		if (ops.some(({ kind }) => kind === "heartbeat")) this.passMoment();
		for (const op of ops) engines.set(op, await this.engine(op.kind === "tick" ? await this.ticker(op.via ?? via) : (op.via ?? via)));
		if (new Set(engines.values()).size > 1) this.marks.hit("host:race");
		this.prepare();
		const calls = ops.flatMap((op) => {
			const call = this.callFor(op);
			const engine = engines.get(op);
			return call === undefined || engine === undefined ? [] : [{ op, call, engine }];
		});
		const outcomes = await Promise.all(calls.map(({ call, engine }) => attempt(engine, call)));
		if (calls.some(({ call }) => call.method === "heartbeat")) await this.world.letHear();
		await this.explain(calls.map((one, index) => ({ ...one, outcome: outcomes[index] as Outcome })));
	}

	/** Calls of one turn were answered: some order of them explains it. */
	async explain(calls: { op: Op; call: Call; engine: Engine; outcome: Outcome }[]): Promise<void> {
		const seen = await this.glance();
		const kept = keptDuring(seen.events, this.state.reserved);
		const outages = outagesIn(seen.events);
		const made = calls.map(({ op, call, engine, outcome }) => {
			if (outcome === "died") throw new Disagreement(`${call.method} died without a fault`);
			const created = "result" in outcome && call.method === "add" ? (outcome.result as { job?: { id?: number } }).job?.id : undefined;
			const answer = "error" in outcome ? { error: outcome.error } : { result: outcome.result };
			const fresh = created === undefined ? [] : [created];
			const sight: Seen = { job: (id) => seen.jobs.get(id), kept, outages, fresh, blurred: true, ...answer };
			const isUnwatched = engine.database?.leads === false && LOOKS_TWICE.includes(call.method);
			return { op, call, outcome, seen: sight, host: engine.host, ...(isUnwatched ? { unwatched: true as const } : {}) };
		});
		const hosts = this.plan.fleet ? await patiently((await this.looker()).scheduler.hosts(), "hosts") : [];
		const shown = { view: seen.jobs, hosts, events: this.events };
		this.state = await this.choose(followOrder(this.state, made, { probed: this.world.probed }, shown), seen);
		for (const { op, call, outcome, seen: sight } of made) {
			noteCall(this.marks, call, outcome, this.state, this.plan.piece);
			this.nameFresh(op, call, sight);
		}
		await this.compareAndCheck(seen);
	}

	/** Facts that came in do not all show in the jobs: of several readings the one counts by which every `why` is true. */
	private async choose(readings: Fitting, seen: Glance): Promise<State> {
		const first = readings.next().value;
		if (!first) throw new Disagreement("there is no reading");
		if (this.world.probed.length === 0) return first;
		const answers = await this.whys(seen, hangsOnFacts);
		const isTrue = (state: State) => {
			const copy = copyState(state);
			sweep(copy, { job: (id) => seen.jobs.get(id), fresh: [] });
			return untrueReasons(copy, answers) === null;
		};
		if (isTrue(first)) return first;
		for (const other of readings) if (isTrue(other)) return other;
		return first;
	}

	/** What the engine says of waiting jobs. Asked in one turn, as they cost a transaction each otherwise. */
	private async whys(seen: Glance, isWanted: (job: JobView) => boolean): Promise<Map<number, Why>> {
		const { scheduler } = await this.looker();
		if (this.answers?.at !== seen) this.answers = { at: seen, whys: new Map() };
		const { whys } = this.answers;
		const asked = waitingOf(seen).filter((job) => !whys.has(job.id) && isWanted(job));
		const answers = await patiently(Promise.all(asked.map(({ id }) => scheduler.why(id))), "why");
		for (const why of answers) whys.set(why.job.id, why);
		return whys;
	}

	/** All of them in a thorough run; else those that have changed, and every third of the others in turn. */
	private async checkedWhys(seen: Glance): Promise<Map<number, Why>> {
		const { before, thorough, steps } = this;
		const shown = new Map(waitingOf(seen).map((job) => [job.id, looksOf(job)]));
		this.before = shown;
		return this.whys(seen, ({ id }) => thorough || before.get(id) !== shown.get(id) || (id + steps) % 3 === 0);
	}

	prepare(): void {
		const { state } = this;
		this.world.probed = [];
		state.over_before = state.ledgers.filter((ledger) => isOverBudget(state, ledger, state.now)).map((ledger) => ledger.subject);
	}

	private nameFresh(op: Op | undefined, call: Call, seen: Seen): void {
		if (op === undefined || (call.method !== "add" && call.method !== "apply")) return;
		for (const [index, id] of seen.fresh.entries()) {
			const slot = op.kind === "apply" ? `${op.id}.${index}` : `${op.id}`;
			this.slots.set(slot, id);
			this.ids.set(id, slot);
		}
	}

	/** Everything the engine shows after a call; asked of the first one that lives. */
	/** A cancel that one transaction cannot finish goes on in the next ones: looks until no more events come. */
	private async goOn(): Promise<void> {
		const { scheduler } = await this.looker();
		for (let last = -1, now = 0; now !== last; ) {
			last = now;
			now = await patiently(scheduler.lastEvent(), "lastEvent");
		}
	}

	async glance(call?: Call["method"]): Promise<Glance> {
		const { scheduler, life } = await this.looker();
		const which = this.thorough || call === undefined || WIDE.includes(call) || ++this.looks % LOOK_AT_ALL === 0 ? "all" : "active";
		const died = life.ended.then(() =>
			Promise.reject(new Disagreement(this.world.fleet?.broken ?? "a process died while it was looked at")),
		);
		const seen = await Promise.race([this.glancer.glance(scheduler, this.state.agents.length > 0 ? "kernel" : "jobs", which), died]);
		this.events.push(...seen.events);
		return seen;
	}

	private async compareAndCheck(seen: Glance): Promise<void> {
		const view = seen.jobs;
		// Looking is a call too: what came due meanwhile is dealt with by it.
		sweep(this.state, { job: (id) => view.get(id), fresh: [] });
		this.state.reserved = keptDuring(seen.events, this.state.reserved)(undefined).now;
		const different = difference(this.state, view);
		if (different !== null) throw new Disagreement(different);
		const { state, marks, memory, thorough, skip, events } = this;
		this.events = [];
		const { scheduler } = await this.looker();
		await patiently(
			checkAll({ step: this.steps, state, view, scheduler, marks, memory, events, thorough, skip, whys: () => this.checkedWhys(seen) }),
			"checks",
		);
	}

	async end(): Promise<void> {
		this.marks.merge(this.world.met);
		await this.world.end();
	}
}

function withoutFault(op: Op): Op {
	const { fault: _, ...rest } = op;
	return rest as Op;
}

/** What they tell of providers that are down. */
const outagesIn = (events: EventRow[]): NonNullable<Seen["outages"]> =>
	events.flatMap(({ kind, data }) => (kind === "outage" ? [data] : []));
