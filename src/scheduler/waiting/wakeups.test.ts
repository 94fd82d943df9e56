// Answers include what follows from a call, also where it concerns many facts: of most of them no job, or one, has to hear.

import { expect, test } from "vitest";
import { openStand } from "../../../test/make/stand.ts";

const numbered = (kind: string, count: number) => Array.from({ length: count }, (_, n) => `${kind}${n}`);

test("an add that replaces a job tells its position among the jobs that the end of the replaced one leaves ready", async () => {
	const t = await openStand();
	t.host.facts.set("artifact:probe:ready", true);
	await t.add({ runnable_at: "2099-01-01T00:00:00Z", unique: { key: "u" }, produces: [...numbered("custom:report:", 12), "probe:ready"] });
	const consumer = await t.add({ needs: ["probe:ready"] });
	expect(await t.gates(consumer)).toEqual(["capacity/turn"]);
	const added = await t.tryAdd({ unique: { key: "u", policy: "replace" } });
	expect(await t.show(consumer)).toMatchObject({ status: "waiting_on_deps", wait_reason: { kind: "probing" } });
	expect(added).toMatchObject({ outcome: "queued", position: 1 });
	await t.sluice.close();
});

test("an add whose probes end a job takes the item that the ended job frees, however many facts have changed", async () => {
	const t = await openStand();
	const probes = numbered("probe:p", 12);
	for (const probe of probes) t.host.facts.set(`artifact:${probe}`, true);
	await t.add({ needs: probes.slice(0, 11) });
	const first = await t.add({ needs: [probes[11] as string], item: "a-1", source: "s" });
	for (const probe of probes) t.host.facts.set(`artifact:${probe}`, false);
	const added = await t.tryAdd({ needs: probes, on_missing: "wait", item: "a-1", source: "s" });
	expect(added).toMatchObject({ outcome: "queued" });
	expect(await t.status(first)).toBe("blocked_by_dependency");
	await t.sluice.close();
});
