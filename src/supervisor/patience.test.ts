// Agents that wait for the end of a limit by themselves: stopped, and gone on with when the account may.

import { describe, expect, test } from "vitest";
import { capture } from "../../test/make/capture.ts";
import { HOUR, SECOND } from "../../test/make/fakes.ts";
import { argvOf, stand } from "../../test/make/played.ts";

describe("a limit that it waits for by itself", () => {
	const log = (error: string) =>
		`timestamp=2026-11-16T04:33:42.045Z level=ERROR message="stream error" error.error="AI_APICallError: ${error}"\n`;

	test("is not waited for in a slot: it is stopped, the account held, nothing burned, and the session goes on", async () => {
		const on = await stand();
		const job = await on.add({ agent: "codex", prompt: "x" });
		on.processes.log("1.1", "stdout", capture("codex-429-long").stdout.toString());
		await on.pass(50 * SECOND);
		expect((await on.show(job)).status).toBe("running");
		await on.pass(20 * SECOND);
		expect(on.file("1.1", "outcome.json")).toMatchObject({ exit_kind: "rate_limited", outcome: "throttled" });
		expect(on.processes.machine.signals[0]).toBe("1.1 SIGINT");
		await on.pass(5 * SECOND);
		expect(await on.show(job)).toMatchObject({ status: "running", attempt: 2, session: "01a1e2b4-fb7b-7601-b8f5-16d12805e0b8" });
		expect((await on.show(job)).failures ?? 0).toBe(0);
		expect(argvOf(on, "1.2")).toContain("resume");
	});

	test("is told only on stderr by some", async () => {
		const on = await stand();
		await on.add({ agent: "opencode", prompt: "x" });
		on.processes.log("1.1", "stderr", capture("opencode-429-long").stderr);
		await on.pass(70 * SECOND);
		expect(on.file("1.1", "outcome.json")).toMatchObject({
			exit_kind: "rate_limited",
			outcome: "throttled",
			last_message: "AI_APICallError: Rate limit reached",
		});
	});

	test("is over when it says more: silence then is its own affair", async () => {
		const on = await stand();
		const codex = await on.add({ agent: "codex", prompt: "x" });
		on.processes.log("1.1", "stdout", capture("codex-429then").stdout.toString().split("\n").slice(0, -2).join("\n"));
		const opencode = await on.add({ agent: "opencode", prompt: "x" });
		on.processes.log("2.1", "stderr", log("Overloaded"));
		await on.pass(HOUR);
		for (const job of [codex, opencode]) expect((await on.show(job)).status).toBe("running");
	});

	test("is over when it thinks, however long", async () => {
		const on = await stand();
		const job = await on.add({ agent: "codex", prompt: "x" });
		const { stdout } = capture("codex-429then");
		on.processes.log("1.1", "stdout", stdout.toString().split("\n").slice(0, 5).join("\n").concat("\n"));
		await on.pass(10 * SECOND);
		on.processes.log("1.1", "stdout", '{"type":"item.completed","item":{"id":"i","type":"reasoning","text":"hm"}}\n');
		await on.pass(HOUR);
		expect(await on.show(job)).toMatchObject({ status: "running", attempt: 1 });
	});

	test("is waited for where the settings say so", async () => {
		const on = await stand({ settings: { agent_patience_ms: null } });
		const job = await on.add({ agent: "codex", prompt: "x" });
		on.processes.log("1.1", "stdout", capture("codex-429-long").stdout.toString());
		await on.pass(HOUR);
		expect((await on.show(job)).status).toBe("running");
	});
});
