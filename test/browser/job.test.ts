// The page of one job by its state: what it asks, what it wants approved, what it does, how it failed, why it waits, what it has made; its attempts.

import { expect, test } from "vitest";
import { Player } from "../make/agents/player.ts";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { enter, TestBrowser, toast } from "../make/pages/browser.ts";
import { LOOKS, look } from "../make/pages/look.ts";

const browser = new TestBrowser();
const region = "region";

const said = (text: string) => `${JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] } })}\n`;
const tool = (id: string, command: string) =>
	`${JSON.stringify({ type: "assistant", timestamp: "2026-01-02T10:41:00.000Z", message: { content: [{ type: "tool_use", id, name: "Bash", input: { command } }] } })}\n`;
const result = (id: string, content: string) =>
	`${JSON.stringify({ type: "user", timestamp: "2026-01-02T10:41:07.000Z", message: { content: [{ type: "tool_result", tool_use_id: id, content }] } })}\n`;

test("one that runs: what the agent says and does, with times and results, and it goes on by itself", async () => {
	const later = `${said("Now the second table.").trim()}`;
	const player = new Player("claude").next({
		stdout:
			said("I look at the <b>schema</b> first.") +
			tool("t1", "grep -n create db.sql") +
			result("t1", "3: users\n9: orders") +
			tool("t2", "npm run migrate"),
		after: `sleep 4; printf '%s\\n' '${later}'; sleep 600`,
	});
	const site = await openSite("", { PATH: player.path });
	const prompt = `Add an index.\n${"Mind the other tables.\n".repeat(30)}`;
	const id = await site.add({ agent: "claude", model: "opus", prompt, name: "index" });
	for (const { colorScheme, width, height, as } of LOOKS) {
		const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
		await enter(page, site, `?job=${id}`);
		const activity = page.getByRole(region, { name: "Activity" });
		await activity.getByText("I look at the <b>schema</b> first.").waitFor();
		await activity.locator(".tool", { hasText: "Bash" }).first().waitFor();
		await activity.getByText("grep -n create db.sql").waitFor();
		await activity.locator("summary").getByText("7 s", { exact: true }).waitFor();
		await activity.locator("li.runs").getByText("npm run migrate").waitFor();
		expect(await activity.getByText("9: orders").isVisible()).toBe(false);
		await activity.locator("summary").first().click();
		await activity.getByText("9: orders").waitFor();
		await activity.getByText("Now the second table.").waitFor();
		await activity.locator(".figures").getByText("tool calls").waitFor();
		await page.locator(".jobhead").getByText("claude opus").waitFor();
		await page
			.locator(".jobhead")
			.getByText(/runs for/)
			.waitFor();
		// The long prompt is folded, and all of it is there.
		const does = page.locator(".does");
		const tall = () => does.evaluate((element) => element.clientHeight);
		const before = await tall();
		await look(page, `job-runs-${as}`);
		await page.getByRole("button", { name: "All of the prompt" }).click();
		expect(await tall()).toBeGreaterThan(before);
	}
	await site.client.call("job.cancel", { id });
});

test("one that failed: its last lines with the error, every attempt in a table, two of them side by side", async () => {
	const site = await openSite("retry: {max: 1, base_ms: 10}\n");
	const id = await site.sh(
		'n=$SLUICE_ATTEMPT; echo "attempt $n begins"; printf "\\033[31mError: expected 3, got $n\\033[0m\\n" >&2; exit $((n + 1))',
		{ name: "flaky", retry: { max: 1, base_ms: 10 } },
	);
	await site.client.call("job.wait", { ids: [id] });
	const { attempt } = (await site.client.call("job.show", { id })).job;
	expect(attempt).toBe(2);
	const page = await browser.page({ bypassCSP: true });
	await enter(page, site, `?job=${id}`);
	const lines = page.getByRole(region, { name: "Last lines" });
	await lines.locator(".err.error").getByText(`Error: expected 3`).waitFor();
	expect(await lines.locator(".f1").count()).toBe(1);
	await page.locator(".jobhead .reason").waitFor();
	await page.getByRole("tab", { name: "Attempts" }).click();
	const rows = page.locator("table.attempts tbody tr");
	await until(async () => (await rows.count()) === attempt);
	await rows.last().getByRole("link", { name: "Log" }).waitFor();
	await page.getByLabel("Compare attempt 1").check();
	await page.getByLabel(`Compare attempt ${attempt}`).check();
	const sides = page.getByRole(region, { name: "Two attempts" });
	await sides.getByRole("heading", { name: "Attempt 1" }).waitFor();
	await sides.getByText("attempt 1 begins").waitFor();
	await sides.getByText(`attempt ${attempt} begins`).waitFor();
	for (const colours of ["light", "dark"] as const) {
		await page.emulateMedia({ colorScheme: colours });
		await look(page, `job-attempts-${colours}`);
	}
	await rows.last().getByRole("link", { name: "Log" }).click();
	await page.locator(".lines").getByText("attempt 1 begins").waitFor();
	expect(new URL(page.url()).search).toContain("run=1");
});

test("one that waits: each reason has its remedy, from the daemon; what it needs and what needs it are links", async () => {
	const site = await openSite("max_concurrent: 4\nlanes: {slow: {max: 1}}\n");
	const { client } = site;
	const runs = await site.sh("sleep 600", { lane: "slow", name: "holder" });
	const waits = await site.sh("true", { lane: "slow", name: "waits" });
	const after = await site.sh("true", { after: [waits], name: "later" });
	const page = await browser.page();
	await enter(page, site, `?job=${waits}`);
	const around = page.getByRole(region, { name: "Around it" });
	await page.locator(".jobhead .reason").getByText("lane slow is full").waitFor();
	await around.getByRole("heading", { name: "Needed by" }).waitFor();
	await page.getByRole("button", { name: /^Raise to 2/ }).waitFor();
	await around.getByRole("link", { name: /later/ }).click();
	await page.getByRole("heading", { name: "Depends on" }).waitFor();
	await around.getByRole("link", { name: /waits/ }).click();
	await client.call("scheduler.pause", { lane: "slow" });
	await page.getByRole("button", { name: /^Resume: / }).click();
	await toast(page, "Resumed lane slow").waitFor();
	await page.getByRole("button", { name: "Hold…" }).click();
	await page.getByRole("dialog").getByLabel("Why (for the record)").fill("after lunch");
	await page.getByRole("button", { name: "Hold it" }).click();
	await page.locator(".reasons").getByText("after lunch").waitFor();
	await page.getByRole("button", { name: "Release", exact: true }).click();
	await toast(page, `Released job ${waits}`).waitFor();
	await page.getByRole("button", { name: /^Raise to 2/ }).click();
	await until(async () => (await client.call("job.show", { id: after })).job.status === "succeeded");
	const soon = await site.sh("true", { runnable_at: "2099-01-01T00:00:00Z", name: "soon" });
	await page.goto(`${site.url}?job=${soon}`);
	await page.getByRole("button", { name: /^Run now: / }).click();
	await until(async () => (await client.call("job.show", { id: soon })).job.status === "succeeded");
	await client.call("job.cancel", { id: runs });
});

test("one that wants approval shows what would run; one that asks has its answer in place, with what can be granted", async () => {
	const player = new Player("claude").plays("claude326-denied").plays("claude-ok");
	const site = await openSite("", { PATH: player.path });
	const { client } = site;
	const careful = await site.sh("./deploy --prod <b>now</b>", { requires_approval: true });
	const asks = await site.add({ agent: "claude", prompt: "run the tests" });
	await until(async () => (await client.call("job.show", { id: asks })).job.question !== null);
	for (const { colorScheme, width, height, as } of LOOKS) {
		const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
		await enter(page, site, `?job=${careful}`);
		await page.getByRole(region, { name: "It wants your approval" }).getByRole("button", { name: "Approve" }).waitFor();
		await page.locator(".does").getByText("./deploy --prod <b>now</b>").waitFor();
		await look(page, `job-approval-${as}`);
		await page.goto(`${site.url}?job=${asks}`);
		await page.getByRole(region, { name: "It asks" }).getByText("python3 -m pytest -q").first().waitFor();
		await look(page, `job-asks-${as}`);
	}
	const page = await browser.page();
	await enter(page, site, `?job=${asks}`);
	const box = page.getByRole(region, { name: "It asks" });
	await box.getByLabel("It may now do without asking").selectOption("asked");
	await box.getByLabel(`Your answer to job ${asks}`).fill("Go on.");
	await page.keyboard.press("ControlOrMeta+Enter");
	await toast(page, `Answered job ${asks}`).waitFor();
	expect((await client.call("job.show", { id: asks })).job).toMatchObject({
		answer: "Go on.",
		granted: { allow: ["Bash: python3 -m pytest -q"] },
	});
	await page.goto(`${site.url}?job=${careful}&tab=details`);
	await page.getByText("As JSON").click();
	await page.locator(".json pre").getByText('"requires_approval": true').waitFor();
});
