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

/** A request as the leader holds it. `withdrawn`: its member has given it up; it must have no effect. */
export type Incoming = Request & { withdrawn: boolean };
/**
 * What becomes of a request's row. `taken`: deleted, with a reply. `dropped`: deleted without one, because the request has no effect (it was withdrawn, or is a
 * repeated insert). `aside`: its row stays, for `doctor`, and its caller gets an error.
 */
export type Fate = "taken" | "dropped" | "aside";
type Decision = { outcome: Settlement; fate: Fate };

/** A transaction is repeated so often when a request was withdrawn or a host has beaten meanwhile. */
const REFUSALS_MAX = 20;

export class TermStore implements Store {
	private readonly decisions = new Map<Incoming, Decision>();
	/** Commits that were refused one after the other. */
	private refusals = 0;
	private readonly assigned = new Set<string>();
	private readonly heartbeats = new Map<string, Heartbeat>();
	/** The lives of hosts as their rows say: only a change is written. */
	private readonly lives = new Map<string, Pick<Heartbeat, "life" | "open">>();
	/** Heartbeats that the next transaction must hear of; null: none were asked for. */
	beats: Heartbeat[] | null = null;
	private wantsBeats = false;

	constructor(
		private readonly inner: LeaderStore,
		private readonly consumed: Consumed,
		private readonly on: { decided(request: Incoming): void; withdrawn(): Promise<void> },
	) {}

	/** The next transaction begins with the heartbeats as they are then. */
	askForBeats(): void {
		this.wantsBeats = true;
	}

	/** Inside a transaction: the request was carried out, or refused. The first decision counts. Without a `fate`, the request has had no effect. */
	decide(request: Incoming, outcome: Settlement, fate: Fate = request.withdrawn ? "dropped" : "taken"): void {
		if (!this.decisions.has(request)) this.decisions.set(request, { outcome, fate });
	}

	begin(intent?: Intent): Begun | Promise<Begun> {
		this.reset();
		if (!this.wantsBeats) return this.inner.begin(intent);
		// If they cannot be read, the next transaction tries again.
		return this.inner.heartbeats().then(
			(beats) => {
				this.wantsBeats = false;
				this.beats = beats;
				for (const { host, life, open } of beats) this.lives.set(host, { life, open });
				return this.inner.begin(intent);
			},
			() => this.inner.begin(intent),
		);
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
		const decided = [...this.decisions.keys()];
		const mail = this.mail();
		try {
			await this.inner.commit(mail);
		} catch (error) {
			if (!(error instanceof StaleTransaction)) throw error;
			if (++this.refusals > REFUSALS_MAX)
				throw new TermOver("its commits are refused again and again", { doubt: false, txn: 0, cause: error });
			await this.on.withdrawn().catch(() => {});
			this.wantsBeats = true;
			throw error;
		}
		this.refusals = 0;
		this.beats = null;
		if (!mail) return;
		this.consumed.set(mail.consumed);
		for (const { host, life, open } of mail.heartbeats) this.lives.set(host, { life, open });
		for (const request of decided) this.on.decided(request);
	}

	rollback(): void | Promise<void> {
		this.reset();
		// What a transaction heard is gone with it.
		this.wantsBeats ||= this.beats !== null;
		this.beats = null;
		return this.inner.rollback();
	}

	close(): void | Promise<void> {
		return this.inner.close();
	}

	private reset(): void {
		this.decisions.clear();
		this.assigned.clear();
		this.heartbeats.clear();
	}

	private mail(): Mail | undefined {
		const { decisions } = this;
		if (decisions.size === 0 && this.assigned.size === 0 && this.heartbeats.size === 0) return undefined;
		const numbers = new Map<string, number[]>();
		const mail: Mail = {
			taken: [],
			dropped: [],
			aside: [],
			replies: [],
			consumed: [],
			assigned: [...this.assigned],
			heartbeats: [...this.heartbeats.values()],
		};
		for (const [request, { outcome, fate }] of decisions) {
			const { member, n } = request;
			numbers.set(member, [...(numbers.get(member) ?? []), n]);
			if (fate === "dropped") mail.dropped.push({ member, n });
			if (fate === "dropped") continue;
			if (fate === "taken") mail.taken.push({ member, n });
			if (fate === "aside") mail.aside.push({ member, n });
			const failed = "error" in outcome;
			mail.replies.push({ member, n, failed, body: failed ? writeError(outcome.error) : writeValue(outcome.value) });
		}
		for (const [member, some] of numbers) mail.consumed.push(this.consumed.with(member, some));
		return mail;
	}
}
