// What the library of a process in a fleet stands on. While the process leads, its calls go to its own engine; otherwise they are requests to the leader, and
// reads are snapshots of the database. Which of both holds can change at any moment; callers do not notice.

import type { Clock, Host } from "../contracts/host.ts";
import type { Log } from "../contracts/log.ts";
import type { Claimed } from "../contracts/scheduler.ts";
import { type Op, TermOver } from "../contracts/store.ts";
import { messageOf } from "../core/errors.ts";
import { isProbed } from "../core/fact.ts";
import type { HostState } from "../core/fleet.ts";
import {
	type ArgumentsOf,
	argumentsFrom,
	type CallOptions,
	type Core,
	engineCore,
	type Given,
	type OperationName,
	type ResultOf,
} from "../scheduler/operations/core.ts";
import { Engine, type EngineOptions, type Task } from "../scheduler/transaction/group-commit.ts";
import { answer, type Settlement } from "../scheduler/transaction/pending.ts";
import { storedRecords } from "../scheduler/transaction/record-map.ts";
import type { HighestIds } from "../scheduler/transaction/restored.ts";
import { AnnouncedClaims } from "./announced.ts";
import type { FleetDatabase, FleetTime, Polled } from "./database.ts";
import { Member } from "./member.ts";
import { type Ending, Term } from "./term.ts";

/** How often a process that may lead looks whether it can. */
const CANDIDATE_MS = 500;
/** How long a leader that has handed over leaves the lead to others. */
const HANDED_OVER_MS = 5_000;
/** How often a member polls, and for so many hosts reads what others have committed: with more hosts it reads more rarely. */
const FOLLOW_MS = 250;
/** Hosts whose claims stand poll the more rarely, the more there are: together at most 1,000 times a second, up to 250 hosts. Few hosts are notified as well. */
const REST_MS_PER_HOST = 1;
const LEAST_REST_MS = 50;
const HOSTS_PER_READ = 20;

/** How often a member reads which facts the leader wants to be probed. */
const FACTS_MS = 5_000;

const NOTHING_COMMITTED: Parameters<Core["onCommit"]>[0] = {
	stirred: false,
	probes: new Set(),
	doubted: new Set(),
	events: [],
	heard: [],
	asks: new Map(),
	more: false,
	due: undefined,
};

export const restMs = (hosts: number): number => Math.min(FOLLOW_MS, Math.max(LEAST_REST_MS, hosts * REST_MS_PER_HOST));

export type FleetParts = Pick<EngineOptions, "chance" | "by" | "config"> & {
	database: FleetDatabase;
	clock: Clock;
	host: Host;
	time: FleetTime;
	lead: "prefer" | "may" | "never";
	hostName: string;
	staleAfterMs(): number;
	log?: Pick<Log, "error"> | undefined;
	/** How long a caller waits for the leader. */
	patienceMs?: (() => number) | undefined;
};

/** What a member does not have to keep up. */
const NOTHING_DUE = { wake: null, more: false };

/** What a leader whose term has just ended does as a member. */
const unlessOver =
	<T>(asMember: () => Promise<T>) =>
	(error: unknown): Promise<T> => {
		if (error instanceof TermOver) return asMember();
		throw error;
	};

export class FleetCore implements Core {
	onCommit: Core["onCommit"] = () => {};
	private term: Term | undefined;
	private lastTerm: Term | undefined;
	private readonly snapshotEngine: Engine;
	private electing: Promise<void> | undefined;
	private readonly member: Member;
	private readonly snapshots: Core;
	private readonly announced: AnnouncedClaims;
	private readonly stopHearing: () => void;
	private cancelCandidate = () => {};
	private cancelFollow = () => {};
	private candidateFrom = 0;
	/** The last snapshot that was read to follow other processes. */
	private refreshed = { txn: -1, assigned: -1, at: 0 };
	private refreshing: Promise<unknown> | undefined;
	private factsAt = 0;
	/** What this member has reported of facts, by key, as JSON. */
	private readonly observed = new Map<string, string>();
	private hosts = 1;
	private closed = false;

	private constructor(private readonly parts: FleetParts) {
		const { database, clock, time } = parts;
		this.snapshotEngine = new Engine({ ...parts, store: database.snapshots, upkeep: "skip" });
		this.snapshotEngine.onCommit = (summary) => {
			if (!this.term) this.onCommit(summary);
		};
		this.snapshots = engineCore(this.snapshotEngine);
		this.member = new Member({
			post: database.post,
			time,
			onPolled: (polled) => this.onPolled(polled),
			restMs: () => restMs(this.hosts),
			patienceMs: parts.patienceMs,
		});
		this.announced = new AnnouncedClaims({
			announce: (claim, until, done) => this.announce(claim, until, done),
			now: () => clock.now(),
			wake: () => this.wake(),
		});
		this.stopHearing = database.hear((to) => this.heed(to));
	}

	static async open(parts: FleetParts): Promise<FleetCore> {
		const core = new FleetCore(parts);
		try {
			// A process that cannot lead is a member all the same, if another one leads.
			await core.elect().catch(async (error) => {
				if (!(await parts.database.isLed())) throw error;
			});
		} catch (error) {
			await core.close();
			throw error;
		}
		core.beCandidate();
		core.follow();
		return core;
	}

	async call<N extends OperationName>(name: N, given: Given<N>, { by }: CallOptions = {}): Promise<ResultOf<N>> {
		if (name === "beat" && !this.term) {
			const direct = await this.beatDirectly(argumentsFrom(given) as ArgumentsOf<"beat">);
			if (direct) return direct as ResultOf<N>;
		}
		const { term } = this;
		if (term) {
			const result = await term.call(name, given, by);
			if (result !== "not done") return result;
		}
		if (name !== "observe") return this.request(name, given, by);
		const changed = this.unreported(argumentsFrom(given) as ArgumentsOf<"observe">);
		if (!changed) return false as ResultOf<N>;
		return this.request(name, changed as Given<N>, by).catch((error) => {
			for (const key of Object.keys(changed.facts)) this.observed.delete(key);
			throw error;
		});
	}

	/** Facts that a member has not reported yet, as they are now: its loop probes all that it watches again and again. */
	private unreported({ facts, ...rest }: ArgumentsOf<"observe">): ArgumentsOf<"observe"> | undefined {
		const fresh = Object.entries(facts).filter(([key, value]) => this.observed.get(key) !== JSON.stringify(value));
		for (const [key, value] of fresh) this.observed.set(key, JSON.stringify(value));
		return fresh.length > 0 ? { ...rest, facts: Object.fromEntries(fresh) } : undefined;
	}

	async look<T>(task: Task<T>, options?: { jobs?: readonly number[] }): Promise<T> {
		const { term } = this;
		const read = () => this.snapshots.look(task, options);
		return term ? term.core.look(task, options).catch(unlessOver(read)) : read();
	}

	/** Also of a leader on its snapshot: nothing of a dry run is kept, so no other call has to wait for it. */
	dryRun = <N extends OperationName>(name: N, given: Given<N>): Promise<ResultOf<N>> => this.snapshots.dryRun(name, given);

	holdClaims(): () => void {
		return this.term?.core.holdClaims() ?? (() => {});
	}

	async keepUp(): Promise<{ wake: number | null; more: boolean }> {
		const { term } = this;
		if (term) return term.keepUp().catch(unlessOver(async () => NOTHING_DUE));
		await this.elect();
		if (!this.term) await this.member.poll().catch(() => {});
		return NOTHING_DUE;
	}

	lastHeard = (): number | undefined => (this.term ? undefined : (this.snapshotEngine.highest?.seq ?? 0));

	leads = async (): Promise<boolean> => this.term !== undefined;

	/** A claim that stands at the leader if nothing can start now. */
	claimStanding = async (claim: ArgumentsOf<"claim">): Promise<Claimed[]> => this.announced.claim(claim);

	retire = (worker: string): Promise<Claimed[]> => this.announced.retire(worker);

	async close(): Promise<void> {
		if (this.closed) return;
		this.closed = true;
		this.cancelCandidate();
		this.cancelFollow();
		this.stopHearing();
		await this.electing?.catch(() => {});
		await this.member.close();
		await this.term?.end().catch(() => {});
		this.term = undefined;
		await this.refreshing?.catch(() => {});
		await this.snapshots.close();
		await this.parts.database.close();
	}

	private request<N extends OperationName>(name: string, given: Given<N>, by: string | undefined): Promise<ResultOf<N>> {
		const args = JSON.stringify(argumentsFrom(given)) ?? "null";
		return new Promise((resolve, reject) => {
			this.member.send({ name, args, by }, (outcome) => {
				if ("error" in outcome) reject(outcome.error);
				else resolve(outcome.value as ResultOf<N>);
			});
		});
	}

	private announce(claim: ArgumentsOf<"claim">, until: number, done: (outcome: Settlement) => void): () => Promise<void> {
		const { term } = this;
		if (term) return term.stand(claim, until, done);
		return this.member.send({ name: "claim", args: JSON.stringify(claim), by: undefined, until }, done);
	}

	/** A host renews its lease itself, with or without a leader. Undefined: that life is over, which the leader has to judge. */
	private async beatDirectly({ host, life }: ArgumentsOf<"beat">): Promise<ResultOf<"beat"> | undefined> {
		if (life === undefined || !(await this.parts.database.post.beat(host, life))) return undefined;
		// The leader hears of the heartbeat later; for the host its lease is renewed now.
		const state = await this.snapshots.look((tx) => answer<HostState>(tx.memory.hosts.get(host)?.drain ? "draining" : "live"));
		return { state, lost: false, life };
	}

	private async wasCommitted(epoch: number, txn: number): Promise<boolean> {
		for (;;) {
			try {
				return await this.parts.database.wasCommitted(epoch, txn);
			} catch (error) {
				if (this.closed) throw error;
				await new Promise<void>((resolve) => void this.parts.time.after(CANDIDATE_MS, resolve, "hold"));
			}
		}
	}

	private heed(to: "leader" | "member"): void {
		if (this.closed) return;
		if (to === "leader") this.term?.nudge();
		else if (!this.term) this.member.nudge();
	}

	private wake(): void {
		this.onCommit({
			stirred: true,
			probes: new Set(),
			doubted: new Set(),
			events: [],
			heard: [],
			asks: new Map(),
			more: false,
			due: undefined,
		});
	}

	private beCandidate(): void {
		if (this.closed || this.parts.lead === "never") return;
		this.cancelCandidate = this.parts.time.after(CANDIDATE_MS, () => {
			void this.elect()
				.catch(() => {})
				.finally(() => this.beCandidate());
		});
	}

	private elect(): Promise<void> {
		const { lead, time } = this.parts;
		if (this.term || this.closed || lead === "never" || time.monotonic() < this.candidateFrom) return Promise.resolve();
		this.electing ??= this.tryToLead().finally(() => {
			this.electing = undefined;
		});
		return this.electing;
	}

	private async tryToLead(): Promise<void> {
		const { database, log } = this.parts;
		const leadership = await database.lead();
		if (!leadership) return;
		let term: Term | undefined;
		const onOver = (why: Ending) => {
			if (why === "handed over") this.candidateFrom = this.parts.time.monotonic() + HANDED_OVER_MS;
			else if (why !== "closed") log?.error("this host does not lead any more", { error: messageOf(why) });
			if (this.term === term) this.term = undefined;
			this.observed.clear();
			this.lastTerm = term ?? this.lastTerm;
			void term?.end().catch(() => {});
		};
		const wasCommitted = (epoch: number, txn: number) => this.wasCommitted(epoch, txn);
		const seen = this.highest();
		try {
			term = await Term.begin({ ...this.parts, seen, leadership, wasCommitted, onOver });
		} catch (error) {
			// Otherwise it would make other leaders hand over again and again.
			if (this.parts.lead === "prefer") this.candidateFrom = this.parts.time.monotonic() + HANDED_OVER_MS;
			await Promise.resolve(leadership.store.close()).catch(() => {});
			throw error;
		}
		const begun = term;
		if (begun.isOver()) return begun.end();
		begun.engine.onCommit = (summary) => {
			begun.committed(summary.events);
			this.onCommit(summary);
		};
		this.term = begun;
		// What is due, and the facts that are asked for, are now this process's to look after.
		const asked = new Set<string>();
		await begun.core.look(() => askedFacts(asked)).catch(() => {});
		this.onCommit({ ...NOTHING_COMMITTED, stirred: true, more: true, probes: asked });
	}

	/** The highest numbers that this process has seen: a database that was restored may have lower ones. */
	private highest(): HighestIds | undefined {
		const [one, other] = [this.lastTerm?.engine.highest, this.snapshotEngine.highest];
		return one && other ? (one.seq > other.seq ? one : other) : (one ?? other);
	}

	private follow(): void {
		if (this.closed) return;
		this.cancelFollow = this.parts.time.after(FOLLOW_MS, () => {
			const polling = this.term || this.member.isWaiting ? Promise.resolve() : this.member.poll();
			void polling.catch(() => {}).finally(() => this.follow());
		});
	}

	/** Reads what others have committed: at once if an assignment of this host changed, otherwise the more rarely, the more hosts do so. */
	private onPolled({ txn, assigned }: Polled): void {
		if (this.term || this.closed || this.refreshing || txn === this.refreshed.txn) return;
		const now = this.parts.time.monotonic();
		const isAssigned = assigned !== this.refreshed.assigned;
		if (!isAssigned && now < this.refreshed.at + FOLLOW_MS * (this.hosts / HOSTS_PER_READ)) return;
		this.refreshed = { txn, assigned, at: now };
		this.refreshing = this.refresh(now, isAssigned)
			.catch(() => {
				this.refreshed.txn = -1;
			})
			.finally(() => {
				this.refreshing = undefined;
			});
	}

	private async refresh(now: number, isAssigned: boolean): Promise<void> {
		const withFacts = now >= this.factsAt;
		if (withFacts) this.factsAt = now + FACTS_MS;
		const asked = new Set<string>();
		await this.snapshots.look((tx) => {
			this.hosts = tx.memory.hosts.size;
			return withFacts ? askedFacts(asked) : answer(undefined);
		});
		for (const key of asked) this.observed.delete(key);
		if (asked.size > 0 || isAssigned) this.onCommit({ ...NOTHING_COMMITTED, probes: asked, ...(isAssigned ? { compare: true } : {}) });
	}
}

/** Facts that no host has answered yet: this one may know them. */
function* askedFacts(keys: Set<string>): Op<void> {
	for (const [key, { asked }] of yield* storedRecords("fact")) if (asked && isProbed(key)) keys.add(key);
}
