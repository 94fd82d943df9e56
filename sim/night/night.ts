// A night in fast-forward: the real scheduler on a clock that jumps from event to event, agents that make calls, a provider that limits them.

import type { Claimed, RunEnd, Scheduler } from "../../src/contracts/scheduler.ts";
import { openScheduler } from "../../src/index.ts";
import { type Random, randomFrom } from "../random.ts";
import { type AccountPlan, allowed, HOUR, Provider } from "./provider.ts";

export type NightPlan = {
	seed: number;
	jobs: number;
	hours: number;
	maxConcurrent: number;
	accounts: readonly AccountPlan[];
	/** Tokens of one job, in all; each is drawn between them. */
	work: [number, number];
	/** Of one call. */
	call: { tokens: [number, number]; ms: [number, number] };
	/** Share of calls that meet a short 429. */
	throttled: number;
};

export type NightReport = {
	jobs: number;
	done: number;
	starts: number;
	/** Runs that ended at a limit, and in a short 429. */
	limited: number;
	throttled: number;
	/** Sessions that went on, and jobs that began afresh on another account. */
	resumed: number;
	afresh: number;
	accounts: { name: string; allowed: number; used: number }[];
	utilisation: number;
	/** Failures counted against jobs. */
	burned: number;
	/** Starts on an account before the time that the provider had named. */
	startedInHold: number;
	/** Starts whose account had nothing left to give, said or not. */
	startedInVain: number;
	/** Shortest time between two starts on one account from a reset to the first success after it; null when no two came so. */
	closestMs: number | null;
	/** Starts in the second after a reset, at most, on all accounts together. */
	mostAtReset: number;
	events: number;
};

type Agent = { claimed: Claimed; account: string; left: number; nextAt: number; session: string; calls: number };
/** What a provider has said of an account: when it is back, and its last start since then. Any success ends a short 429; a reset only one that began after it. */
type Return = { kind: "limited" | "throttled"; at: number; lastStart: number | null };

const START = Date.UTC(2026, 0, 14, 22, 0, 0);

export async function playNight(plan: NightPlan): Promise<NightReport> {
	const random = randomFrom(plan.seed);
	let now = START;
	const end = START + plan.hours * HOUR;
	const sluice = await openScheduler({
		path: ":memory:",
		drive: "manual",
		clock: { now: () => now, monotonic: () => now },
		chance: random.next,
		join: { name: "night" },
		config: {
			max_concurrent: plan.maxConcurrent,
			accounts: Object.fromEntries(plan.accounts.map(({ name }) => [name, {}])),
			lanes: { default: { accounts: plan.accounts.map(({ name }) => name) } },
		},
	});
	try {
		return await new Night(plan, sluice, random, end, () => now).play((at) => {
			now = at;
		});
	} finally {
		await sluice.close();
	}
}

class Night {
	private readonly provider: Provider;
	private readonly agents = new Map<number, Agent>();
	private readonly work = new Map<number, number>();
	/** What is left of a job whose session can go on. */
	private readonly sessions = new Map<string, number>();
	private readonly returns = new Map<string, Return>();
	private readonly startsAtReset = new Map<number, number>();
	private readonly ids: number[] = [];
	private readonly report: NightReport;

	constructor(
		private readonly plan: NightPlan,
		private readonly sluice: Scheduler,
		private readonly random: Random,
		private readonly end: number,
		private readonly now: () => number,
	) {
		this.provider = new Provider(plan.accounts, START, () => random.chance(plan.throttled));
		this.report = {
			jobs: plan.jobs,
			done: 0,
			starts: 0,
			limited: 0,
			throttled: 0,
			resumed: 0,
			afresh: 0,
			accounts: [],
			utilisation: 0,
			burned: 0,
			startedInHold: 0,
			startedInVain: 0,
			closestMs: null,
			mostAtReset: 0,
			events: 0,
		};
	}

	async play(advance: (at: number) => void): Promise<NightReport> {
		for (let n = 0; n < this.plan.jobs; n++) {
			const added = await this.sluice.add({ agent: "claude", prompt: `part ${n}` });
			if (added.outcome !== "queued") throw new Error(`job ${n} was not accepted`);
			this.ids.push(added.job.id);
			this.work.set(added.job.id, this.random.between(...this.plan.work));
		}
		for (;;) {
			await this.sluice.heartbeat("night");
			const wake = await this.sluice.tick();
			await this.startSome();
			const times = [...this.agents.values()].map(({ nextAt }) => nextAt);
			// A wake that has passed is an event that the claim has just used.
			if (wake !== null && wake > this.now()) times.push(wake);
			const again = await this.sluice.tick();
			if (again !== null && again > this.now()) times.push(again);
			const next = Math.min(...times);
			if (!Number.isFinite(next) || next > this.end) break;
			advance(next);
			this.report.events++;
			for (const agent of [...this.agents.values()]) if (agent.nextAt <= this.now()) await this.callOf(agent);
		}
		return this.sumUp();
	}

	private async startSome(): Promise<void> {
		const claimed = await this.sluice.claim({ worker: "night", host: "night", kinds: ["agent"], max: 1000 });
		for (const one of claimed) {
			const account = one.run.account as string;
			if ((this.returns.get(account)?.at ?? 0) > this.now()) this.report.startedInHold++;
			if (this.provider.isShut(account, this.plan.call.tokens[0], this.now())) this.report.startedInVain++;
			this.noteStart(account);
			this.report.starts++;
			const kept = one.job.session === undefined ? undefined : this.sessions.get(one.job.session);
			if (kept !== undefined) this.report.resumed++;
			else if (one.run.attempt > 1) this.report.afresh++;
			this.agents.set(one.job.id, {
				claimed: one,
				account,
				left: kept ?? (this.work.get(one.job.id) as number),
				nextAt: this.now() + this.random.between(...this.plan.call.ms),
				session: one.job.session ?? `session-${one.job.id}-${one.run.attempt}`,
				calls: 0,
			});
		}
	}

	private noteStart(account: string): void {
		const back = this.returns.get(account);
		if (!back) return;
		const now = this.now();
		if (back.lastStart !== null) this.report.closestMs = Math.min(this.report.closestMs ?? Number.POSITIVE_INFINITY, now - back.lastStart);
		back.lastStart = now;
		if (now >= back.at && now < back.at + 1000) this.startsAtReset.set(back.at, (this.startsAtReset.get(back.at) ?? 0) + 1);
	}

	private async callOf(agent: Agent): Promise<void> {
		const tokens = Math.min(agent.left, this.random.between(...this.plan.call.tokens));
		const reply = this.provider.call(agent.account, tokens, this.now());
		if (reply.ok) {
			agent.left -= tokens;
			agent.calls++;
			agent.nextAt = this.now() + this.random.between(...this.plan.call.ms);
			if (agent.left > 0) return;
			await this.finish(agent, { exit_kind: "completed", exit_code: 0, usage: { tokens: this.work.get(agent.claimed.job.id) as number } });
			this.report.done++;
			const back = this.returns.get(agent.account);
			if (back && (back.kind === "throttled" || agent.claimed.run.started_at >= back.at)) this.returns.delete(agent.account);
			return;
		}
		this.sessions.set(agent.session, agent.left);
		const { session } = agent;
		if (reply.kind === "limited") {
			this.report.limited++;
			await this.finish(agent, { exit_kind: "rate_limited", session, until: reply.until });
			this.returns.set(agent.account, { kind: reply.kind, at: reply.until, lastStart: null });
		} else {
			this.report.throttled++;
			await this.finish(agent, { exit_kind: "rate_limited", session, retry_after_ms: reply.retryAfterMs });
			const at = this.now() + reply.retryAfterMs;
			if ((this.returns.get(agent.account)?.at ?? 0) < at) this.returns.set(agent.account, { kind: reply.kind, at, lastStart: null });
		}
	}

	private async finish(agent: Agent, ending: Omit<RunEnd, "job" | "token">): Promise<void> {
		const { job, run } = agent.claimed;
		this.agents.delete(job.id);
		await this.sluice.complete({ job: job.id, token: run.token, ...ending });
	}

	private async sumUp(): Promise<NightReport> {
		const { report } = this;
		for (const id of this.ids) {
			const { failures = 0, dispatch_failures = 0 } = await this.sluice.show(id);
			report.burned += failures + dispatch_failures;
		}
		const { call, maxConcurrent } = this.plan;
		const mean = ([low, high]: [number, number]) => (low + high) / 2;
		const perMs = (maxConcurrent * mean(call.tokens)) / mean(call.ms);
		report.accounts = this.plan.accounts.map((one) => ({
			name: one.name,
			allowed: allowed(one, START, this.end, perMs),
			used: this.provider.used(one.name),
		}));
		const total = (of: "allowed" | "used") => report.accounts.reduce((sum, one) => sum + one[of], 0);
		report.utilisation = total("used") / total("allowed");
		report.mostAtReset = Math.max(0, ...this.startsAtReset.values());
		return report;
	}
}

const MILLION = 1_000_000;

/** 200 jobs from ten in the evening to six, six at a time. Two accounts reset at the same moment; the third one's week ends in the middle of the night. */
export const NIGHT: Omit<NightPlan, "seed"> = {
	jobs: 200,
	hours: 8,
	maxConcurrent: 6,
	accounts: [
		{ name: "first", hourly: 1.5 * MILLION, weekly: 60 * MILLION, offsetMs: 0, skewMs: 3_000 },
		{ name: "second", hourly: 1.5 * MILLION, weekly: 60 * MILLION, offsetMs: 0, skewMs: -3_000 },
		{ name: "third", hourly: 1.5 * MILLION, weekly: 6 * MILLION, offsetMs: HOUR / 2, skewMs: 0 },
	],
	work: [60_000, 240_000],
	call: { tokens: [4_000, 16_000], ms: [20_000, 60_000] },
	throttled: 0.003,
};
