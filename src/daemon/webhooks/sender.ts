// Follows the event log for one webhook and delivers what it wants; core/webhooks/delivery-queue.ts says in which order and when. Continues from the record that
// the store has of it, so a crash repeats deliveries and loses none.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import type { EventRow, JobView, Scheduler } from "../../contracts/scheduler.ts";
import type { WebhookRecord } from "../../contracts/webhook.ts";
import { messageOf, SluiceError } from "../../core/errors.ts";
import type { WebhookSettings } from "../../core/schema/webhook.ts";
import * as line from "../../core/webhooks/delivery-queue.ts";
import { matches, mayMatch } from "../../core/webhooks/filter.ts";
import { bodyOf, deliveryId, type SenderIdentity } from "./payload.ts";
import { type AttemptResult, attemptDelivery, type RequestParts } from "./request.ts";

export type SenderParts = {
	scheduler: Pick<Scheduler, "events" | "show" | "webhooks">;
	host: Pick<Host, "after">;
	clock: Clock;
	chance: () => number;
	log: Log;
	request: RequestParts;
	sending: SenderIdentity;
	/** Undefined once the webhook is taken out of the configuration. */
	settings: () => WebhookSettings | undefined;
};

/** How long changes of the record are collected before the sender stores it. A crash repeats what was delivered within this time. */
const KEEP_MS = 250;
/** The record is also stored after so many events that the webhook did not want: they are not read again then. */
const KEEP_EVENTS = 1000;
/** Timers fire at least this often, because the wall clock may be set. */
const LOOK_MS = 60_000;
/** How long a stop waits for answers to requests that are under way. */
const STOP_MS = 1000;
/** How long the sender waits after it could not read the log. */
const AGAIN_MS = 5000;

/** Recorded as they are; the rest of a record is in the queue. */
type Facts = Omit<WebhookRecord, "cursor" | "pending" | "failures" | "retry_at">;

export class Sender {
	private readonly queue: line.DeliveryQueue;
	private readonly rows = new Map<number, EventRow>();
	private readonly underWay = new Set<Promise<void>>();
	private readonly abort = new AbortController();
	private readonly keeper: Keeper;
	private readonly facts: Facts;
	private readonly pending: WebhookRecord["pending"];
	private cancel = () => {};
	private roomMade = () => {};
	private stopped = false;
	/** Counts requests to read the log again from an earlier place. */
	private rewinds = 0;

	constructor(
		private readonly parts: SenderParts,
		{ cursor, pending, failures: _failures, retry_at: _retry, ...facts }: WebhookRecord,
	) {
		this.queue = line.openQueue(cursor);
		this.pending = pending;
		this.facts = facts;
		this.keeper = createKeeper(parts, () => this.record());
	}

	private get name(): string {
		return this.parts.sending.webhook;
	}

	record(): WebhookRecord {
		const { cursor, waiting, failures, retry_at } = this.queue;
		const pending = waiting.map(({ seq, first_at, attempts }): [number, number, number] => [seq, first_at, attempts]);
		return { ...this.facts, cursor, pending, failures, retry_at: line.isDown(this.queue) ? retry_at : null };
	}

	start(): void {
		this.run().catch((error) => this.parts.log.error("a webhook is not sent", { webhook: this.name, error: messageOf(error) }));
	}

	/** Settings have changed, or a person asked: whatever waits is sent now; with `from`, everything from that event on. */
	hurry(from?: number): void {
		line.hurry(this.queue);
		if (from !== undefined) {
			line.rewind(this.queue, from);
			this.rewinds++;
		}
		this.roomMade();
		this.pump();
	}

	/** "leave": another host leads, and records from now on. */
	async stop(how: "keep" | "leave"): Promise<void> {
		this.stopped = true;
		this.cancel();
		this.roomMade();
		const over = new Promise<void>((resolve) => this.parts.host.after(STOP_MS, resolve));
		await Promise.race([Promise.all(this.underWay), over]);
		this.abort.abort();
		await Promise.all(this.underWay);
		await this.keeper.stop(how);
	}

	// ---- sending --------------------------------------------------------------------------------------------------------------------

	/** Sends what may be sent now, and sets the timer for the rest. */
	private pump(): void {
		this.cancel();
		const { clock, host, settings } = this.parts;
		const wanted = settings();
		if (this.stopped || !wanted?.enabled) return;
		for (;;) {
			const step = line.next(this.queue, clock.now());
			if ("send" in step) for (const one of step.send) this.track(this.deliver(one, wanted));
			else {
				if (step.at !== null) this.cancel = host.after(Math.min(LOOK_MS, Math.max(0, step.at - clock.now())), () => this.pump());
				return;
			}
		}
	}

	private track(work: Promise<void>): void {
		const tracked = work.finally(() => this.underWay.delete(tracked));
		this.underWay.add(tracked);
	}

	private async deliver(one: line.Delivery, wanted: WebhookSettings): Promise<void> {
		const began = this.parts.clock.now();
		const result = await this.attempt(one, wanted);
		// After a stop the event stays pending: the next sender delivers it, perhaps once more.
		if (this.stopped && result.is === "failed") return;
		this.note(one, began, result, wanted);
		this.keeper.soon();
		this.roomMade();
		this.pump();
	}

	private async attempt(one: line.Delivery, wanted: WebhookSettings): Promise<AttemptResult> {
		const { sending, request } = this.parts;
		try {
			const event = this.rows.get(one.seq);
			if (!event) throw new Error("the event is gone");
			const body = bodyOf(sending, event, await this.jobOf(event));
			const id = deliveryId(sending, event.seq);
			const what = { webhook: this.name, id, kind: event.kind, attempt: one.attempts, body, signal: this.abort.signal };
			return await attemptDelivery(request, wanted, what);
		} catch (error) {
			return { is: "failed", how: "unreachable", status: null, error: messageOf(error), text: "" };
		}
	}

	private note(one: line.Delivery, began: number, result: AttemptResult, wanted: WebhookSettings): void {
		const { facts, queue, rows, name } = this;
		const { clock, chance, log } = this.parts;
		const now = clock.now();
		if (result.is === "delivered") {
			if (facts.error !== null) log.info("a webhook delivers again", { webhook: name });
			line.delivered(queue, one.seq);
			rows.delete(one.seq);
			Object.assign(facts, { delivered: facts.delivered + 1, delivered_at: now, delivered_seq: one.seq, error: null });
			return;
		}
		const { how, pauseMs, error } = result;
		if (facts.error !== error) log.warn("a webhook could not be delivered", { webhook: name, seq: one.seq, error });
		Object.assign(facts, { failed_at: now, error });
		const failure = { now, began, how, pauseMs, chance: chance(), keepMs: wanted.give_up_after_ms };
		if (line.failed(queue, one.seq, failure) === "again") return;
		rows.delete(one.seq);
		facts.given_up++;
		log.warn("an event was given up", { webhook: name, seq: one.seq, attempts: one.attempts, error });
	}

	// ---- reading --------------------------------------------------------------------------------------------------------------------

	private async run(): Promise<void> {
		await this.restore();
		this.pump();
		const { host, log } = this.parts;
		while (!this.stopped)
			await this.follow().catch(async (error) => {
				if (this.stopped) return;
				log.error("the events of a webhook could not be read", { webhook: this.name, error: messageOf(error) });
				await new Promise<void>((resolve) => host.after(AGAIN_MS, resolve));
			});
	}

	/** Reads the events again that the last sender had not delivered. */
	private async restore(): Promise<void> {
		for (const [seq, first_at, attempts] of this.pending) {
			if (this.stopped) return;
			const events = this.parts.scheduler.events({ since: seq - 1 })[Symbol.asyncIterator]();
			const step = await events.next();
			void events.return?.();
			// `gc` deletes the events of a job with the job.
			if (step.done || step.value.seq !== seq) continue;
			this.rows.set(seq, step.value);
			this.queue.waiting.push({ seq, job: step.value.job, attempts, first_at, retry_at: 0 });
		}
	}

	/** Reads on from the cursor, until the sender stops or goes back. */
	private async follow(): Promise<void> {
		const mine = this.rewinds;
		const events = this.parts.scheduler.events({ since: this.queue.cursor })[Symbol.asyncIterator]();
		try {
			for (;;) {
				await this.room(mine);
				const { value: event, done } = await events.next();
				if (done || this.stopped) return;
				const wanted = await this.isWanted(event);
				if (this.stopped || mine !== this.rewinds) return;
				if (wanted) this.rows.set(event.seq, event);
				line.take(this.queue, event, wanted ? "wanted" : "unwanted");
				if (wanted) {
					this.keeper.soon();
					this.pump();
				} else this.keeper.passed(this.queue.cursor);
			}
		} finally {
			void events.return?.();
		}
	}

	/** Resolves when the queue has room and the webhook is enabled. */
	private async room(mine: number): Promise<void> {
		while (!this.stopped && mine === this.rewinds && (line.isFull(this.queue) || this.parts.settings()?.enabled === false))
			await new Promise<void>((resolve) => {
				this.roomMade = resolve;
			});
	}

	private async isWanted(event: EventRow): Promise<boolean> {
		const wanted = this.parts.settings();
		if (!wanted || !mayMatch(wanted, event)) return false;
		const needsJob = wanted.lanes.length + wanted.batches.length + wanted.repos.length > 0;
		return !needsJob || matches(wanted, event, await this.jobOf(event));
	}

	/** Null if the event has no job, or if `gc` has deleted it. */
	private async jobOf({ job }: EventRow): Promise<JobView | null> {
		if (job === null) return null;
		try {
			return await this.parts.scheduler.show(job);
		} catch (error) {
			if (error instanceof SluiceError && error.code === "not_found") return null;
			throw error;
		}
	}
}

type Keeper = ReturnType<typeof createKeeper>;

/** Stores the record of a webhook, a moment after it has changed. */
function createKeeper({ scheduler, host, log, sending }: SenderParts, record: () => WebhookRecord) {
	let cancel: (() => void) | undefined;
	let kept = 0;
	let busy: Promise<void> = Promise.resolve();
	async function keep(): Promise<void> {
		cancel = undefined;
		const now = record();
		kept = now.cursor;
		await scheduler.webhooks
			.keep(sending.webhook, now)
			.catch((error) =>
				log.warn("what a webhook has delivered could not be stored", { webhook: sending.webhook, error: messageOf(error) }),
			);
	}
	const soon = () => {
		cancel ??= host.after(KEEP_MS, () => {
			busy = busy.then(keep);
		});
	};
	return {
		soon,
		passed(cursor: number): void {
			if (cursor - kept >= KEEP_EVENTS) soon();
		},
		async stop(how: "keep" | "leave"): Promise<void> {
			cancel?.();
			await busy;
			if (how === "keep") await keep();
		},
	};
}
