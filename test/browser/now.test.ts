// The home: what needs a person is done in place, what runs says what it is doing, what is stuck has its remedy, what failed comes first.

import { expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { card, enter, TestBrowser, toast } from "../make/pages/browser.ts";
import { openNight } from "../make/pages/night.ts";

const browser = new TestBrowser();
const block = (page: Awaited<ReturnType<TestBrowser["page"]>>, name: string) => page.getByRole("region", { name, exact: true });

test("the five questions at a glance, and the wall", async () => {
	const site = await openNight();
	const { ids } = site;
	const page = await browser.page();
	await enter(page, site, "");
	const strip = page.getByRole("list", { name: "At a glance" });
	await strip.getByText("need you").waitFor();
	expect(await strip.textContent()).toMatch(/2 need you.*of 6 running.*stuck.*\$1\.87 today/s);
	await until(async () => /^\(2\) /.test(await page.title()));
	await block(page, "Running").getByText("Both tables lack an index").waitFor();
	await block(page, "Running").getByText("compiling").waitFor();
	await block(page, "Stuck by").getByText("lane docs paused by").waitFor();
	const failed = block(page, "Just ended").locator("li", { has: card(page, ids.broken) });
	await failed.getByText("expected 42 rows, found 41").waitFor();
	await failed.getByRole("button", { name: "Log" }).click();
	await page.locator(".lines").getByText("expected 42 rows").waitFor();
	await page.goto(`${site.url}?wall`);
	await block(page, "Running").getByText("Both tables lack an index").waitFor();
	expect(await page.getByRole("button").count()).toBe(0);
	await site.over();
});

test("answer, approve and remedy in place; what is typed is kept; how many jobs wait for it", async () => {
	const site = await openSite("max_concurrent: 4\nlanes: {code: {max: 1}, docs: {}}\n");
	const { client } = site;
	const careful = await site.sh("./deploy --prod", { name: "deploy", requires_approval: true });
	const next = await site.sh("true", { after: [careful] });
	await site.sh("true", { after: [next] });
	const asks = await site.add({ payload: { n: 1 }, lane: "docs", name: "curious", command: undefined });
	const { claimed } = await client.call("job.claim", { worker: "w", lanes: ["docs"] });
	const question = "May I drop the legacy column?\nIt has 3 readers.";
	await client.call("job.complete", { job: asks, token: claimed[0]!.run.token, exit_kind: "needs_human", question });
	const runs = await site.sh("sleep 600", { lane: "code", name: "runs" });
	const waits = await site.sh("true", { lane: "code", name: "waits" });
	const page = await browser.page();
	await enter(page, site, "");
	const need = (id: number) => block(page, "Needs you").locator("li", { has: card(page, id) });
	await need(careful).getByText("2 jobs wait").waitFor();
	await need(careful).getByText("./deploy --prod").waitFor();
	await need(asks).getByText("It has 3 readers.").waitFor();
	const field = page.getByLabel(`Your answer to job ${asks}`);
	await field.fill("No, keep");
	await page.reload();
	await field.waitFor();
	expect(await field.inputValue()).toBe("No, keep");
	await field.fill("No, keep it");
	await page.keyboard.press("ControlOrMeta+Enter");
	await toast(page, `Answered job ${asks}`).waitFor();
	expect((await client.call("job.show", { id: asks })).job.answer).toBe("No, keep it");
	await need(careful).getByRole("button", { name: "Approve" }).click();
	await toast(page, `Approved job ${careful}`).waitFor();
	await need(careful).waitFor({ state: "detached" });
	await block(page, "Next").getByText("lane code is full: 1 of 1 running").waitFor();
	await block(page, "Stuck by").getByRole("button", { name: "Raise to 2" }).click();
	await toast(page, "Lane code: at most 2 runs.").waitFor();
	await until(async () => (await client.call("job.show", { id: waits })).job.status === "succeeded");
	const kept = await site.sh("true", { name: "kept", hold: true });
	await client.call("job.hold", { ids: [kept], reason: "after the demo" });
	await block(page, "Stuck by").getByText("after the demo").waitFor();
	await block(page, "Stuck by").getByRole("button", { name: "Release" }).click();
	await toast(page, `Released job ${kept}.`).waitFor();
	await until(async () => (await client.call("job.show", { id: kept })).job.status === "succeeded");
	await client.call("job.cancel", { id: runs });
});

test("the way back leads to where one was: each view keeps its place", async () => {
	const site = await openSite("max_concurrent: 1\n");
	const runs = await site.sh("sleep 600");
	await site.client.call("job.apply", {
		manifest: { jobs: Array.from({ length: 120 }, (_, n) => ({ title: `job ${n}`, command: ["true"] })) },
	});
	const page = await browser.page();
	await enter(page, site);
	const list = page.getByRole("list", { name: "Queued" });
	await list.locator("[data-card]").first().waitFor();
	await list.evaluate((element) => element.scrollTo({ top: 2400 }));
	await until(async () => (await list.locator("[data-card]").count()) > 0 && (await list.evaluate((one) => one.scrollTop)) === 2400);
	await list.locator("[data-card]").nth(5).click();
	await page.locator(".jobhead").waitFor();
	await page.keyboard.press("Escape");
	await until(async () => (await list.evaluate((one) => one.scrollTop)) === 2400);
	await site.client.call("job.cancel", { id: runs });
});
