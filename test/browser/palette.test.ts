// The command palette: with keys alone to every view, job and action; what loses something asks.

import { expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { card, enter, pauseAll, TestBrowser, toast } from "../make/pages/browser.ts";
import { LOOKS, look } from "../make/pages/look.ts";

const browser = new TestBrowser();
const CONFIG = "max_concurrent: 2\nlanes: {code: {max: 2}, docs: {}}\naccounts: {work: {}}\n";

test("views, jobs, actions, pauses and caps, with keys alone", async () => {
	const site = await openSite(CONFIG);
	const { client } = site;
	await client.call("scheduler.pause", { lane: "docs" });
	const flaky = await site.sh("true", { lane: "docs", name: "flaky-upload" });
	const other = await site.sh("true", { lane: "docs", name: "other", title: "<img src=x onerror=alert(1)> \u202eevil" });
	const page = await browser.page();
	await enter(page, site);
	const field = page.getByRole("combobox", { name: "Find a job, a view or an action" });
	const open = async () => {
		await page.keyboard.press("ControlOrMeta+k");
		await field.waitFor();
	};
	const selected = page.getByRole("option", { selected: true });
	const run = async (query: string, words: string | RegExp) => {
		await open();
		await page.keyboard.type(query);
		await selected.filter({ hasText: words }).waitFor();
		await page.keyboard.press("Enter");
		await field.waitFor({ state: "detached" });
	};
	await run("limi", "Limits");
	await page.getByRole("region", { name: "Caps" }).waitFor();
	// A job by letters of its name, by its number, and by what only the daemon knows of it.
	await run("flup", "flaky-upload");
	await page.getByRole("heading", { name: "flaky-upload" }).waitFor();
	await run(`#${other}`, "other");
	await page.getByRole("heading", { name: "evil" }).waitFor();

	// The open job's actions come first; a dangerous one asks.
	await open();
	await page.getByRole("option").first().getByText("Run next").waitFor();
	await page.keyboard.type("cancel");
	await selected.filter({ hasText: "Cancel…" }).waitFor();
	await page.keyboard.press("Enter");
	await page.getByRole("dialog").getByText(`Cancel job ${other}?`).waitFor();
	expect((await client.call("job.show", { id: other })).job.status).toBe("queued");
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "detached" });

	// Tab: what can be done with a job that is not open. Backspace goes back, Escape closes.
	await open();
	await page.keyboard.type("flaky");
	await selected.filter({ hasText: "flaky-upload" }).waitFor();
	await page.keyboard.press("Tab");
	await page.getByRole("combobox", { name: `Do something with job ${flaky}` }).waitFor();
	await page.keyboard.press("Backspace");
	await field.waitFor();
	await page.keyboard.type("flaky");
	await page.keyboard.press("Tab");
	await page.keyboard.type("priority");
	await page.keyboard.press("Enter");
	await page.getByRole("dialog").getByLabel("A whole number").fill("5");
	await page.keyboard.press("Enter");
	await toast(page, `Job ${flaky} has priority 5`).waitFor();

	// Pauses and caps, by scope.
	await run("pause code", "Pause lane code");
	await toast(page, "Paused lane code").waitFor();
	await run("resume code", "Resume lane code");
	await toast(page, "Resumed lane code").waitFor();
	await run("cap code", "Cap of lane code…");
	await page.getByLabel("A whole number, or none").fill("7");
	await page.keyboard.press("Enter");
	await toast(page, "Lane code: at most 7 runs.").waitFor();
	await until(async () => (await client.call("scheduler.status", {})).lanes.code?.max === 7);
	await run("pause every", "Pause everything…");
	await page.getByRole("dialog").getByText("Pause everything?").waitFor();
	await page.keyboard.press("Escape");

	await open();
	await page.keyboard.type("zzzzqq");
	await page.getByText("Nothing fits").waitFor();
	await page.keyboard.press("Escape");
	await field.waitFor({ state: "detached" });
	// The card in focus is the job in hand; the button in the head opens it as well.
	await page.keyboard.press("2");
	await card(page, flaky).focus();
	await page.keyboard.press("ControlOrMeta+k");
	await page
		.getByRole("option", { name: /Run next/ })
		.getByText(`job ${flaky}`)
		.waitFor();
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: "Do…" }).click();
	await field.waitFor();
});

test("a job that only the daemon has is found", async () => {
	const site = await openSite(CONFIG);
	const id = await site.sh("true", { lane: "docs", name: "plain", prompt: undefined });
	await site.client.call("job.wait", { ids: [id] });
	const page = await browser.page();
	await page.route("**/rpc", async (route) => {
		const call = route.request().postDataJSON() as { id: number; method: string };
		// As after thousands of later ends: the page has not loaded the job.
		if (call.method !== "job.list") return route.continue();
		await route.fulfill({ json: { jsonrpc: "2.0", id: call.id, result: { schema_version: 1, jobs: [], seq: 1 } } });
	});
	await enter(page, site, "?view=limits");
	await page.keyboard.press("ControlOrMeta+k");
	await page.getByRole("combobox", { name: "Find a job" }).waitFor();
	await page.keyboard.type("plain");
	await page.getByRole("option", { name: new RegExp(`${id} plain`) }).waitFor();
});

test.each(LOOKS)("how it looks: $as", async ({ colorScheme, width, height, as }) => {
	const site = await openSite(CONFIG);
	for (const name of ["build", "deploy", "migrate"])
		await site.sh("true", { name, requires_approval: true, title: `The ${name} of the shop` });
	const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
	await enter(page, site);
	await pauseAll(page);
	await page.getByRole("button", { name: "Close this note" }).click();
	await page.getByRole("button", { name: "Do…" }).click();
	await page.getByRole("option").first().waitFor();
	await look(page, `palette-${as}`);
	await page.keyboard.type("dep");
	await page.getByRole("option", { selected: true }).getByText("deploy").waitFor();
	await look(page, `palette-found-${as}`);
});
