// Turns that go well: what is done, charged and merged; and a session that a person takes up by hand.

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { usageFor } from "../charges.ts";
import { openStand, REPO, type Tried } from "./stand.ts";

export function turns(tried: Tried): void {
	const usage = usageFor(tried.agent);

	test("a turn with a tool call: outcome, session, usage and cost", async () => {
		const { api, daemon, expectCharged } = await openStand(tried);
		api.script("key-a", [{ shell: "echo made > made.txt", usage }], { say: "all done" });
		const id = await daemon.add("a", "make the file");
		expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", exit_kind: "completed", attempt: 1 });
		expect(existsSync(daemon.file("made.txt"))).toBe(true);
		const outcome = await daemon.outcome(id, 1);
		expect(outcome).toMatchObject({ outcome: "ok", last_message: "all done" });
		expect(outcome.session).toMatch(/^[\w-]{10,}$/);
		await expectCharged();
		expect(daemon.leftovers()).toEqual([]);
	});

	test("at full it does everything without asking; Claude Code refuses that to root, and its job says so", async () => {
		const { api, daemon } = await openStand(tried, { allowed: "nothing" });
		api.script("key-a", [{ shell: "echo made > made.txt && echo made > ../outside.txt", usage }], { say: "all done" });
		const id = await daemon.add("a", "make the files", { permission: "full", flags: ["--retries", "0"] });
		const job = await daemon.ended(id);
		if (tried.agent === "claude" && process.getuid?.() === 0) {
			expect(job).toMatchObject({ status: "failed", last_failure: expect.stringContaining("root") });
			return;
		}
		expect(job).toMatchObject({ status: "succeeded", attempt: 1 });
		expect(existsSync(daemon.file("../outside.txt"))).toBe(true);
	});

	test("a change in a worktree: committed, merged, charged", async () => {
		const { api, daemon, repo, expectCharged } = await openStand(tried);
		api.script("key-a", [{ shell: "echo made > made.txt", usage }], { say: "all done", usage });
		const id = await daemon.add("a", "make the file", { repo: REPO });
		expect(await daemon.merged(id)).toMatchObject({ status: "succeeded", attempt: 1 });
		expect(repo.git("show", "main:made.txt")).toBe("made");
		await expectCharged();
	});
}
