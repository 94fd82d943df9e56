// What one webhook still has to deliver, and when. The event log is the queue; this is the bounded part of it that is in memory.
//
//   an event is        until
//   waiting            it is sent: events of one job one after the other, in order, jobs beside each other
//   sending            the receiver answers, or the time for that is over
//   delivered          – the receiver answered with 2xx
//   failed             its back-off is over, then waiting again; later events of its job wait behind it
//   given up           – an attempt failed a day (`keepMs`) after the first one
//
// A receiver that fails twice in a row is down: from then on one attempt at a time probes it, and the back-off is that of the whole webhook. A receiver that
// refuses single events delays the jobs of these events only.

/** `first_at`: when it was first tried; 0 = not yet. */
export type Delivery = { seq: number; job: number | null; attempts: number; first_at: number; retry_at: number };

export type DeliveryQueue = {
	/** Every event up to this one is delivered, unwanted or given up, or it is in `waiting`. */
	cursor: number;
	/** In the order of their numbers; those that are being sent are among them. */
	waiting: Delivery[];
	sending: Set<number>;
	/** Attempts in a row that failed, counted once for those that ran beside each other. */
	failures: number;
	/** When the last counted failure was. */
	failed_at: number;
	/** Nothing is sent before this time while the receiver is down. */
	retry_at: number;
};

/** Events that are read ahead at most. When it is full, the sender stops reading the log: a dead receiver costs no memory. */
export const MOST_WAITING = 200;
/** Attempts beside each other, each for another job. */
export const MOST_SENDING = 4;
/** Failures in a row from which on the receiver counts as down. */
const DOWN = 2;
const FIRST_DELAY_MS = 1000;
export const LONGEST_DELAY_MS = 3_600_000;

export const openQueue = (cursor: number): DeliveryQueue => ({
	cursor,
	waiting: [],
	sending: new Set(),
	failures: 0,
	failed_at: 0,
	retry_at: 0,
});

export const isFull = ({ waiting }: DeliveryQueue): boolean => waiting.length >= MOST_WAITING;
export const isDown = ({ failures }: DeliveryQueue): boolean => failures >= DOWN;

/** 1 s, 2 s, 4 s … up to an hour, each shortened by up to a half, so that webhooks of many homes do not come back together. `chance` is in [0, 1). */
export const retryDelay = (attempts: number, chance: number): number =>
	Math.round(Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(30, Math.max(0, attempts - 1))) * (1 - chance / 2));

/** The log was read up to this event; `wanted` puts it into the queue. */
export function take(queue: DeliveryQueue, event: { seq: number; job: number | null }, wanted: "wanted" | "unwanted"): void {
	queue.cursor = Math.max(queue.cursor, event.seq);
	if (wanted === "wanted") queue.waiting.push({ seq: event.seq, job: event.job, attempts: 0, first_at: 0, retry_at: 0 });
}

/** The first event of each job that is not being sent. Events without a job keep their order among themselves. */
function heads({ waiting, sending }: DeliveryQueue): Delivery[] {
	const seen = new Set<number | null>();
	return waiting.filter(({ seq, job }) => {
		if (seen.has(job)) return false;
		seen.add(job);
		return !sending.has(seq);
	});
}

export type NextStep = { send: Delivery[] } | { at: number | null };

/** What to send now, marked as being sent; or when to ask again (null: after the next event or answer). */
export function next(queue: DeliveryQueue, now: number): NextStep {
	const down = isDown(queue);
	const room = (down ? 1 : MOST_SENDING) - queue.sending.size;
	const ready = heads(queue);
	if (room <= 0 || ready.length === 0) return { at: null };
	// A receiver that is down is probed with the event that was tried least: an event that no receiver could take does not keep the webhook down.
	if (down) ready.sort((a, b) => a.attempts - b.attempts || a.seq - b.seq);
	const dueAt = (one: Delivery) => (down ? queue.retry_at : one.retry_at);
	const send = ready.filter((one) => dueAt(one) <= now).slice(0, room);
	if (send.length === 0) return { at: Math.min(...ready.map(dueAt)) };
	for (const one of send) {
		queue.sending.add(one.seq);
		one.attempts++;
		one.first_at ||= now;
	}
	return { send };
}

function remove(queue: DeliveryQueue, seq: number): void {
	queue.sending.delete(seq);
	queue.waiting = queue.waiting.filter((one) => one.seq !== seq);
}

export function delivered(queue: DeliveryQueue, seq: number): void {
	// The receiver is back: whatever waited for that is due now.
	if (isDown(queue)) hurry(queue);
	queue.failures = 0;
	remove(queue, seq);
}

export type Failure = {
	now: number;
	/** When the attempt began. */
	began: number;
	/** `refused`: the receiver is there, and refuses this event (4xx). */
	how: "unreachable" | "refused";
	/** The receiver asked for a pause of this length. */
	pauseMs?: number | undefined;
	chance: number;
	keepMs: number;
};

/** "given up": the event is dropped. */
export function failed(queue: DeliveryQueue, seq: number, { now, began, how, pauseMs = 0, chance, keepMs }: Failure): "again" | "given up" {
	queue.sending.delete(seq);
	const longest = Math.min(pauseMs, LONGEST_DELAY_MS);
	// Attempts that ran beside each other met the same failure.
	if (how === "unreachable" && (queue.failures === 0 || began >= queue.failed_at)) {
		queue.failures++;
		queue.failed_at = now;
		queue.retry_at = now + Math.max(longest, retryDelay(queue.failures, chance));
	}
	const one = queue.waiting.find((waiting) => waiting.seq === seq);
	if (!one) return "again";
	one.retry_at = now + Math.max(longest, retryDelay(one.attempts, chance));
	if (now - one.first_at < keepMs) return "again";
	remove(queue, seq);
	return "given up";
}

/** Back-offs are over: a person asked for it, or the receiver is back. */
export function hurry(queue: DeliveryQueue): void {
	queue.retry_at = 0;
	for (const one of queue.waiting) one.retry_at = 0;
}

/** Sends everything again from this event on; what was waiting before it stays. */
export function rewind(queue: DeliveryQueue, from: number): void {
	queue.waiting = queue.waiting.filter(({ seq }) => seq < from);
	queue.cursor = Math.min(queue.cursor, from - 1);
}
