// The worklist: the order in which items are taken, and that a second one for the same lock or job adds nothing.

import { expect, test } from "vitest";
import { makeJob } from "../../../test/make/job.ts";
import { type WorkItem, Worklist } from "./worklist.ts";

const items = (work: Worklist): WorkItem[] => {
	const taken: WorkItem[] = [];
	for (let item = work.next(); item; item = work.next()) taken.push(item);
	return taken;
};
const job = (id: number) => makeJob({ id });

test("locks come before jobs, and ended jobs last and together", () => {
	const work = new Worklist();
	const [one, two, three] = [job(1), job(2), job(3)];
	work.tellDependents(one);
	work.reevaluate(two);
	work.wake("a");
	work.tellDependents(three);
	work.evict("a", "shared");
	work.passOn("a", [7, 8]);
	expect(work.isEmpty).toBe(false);
	expect(items(work)).toEqual([
		{ do: "pass_on", key: "a", overdue: [7, 8] },
		{ do: "evict", key: "a", mode: "shared" },
		{ do: "wake", key: "a" },
		{ do: "reevaluate", job: two },
		{ do: "dependents", ended: [one, three] },
	]);
	expect(work.isEmpty).toBe(true);
});

test("a lock that was released while dependents are told is next", () => {
	const work = new Worklist();
	work.tellDependents(job(1));
	expect(work.next()?.do).toBe("dependents");
	work.reevaluate(job(2));
	work.wake("a");
	expect(items(work).map((item) => item.do)).toEqual(["wake", "reevaluate"]);
});

test("a lock and a job are on the list once; an exclusive eviction includes a shared one", () => {
	const work = new Worklist();
	const one = job(1);
	for (const key of ["a", "b", "a"]) work.wake(key);
	work.reevaluate(one);
	work.reevaluate(one);
	work.evict("a", "exclusive");
	work.evict("a", "shared");
	work.passOn("a", []);
	expect(items(work)).toEqual([
		{ do: "evict", key: "a", mode: "exclusive" },
		{ do: "wake", key: "a" },
		{ do: "wake", key: "b" },
		{ do: "reevaluate", job: one },
	]);
});

test("to its dependents an ended job counts as running until they are told; batches wait for the end of the transaction", () => {
	const work = new Worklist();
	work.tellDependents(job(1));
	work.close("b");
	expect(items(work)).toHaveLength(1);
	expect([...work.untold]).toEqual([1]);
	expect([work.isEmpty, ...work.closing]).toEqual([true, "b"]);
});
