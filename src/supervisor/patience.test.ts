// Agents that wait for a limit to end: stopped, and resumed when the account may be used again.

import { utimesSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { capture } from "../../test/make/agents/capture.ts";
import { argvOf, stand } from "../../test/make/agents/played.ts";
import { HOUR, SECOND } from "../../test/make/fakes.ts";

describe("a limit that an agent waits for", () => {
	const log = (error: string) =>
		`timestamp=2026-11-16T04:33:42.045Z level=ERROR message="stream error" error.error="AI_APICallError: ${error}"\n`;

	test("does not keep a slot: the run is stopped, the account held, no retry used, and the session resumed", async () => {
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

	test("is reported only on stderr by some agents", async () => {
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

	test("is over when the agent writes more: later silence does not count as waiting", async () => {
		const on = await stand();
		const codex = await on.add({ agent: "codex", prompt: "x" });
		on.processes.log("1.1", "stdout", capture("codex-429then").stdout.toString().split("\n").slice(0, -2).join("\n"));
		const opencode = await on.add({ agent: "opencode", prompt: "x" });
		on.processes.log("2.1", "stderr", log("Overloaded"));
		await on.pass(HOUR);
		for (const job of [codex, opencode]) expect((await on.show(job)).status).toBe("running");
	});

	test("is over when the agent thinks, however long", async () => {
		const on = await stand({ settings: { agent_stall_timeout_ms: null } });
		const job = await on.add({ agent: "codex", prompt: "x" });
		const { stdout } = capture("codex-429then");
		on.processes.log("1.1", "stdout", stdout.toString().split("\n").slice(0, 5).join("\n").concat("\n"));
		await on.pass(10 * SECOND);
		on.processes.log("1.1", "stdout", '{"type":"item.completed","item":{"id":"i","type":"reasoning","text":"hm"}}\n');
		await on.pass(HOUR);
		expect(await on.show(job)).toMatchObject({ status: "running", attempt: 1 });
	});

	test("is waited for if the settings say so", async () => {
		const on = await stand({ settings: { agent_patience_ms: null, agent_stall_timeout_ms: null } });
		const job = await on.add({ agent: "codex", prompt: "x" });
		on.processes.log("1.1", "stdout", capture("codex-429-long").stdout.toString());
		await on.pass(HOUR);
		expect((await on.show(job)).status).toBe("running");
	});
});

describe("a call of the model that an agent would retry many times", () => {
	const upTo = (text: string, mark: RegExp) => text.slice(0, text.search(mark));

	test.each(["gemini-503-stopped", "gemini053-503-stopped"])(
		"%s: is tried twice; the job goes on in the same session when the provider is back",
		async (name) => {
			const on = await stand();
			const job = await on.add({ agent: "gemini", prompt: "x" });
			const { stdout, stderr } = capture(name);
			on.processes.log("1.1", "stdout", stdout.toString());
			on.processes.log("1.1", "stderr", upTo(stderr, /^Attempt 2/m));
			await on.pass(10 * SECOND);
			expect((await on.show(job)).status).toBe("running");
			on.processes.log("1.1", "stderr", stderr.slice(stderr.search(/^Attempt 2/m)));
			await on.pass(10 * SECOND);
			expect(on.processes.machine.signals[0]).toBe("1.1 SIGINT");
			expect(on.file("1.1", "outcome.json")).toMatchObject({
				exit_kind: "crashed",
				outcome: "transient",
				outage: true,
				message: "transient: its call of the model keeps failing: The model is overloaded. Please try again later.",
			});
			expect((await on.show(job)).failures ?? 0).toBe(0);
			await on.pass(2 * 60 * SECOND);
			const session = /"session_id":"([^"]+)"/.exec(stdout.toString())?.[1];
			expect(argvOf(on, "1.2")).toContain(`--resume=${session}`);
		},
	);

	test.each(["gemini-429-stopped", "gemini053-429-stopped"])(
		"%s: holds the account for as long as the provider asks, and costs no retry",
		async (name) => {
			const on = await stand();
			const job = await on.add({ agent: "gemini", prompt: "x" });
			const { stdout, stderr } = capture(name);
			on.processes.log("1.1", "stdout", stdout.toString());
			on.processes.log("1.1", "stderr", stderr);
			await on.pass(10 * SECOND);
			expect(on.file("1.1", "outcome.json")).toMatchObject({
				exit_kind: "rate_limited",
				outcome: "throttled",
				retry_after_ms: 2000,
				message: "throttled: its call of the model keeps failing: You exceeded your current quota. Please retry in 2s.",
			});
			expect((await on.show(job)).failures ?? 0).toBe(0);
			await on.pass(10 * SECOND);
			expect(await on.show(job)).toMatchObject({ status: "running", attempt: 2 });
		},
	);

	test("is stopped for an older opencode, which would try for ever, after as many tries as the newer one makes", async () => {
		const on = await stand();
		const job = await on.add({ agent: "opencode", prompt: "x" });
		const failure = (at: string) =>
			`timestamp=${at} level=ERROR run=e2085c9d message="stream error" providerID=fake modelID=fake-model session.id=ses_e15dfdf1cfferMuAutM28PFiEO small=false agent=build mode=primary error.error="AI_APICallError: Service unavailable"\n`;
		// Five failures of an earlier call, which was answered in the end.
		for (let count = 0; count < 5; count++) on.processes.log("1.1", "stderr", failure("2020-01-01T00:00:00.000Z"));
		for (let count = 0; count < 5; count++) on.processes.log("1.1", "stderr", failure("2040-01-01T00:00:00.000Z"));
		await on.pass(HOUR);
		expect((await on.show(job)).status).toBe("running");
		on.processes.log("1.1", "stderr", failure("2040-01-01T00:01:04.000Z"));
		await on.pass(10 * SECOND);
		expect(on.file("1.1", "outcome.json")).toMatchObject({
			exit_kind: "crashed",
			outcome: "transient",
			message: "transient: its call of the model keeps failing: AI_APICallError: Service unavailable",
		});
	});

	test("closes the account if the account has no money for it", async () => {
		const on = await stand();
		await on.add({ agent: "opencode", prompt: "x" });
		const failure =
			'timestamp=2040-01-01T00:00:00.000Z level=ERROR run=e2085c9d message="stream error" providerID=fake error.error="AI_APICallError: insufficient_quota: check your plan and billing details"\n';
		on.processes.log("1.1", "stderr", failure.repeat(6));
		await on.pass(10 * SECOND);
		expect(on.file("1.1", "outcome.json")).toMatchObject({ exit_kind: "rate_limited", outcome: "billing" });
		expect((await on.sluice.status()).holds).toMatchObject([{ kind: "account_closed", reason: expect.stringContaining("billing") }]);
	});

	test("is stopped without a connection, too", async () => {
		const on = await stand();
		await on.add({ agent: "gemini", prompt: "x" });
		on.processes.log("1.1", "stderr", capture("gemini-dropped-at-once").stderr);
		await on.pass(10 * SECOND);
		expect(on.file("1.1", "outcome.json")).toMatchObject({
			exit_kind: "crashed",
			outcome: "transient",
			message: "transient: its call of the model keeps failing: Error: exception TypeError: fetch failed sending request",
		});
	});

	test("is not stopped once the agent has written more, or while its tools run", async () => {
		const on = await stand();
		const answered = await on.add({ agent: "gemini", prompt: "x" });
		const inTool = await on.add({ agent: "gemini", prompt: "x" });
		const { stdout, stderr } = capture("gemini-503-stopped");
		on.processes.log("1.1", "stderr", stderr);
		on.processes.log("2.1", "stdout", `${stdout.toString().split("\n").slice(0, 3).join("\n")}\n`);
		on.processes.log("1.1", "stdout", stdout.toString());
		on.processes.log("2.1", "stderr", stderr);
		utimesSync(on.path("1.1", "stderr.log"), 0, 0);
		await on.pass(HOUR);
		for (const job of [answered, inTool]) expect((await on.show(job)).status).toBe("running");
	});

	test("is stopped at once if the agent announces a wait longer than the patience", async () => {
		const on = await stand();
		await on.add({ agent: "gemini", prompt: "x" });
		on.processes.log(
			"1.1",
			"stderr",
			"Attempt 1 failed: You exceeded your current quota.\nSuggested retry after 90s.. Retrying after 97200ms...\n",
		);
		await on.pass(10 * SECOND);
		expect(on.file("1.1", "outcome.json")).toMatchObject({ exit_kind: "rate_limited", outcome: "throttled" });
	});
});
