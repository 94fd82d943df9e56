// The dashboard with keys alone.

import { expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { card, enter, TestBrowser, toast } from "../make/pages/browser.ts";
import { makeRepository } from "../make/repository.ts";

const browser = new TestBrowser();
const CONFIG = "max_concurrent: 2\nlanes: {code: {max: 2}, docs: {}}\naccounts: {work: {}}\n";

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
	await page.keyboard.press("3");
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
	await page.waitForURL(/q=second/);
	await page.keyboard.press("Escape");
	await page.keyboard.press("2");
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

test("every kind of action with keys alone", async () => {
	const ghost = `repos: {ghost: {path: ${makeRepository().path}, hooks: {before_run: [/bin/false]}}}`;
	const site = await openSite(`${CONFIG}${ghost}\nenvironment_breaker: {failures: 2, cooldown: 1h}\n`);
	const { client } = site;
	await client.call("scheduler.pause", { lane: "code" });
	const [waits, other] = [await site.sh("true", { lane: "code", name: "waits" }), await site.sh("true", { lane: "code", name: "other" })];
	const careful = await site.sh("true", { name: "careful", requires_approval: true });
	const asks = await site.add({ payload: { n: 1 }, lane: "docs", name: "curious", command: undefined });
	const { claimed } = await client.call("job.claim", { worker: "w", lanes: ["docs"] });
	await client.call("job.complete", { job: asks, token: claimed[0]!.run.token, exit_kind: "needs_human", question: "Which colour?" });
	for (const name of ["a", "b"]) await site.sh("true", { repo: "ghost", name });
	const show = async (id: number) => (await client.call("job.show", { id })).job;
	const status = () => client.call("scheduler.status", {});
	const page = await browser.page();
	await enter(page, site);
	/** From control to control, as far as there are any. */
	const tabTo = async (name: RegExp) => {
		for (let n = 0; n < 120; n++) {
			await page.keyboard.press("Tab");
			const label = "(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '').trim()";
			if (name.test((await page.evaluate(label)) as string)) return;
		}
		throw new Error(`no way to ${name} with Tab`);
	};
	const open = async (id: number) => {
		await page.keyboard.press("Escape");
		await page.keyboard.press("/");
		await page.keyboard.press("ControlOrMeta+A");
		await page.keyboard.type(`#${id}`);
		await page.keyboard.press("Escape");
		await card(page, id).waitFor();
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Enter");
		await page.locator(".jobhead .id", { hasText: String(id) }).waitFor();
	};
	// One stray key stops nothing.
	await page.keyboard.press("p");
	await page.getByRole("dialog").waitFor();
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "detached" });
	expect((await status()).paused).toBe(false);
	await page.keyboard.press("p");
	await page.getByRole("dialog").waitFor();
	await tabTo(/^Pause everything$/);
	await page.keyboard.press("Enter");
	await toast(page, "Paused everything").waitFor();
	await page.getByRole("banner").getByRole("button", { name: "Resume" }).waitFor();
	await page.keyboard.press("p");
	await toast(page, "Resumed everything").waitFor();

	await open(waits);
	await page.keyboard.press("t");
	await toast(page, `Job ${waits} is first`).waitFor();
	await page.keyboard.press("c");
	await page.getByRole("dialog").waitFor();
	await page.keyboard.type("by hand");
	await page.keyboard.press("Enter");
	await toast(page, `Cancelled job ${waits}`).waitFor();
	expect((await show(waits)).end_reason).toBe("by hand");
	await page.keyboard.press("r");
	await page.getByRole("dialog").waitFor();
	await page.keyboard.press("Enter");
	await toast(page, `Put back job ${waits}`).waitFor();
	expect((await show(waits)).status).toBe("queued");

	await open(careful);
	await page.keyboard.press("a");
	await toast(page, `Approved job ${careful}`).waitFor();
	await open(asks);
	await tabTo(/^Your answer to job/);
	// What was typed outlives Escape and a reload; Ctrl Enter sends it.
	await page.keyboard.type("gre");
	await page.keyboard.press("Escape");
	await page.reload();
	await page.locator(".jobhead .id", { hasText: String(asks) }).waitFor();
	await tabTo(/^Your answer to job/);
	expect(await page.getByLabel(/^Your answer/).inputValue()).toBe("gre");
	await page.keyboard.press("End");
	await page.keyboard.type("en");
	await page.keyboard.press("ControlOrMeta+Enter");
	await toast(page, `Answered job ${asks}`).waitFor();
	expect((await show(asks)).answer).toBe("green");
	await open(other);
	await tabTo(/^Priority…$/);
	await page.keyboard.press("Enter");
	await page.getByRole("dialog").waitFor();
	await page.keyboard.press("ControlOrMeta+A");
	await page.keyboard.type("7");
	await page.keyboard.press("Enter");
	await toast(page, "has priority 7").waitFor();

	await page.keyboard.press("5");
	await page.getByRole("region", { name: "Holds" }).getByText("breaker open").waitFor();
	await tabTo(/^Cap of lane code, as a number/);
	await page.keyboard.press("ControlOrMeta+A");
	await page.keyboard.type("3");
	await page.keyboard.press("Enter");
	await toast(page, "Lane code: at most 3 runs.").waitFor();
	await tabTo(/^Clear: breaker open, repo:ghost$/);
	await page.keyboard.press("Enter");
	await toast(page, "The breaker of repo ghost is closed").waitFor();
	await until(async () => (await status()).lanes.code?.max === 3);
});
