// Which overdue jobs can start when the lock they wait for comes free while their lane or the whole queue was full before.

import { describe, expect, test } from "vitest";
import { MINUTE } from "../../../test/make/fakes.ts";
import { openStand } from "../../../test/make/stand.ts";

const order = { overdue_after_ms: MINUTE, overdue_share: 2, age_boost_max: 0 };

describe("at an overdue turn the lock goes to the job that has waited longest", () => {
	test("although the queue was full when that job became overdue, and a better one waits", async () => {
		const stand = await openStand({ config: { max_concurrent: 1, order } });
		const holder = await stand.add({ locks: ["db"] });
		await stand.start();
		const older = await stand.add({ locks: ["db"] });
		const better = await stand.add({ locks: ["db"], priority: 9 });
		await stand.wait(2 * MINUTE);
		await stand.succeed(holder);
		expect(await stand.start()).toEqual([older]);
		await stand.succeed(older);
		expect(await stand.start()).toEqual([better]);
	});

	test.each(["promote", "demote"] as const)("although a job was moved in its lane (%s)", async (act) => {
		const stand = await openStand({ config: { max_concurrent: 1, order } });
		const holder = await stand.add({ locks: ["db"] });
		await stand.start();
		const older = await stand.add({ locks: ["db"] });
		const younger = await stand.add({ locks: ["db"] });
		await stand.add({ locks: ["db"], priority: 9 });
		await stand.sluice[act](act === "promote" ? younger : older);
		await stand.wait(2 * MINUTE);
		await stand.succeed(holder);
		expect(await stand.start()).toEqual([older]);
	});

	test("whose age counts from its creation, though a job that was created before it has waited for a shorter time", async () => {
		const stand = await openStand({ config: { max_concurrent: 1, order: { ...order, age_from: "created" } } });
		const holder = await stand.add({ locks: ["db"] });
		const early = await stand.add({ locks: ["db"], runnable_at: stand.clock.now() + MINUTE });
		const older = await stand.add({ locks: ["db"] });
		await stand.start();
		await stand.wait(5 * MINUTE);
		await stand.succeed(holder);
		expect(await stand.start()).toEqual([older]);
		await stand.succeed(older);
		expect(await stand.start()).toEqual([early]);
	});

	test("unless another of its locks is taken: then the lock is reserved for it", async () => {
		const lanes = { default: { max: 1 }, other: {} };
		const stand = await openStand({ config: { max_concurrent: 2, lanes, order: { ...order, overdue_share: 3 } } });
		const holder = await stand.add({ locks: ["db"] });
		const other = await stand.add({ lane: "other", locks: ["net"] });
		await stand.start();
		const oldest = await stand.add({ locks: ["db", "net"] });
		await stand.add({ locks: ["db"] });
		await stand.add({ locks: ["db"], priority: 9 });
		await stand.wait(2 * MINUTE);
		await stand.succeed(holder);
		expect(await stand.start()).toEqual([]);
		await stand.succeed(other);
		expect(await stand.start()).toEqual([oldest]);
	});
});

test("a job that needs a lock alone is not passed for ever by jobs that share it, though each slot that comes free is taken at once", async () => {
	const stand = await openStand({ config: { max_concurrent: 2, order } });
	const share = () => stand.add({ priority: 9, locks: ["db:shared"] });
	const running = [await share(), await share()];
	await stand.start();
	const alone = await stand.add({ locks: ["db"] });
	const started: number[] = [];
	for (let n = 0; n < 10 && !started.includes(alone); n++) {
		await share();
		await stand.wait(MINUTE / 2);
		const [first] = running.splice(0, 1);
		if (first === undefined) break;
		const [, more] = await Promise.all([stand.succeed(first), stand.start()]);
		running.push(...more);
		started.push(...more);
	}
	expect(started.slice(-1)).toEqual([alone]);
});
