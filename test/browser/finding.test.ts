// Filters, saved views, and one action on many jobs.

import { expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { card, enter, TestBrowser, toast } from "../make/pages/browser.ts";
import { LOOKS, look } from "../make/pages/look.ts";

const browser = new TestBrowser();
const CONFIG = "max_concurrent: 2\nlanes: {code: {max: 2}, docs: {}}\n";

test("the filter language: keys, values and mistakes, with keys alone; words deep in a prompt; a saved view", async () => {
	const site = await openSite(`${CONFIG}agents: {ghost: {command: [/nonexistent/ghost]}}\n`);
	const { client } = site;
	await client.call("scheduler.pause", {});
	const one = await site.sh("true", { lane: "docs", name: "one", owner: "ann" });
	const two = await site.sh("true", { lane: "code", name: "two" });
	const deep = await site.add({
		agent: "ghost",
		lane: "docs",
		name: "deep",
		prompt: `${"x ".repeat(2000)} the retry loop`,
		command: undefined,
	});
	const page = await browser.page();
	await enter(page, site);
	await card(page, one).waitFor();
	await page.keyboard.press("/");
	await page.keyboard.type("la");
	await page.getByRole("option", { name: /^lane:/ }).waitFor();
	await page.keyboard.press("Tab");
	await page.getByRole("option", { name: "docs" }).waitFor();
	await page.keyboard.type("do");
	await page.keyboard.press("Tab");
	expect(await page.locator("#search").inputValue()).toBe("lane:docs ");
	await card(page, two).waitFor({ state: "detached" });
	await page.keyboard.type("-one");
	await card(page, one).waitFor({ state: "detached" });
	await card(page, deep).waitFor();
	const search = async (text: string) => page.locator("#search").fill(text);
	// A word that is far behind in the prompt of a job with a name.
	await search('"retry loop"');
	await card(page, deep).waitFor();
	await until(async () => (await page.locator("[data-card]").count()) === 1);
	await search("owner:ann OR name:two");
	await page.getByText("“name:” is no key").waitFor();
	await search("ownr:ann");
	await page.getByText("did you mean owner:?").waitFor();
	await search("is:runing");
	await page.getByText("did you mean is:running?").waitFor();
	await search("owner:ann OR two");
	await page.getByText("is no key").waitFor({ state: "detached" });
	await card(page, two).waitFor();
	await card(page, one).waitFor();
	await card(page, deep).waitFor({ state: "detached" });
	await client.call("job.hold", { ids: [two] });
	await search("is:held");
	await card(page, two).waitFor();
	await card(page, one).waitFor({ state: "detached" });

	await page.getByLabel("Saved views").click();
	await page.getByRole("button", { name: "Save this view…" }).click();
	await page.getByLabel("Name").fill("what is held");
	await page.keyboard.press("Enter");
	await toast(page, "Saved as “what is held”").waitFor();
	await search("");
	await card(page, one).waitFor();
	await page.reload();
	await page.keyboard.press("ControlOrMeta+k");
	await page.getByRole("combobox", { name: "Find a job" }).waitFor();
	await page.keyboard.type("what is held");
	await page.getByRole("option", { selected: true }).getByText("saved view").waitFor();
	await page.keyboard.press("Enter");
	await card(page, one).waitFor({ state: "detached" });
	expect(page.url()).toContain("q=is%3Aheld");
	await page.getByLabel("Saved views").click();
	await page.getByRole("button", { name: "Forget the view what is held" }).click();
	await toast(page, "is forgotten").waitFor();
});

test("many at once: by key, by mouse and all that match; held, released, cancelled after a question, and undone", async () => {
	const site = await openSite(CONFIG);
	const { client } = site;
	await client.call("scheduler.pause", {});
	const ids: number[] = [];
	for (let n = 0; n < 6; n++) ids.push(await site.sh("true", { lane: n < 4 ? "docs" : "code", name: `job-${n}` }));
	const done = await site.sh("true", { name: "asks", requires_approval: true });
	const status = async (id: number) => (await client.call("job.show", { id })).job.status;
	const page = await browser.page();
	await enter(page, site);
	await card(page, ids[0]!).focus();
	await page.keyboard.press("v");
	const bar = page.getByRole("region", { name: "Selected jobs" });
	await bar.getByText("1 selected").waitFor();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("v");
	await bar.getByText("2 selected").waitFor();
	await page.keyboard.press("Escape");
	await bar.waitFor({ state: "detached" });
	// Shift selects from the last one up to this one.
	await page.getByLabel(`Select job ${ids[0]}`).click();
	await page.getByLabel(`Select job ${ids[3]}`).click({ modifiers: ["Shift"] });
	await bar.getByText("4 selected").waitFor();
	await bar.getByRole("button", { name: "Hold… 4" }).click();
	await page.getByRole("dialog").getByText("Hold 4 jobs?").waitFor();
	await page.keyboard.press("Enter");
	await toast(page, "Held 4 jobs").waitFor();
	await until(async () => (await client.call("job.show", { id: ids[2]! })).job.wait_reason?.kind === "held");
	await toast(page, "Held 4 jobs").getByRole("button", { name: "Undo" }).click();
	await toast(page, "Released 4 jobs").waitFor();

	await page.locator("#search").fill("lane:code OR asks");
	await card(page, ids[0]!).waitFor({ state: "detached" });
	await page.getByLabel(`Select job ${ids[5]}`).click();
	await bar.getByRole("button", { name: "Select all 3 that match" }).click();
	await bar.getByText("3 selected").waitFor();
	await bar.getByRole("button", { name: "Approve… 1" }).waitFor();
	await bar.getByRole("button", { name: "Cancel… 3" }).click();
	await page.getByRole("dialog").getByText("Cancel 3 jobs?").waitFor();
	// Enter keeps them: what loses something is not done by one key.
	await page.keyboard.press("Enter");
	await page.getByRole("dialog").waitFor({ state: "detached" });
	expect(await status(done)).toBe("queued");
	await bar.getByRole("button", { name: "Cancel… 3" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Cancel 3 jobs" }).click();
	await toast(page, "Cancelled 3 jobs").waitFor();
	expect(await status(ids[4]!)).toBe("cancelled");
	await toast(page, "Cancelled 3 jobs").getByRole("button", { name: "Undo" }).click();
	await toast(page, "Put back 3 jobs").waitFor();
	expect(await status(ids[4]!)).toBe("queued");
});

test.each(LOOKS)("how it looks: $as", async ({ colorScheme, width, height, as }) => {
	const site = await openSite(CONFIG);
	await site.client.call("scheduler.pause", { lane: "docs" });
	for (let n = 0; n < 5; n++) await site.sh("true", { lane: "docs", name: `page-${n}`, title: "A page of the manual" });
	const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
	await enter(page, site);
	await page.locator("#search").fill("lan:docs");
	await page.getByText("did you mean").waitFor();
	await look(page, `query-problem-${as}`);
	await page.locator("#search").fill("is:");
	await page.getByRole("option", { name: "held" }).waitFor();
	await look(page, `query-complete-${as}`);
	await page.keyboard.press("Escape");
	await page.locator("#search").fill("lane:docs");
	await page.locator("[data-card]").first().focus();
	await page.keyboard.press("v");
	await page.getByRole("region", { name: "Selected jobs" }).waitFor();
	await look(page, `selected-${as}`);
});
