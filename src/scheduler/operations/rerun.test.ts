// rerun: runs one job again without its dependents. Its children come back only if its end had blocked them.

import { describe, expect, test } from "vitest";
import { openStand } from "../../../test/make/stand.ts";

const GATED = { config: { parents: { gate: "success" as const } } };

describe("rerun of a parent", () => {
	test("brings back the children that it blocked, and theirs: they wait, and run when it has succeeded", async () => {
		const t = await openStand(GATED);
		const parent = await t.add();
		const child = await t.add({ parent });
		const grandchild = await t.add({ parent: child });
		await t.start();
		await t.fail(parent);
		expect((await t.show(child)).end_reason).toBe(`dependency failed for job ${parent} (failed)`);
		expect(await t.status(grandchild)).toBe("blocked_by_dependency");
		expect(await t.sluice.rerun(parent)).toMatchObject({ reset: [parent, child, grandchild], left_blocked: [] });
		expect([await t.status(child), await t.status(grandchild)]).toEqual(["waiting_on_deps", "waiting_on_deps"]);
		for (const id of [parent, child, grandchild]) {
			expect(await t.start()).toEqual([id]);
			await t.succeed(id);
		}
	});

	test("leaves a child that something else blocks, and a child whose name or item another job has now", async () => {
		const t = await openStand(GATED);
		const [parent, other] = [await t.add(), await t.add()];
		const both = await t.add({ parent, after: [other] });
		const named = await t.add({ parent, name: "build" });
		const item = await t.add({ parent, item: "i1" });
		await t.start();
		await t.fail(parent);
		await t.fail(other);
		await t.add({ name: "build" });
		await t.add({ item: "i1" });
		expect(await t.sluice.rerun(parent)).toMatchObject({ reset: [parent], left_blocked: [both, named, item] });
		expect(await t.status(both)).toBe("blocked_by_dependency");
	});

	test("leaves jobs that only come after it blocked, and names them; retry brings them back", async () => {
		const t = await openStand(GATED);
		const parent = await t.add();
		const [child, after] = [await t.add({ parent }), await t.add({ after: [parent] })];
		const later = await t.add({ after: [{ job: child, policy: "failure" }], requires_approval: true });
		await t.start();
		await t.fail(parent);
		expect(await t.sluice.rerun(parent)).toMatchObject({ reset: [parent, child], left_blocked: [after] });
		// `later` had counted the blocked child as a failure; now the child is open again.
		await t.sluice.approve(later);
		expect(await t.status(later)).toBe("waiting_on_deps");
		expect(await t.status(after)).toBe("blocked_by_dependency");
		expect((await t.sluice.retry(parent)).reset).toEqual([parent, child, after, later]);
	});

	test("a parent in back-off has blocked nothing: it alone is put back", async () => {
		const t = await openStand(GATED);
		const parent = await t.add({ retry: 1 });
		await t.add({ parent });
		await t.start();
		await t.fail(parent);
		expect(await t.sluice.rerun(parent)).toMatchObject({ reset: [parent], left_blocked: [] });
	});
});

test("a job that needs the patch of another job waits while that one runs again, even if the patch of an earlier attempt is there", async () => {
	const t = await openStand();
	const maker = await t.add();
	await t.start();
	t.host.facts.set(`artifact:patch:${maker}`, true);
	await t.fail(maker);
	const user = await t.add({ needs: [`patch:${maker}`] });
	expect(await t.status(user)).toBe("queued");
	await t.sluice.retry(maker);
	expect((await t.reasons(user))[0]?.detail).toBe(`waiting on patch:${maker}`);
	expect(await t.start()).toEqual([maker]);
	expect(await t.start()).toEqual([]);
	await t.fail(maker);
	await t.sluice.tick();
	expect(await t.start()).toEqual([user]);
});
