// A provider that is down, breaks off, hangs or refuses what has grown too long, in the middle of a turn.

import { expect, test } from "vitest";
import { usageFor } from "../charges.ts";
import { bodiesOf, isNewest, openStand, type Stand, type Tried, times } from "./stand.ts";

/** Gemini tells what it used only at its end: what a run used that was stopped before is on no ledger. */
const tellsAsItGoes = ({ agent }: Tried): boolean => agent !== "gemini";

/** All runs of a job went on with the session of the first. */
async function expectOneSession({ daemon }: Stand, id: number, attempts: number): Promise<void> {
	const { session } = await daemon.outcome(id, 1);
	expect(session).toMatch(/^[\w-]{10,}$/);
	for (let attempt = 2; attempt <= attempts; attempt++) expect((await daemon.outcome(id, attempt)).session).toBe(session);
}

export function faults(tried: Tried): void {
	const { agent } = tried;
	const usage = usageFor(agent);
	const step = { shell: "echo half > half.txt", usage };

	if (isNewest(tried))
		test.each([
			["529", "overloaded"],
			["500", "internal"],
		] as const)("%s, four times in mid-turn: the job goes on in its session and burns no retry", async (_status, fail) => {
			const stand = await openStand(tried);
			const { api, daemon, expectCharged } = stand;
			api.script("key-a", [step, ...times(4, { fail })], { say: "at last", usage });
			const id = await daemon.add("a", "make two halves");
			const job = await daemon.ended(id);
			expect(job).toMatchObject({ status: "succeeded", failures: 0 });
			await expectOneSession(stand, id, job.attempt);
			expect(bodiesOf(api, "key-a").at(-1)).toContain("make two halves");
			await expectCharged();
		});

	test("a connection that drops in mid-answer, twice: the job goes on in its session", async () => {
		const stand = await openStand(tried);
		const { api, daemon, expectCharged } = stand;
		api.script("key-a", [step, ...times(2, { drop: "midway" })], { say: "at last", usage });
		const id = await daemon.add("a", "make two halves");
		const job = await daemon.ended(id);
		expect(job).toMatchObject({ status: "succeeded" });
		await expectOneSession(stand, id, job.attempt);
		expect(bodiesOf(api, "key-a").at(-1)).toContain("make two halves");
		await expectCharged();
	});

	if (!isNewest(tried)) return;

	test.each(["silent", "midway"] as const)(
		"an API that hangs (%s): stopped, tried again as told, what was used is charged",
		async (hang) => {
			const { api, daemon, expectCharged } = await openStand(tried);
			api.script("key-a", [step, { hang }], { say: "at last", usage });
			// Longer than a program takes to begin on a busy machine.
			const id = await daemon.add("a", "make two halves", { flags: ["--stall-timeout", "30s", "--retries", "1"] });
			expect(await daemon.outcome(id, 1)).toMatchObject({ exit_kind: "stalled" });
			expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", attempt: 2, failures: 1 });
			if (tellsAsItGoes(tried)) await expectCharged();
			expect(daemon.leftovers()).toEqual([]);
		},
	);

	test("the context is full in mid-turn: what was used is charged", async () => {
		const { api, daemon, expectCharged } = await openStand(tried);
		api.script("key-a", [step], { fail: "context" });
		const id = await daemon.add("a", "make two halves", { flags: ["--retries", "0"] });
		expect(await daemon.outcome(id, 1)).toMatchObject({ outcome: "context", exit_kind: "failed" });
		expect(await daemon.ended(id)).toMatchObject({ status: "failed" });
		await expectCharged();
	});
}
