// Runs that are ended from outside, and a daemon that dies under them.

import { existsSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { until } from "../../make/daemons/daemon.ts";
import { usageFor } from "../charges.ts";
import { beginToolCall, isNewest, isProgram, openStand, processesWith, type Tried } from "./stand.ts";

export function stops(tried: Tried): void {
	const { agent } = tried;
	/** Codex writes down what a call used when it is answered, older versions when its tools are done. opencode tells it at the end of each step. */
	const tellsEachCall = agent === "claude" || (agent === "codex" && isNewest(tried));

	test("killed during a tool call: its tools go with it, and its session goes on", async () => {
		const stand = await openStand(tried);
		const { daemon } = stand;
		const { id, word } = await beginToolCall(stand);
		const killed = daemon.leftovers().filter((pid) => isProgram(pid, agent));
		expect(killed.length).toBeGreaterThan(0);
		for (const pid of killed) process.kill(pid, "SIGKILL");
		const first = await daemon.outcome(id, 1);
		expect(first).toMatchObject({ outcome: "killed", exit_kind: "crashed", session: expect.any(String) });
		expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", attempt: 2, failures: 1 });
		expect((await daemon.outcome(id, 2)).session).toBe(first.session);
		// What Claude Code's calls cost it tells only at its end.
		if (tellsEachCall) await stand.expectTokensCharged();
		await until(() => processesWith(word).length === 0 && daemon.leftovers().length === 0);
	});

	test("stopped during a tool call: no process is left", async () => {
		const stand = await openStand(tried);
		const { daemon, expectCharged } = stand;
		const { id, word } = await beginToolCall(stand);
		await daemon.say("cancel", String(id));
		expect(await daemon.ended(id)).toMatchObject({ status: "cancelled" });
		// These tell all that was used when they are asked to stop.
		if (agent === "claude" || agent === "codex") await expectCharged();
		expect(processesWith(word)).toEqual([]);
		expect(daemon.leftovers()).toEqual([]);
	});

	if (!isNewest(tried)) return;

	test("the daemon is killed during a tool call: the run goes on, the next daemon takes it up", async () => {
		const { api, daemon, expectCharged } = await openStand(tried);
		const usage = usageFor(agent);
		api.script("key-a", [{ shell: "touch began; until test -e go; do sleep 0.1; done; echo made > made.txt", usage }], {
			say: "all done",
			usage,
		});
		const id = await daemon.add("a", "take long");
		await until(() => existsSync(daemon.file("began")));
		await daemon.kill();
		expect(daemon.leftovers().filter((pid) => isProgram(pid, agent)).length).toBeGreaterThan(0);
		await daemon.up();
		writeFileSync(daemon.file("go"), "");
		expect(await daemon.ended(id)).toMatchObject({ status: "succeeded", attempt: 1, failures: 0 });
		expect(existsSync(daemon.file("made.txt"))).toBe(true);
		await expectCharged();
	});
}
