// The store of a leader's engine: collects what a transaction decides about requests, assignments and hosts, and lets it be committed together with the
// changes themselves. A rollback drops both.

import type { Begun, Changes, Intent, Replies, Store, StoreRead } from "../contracts/store.ts";
import { StaleTransaction, TermOver } from "../contracts/store.ts";
import type { HostRecord } from "../core/limits-view.ts";
import type { AskRecord } from "../scheduler/operations/outputs.ts";
import type { Settlement } from "../scheduler/transaction/pending.ts";
import type { Consumed } from "./consumed.ts";
import type { Heartbeat, LeaderStore, Mail, Request } from "./database.ts";
import { writeError, writeValue } from "./messages.ts";

/** What the leader has to decide. */
export type Incoming = {
	/** Null: a call or a claim of the leader's own process, which has no row and gets no reply. */
	readonly request: Request | null;
	/** Its caller has given it up: it must have no effect. */
	withdrawn: boolean;
	/** Called when the decision is committed. */
	decided(outcome: Settlement): void;
};
/**
 * What becomes of a request's row. `taken`: deleted, with a reply. `dropped`: deleted without one, because the request has no effect (it was withdrawn, or is a
 * repeated insert). `aside`: its row stays, for `doctor`, and its caller gets an error.
 */
export type Fate = "taken" | "dropped" | "aside";
type Decision = { outcome: Settlement; fate: Fate };

/** A transaction is repeated so often when a request was withdrawn or a host has beaten meanwhile. */
const REFUSALS_MAX = 20;

export class TermStore implements Store {
	/** What the open transaction has decided. Once the term is over: what its last one had. */
	private readonly decisions = new Map<Incoming, Decision>();
	/** Commits that were refused one after the other. */
	private refusals = 0;
	private readonly assigned = new Set<string>();
	private readonly heartbeats = new Map<string, Heartbeat>();
	/** The lives of hosts as their rows say: only a change is written. */
	private readonly lives = new Map<string, Pick<Heartbeat, "life" | "open">>();
	/** Heartbeats that the open transaction must hear of; null: none were asked for. */
	beats: Heartbeat[] | null = null;
	private wantsBeats = true;

	constructor(
		readonly inner: LeaderStore,
		readonly consumed: Consumed,
		/** Finds out which requests were withdrawn. */
		private readonly readWithdrawn: () => Promise<unknown>,
	) {}

	/** The next transaction begins with the heartbeats as they are then. */
	askForBeats(): void {
		this.wantsBeats = true;
	}

	/** Inside a transaction: the request was carried out, or refused. The first decision counts. Without a `fate`, the request has had no effect. */
	decide(one: Incoming, outcome: Settlement, fate: Fate = one.withdrawn ? "dropped" : "taken"): void {
		if (!this.decisions.has(one)) this.decisions.set(one, { outcome, fate });
	}

	/** What the last transaction of a term that is over had decided. */
	lastDecision = (one: Incoming): Settlement | undefined => this.decisions.get(one)?.outcome;

	async begin(intent?: Intent): Promise<Begun> {
		// Also what a transaction heard that was rolled back. If they cannot be read, the next transaction tries again.
		this.wantsBeats ||= this.beats !== null;
		const beats = this.wantsBeats ? await this.inner.heartbeats().catch(() => null) : null;
		const begun = await this.inner.begin(intent);
		for (const collected of [this.decisions, this.assigned, this.heartbeats]) collected.clear();
		this.beats = beats;
		this.wantsBeats &&= beats === null;
		for (const { host, life, open } of beats ?? []) this.lives.set(host, { life, open });
		return begun;
	}

	read<R extends StoreRead>(request: R): Replies[R["read"]] | Promise<Replies[R["read"]]> {
		return this.inner.read(request);
	}

	write(changes: Changes): void | Promise<void> {
		// A host learns of new runs by the replies to its claims.
		for (const { job } of changes.running) if (job.run?.intent) this.assigned.add(job.run.host);
		for (const [kind, name, value] of [...changes.records, ...changes.fresh]) {
			if (value === null) continue;
			if (kind === "host") this.noteHost(name, value as HostRecord);
			// A question concerns the host that is asked, its answer the host that asked.
			if (kind === "ask") this.noteQuestion(value as AskRecord);
		}
		return this.inner.write(changes);
	}

	private noteQuestion({ replied, from, to }: AskRecord): void {
		this.assigned.add(replied ? from : to);
	}

	private noteHost(host: string, { token, state, heartbeat_at: at }: HostRecord): void {
		if (token === undefined) return;
		const open = state !== "gone";
		const known = this.lives.get(host);
		if (known?.life !== token || known.open !== open) this.heartbeats.set(host, { host, life: token, at, open });
		else this.heartbeats.delete(host);
	}

	async commit(): Promise<void> {
		const mail = this.mail();
		try {
			await this.inner.commit(mail);
		} catch (error) {
			if (error instanceof StaleTransaction) await this.refused(error);
			throw error;
		}
		this.refusals = 0;
		this.beats = null;
		this.consumed.set(mail?.consumed ?? []);
		for (const { host, life, open } of mail?.heartbeats ?? []) this.lives.set(host, { life, open });
		for (const [one, { outcome }] of this.decisions) one.decided(outcome);
	}

	/** The transaction is run again: it must know then what it was refused for. */
	private async refused(cause: StaleTransaction): Promise<void> {
		if (++this.refusals > REFUSALS_MAX) throw new TermOver("its commits are refused again and again", { doubt: false, txn: 0, cause });
		await this.readWithdrawn().catch(() => {});
		this.wantsBeats = true;
	}

	rollback(): void | Promise<void> {
		return this.inner.rollback();
	}

	close(): void | Promise<void> {
		return this.inner.close();
	}

	private mail(): Mail | undefined {
		const { decisions, assigned, heartbeats } = this;
		const numbers = new Map<string, number[]>();
		const mail: Mail = {
			taken: [],
			dropped: [],
			aside: [],
			replies: [],
			consumed: [],
			assigned: [...assigned],
			heartbeats: [...heartbeats.values()],
		};
		for (const [{ request }, { outcome, fate }] of decisions) {
			if (request === null) continue;
			const { member, n } = request;
			numbers.set(member, [...(numbers.get(member) ?? []), n]);
			mail[fate].push({ member, n });
			if (fate === "dropped") continue;
			const failed = "error" in outcome;
			mail.replies.push({ member, n, failed, body: failed ? writeError(outcome.error) : writeValue(outcome.value) });
		}
		for (const [member, some] of numbers) mail.consumed.push(this.consumed.with(member, some));
		return Object.values(mail).some((list) => list.length > 0) ? mail : undefined;
	}
}
