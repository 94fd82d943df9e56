// Names: only one open job at a time has a name; once it has ended, the next job may take the name.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { openStand } from "../../../test/make/stand.ts";

const make = (name: string) => ({ name, command: ["make", name] });

describe("a name", () => {
	test("is free again when its job has ended; it then refers to the newest job of that name", async () => {
		const t = await openStand({ path: join(makeFolder(), "q.db") });
		const first = await t.add({ name: "build" });
		await expect(t.add({ name: "build" })).rejects.toMatchObject({
			code: "conflict",
			message: `name: job ${first} is called "build" already`,
			hint: `choose another name, or wait until job ${first} has ended`,
		});
		await t.start();
		await expect(t.add({ name: "build" })).rejects.toMatchObject({ code: "conflict" });
		await t.succeed(first);
		expect(await t.sluice.find("build")).toBe(first);
		const second = await t.add({ name: "build" });
		expect(await t.sluice.find("build")).toBe(second);
		const later = await t.add({ after: ["build"] });
		expect((await t.show(later)).after).toEqual([{ job: second, policy: "success" }]);
		const again = await t.reopen();
		expect(await again.sluice.find("build")).toBe(second);
	});

	test.each(["add", "apply", "apply in pieces"] as const)(
		"%s takes it for the same job in every field, even if a new job takes the name while the host probes",
		async (by) => {
			const t = await openStand({ piece: by === "apply in pieces" ? 1 : 300 });
			await t.done({ name: "build" });
			let second = 0;
			t.host.probe = async () => {
				if (second === 0) second = await t.add({ name: "build" });
				return {};
			};
			const input = { command: ["true"], parent: "build", after: ["build"], needs: ["job:build", "patch:build"] };
			const id = by === "add" ? await t.add(input) : (await t.sluice.apply({ jobs: [input, make("x"), make("y")] })).jobs[0];
			expect(await t.show(id as number)).toMatchObject({
				parent: second,
				after: [{ job: second, policy: "success" }],
				needs: [`job:${second}`, `patch:${second}`],
			});
		},
	);

	test("is looked up when the job is added, behind the calls that came before", async () => {
		const t = await openStand();
		await t.done({ name: "build" });
		const [child, second] = await Promise.all([t.add({ parent: "build", after: ["build"] }), t.add({ name: "build" })]);
		expect(await t.show(child)).toMatchObject({ parent: second, after: [{ job: second, policy: "success" }] });
	});

	test("refers to the open job of that name, even an older one; after its end to the newest again", async () => {
		const t = await openStand();
		const [first, second] = [await t.done({ name: "build" }), await t.done({ name: "build" })];
		await t.sluice.retry(first);
		expect(await t.sluice.find("build")).toBe(first);
		await expect(t.add({ name: "build" })).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining(`job ${first} `) });
		await t.start();
		await t.succeed(first);
		expect(await t.sluice.find("build")).toBe(second);
	});

	test.each(["retry", "rerun"] as const)(
		"%s of an ended job is refused while an open job has its name; the holder is named",
		async (act) => {
			const t = await openStand();
			const first = await t.done({ name: "build" });
			const second = await t.add({ name: "build" });
			await expect(t.sluice[act](first)).rejects.toMatchObject({
				code: "conflict",
				message: `job ${first} cannot run again: job ${second} is called "build" now`,
				hint: `wait for job ${second}, or cancel it: sluice cancel ${second}`,
			});
			expect(await t.status(first)).toBe("succeeded");
			await t.sluice.cancel(second);
			await t.sluice[act](first);
			expect(await t.status(first)).toBe("queued");
		},
	);

	test("cannot be given back to two jobs by one rewind", async () => {
		const t = await openStand();
		const root = await t.done();
		const first = await t.done({ name: "build", after: [root] });
		const second = await t.done({ name: "build", after: [first] });
		await expect(t.sluice.retry(root)).rejects.toMatchObject({
			code: "conflict",
			message: `jobs ${first} and ${second} are both called "build": they cannot be open at the same time`,
			hint: `sluice rerun ${second} runs one of them alone`,
		});
		expect(await t.status(root)).toBe("succeeded");
	});

	test("of several jobs that are retried together: only the newest job is put back", async () => {
		const t = await openStand();
		const [first, second] = [await t.done({ name: "build" }, "failed"), await t.done({ name: "build" }, "failed")];
		const report = await t.sluice.retryAll([first, second]);
		expect(report.reset).toEqual([second]);
		expect(report.skipped).toEqual([{ job: first, reason: `job ${second} is the newest one called "build"` }]);
	});

	test("falls back to the newest job that is left when the job that it refers to is forgotten", async () => {
		const t = await openStand();
		const [first, second, third] = [await t.done({ name: "a" }), await t.done({ name: "a" }), await t.done({ name: "a" })];
		await t.wait(86_400_000);
		await t.sluice.retry(first);
		await t.start();
		await t.succeed(first);
		expect(await t.sluice.find("a")).toBe(third);
		expect(await t.sluice.gc({ days: 0.5 })).toMatchObject({ deleted: 2 });
		await expect(t.show(second)).rejects.toMatchObject({ code: "not_found" });
		expect(await t.sluice.find("a")).toBe(first);
		await t.wait(86_400_000);
		expect(await t.sluice.gc({ days: 0.5 })).toMatchObject({ deleted: 1 });
		await expect(t.sluice.find("a")).rejects.toMatchObject({ code: "not_found" });
	});
});

test("a large manifest that is refused half way leaves its names to the jobs that had them before", async () => {
	const t = await openStand({ piece: 20 });
	const before = await t.done({ name: "n3" });
	const jobs = Array.from({ length: 200 }, (_, index) => ({ command: ["make"], name: `n${index}` }));
	const applied = t.sluice.apply({ jobs }).then(
		() => "added",
		() => "refused",
	);
	// The apply reads ten pieces, checks ten, then adds them: each of these calls comes between two of its transactions.
	for (let n = 0; n < 24; n++) expect(await t.sluice.find("n3")).toBe(before);
	await t.add({ name: "n199" });
	expect(await applied).toBe("refused");
	await t.sluice.tick();
	expect(await t.sluice.find("n3")).toBe(before);
	expect((await t.sluice.list()).map(({ name }) => name)).toEqual(["n199"]);
	const again = await t.add({ name: "n3" });
	expect(again).toBeGreaterThan(before);
});
