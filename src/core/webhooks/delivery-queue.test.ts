// What a webhook sends next, and after which failures: by example, then by property.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	type DeliveryQueue,
	delivered,
	type Failure,
	failed,
	hurry,
	isDown,
	isFull,
	LONGEST_DELAY_MS,
	MOST_SENDING,
	MOST_WAITING,
	next,
	openQueue,
	retryDelay,
	rewind,
	take,
} from "./delivery-queue.ts";

const DAY = 86_400_000;
/** Events as `seq:job`, job 0 for none. */
function queueOf(...events: string[]): DeliveryQueue {
	const queue = openQueue(0);
	for (const one of events) {
		const [seq = 0, job = 0] = one.split(":").map(Number);
		take(queue, { seq, job: job === 0 ? null : job }, "wanted");
	}
	return queue;
}
const sent = (queue: DeliveryQueue, now = 0) => {
	const answer = next(queue, now);
	return "send" in answer ? answer.send.map(({ seq }) => seq) : answer.at;
};
const fail = (queue: DeliveryQueue, seq: number, more: Partial<Failure> = {}) =>
	failed(queue, seq, { now: 0, began: 0, how: "unreachable", chance: 0, keepMs: DAY, ...more });

describe("order", () => {
	test("jobs go beside each other, the events of one job one after the other", () => {
		const queue = queueOf("1:7", "2:7", "3:8", "4:0", "5:0");
		expect(sent(queue)).toEqual([1, 3, 4]);
		expect(sent(queue)).toBeNull();
		delivered(queue, 1);
		expect(sent(queue)).toEqual([2]);
	});

	test("at most so many at a time", () => {
		expect(sent(queueOf("1:1", "2:2", "3:3", "4:4", "5:5"))).toHaveLength(MOST_SENDING);
	});

	test("an event that failed holds up its own job alone", () => {
		const queue = queueOf("1:7", "2:7", "3:8", "4:8");
		expect(sent(queue)).toEqual([1, 3]);
		fail(queue, 1, { how: "refused" });
		delivered(queue, 3);
		expect(sent(queue, 10)).toEqual([4]);
		delivered(queue, 4);
		expect(sent(queue, 10)).toBe(1000);
		expect(sent(queue, 1000)).toEqual([1]);
	});

	test("unwanted events move the cursor alone; a full queue is not read on", () => {
		const queue = openQueue(5);
		take(queue, { seq: 9, job: 1 }, "unwanted");
		expect([queue.cursor, queue.waiting.length, isFull(queue)]).toEqual([9, 0, false]);
		for (let seq = 10; seq < 10 + MOST_WAITING; seq++) take(queue, { seq, job: seq }, "wanted");
		expect(isFull(queue)).toBe(true);
	});
});

describe("a receiver that is down", () => {
	test("is probed by one attempt at a time, later and later, and with another event each time", () => {
		const queue = queueOf("1:1", "2:2", "3:3");
		expect(sent(queue)).toEqual([1, 2, 3]);
		for (const seq of [1, 2, 3]) fail(queue, seq, { now: 10 });
		// The three ran beside each other: one failure.
		expect([queue.failures, isDown(queue)]).toEqual([1, false]);
		expect(sent(queue, 1010)).toEqual([1, 2, 3]);
		for (const seq of [1, 2, 3]) fail(queue, seq, { now: 1020, began: 1010 });
		expect([queue.failures, isDown(queue), sent(queue, 1020)]).toEqual([2, true, 3020]);
		expect(sent(queue, 3020)).toEqual([1]);
		fail(queue, 1, { now: 3030, began: 3020 });
		expect(sent(queue, 3030)).toBe(7030);
		expect(sent(queue, 7030)).toEqual([2]);
	});

	test("gets everything as soon as it is back", () => {
		const queue = queueOf("1:1", "2:2", "3:3");
		for (const now of [0, 5000, 50_000]) {
			const some = sent(queue, now) as number[];
			for (const seq of some) fail(queue, seq, { now, began: now });
		}
		const [probe] = sent(queue, 100_000) as number[];
		delivered(queue, probe as number);
		expect(isDown(queue)).toBe(false);
		expect(sent(queue, 100_001)).toHaveLength(2);
	});

	test("may ask for a pause, an hour at most", () => {
		const queue = queueOf("1:1");
		sent(queue);
		fail(queue, 1, { pauseMs: 60_000 });
		expect(sent(queue)).toBe(60_000);
		sent(queue, 60_000);
		fail(queue, 1, { now: 60_000, began: 60_000, pauseMs: 9 * DAY });
		expect(sent(queue, 60_000)).toBe(60_000 + LONGEST_DELAY_MS);
	});

	test("one event that always fails does not keep the others from going", () => {
		const queue = queueOf("1:1", "2:2", "3:3", "4:4");
		let now = 0;
		const gone: number[] = [];
		for (let round = 0; round < 20 && queue.waiting.length > 1; round++) {
			const answer = next(queue, now);
			if (!("send" in answer)) now = answer.at ?? now;
			else
				for (const { seq } of answer.send)
					if (seq === 1) fail(queue, 1, { now, began: now });
					else {
						delivered(queue, seq);
						gone.push(seq);
					}
		}
		expect(gone).toEqual([2, 3, 4]);
	});
});

test("an event is given up when it fails a day after its first attempt, not before", () => {
	const queue = queueOf("1:1", "2:1");
	sent(queue, 1000);
	expect(fail(queue, 1, { now: 1000 })).toBe("again");
	sent(queue, DAY);
	expect(fail(queue, 1, { now: DAY, began: DAY })).toBe("again");
	hurry(queue);
	expect(sent(queue, DAY + 1000)).toEqual([1]);
	expect(fail(queue, 1, { now: DAY + 1000, began: DAY + 1000 })).toBe("given up");
	expect(queue.waiting.map(({ seq }) => seq)).toEqual([2]);
});

test("back-off: from a second up to an hour, at most halved by chance", () => {
	expect([1, 2, 3, 12, 13, 1000].map((count) => retryDelay(count, 0))).toEqual([1000, 2000, 4000, 2_048_000, 3_600_000, 3_600_000]);
	expect(retryDelay(3, 0.999)).toBeGreaterThanOrEqual(2000);
});

test("sent again from an event on", () => {
	const queue = queueOf("3:1", "5:2", "8:3");
	rewind(queue, 5);
	expect([queue.cursor, queue.waiting.map(({ seq }) => seq)]).toEqual([4, [3]]);
	rewind(queue, 50);
	expect(queue.cursor).toBe(4);
});

test("whatever fails: each event is delivered once or given up, in the order of its job", () => {
	const events = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 40 });
	fc.assert(
		fc.property(events, fc.infiniteStream(fc.constantFrom("ok", "ok", "unreachable", "refused")), (jobs, ends) => {
			const queue = queueOf(...jobs.map((job, index) => `${index + 1}:${job}`));
			const order = new Map<number | null, number[]>();
			let gone = 0;
			for (let now = 0, steps = 0; queue.waiting.length > 0; steps++) {
				if (steps > 5000) throw new Error("it does not end");
				const answer = next(queue, now);
				if (!("send" in answer)) {
					if (answer.at === null) throw new Error("it waits for nothing");
					now = Math.max(now, answer.at);
					continue;
				}
				const began = now;
				now += 10;
				for (const { seq, job } of answer.send) {
					const end = ends.next().value;
					if (end === "ok") {
						delivered(queue, seq);
						order.set(job, [...(order.get(job) ?? []), seq]);
						gone++;
					} else if (failed(queue, seq, { now, began, how: end, chance: 0.5, keepMs: DAY }) === "given up") gone++;
				}
			}
			expect(gone).toBe(jobs.length);
			for (const seqs of order.values()) expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
		}),
	);
});
