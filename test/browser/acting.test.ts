// Every view and every action of the dashboard in a real browser, with the pointer and with keys alone; what it did is asked of the daemon.

import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { card, column, enter, openSite, TestBrowser, toast } from "../make/browser.ts";
import { until } from "../make/daemon.ts";

const browser = new TestBrowser();
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Rules of axe that are broken seriously, with the elements. */
async function findings(page: Page): Promise<string[]> {
	if (!(await page.evaluate("typeof window.axe !== 'undefined'"))) await page.addScriptTag({ path: AXE });
	const found = (await page.evaluate("window.axe.run(document, { resultTypes: ['violations'] })")) as {
		violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
	};
	return found.violations
		.filter(({ impact }) => impact === "serious" || impact === "critical")
		.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`);
}

const CONFIG = "max_concurrent: 2\nlanes: {code: {max: 2}, docs: {}}\naccounts: {work: {}}\n";

describe("actions", () => {
	test("pause, caps, accounts and holds", async () => {
		const site = await openSite(CONFIG);
		const page = await browser.page();
		await site.sh("sleep 60", { lane: "code" });
		await enter(page, site);
		const status = () => site.client.call("scheduler.status", {});
		await page.getByRole("button", { name: "Pause" }).click();
		await toast(page, "Paused everything").waitFor();
		expect((await status()).paused).toBe(true);
		await page.getByText("Paused by token").waitFor();
		await page.getByRole("banner").getByRole("button", { name: "Resume" }).click();
		await toast(page, "Resumed everything").waitFor();
		expect((await status()).paused).toBe(false);

		await page.keyboard.press("4");
		const lane = page.locator(".gauge", { hasText: "lane code" });
		await lane.getByLabel("Cap of lane code, as a number").fill("5");
		await page.keyboard.press("Enter");
		await toast(page, "Lane code: at most 5 runs.").waitFor();
		expect((await status()).lanes.code?.max).toBe(5);
		await lane.getByRole("slider").focus();
		await page.keyboard.press("ArrowLeft");
		await toast(page, "Lane code: at most 4 runs.").waitFor();
		const all = page.locator(".gauge", { hasText: "everything" });
		await all.getByRole("spinbutton").fill("7");
		await page.keyboard.press("Tab");
		await toast(page, "At most 7 runs").waitFor();
		expect((await status()).max_concurrent).toBe(7);
		await lane.getByRole("button", { name: "Pause" }).click();
		await toast(page, "Paused lane code").waitFor();
		await page.getByRole("region", { name: "Holds" }).getByRole("button", { name: "Clear" }).click();
		await toast(page, "Resumed lane code").waitFor();
		expect((await status()).holds).toEqual([]);

		await site.client.call("account.limit", { name: "work", retry_after_ms: 3_600_000 });
		const accounts = page.getByRole("region", { name: "Accounts" });
		await accounts
			.getByText(/59 m \d|1 h 00 m/)
			.first()
			.waitFor();
		await accounts.getByRole("button", { name: "Open…" }).click();
		await page.getByRole("dialog").getByRole("button", { name: "Open it" }).click();
		await toast(page, "Account work is open").waitFor();
		await site.client.call("budget.report", { subject: "owner:ann", dim: "cost_micro", amount: 2_500_000 });
		await site.client.call("scheduler.pause", { account: "work" });
		await page.getByRole("button", { name: "Limit of cost_micro for owner:ann" }).click();
		await page.getByLabel("Limit", { exact: true }).fill("9000000");
		await page.keyboard.press("Enter");
		await toast(page, "cost_micro up to 9,000,000").waitFor();
		await page.getByText("$2.50 of $9.00").waitFor();
	});

	test("on jobs: promote, cancel after asking, retry, approve, reject, answer, priority", async () => {
		const site = await openSite(CONFIG);
		await site.client.call("scheduler.pause", { lane: "code" });
		const [one, two] = [await site.sh("true", { lane: "code", name: "one" }), await site.sh("true", { lane: "code", name: "two" })];
		const approval = await site.sh("true", { requires_approval: true, name: "careful" });
		const refused = await site.sh("true", { requires_approval: true, name: "refused" });
		const bad = await site.sh("exit 9", { name: "bad" });
		const asks = await site.add({ payload: { n: 1 }, lane: "docs", name: "curious", command: undefined });
		const { claimed } = await site.client.call("job.claim", { worker: "w", lanes: ["docs"] });
		await site.client.call("job.complete", {
			job: asks,
			token: claimed[0]!.run.token,
			exit_kind: "needs_human",
			question: "Which <b>colour</b>?",
		});
		const show = async (id: number) => (await site.client.call("job.show", { id })).job;
		const page = await browser.page();
		await enter(page, site);

		await card(page, two).click();
		await page.getByText("paused", { exact: false }).first().waitFor();
		await page.getByRole("button", { name: "To the front" }).click();
		await toast(page, `Job ${two} is first`).waitFor();
		expect((await show(two)).rank).toBeGreaterThan(0);
		await page.getByRole("button", { name: "Priority…" }).click();
		await page.getByLabel("A whole number").fill("12");
		await page.keyboard.press("Enter");
		await toast(page, "has priority 12").waitFor();
		expect((await show(two)).priority).toBe(12);
		await page.getByRole("button", { name: "Cancel…" }).click();
		await page.getByRole("button", { name: "Keep as it is" }).click();
		expect((await show(two)).status).toBe("queued");
		await page.getByRole("button", { name: "Cancel…" }).click();
		await page.getByLabel("Why (for the record)").fill("no longer needed");
		await page.getByRole("button", { name: "Cancel the job" }).click();
		await toast(page, `Cancelled job ${two}`).waitFor();
		expect(await show(two)).toMatchObject({ status: "cancelled", end_reason: "no longer needed" });
		await page.getByRole("button", { name: "Retry…" }).click();
		await page.getByRole("button", { name: "Retry", exact: true }).click();
		await toast(page, `Put back job ${two}`).waitFor();
		expect((await show(two)).status).toBe("queued");
		await page.keyboard.press("Escape");

		await column(page, "Needs you").getByText("careful").click();
		await page.getByRole("button", { name: "Approve" }).click();
		await toast(page, `Approved job ${approval}`).waitFor();
		await until(async () => (await show(approval)).status === "succeeded");
		await page.keyboard.press("Escape");
		await card(page, refused).click();
		await page.keyboard.press("x");
		await page.getByRole("dialog").getByRole("button", { name: "Reject" }).click();
		await toast(page, `Rejected job ${refused}`).waitFor();
		expect((await show(refused)).status).toBe("cancelled");
		await page.keyboard.press("Escape");
		await card(page, asks).click();
		await page.locator(".question").getByText("Which <b>colour</b>?").waitFor();
		await page.getByRole("button", { name: "Answer…" }).click();
		await page.getByLabel("Your answer").fill("green");
		await page.getByRole("button", { name: "Send the answer" }).click();
		await toast(page, `Answered job ${asks}`).waitFor();
		expect((await show(asks)).answer).toBe("green");

		await page.goto(`${site.url}?job=${bad}&tab=runs`);
		await page.getByText("failed (9)").first().waitFor();
		await page.getByRole("tab", { name: "History" }).click();
		await page.getByRole("rowheader", { name: /started/ }).waitFor();
		await page.getByRole("tab", { name: "Why" }).click();
		await page.getByRole("button", { name: "Run again alone…" }).click();
		await page.getByRole("button", { name: "Run again", exact: true }).click();
		await toast(page, `Job ${bad} runs again`).waitFor();
		await until(async () => (await show(bad)).attempt === 2);
		await page.goto(`${site.url}?view=limits`);
		await page.getByRole("button", { name: "Clear the queue…" }).click();
		await page.getByRole("button", { name: "Clear the queue", exact: true }).click();
		await toast(page, "Cleared").waitFor();
		expect((await show(one)).status).toBe("cancelled");
	});

	test("on batches; a job with a thousand reasons; one that is not there", async () => {
		const site = await openSite("max_concurrent: 1\n");
		await site.client.call("scheduler.pause", {});
		const jobs = Array.from({ length: 1000 }, (_, n) => ({ name: `part-${n}`, command: ["true"] }));
		const { names } = await site.client.call("job.apply", {
			manifest: {
				defaults: { batch: "many", cwd: "/" },
				jobs: [...jobs, { name: "last", command: ["true"], after: jobs.map(({ name }) => name) }],
			},
		});
		const page = await browser.page();
		await enter(page, site, `?job=${names.last}`);
		await page.getByRole("button", { name: /Show all 1,00\d reasons/ }).click();
		await until(async () => (await page.locator(".reasons li").count()) > 999);
		const few = await site.sh("true", { batch: "few" });
		await page.keyboard.press("5");
		await page.getByText("1,000 queued").waitFor();
		const batch = (name: string) => page.locator(".batches li", { hasText: name });
		await batch("many").getByRole("button", { name: "Pause" }).click();
		await toast(page, "Paused batch many").waitFor();
		await batch("many").getByRole("button", { name: "Resume" }).click();
		await toast(page, "Resumed batch many").waitFor();
		await batch("few").getByRole("button", { name: "Cancel…" }).click();
		await page.getByRole("button", { name: "Cancel the batch" }).click();
		await toast(page, `Cancelled job ${few}`).waitFor();
		await batch("few").getByRole("button", { name: "Retry…" }).click();
		await page.getByRole("button", { name: "Retry", exact: true }).click();
		await toast(page, `Put back job ${few}`).waitFor();
		await page.goto(`${site.url}?job=999999`);
		await page.getByRole("alert").getByText("there is no job 999999").waitFor();
		await page.getByRole("button", { name: "Back" }).click();
		await column(page, "Queued").getByText("1,001").waitFor();
	});
});

describe("views", () => {
	test("all of them, in light and dark and on a phone, without a serious finding of axe", async () => {
		const site = await openSite(CONFIG);
		const done = await site.sh("true", { batch: "night", lane: "code" });
		await site.client.call("job.wait", { ids: [done] });
		const build = await site.sh("sleep 60", { name: "build", batch: "night", lane: "code" });
		const next = await site.sh("true", { name: "next", after: [build], batch: "night", locks: ["db"] });
		await site.sh("true", { requires_approval: true });
		await site.client.call("account.limit", { name: "work", retry_after_ms: 3_600_000 });
		await site.client.call("budget.grant", { subject: "batch:night", dim: "runs", limit: 2 });
		const places = [
			"",
			"?view=graph",
			"?view=timeline",
			"?view=limits",
			"?view=batches",
			"?view=trends",
			`?job=${next}`,
			`?job=${build}&tab=log`,
			`?job=${build}&tab=history`,
			`?job=${build}&tab=details`,
		];
		for (const [colorScheme, width] of [
			["light", 1280],
			["dark", 390],
		] as const) {
			const page = await browser.page({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
			await enter(page, site);
			for (const place of places) {
				await page.goto(`${site.url}${place}`);
				await page.locator(".loading").waitFor({ state: "detached" });
				await page.locator("main h1, main h2").first().waitFor({ state: "attached" });
				expect([place, colorScheme, await findings(page)]).toEqual([place, colorScheme, []]);
				expect([place, await page.evaluate("document.documentElement.scrollWidth <= innerWidth")]).toEqual([place, true]);
			}
			await page.getByRole("button", { name: "Show the keys" }).click();
			expect(await findings(page)).toEqual([]);
		}
		const page = await browser.page();
		await enter(page, site, "?view=graph");
		const canvas = page.getByRole("application");
		await until(async () => Number(await canvas.getAttribute("data-drawn")) === 3);
		await page.goto(`${site.url}?view=timeline`);
		await page.getByRole("application").waitFor();
		const inked = () => page.locator("canvas").evaluate((c) => (c as unknown as { toDataURL(): string }).toDataURL().length);
		await until(async () => (await inked()) > 3000);
		await page.goto(`${site.url}?view=trends`);
		await page.getByRole("img", { name: /Depth, last: wait 2, run 1/ }).waitFor();
		await page.getByRole("button", { name: /^Colours/ }).click();
		expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("light");
		await site.client.call("job.cancel", { id: build });
	});

	test("with keys alone: from the board to a job, its log, a cancel, the graph, and back", async () => {
		const site = await openSite(CONFIG);
		const first = await site.sh("echo said; sleep 60", { name: "first" });
		const second = await site.sh("true", { name: "second", after: [first] });
		const page = await browser.page();
		await enter(page, site);
		await card(page, first).waitFor();
		const focus = () => page.evaluate("document.activeElement?.dataset?.card ?? document.activeElement?.tagName");
		await page.keyboard.press("ArrowDown");
		expect(await focus()).toBe(String(second));
		await page.keyboard.press("ArrowRight");
		expect(await focus()).toBe(String(first));
		await page.keyboard.press("Enter");
		await page.getByRole("heading", { name: /first/ }).waitFor();
		await page.keyboard.press("l");
		await page.locator(".lines").getByText("said").waitFor();
		await page.keyboard.press("c");
		await page.getByRole("dialog").waitFor();
		await page.keyboard.press("Escape");
		await page.getByRole("dialog").waitFor({ state: "detached" });
		await page.keyboard.press("Escape");
		await page.keyboard.press("2");
		await page.getByRole("application").focus();
		await until(async () => (await page.getByRole("application").getAttribute("data-drawn")) === "2");
		await page.keyboard.press("ArrowRight");
		await page.locator(".beside").getByText("first").waitFor();
		await page.keyboard.press("ArrowRight");
		await page.locator(".beside").getByText("second").waitFor();
		await page.keyboard.press("Enter");
		await page.getByRole("heading", { name: /second/ }).waitFor();
		await page.keyboard.press("Escape");
		await page.keyboard.press("/");
		await page.keyboard.type("second");
		expect(page.url()).toContain("q=second");
		await page.keyboard.press("Escape");
		await page.keyboard.press("1");
		await card(page, first).waitFor({ state: "detached" });
		await page.keyboard.press("?");
		await page.getByRole("dialog", { name: "Keys" }).waitFor();
		await page.keyboard.press("Escape");
		await page.getByRole("dialog").waitFor({ state: "detached" });
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Enter");
		await page.getByRole("heading", { name: /second/ }).waitFor();
		await page.keyboard.press("c");
		await page.getByRole("dialog").waitFor();
		await page.keyboard.press("Tab");
		await page.keyboard.press("Tab");
		await page.keyboard.press("Enter");
		await toast(page, `Cancelled job ${second}`).waitFor();
		await site.client.call("job.cancel", { id: first });
	});
});
