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
import { OPERATIONS } from "../scheduler/operations/index.ts";
import { Engine, type EngineOptions, type Task } from "../scheduler/transaction/group-commit.ts";
import { NOTHING_COMMITTED } from "../scheduler/transaction/outcomes.ts";
import { answer, type Settlement } from "../scheduler/transaction/pending.ts";
import { storedRecords } from "../scheduler/transaction/record-map.ts";
import type { HighestIds } from "../scheduler/transaction/restored.ts";
import type { Tx } from "../scheduler/transaction/tx.ts";
import { AnnouncedClaims } from "./announced.ts";
import type { FleetDatabase, FleetTime, Leadership, Polled } from "./database.ts";
import { Member } from "./member.ts";
import { DRY_RUN } from "./messages.ts";
import { type Ending, Term } from "./term.ts";

/** How often a process that may lead looks whether it can. */
const CANDIDATE_MS = 500;
/** How long a leader that has handed over leaves the lead to others. */
const HANDED_OVER_MS = 5_000;
/** How often a member that has no request under way polls, and for so many hosts reads what others have committed: with more hosts it reads more rarely. */
const FOLLOW_MS = 250;
/** Hosts that wait for no reply poll the more rarely, the more there are: up to 500 hosts together 1,000 times a second. Few hosts are notified as well. */
const REST_MS_PER_HOST = 1;
const LEAST_REST_MS = 50;
const MOST_REST_MS = 500;
const HOSTS_PER_READ = 20;

/** How often a member reads which facts the leader wants to be probed. */
const FACTS_MS = 5_000;

export const restMs = (hosts: number): number => Math.min(MOST_REST_MS, Math.max(LEAST_REST_MS, hosts * REST_MS_PER_HOST));

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

/** Operations whose caller does not wait for the reply. */
const UNHURRIED = ["started"];

export class FleetCore implements Core {
	onCommit: Core["onCommit"] = () => {};
	private term: Term | undefined;
	private electing: Promise<void> | undefined;
	private candidateFrom = 0;
	/** The highest numbers that terms of this process have seen. */
	private seen: HighestIds | undefined;
	private readonly snapshotEngine: Engine;
	private readonly snapshots: Core;
	private readonly member: Member;
	private readonly announced: AnnouncedClaims;
	private readonly stopHearing: () => void;
	private cancelTimer = () => {};
	/** The last snapshot that was read to follow other processes. */
	private refreshed = { txn: -1, assigned: -1, at: 0 };
	private refreshing: Promise<unknown> | undefined;
	private factsAt = 0;
	private hosts = 1;
	private closed = false;

	private constructor(private readonly parts: FleetParts) {
		const { database, clock, time, patienceMs } = parts;
		this.snapshotEngine = new Engine({ ...parts, store: database.snapshots, upkeep: "skip" });
		this.snapshotEngine.onCommit = (summary) => {
			if (!this.term) this.onCommit(summary);
		};
		this.snapshots = engineCore(this.snapshotEngine);
		this.member = new Member({
			...{ post: database.post, time, patienceMs },
			onPolled: (polled) => this.onPolled(polled),
			restMs: () => restMs(this.hosts),
		});
		this.announced = new AnnouncedClaims({
			announce: (claim, until, done) => this.announce(claim, until, done),
			now: () => clock.now(),
			wake: () => this.onCommit({ ...NOTHING_COMMITTED, stirred: true }),
		});
		this.stopHearing = database.hear((to) => {
			if (to === "leader") this.term?.nudge();
			else if (!this.term) this.member.nudge();
		});
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
		core.schedule();
		return core;
	}

	async call<N extends OperationName>(name: N, given: Given<N>, { by }: CallOptions = {}): Promise<ResultOf<N>> {
		const result = this.term ? await this.term.call(name, given, by) : await this.withoutLeader(name, given);
		return result === "not done" ? this.request(name, given, by) : result;
	}

	private request<N extends OperationName>(name: string, given: Given<N>, by?: string): Promise<ResultOf<N>> {
		const args = JSON.stringify(argumentsFrom(given)) ?? "null";
		return new Promise((resolve, reject) => {
			this.member.send({ name, args, by, unhurried: UNHURRIED.includes(name) }, (outcome) => {
				if ("error" in outcome) reject(outcome.error);
				else resolve(outcome.value as ResultOf<N>);
			});
		});
	}

	/** What a member can do without the leader. */
	private async withoutLeader<N extends OperationName>(name: N, given: Given<N>): Promise<ResultOf<N> | "not done"> {
		if (name === "beat") return (await this.beat(argumentsFrom(given) as ArgumentsOf<"beat">)) as ResultOf<N> | "not done";
		if (name !== "observe") return "not done";
		// The library's loop probes all facts that it watches again and again; mostly they are as the store has them.
		const isNews = await this.snapshotEngine.dryRun((tx) => wouldChange(tx, argumentsFrom(given) as ArgumentsOf<"observe">));
		return isNews ? "not done" : (false as ResultOf<N>);
	}

	/** A host renews its lease itself, with or without a leader. "not done": that life is over, which the leader has to judge. */
	private async beat({ host, life }: ArgumentsOf<"beat">): Promise<ResultOf<"beat"> | "not done"> {
		if (life === undefined || !(await this.parts.database.post.beat(host, life))) return "not done";
		// The leader hears of the heartbeat later; for the host its lease is renewed now.
		const state = await this.snapshots.look((tx) => answer<HostState>(tx.memory.hosts.get(host)?.drain ? "draining" : "live"));
		return { state, lost: false, life };
	}

	async look<T>(task: Task<T>, options?: { jobs?: readonly number[] }): Promise<T> {
		return this.unlessOver(
			() => this.term?.core.look(task, options),
			() => this.snapshots.look(task, options),
		);
	}

	/** The leader carries it out: planning writes what it starts and reads behind it, which a snapshot cannot. */
	dryRun<N extends OperationName>(name: N, given: Given<N>): Promise<ResultOf<N>> {
		return this.unlessOver(
			() => this.term?.core.dryRun(name, given),
			() => this.request(`${DRY_RUN}${name}`, given),
		);
	}

	holdClaims(): () => void {
		return this.term?.core.holdClaims() ?? (() => {});
	}

	keepUp(): ReturnType<Core["keepUp"]> {
		return this.unlessOver(
			() => this.term?.keepUp(),
			async () => {
				await this.elect();
				if (!this.term) await this.member.poll().catch(() => {});
				return { wake: null, more: false };
			},
		);
	}

	/** Does it as the leader; as a member if this process does not lead, or if its term ends meanwhile. */
	private async unlessOver<T>(asLeader: () => Promise<T> | undefined, asMember: () => Promise<T>): Promise<T> {
		try {
			return await (asLeader() ?? asMember());
		} catch (error) {
			if (error instanceof TermOver) return asMember();
			throw error;
		}
	}

	lastHeard = (): number | undefined => (this.term ? undefined : (this.snapshotEngine.highest?.seq ?? 0));

	leads = async (): Promise<boolean> => this.term !== undefined;

	/** A claim that stands at the leader if nothing can start now. */
	claimStanding = async (claim: ArgumentsOf<"claim">): Promise<Claimed[]> => this.announced.claim(claim);

	retire = (worker: string): Promise<Claimed[]> => this.announced.retire(worker);

	async close(): Promise<void> {
		if (this.closed) return;
		this.closed = true;
		this.cancelTimer();
		this.stopHearing();
		await this.electing?.catch(() => {});
		await this.member.close();
		await this.term?.end().catch(() => {});
		this.term = undefined;
		await this.refreshing?.catch(() => {});
		await this.snapshots.close();
		await this.parts.database.close();
	}

	private announce(claim: ArgumentsOf<"claim">, until: number, done: (outcome: Settlement) => void): () => Promise<void> {
		const { term } = this;
		if (term) return term.stand(claim, until, done);
		return this.member.send({ name: "claim", args: JSON.stringify(claim), by: undefined, until }, done);
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

	/** A process that does not lead tries to, and polls unless it does so for its calls. */
	private schedule(): void {
		if (this.closed) return;
		this.cancelTimer = this.parts.time.after(FOLLOW_MS, () => {
			void this.elect().catch(() => {});
			const polling = this.term || this.member.isWaiting ? undefined : this.member.poll().catch(() => {});
			void Promise.resolve(polling).finally(() => this.schedule());
		});
	}

	private async elect(): Promise<void> {
		const { lead, time, database } = this.parts;
		const now = time.monotonic();
		if (this.electing !== undefined) return this.electing;
		if (this.term || this.closed || lead === "never" || now < this.candidateFrom) return;
		this.candidateFrom = now + CANDIDATE_MS;
		this.electing = database
			.lead()
			.then((leadership) => leadership && this.lead(leadership))
			.finally(() => {
				this.electing = undefined;
			});
		await this.electing;
	}

	private async lead(leadership: Leadership): Promise<void> {
		const { time, log } = this.parts;
		let term: Term | undefined;
		const onOver = (why: Ending) => {
			if (why === "handed over") this.candidateFrom = time.monotonic() + HANDED_OVER_MS;
			else if (why !== "closed") log?.error("this host does not lead any more", { error: messageOf(why) });
			if (this.term === term) this.term = undefined;
			this.seen = term?.engine.highest ?? this.seen;
			void term?.end().catch(() => {});
		};
		const wasCommitted = (epoch: number, txn: number) => this.wasCommitted(epoch, txn);
		try {
			term = await Term.begin({ ...this.parts, seen: this.highest(), leadership, wasCommitted, onOver });
		} catch (error) {
			// Otherwise it would make other leaders hand over again and again.
			if (this.parts.lead === "prefer") this.candidateFrom = time.monotonic() + HANDED_OVER_MS;
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
		const { seen } = this;
		const { highest } = this.snapshotEngine;
		return seen && highest ? (seen.seq > highest.seq ? seen : highest) : (seen ?? highest);
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
		if (asked.size > 0 || isAssigned) this.onCommit({ ...NOTHING_COMMITTED, probes: asked, ...(isAssigned ? { compare: true } : {}) });
	}
}

/** Facts that no host has answered yet: this one may know them. */
function* askedFacts(keys: Set<string>): Op<void> {
	for (const [key, { asked }] of yield* storedRecords("fact")) if (asked && isProbed(key)) keys.add(key);
}

/** Whether the store has other facts than these, for a dry run. */
function* wouldChange(tx: Tx, seen: ArgumentsOf<"observe">): Op<boolean> {
	const before = tx.mutations;
	yield* OPERATIONS.observe.run(tx, seen);
	return tx.mutations !== before;
}
