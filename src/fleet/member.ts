// A member's calls: each is a request to the leader, whichever that is, and is carried out once or not at all. One insert is under way at a time; one in doubt is
// repeated before the next, so requests become visible in the order of their numbers.

import { SluiceError } from "../core/errors.ts";
import type { Settlement } from "../scheduler/transaction/pending.ts";
import { type FleetTime, type Outgoing, type Polled, type Post, type Reply, Unreachable } from "./database.ts";
import { BODY_MAX, MESSAGES, OPEN_CALLS_MAX, readError, readValue } from "./messages.ts";

const PATIENCE_MS = 30_000;
/** Requests in one insert, and their characters. */
const BATCH_MAX = 500;
const BATCH_CHARS = 1_000_000;
/** Pauses between polls for replies: the first ones, then longer by half each time. The first of all comes about when the last replies came. */
const POLL_MS = 20;
/** Share of the usual time of a reply after which it is first looked for, and the weight of one reply in that usual time. */
const FIRST_LOOK = 0.8;
const USUAL_WEIGHT = 1 / 8;
const EVEN_POLLS = 8;
const LONGEST_POLL_MS = 250;
const RETRY_MS = 200;
/** How long a member that closes waits for the database. */
const CLOSE_MS = 5_000;

type Call = {
	request: Omit<Outgoing, "n" | "withdrawn">;
	done(outcome: Settlement): void;
	/** Given when the request is first sent. */
	n: number;
	/** An insert of it may have left this process. */
	mayHaveLeft: boolean;
	sentAt: number;
	/** No caller waits for the reply: it is found by a poll that comes anyway. */
	unhurried: boolean;
	withdrawn: boolean;
};
export type MemberParts = {
	post: Post;
	time: FleetTime;
	/** Called with each poll's answer. */
	onPolled(polled: Polled): void;
	/** Pause between polls while nothing but claims that stand is open: all members of a fleet poll at once. */
	restMs(): number;
	/** How long a caller waits for the leader before its request is withdrawn. */
	patienceMs?: (() => number) | undefined;
};
/** `until`: a claim stands until then; it is not withdrawn when no leader answers. `unhurried`: the member does not poll for the reply to this request alone. */
export type Sending = { name: string; args: string; by: string | undefined; until?: number; unhurried?: boolean };

export class Member {
	private n = 0;
	/** Calls without a number yet; and those that wait for their reply. */
	private readonly queue: Call[] = [];
	private readonly open = new Map<number, Call>();
	/** Replies that were taken and may still be in the database. */
	private readonly collected = new Set<number>();
	private sending: Promise<void> | undefined;
	private polling: Promise<void> | undefined;
	private polls = 0;
	/** How long replies have taken lately. */
	private usualMs = POLL_MS;
	private cancelPoll = () => {};
	private pollAt = Number.POSITIVE_INFINITY;
	private closed = false;
	/** The member has closed while the database did not answer. */
	private hasGivenUp = false;

	constructor(private readonly parts: MemberParts) {}

	/** Sends a request; its outcome is always known in the end. Returns a function that withdraws it. */
	send({ name, args, by, until, unhurried = until !== undefined }: Sending, done: (outcome: Settlement) => void): () => Promise<void> {
		const refusal = this.refuse(name, args, until);
		if (refusal) {
			done({ error: refusal });
			return async () => {};
		}
		const request = { messages: MESSAGES, name, args, by: by ?? null, until: until ?? null };
		const call: Call = { request, n: 0, mayHaveLeft: false, sentAt: 0, unhurried, withdrawn: false, done };
		if (until === undefined) {
			const cancel = this.parts.time.after(this.patienceMs(), () => void this.withdraw(call).catch(() => {}), "hold");
			call.done = (outcome) => {
				cancel();
				done(outcome);
			};
		}
		this.queue.push(call);
		this.flush();
		return () => this.withdraw(call);
	}

	private patienceMs(): number {
		return this.parts.patienceMs?.() ?? PATIENCE_MS;
	}

	private refuse(name: string, args: string, until: number | undefined): SluiceError | undefined {
		if (this.closed) return new SluiceError("closed", "the scheduler is closed", { hint: "open it again" });
		if (args.length > BODY_MAX)
			return new SluiceError(
				"limit",
				`the arguments of ${name} have ${args.length} characters; a host can send ${BODY_MAX} to its leader`,
				{ hint: "make several smaller calls of it, or call on the host that leads" },
			);
		if (until === undefined && this.queue.length + this.open.size >= OPEN_CALLS_MAX)
			return new SluiceError("limit", `${OPEN_CALLS_MAX} calls of this process wait for the leader already`, {
				hint: "wait for some of them",
			});
		return undefined;
	}

	/** Polls at once: a hint says that a reply may be there. */
	nudge(): void {
		if (this.polling !== undefined) this.polls = 1;
		else this.schedule(0);
	}

	/** Polls once; also when the member waits for nothing. */
	poll(): Promise<void> {
		this.polling ??= this.look().finally(() => {
			this.polling = undefined;
			if (this.open.size > 0) this.schedule(this.pause());
		});
		return this.polling;
	}

	get isWaiting(): boolean {
		return this.open.size > 0;
	}

	/** Requests under way are withdrawn; their callers get an error, or the outcome. Only a database that does not answer leaves it unknown. */
	async close(): Promise<void> {
		this.closed = true;
		this.cancelPoll();
		const calls = [...this.queue, ...this.open.values()];
		let cancel = () => {};
		const late = new Promise<void>((resolve) => {
			cancel = this.parts.time.after(CLOSE_MS, resolve, "hold");
		});
		await Promise.race([late, Promise.all(calls.map((call) => this.withdraw(call)))]);
		cancel();
		this.hasGivenUp = true;
		const error = new SluiceError("store", "the scheduler was closed while the database did not answer", {
			hint: "look whether the call was carried out",
		});
		for (const call of this.open.values()) call.done({ error });
		this.open.clear();
	}

	/** Calls of one turn go in one insert. */
	private flush(): void {
		this.sending ??= Promise.resolve()
			.then(() => this.sendAll())
			.catch(() => {})
			.finally(() => {
				this.sending = undefined;
				if (this.queue.length > 0) this.flush();
			});
	}

	private async sendAll(): Promise<void> {
		while (this.queue.length > 0) {
			const batch = this.takeBatch();
			await this.insist(() => this.insert(batch));
			this.polls = 0;
			this.schedule(this.pause());
		}
	}

	private takeBatch(): Call[] {
		const batch: Call[] = [];
		let length = 0;
		while (batch.length < BATCH_MAX && length < BATCH_CHARS) {
			const call = this.queue.shift();
			if (!call) break;
			call.n = ++this.n;
			this.open.set(call.n, call);
			length += call.request.args.length;
			batch.push(call);
		}
		return batch;
	}

	/** A request that was given up before its insert left is inserted as withdrawn: numbers have no gaps. */
	private async insert(batch: readonly Call[]): Promise<void> {
		const unsent = batch.filter(({ mayHaveLeft }) => !mayHaveLeft);
		for (const call of unsent) {
			call.mayHaveLeft = true;
			call.sentAt = this.parts.time.monotonic();
		}
		const collected = [...this.collected];
		try {
			await this.parts.post.send(
				batch.map(({ request, n, withdrawn }) => ({ ...request, n, withdrawn })),
				collected,
			);
		} catch (error) {
			if (error instanceof Unreachable) for (const call of unsent) call.mayHaveLeft = false;
			throw error;
		}
		for (const n of collected) this.collected.delete(n);
	}

	/** Repeats a statement until the database has answered it, or until the member has given up. */
	private async insist(statement: () => Promise<unknown>): Promise<void> {
		for (;;) {
			try {
				await statement();
				return;
			} catch (error) {
				if (this.hasGivenUp) throw error;
				await new Promise<void>((resolve) => void this.parts.time.after(RETRY_MS, resolve));
			}
		}
	}

	/** Rejects only if the member has given up by then, and has told the caller so. */
	private async withdraw(call: Call): Promise<void> {
		const queued = this.queue.indexOf(call);
		if (queued >= 0) this.queue.splice(queued, 1);
		else if (call.withdrawn || !this.open.has(call.n)) return;
		call.withdrawn = true;
		if (call.mayHaveLeft) {
			await this.insist(() => this.parts.post.withdraw({ ...call.request, n: call.n, withdrawn: true }));
			await this.insist(() => this.look());
			if (!this.open.has(call.n)) return;
		}
		this.open.delete(call.n);
		call.done({ error: this.unanswered() });
	}

	private unanswered(): SluiceError {
		if (this.closed) return new SluiceError("closed", "the scheduler was closed; the call was not carried out", { hint: "open it again" });
		const seconds = Math.round(this.patienceMs() / 1000);
		return new SluiceError("store", `no leader has answered for ${seconds} s; the call was not carried out`, {
			hint: "sluice doctor says whether a host leads; at least one daemon with host.lead other than never must run",
		});
	}

	private pause(): number {
		if (!this.isAsking()) return this.parts.restMs();
		if (this.polls++ === 0) return Math.max(POLL_MS, this.usualMs * FIRST_LOOK);
		const longer = Math.max(0, this.polls - EVEN_POLLS);
		return Math.min(LONGEST_POLL_MS, POLL_MS * 1.5 ** longer);
	}

	/** A caller waits for a reply. */
	private isAsking(): boolean {
		for (const { unhurried } of this.open.values()) if (!unhurried) return true;
		return false;
	}

	/** A poll that is due earlier stays: a member that sends without a pause must not put off its polls for ever. */
	private schedule(ms: number): void {
		const at = this.parts.time.monotonic() + ms;
		if (this.closed || this.pollAt <= at) return;
		this.cancelPoll();
		this.pollAt = at;
		const poll = () => {
			this.pollAt = Number.POSITIVE_INFINITY;
			void this.poll().catch(() => {});
		};
		this.cancelPoll = this.parts.time.after(ms, poll, "hold");
	}

	private async look(): Promise<void> {
		const polled = await this.parts.post.poll([...this.collected]);
		for (const reply of polled.replies) this.take(reply);
		this.parts.onPolled(polled);
	}

	private take({ n, failed, body }: Reply): void {
		this.collected.add(n);
		const call = this.open.get(n);
		this.open.delete(n);
		if (call && !call.unhurried) this.usualMs += (this.parts.time.monotonic() - call.sentAt - this.usualMs) * USUAL_WEIGHT;
		call?.done(failed ? { error: readError(body) } : { value: readValue(body) });
	}
}
