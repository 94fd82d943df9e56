// The database of a simulated fleet: scheduling state in a SQLite file, messages in memory, both committed at the same moment. Statements take their time; they and
// their answers get lost, inserts arrive late and twice, sessions are cut, and the database may be away for a while.

import {
	type Begun,
	type Changes,
	type Intent,
	type Replies,
	StaleTransaction,
	type Store,
	type StoreRead,
	TermOver,
} from "../../src/contracts/store.ts";
import { SluiceError } from "../../src/core/errors.ts";
import {
	type ConsumedOf,
	type FleetDatabase,
	type Heartbeat,
	type LeaderStore,
	type Leadership,
	type Mail,
	type Outgoing,
	type Polled,
	type Post,
	type Reply,
	type Request,
	type RequestId,
	Unreachable,
} from "../../src/fleet/database.ts";
import { openSqlite } from "../../src/stores/sqlite/store.ts";
import type { Random } from "../random.ts";
import type { EventQueue } from "./event-queue.ts";

const keyOf = ({ member, n }: RequestId) => `${member}/${n}`;

/** What goes wrong with a statement: it never arrives, its answer is lost, it arrives after its sender has seen an error, or it arrives twice. */
export type Mishap = "lost before" | "lost after" | "late" | "twice";

/** How long a statement or an answer is under way at most, and how much later a late one arrives. */
const WAY_MS = 4;
const LATE_MS = 20_000;
/** A transaction that is refused more often than this is not refused for a reason that passes. */
const RETRIES = 50;
/** How often a notification gets lost. */
const UNHEARD = 0.2;

type FleetParts = {
	path: string;
	/** The database's clock. */
	now(): number;
	queue: EventQueue;
	random: Random;
	/** Counts what was met. */
	mark(name: string): void;
};

/** The database that all processes of one simulated run share. */
export class SimulatedFleet {
	readonly requests = new Map<string, Request>();
	readonly replies = new Map<string, Reply & { member: string }>();
	readonly consumed = new Map<string, ConsumedOf>();
	readonly heartbeats = new Map<string, Heartbeat>();
	readonly assigned = new Map<string, number>();
	/** Transaction T of epoch E was committed if the next term's `first` is at least T. */
	readonly terms: { epoch: number; first: number }[] = [];
	epoch = 0;
	txn = 0;
	/** The session that holds the lead. */
	leader: SimulatedLeaderStore | undefined;
	readonly processes = new Set<SimulatedDatabase>();
	/** Terms whose first transaction was committed since this was last taken. */
	begun = 0;
	/** Statements that will still arrive, though their senders do not wait for them any more. */
	underWay = 0;
	/** The next insert of this member is a request that ends every leader that is about to commit it; below, those that were inserted. */
	poisons: string | undefined;
	readonly poison = new Set<string>();
	/** Why the fleet cannot go on. */
	broken: string | undefined;
	/** The leader is to hand over to a candidate that speaks later messages. */
	hasSuccessor = false;
	private awayUntil = Number.NEGATIVE_INFINITY;
	/** While it is away, processes know that their statements do not leave; otherwise these vanish. */
	isUnreachable = false;

	constructor(readonly parts: FleetParts) {}

	get isAway(): boolean {
		return this.parts.queue.now < this.awayUntil;
	}

	/** Loses all sessions; nothing can be reached for so long. */
	goAway(ms: number): void {
		this.parts.mark("away");
		this.awayUntil = this.parts.queue.now + ms;
		this.isUnreachable = this.parts.random.chance(0.5);
		this.leader = undefined;
	}

	/** The leader's session ends, and the leader does not know. */
	cut(): void {
		this.leader = undefined;
	}

	/** Requests that a leader still has to decide. */
	get hasWork(): boolean {
		return (
			this.underWay > 0 ||
			[...this.requests.values()].some(({ withdrawn, until, tries }) => !withdrawn && until === null && tries < SET_ASIDE)
		);
	}

	/** Later, or never: the leader looks for requests, members for replies. */
	notify(to: "leader" | "member"): void {
		const { queue, random } = this.parts;
		for (const process of this.processes)
			if (!random.chance(UNHEARD)) queue.after(random.int(WAY_MS), () => process.heard(to), process.process.isAlive);
	}
}

/** The mark of a request that was set aside: its row stays, and no leader reads it. */
const SET_ASIDE = 100;

export type SimulatedProcess = {
	member: string;
	host: string;
	isAlive: () => boolean;
	/** False: it stays a member, though it could lead. */
	mayLead: boolean;
	/** Called at each step: throws if the process is dead, or dies here; or says what goes wrong with the statement. */
	meet: (point: string, database: SimulatedDatabase) => Mishap | undefined;
	die: (of: string) => never;
};

export class SimulatedDatabase implements FleetDatabase {
	readonly member: string;
	readonly post: Post;
	readonly snapshots: Store;
	private readonly hearers = new Set<(to: "leader" | "member") => void>();

	constructor(
		readonly fleet: SimulatedFleet,
		readonly process: SimulatedProcess,
	) {
		this.member = process.member;
		this.snapshots = this.openSnapshots();
		fleet.processes.add(this);
		this.post = {
			send: (requests, collected) => this.statement("send", () => this.insert(requests, collected)),
			withdraw: (request) => this.statement("withdraw", () => this.withdraw(request)),
			poll: (collected) => this.statement("poll", () => this.poll(collected)),
			beat: (host, life) => this.statement("beat", () => this.beat(host, life)),
		};
	}

	get leads(): boolean {
		return this.fleet.leader?.database === this;
	}

	now(): number {
		return this.fleet.parts.now();
	}

	heard(to: "leader" | "member"): void {
		for (const call of this.hearers) call(to);
	}

	hear(call: (to: "leader" | "member") => void): () => void {
		this.hearers.add(call);
		return () => this.hearers.delete(call);
	}

	lead(): Promise<Leadership | undefined> {
		const { fleet } = this;
		let session: SimulatedLeaderStore | undefined;
		return this.statement("lead", () => {
			if (fleet.leader || !this.process.mayLead) return undefined;
			fleet.epoch++;
			fleet.terms.push({ epoch: fleet.epoch, first: fleet.txn });
			session = new SimulatedLeaderStore(this, fleet.epoch);
			fleet.leader = session;
			return { epoch: fleet.epoch, store: session };
		}).catch(async (error) => {
			// The answer was lost with the session.
			await session?.close();
			throw error;
		});
	}

	async isLed(): Promise<boolean> {
		return this.fleet.leader !== undefined;
	}

	wasCommitted(epoch: number, txn: number): Promise<boolean> {
		return this.statement("term", () => {
			const next = this.fleet.terms.find((term) => term.epoch > epoch);
			if (!next) throw new Error("the commit is not decided before another term begins");
			this.fleet.parts.mark(next.first >= txn ? "doubt-done" : "doubt-undone");
			return next.first >= txn;
		});
	}

	/** The process is gone, with its sessions. */
	drop(): void {
		if (this.leads) this.fleet.leader = undefined;
		this.fleet.processes.delete(this);
		this.hearers.clear();
	}

	async close(): Promise<void> {
		this.drop();
	}

	/** One statement outside of the leader's transactions, with what may go wrong on its way. A process that dies here hears nothing any more. */
	async statement<T>(name: string, run: () => T): Promise<T> {
		const { fleet } = this;
		const mishap = this.meet(name);
		await this.way();
		this.meet("");
		if (fleet.isAway) throw fleet.isUnreachable ? new Unreachable("the database is away") : lost(name);
		if (mishap === "late") this.arriveLate(run);
		if (mishap === "late" || mishap === "lost before") throw lost(name);
		if (mishap === "twice") this.arriveLate(run);
		const result = run();
		await this.way();
		this.meet("");
		if (mishap === "lost after") throw lost(`the answer to ${name}`);
		return result;
	}

	private meet(point: string): Mishap | undefined {
		return this.process.meet(point, this);
	}

	/** A statement of a process that is dead by then arrives all the same. */
	private arriveLate(run: () => unknown): void {
		const { fleet } = this;
		const { queue, random } = fleet.parts;
		fleet.underWay++;
		queue.after(random.int(random.chance(0.5) ? 50 : LATE_MS), () => {
			fleet.underWay--;
			// Sometimes the next leader is the first to see it.
			if (random.chance(0.5)) fleet.cut();
			run();
		});
	}

	private way(): Promise<void> {
		const { queue, random } = this.fleet.parts;
		return new Promise((resolve) => void queue.after(random.int(WAY_MS), resolve, this.process.isAlive));
	}

	private insert(requests: readonly Outgoing[], collected: readonly number[]): void {
		const { fleet, member } = this;
		for (const n of collected) fleet.replies.delete(keyOf({ member, n }));
		for (const one of requests) {
			const row: Request = { ...one, member, tries: 0 };
			const key = keyOf(row);
			if (isConsumed(fleet.consumed.get(member), one.n)) fleet.parts.mark("sent-after-consumed");
			else if (fleet.requests.has(key)) fleet.parts.mark(fleet.requests.get(key)?.withdrawn ? "sent-after-withdrawn" : "sent-twice");
			if (!fleet.requests.has(key)) fleet.requests.set(key, row);
			if (fleet.poisons === member) fleet.poison.add(key);
		}
		fleet.poisons = undefined;
		fleet.notify("leader");
	}

	private withdraw(request: Outgoing): void {
		const { fleet, member } = this;
		const row: Request = { ...request, member, tries: 0 };
		const there = fleet.requests.get(keyOf(row));
		if (isConsumed(fleet.consumed.get(member), request.n)) fleet.parts.mark("withdrawn-after-consumed");
		else fleet.parts.mark(there ? "withdrawn" : "withdrawn-before-sent");
		fleet.requests.set(keyOf(row), { ...(there ?? row), withdrawn: true });
	}

	private poll(collected: readonly number[]): Polled {
		const { replies, assigned, txn } = this.fleet;
		const mine = [...replies.values()].filter(({ member, n }) => member === this.member && !collected.includes(n));
		return { replies: mine.map(({ n, failed, body }) => ({ n, failed, body })), assigned: assigned.get(this.process.host) ?? 0, txn };
	}

	private beat(host: string, life: number): boolean {
		const row = this.fleet.heartbeats.get(host);
		if (row && !row.open && row.life === life) this.fleet.parts.mark("beat-after-closed");
		if (!row?.open || row.life !== life) return false;
		row.at = Math.max(row.at, this.now());
		return true;
	}

	/** What this process reads for itself. */
	private openSnapshots(): Store {
		const store = openSqlite(this.fleet.parts.path, {});
		const reachable = () => {
			if (this.fleet.isAway) throw new SluiceError("store", "the database is away", { hint: "try again" });
		};
		return {
			...store,
			begin: async (_intent?: Intent) => {
				this.meet("snapshot");
				await this.way();
				reachable();
				return store.begin("look");
			},
		};
	}
}

const lost = (what: string) => new Error(`${what} was lost`);
const isConsumed = (of: ConsumedOf | undefined, n: number) => of !== undefined && (n <= of.floor || of.above.includes(n));

/** The session of a leader, and its store. */
export class SimulatedLeaderStore implements LeaderStore {
	private readonly store: Store;
	private over: TermOver | undefined;
	private hasWritten = false;
	private isFresh = false;
	private hasBegun = false;
	/** So many commits in a row were refused. */
	private refused = 0;

	constructor(
		readonly database: SimulatedDatabase,
		private readonly epoch: number,
	) {
		this.store = openSqlite(database.fleet.parts.path, {});
	}

	private get fleet(): SimulatedFleet {
		return this.database.fleet;
	}

	/** The leader alone writes, so what it remembers stays right. The write lock is taken with the first write: a leader that is over must not hold it. */
	begin(): Begun {
		this.meet("begin");
		if (this.over) throw this.over;
		this.hasWritten = false;
		this.store.begin("look");
		const fresh = this.isFresh;
		this.isFresh = true;
		return { fresh };
	}

	read<R extends StoreRead>(request: R): Replies[R["read"]] | Promise<Replies[R["read"]]> {
		return this.store.read(request);
	}

	write(changes: Changes): void {
		this.meet("flush");
		this.checkFence();
		this.hasWritten = true;
		this.store.write(changes);
	}

	commit(mail?: Mail): void {
		const mishap = this.meet("commit");
		const { fleet } = this;
		if (!mail && !this.hasWritten) {
			this.store.commit();
			this.noteBegun();
			return;
		}
		const txn = fleet.txn + 1;
		if (mail?.taken.some((id) => fleet.poison.has(keyOf(id)))) this.database.process.die("poison");
		this.checkFence();
		// Its session was cut. Once another process leads, it is the fence that counts.
		if (fleet.leader !== this && fleet.epoch === this.epoch) throw this.fail(txn, fleet.parts.random.chance(0.5));
		if (mishap === "lost before") throw this.fail(txn, true);
		if (mail) this.refuseStale(mail);
		this.store.commit();
		fleet.txn = txn;
		this.noteBegun();
		if (mail) this.apply(mail);
		if (mishap === "lost after") throw this.fail(txn, true);
		this.meet("committed");
	}

	rollback(): void {
		this.store.rollback();
	}

	async close(): Promise<void> {
		if (this.fleet.leader === this) this.fleet.leader = undefined;
		await this.store.close();
	}

	requests(which: "new" | "all" | "withdrawn"): Promise<Request[]> {
		return this.database.statement("inbox", () =>
			[...this.fleet.requests.values()]
				.filter(({ withdrawn, tries }) => (withdrawn || which !== "withdrawn") && tries < SET_ASIDE)
				.map((row) => ({ ...row })),
		);
	}

	heartbeats(): Promise<Heartbeat[]> {
		return this.database.statement("beats", () => [...this.fleet.heartbeats.values()].map((row) => ({ ...row })));
	}

	consumed(): Promise<ConsumedOf[]> {
		return this.database.statement("consumed", () => [...this.fleet.consumed.values()]);
	}

	countTry(id: RequestId): Promise<void> {
		return this.database.statement("tries", () => {
			const row = this.fleet.requests.get(keyOf(id));
			if (row) row.tries++;
		});
	}

	async sweepMail(): Promise<void> {}

	isOutdated(): Promise<boolean> {
		return this.database.statement("session", () => {
			if (this.fleet.leader !== this) throw new TermOver("its session with the database has ended", { doubt: false, txn: 0 });
			const { hasSuccessor } = this.fleet;
			if (hasSuccessor) this.fleet.parts.mark("handed-over");
			this.fleet.hasSuccessor = false;
			return hasSuccessor;
		});
	}

	private meet(point: string): Mishap | undefined {
		return this.database.process.meet(point, this.database);
	}

	private noteBegun(): void {
		if (!this.hasBegun) this.fleet.begun++;
		this.hasBegun = true;
	}

	private checkFence(): void {
		if (this.over) throw this.over;
		if (this.fleet.epoch === this.epoch) return;
		this.fleet.parts.mark("fenced");
		throw this.fail(0, false);
	}

	/** The term is over. `doubt`: the leader cannot know whether the transaction was committed. */
	private fail(txn: number, doubt: boolean): TermOver {
		if (this.fleet.leader === this) this.fleet.leader = undefined;
		this.over = new TermOver("its session with the database has ended", { doubt, txn });
		return this.over;
	}

	private refuseStale({ taken, heartbeats }: Mail): void {
		const isThere = (id: RequestId) => this.fleet.requests.get(keyOf(id))?.withdrawn === false;
		const hasBeaten = ({ host, life, at, open }: Heartbeat) => {
			const row = this.fleet.heartbeats.get(host);
			return !open && row?.life === life && row.at > at;
		};
		const isWithdrawn = !taken.every(isThere);
		if (isWithdrawn) this.fleet.parts.mark("withdrawn-when-decided");
		else if (heartbeats.some(hasBeaten)) this.fleet.parts.mark("beat-when-given-up");
		else {
			this.refused = 0;
			return;
		}
		if (++this.refused > RETRIES) {
			this.fleet.broken = "the leader repeats a transaction for ever";
			this.database.process.die("endless retries");
		}
		throw new StaleTransaction("a request was withdrawn, or a host has beaten");
	}

	private apply({ taken, dropped, aside, replies, consumed, assigned, heartbeats }: Mail): void {
		const { fleet } = this;
		for (const id of [...taken, ...dropped]) fleet.requests.delete(keyOf(id));
		for (const id of aside) {
			const row = fleet.requests.get(keyOf(id));
			if (row) row.tries = SET_ASIDE;
		}
		for (const reply of replies) if (!fleet.replies.has(keyOf(reply))) fleet.replies.set(keyOf(reply), reply);
		for (const one of consumed) fleet.consumed.set(one.member, one);
		for (const host of assigned) fleet.assigned.set(host, (fleet.assigned.get(host) ?? 0) + 1);
		for (const row of heartbeats) {
			const there = fleet.heartbeats.get(row.host);
			if (row.open) fleet.heartbeats.set(row.host, { ...row });
			else if (there?.life === row.life) there.open = false;
		}
		if (replies.length > 0) fleet.notify("member");
	}
}
