// Pauses at every scope, caps, accounts, budgets and holds in a real browser; what each action did is asked of the daemon.

import { expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { enter, pauseAll, TestBrowser, toast } from "../make/pages/browser.ts";
import { makeRepository } from "../make/repository.ts";

const browser = new TestBrowser();

test("pause and resume at each scope, and take a pause back", async () => {
	const site = await openSite(`lanes: {code: {}}\naccounts: {work: {}}\nrepos: {app: {path: ${makeRepository().path}}}\n`);
	await site.sh("true", { after: [await site.sh("sleep 60")], batch: "night" });
	const page = await browser.page();
	await enter(page, site);
	const paused = async () => (await site.client.call("scheduler.status", {})).holds.map(({ scope }) => scope);

	await pauseAll(page);
	expect(await paused()).toEqual(["all"]);
	await page.getByText("Paused by page").waitFor();
	await page.getByRole("banner").getByRole("button", { name: "Resume" }).click();
	await toast(page, "Resumed everything").waitFor();
	expect(await paused()).toEqual([]);
	await toast(page, "Resumed everything").getByRole("button", { name: "Undo" }).click();
	await until(async () => (await paused()).length === 1);
	await toast(page, "Paused everything").last().getByRole("button", { name: "Undo" }).click();
	await until(async () => (await paused()).length === 0);

	await page.keyboard.press("5");
	const places = {
		lane: ["code", page.locator(".gauge", { hasText: "lane code" })],
		repo: ["app", page.getByRole("region", { name: "Repos" }).locator("li", { hasText: "app" })],
		account: ["work", page.getByRole("region", { name: "Accounts" }).locator("li", { hasText: "work" })],
	} as const;
	for (const [kind, [name, place]] of Object.entries(places)) {
		await place.getByRole("button", { name: "Pause" }).click();
		await toast(page, `Paused ${kind} ${name}`).waitFor();
		expect(await paused()).toEqual([`${kind}:${name}`]);
		await place.getByText("paused", { exact: true }).waitFor();
		await place.getByRole("button", { name: "Resume" }).click();
		await toast(page, `Resumed ${kind} ${name}`).waitFor();
		expect(await paused()).toEqual([]);
	}
	await page.keyboard.press("6");
	const batch = page.locator(".batches li", { hasText: "night" });
	await batch.getByRole("button", { name: "Pause" }).click();
	await toast(page, "Paused batch night").waitFor();
	expect(await paused()).toEqual(["batch:night"]);
	await batch.getByRole("button", { name: "Resume" }).click();
	await toast(page, "Resumed batch night").waitFor();
	expect(await paused()).toEqual([]);
});

test("caps by steps and by field, each set on purpose and taken back; a click on the bar changes nothing", async () => {
	const site = await openSite("max_concurrent: 2\nlanes: {code: {max: 2}}\n");
	await site.sh("sleep 60", { lane: "code" });
	const page = await browser.page();
	await enter(page, site, "?view=limits");
	const status = () => site.client.call("scheduler.status", {});
	const lane = page.locator(".gauge", { hasText: "lane code" });
	const field = lane.getByLabel("Cap of lane code, as a number");
	await lane.locator(".bar").click({ position: { x: 2, y: 5 } });
	await lane.getByRole("button", { name: "one run less" }).click();
	await lane.getByRole("button", { name: "Set 1" }).waitFor();
	expect((await status()).lanes.code?.max).toBe(2);
	await lane.getByRole("button", { name: "Keep the cap" }).click();
	await lane.getByRole("button", { name: "one run more" }).click();
	await lane.getByRole("button", { name: "Set 3" }).click();
	await toast(page, "Lane code: at most 3 runs.").waitFor();
	expect((await status()).lanes.code?.max).toBe(3);
	await toast(page, "Lane code: at most 3 runs.").getByRole("button", { name: "Undo" }).click();
	await until(async () => (await status()).lanes.code?.max === 2);
	await field.fill("5");
	await field.press("Enter");
	await toast(page, "Lane code: at most 5 runs.").waitFor();
	// 0 stops the lane, and none at all may start hundreds: both are asked about.
	await field.fill("0");
	await field.press("Enter");
	await page.getByRole("dialog").getByRole("button", { name: "Keep as it is" }).click();
	// The page draws once a frame: until then the dialog keeps the keys.
	await page.getByRole("dialog").waitFor({ state: "detached" });
	expect((await status()).lanes.code?.max).toBe(5);
	await field.fill("");
	await field.press("Enter");
	await page.getByRole("dialog").getByRole("button", { name: "Remove the cap" }).click();
	await toast(page, "Lane code: no cap any more.").waitFor();
	expect((await status()).lanes.code?.max).toBe(null);
	const all = page.locator(".gauge", { hasText: "everything" });
	const allField = all.getByRole("textbox");
	await allField.fill("7");
	await allField.press("Enter");
	await toast(page, "Everything: at most 7 runs.").waitFor();
	expect((await status()).max_concurrent).toBe(7);
	for (const bad of ["0", "2.5", "x"]) {
		await allField.fill(bad);
		await allField.press("Enter");
		await page.locator(".toast.failed").last().waitFor();
		await until(async () => (await allField.inputValue()) === "7");
		expect((await status()).max_concurrent).toBe(7);
	}
});

test("holds of every kind can be cleared; budgets are granted", async () => {
	const site = await openSite(`
accounts: {work: {}, spare: {}}
repos: {ghost: {path: ${makeRepository().path}, hooks: {before_run: [/bin/sh, -c, 'echo nonexistent >&2; exit 4']}}}
environment_breaker: {failures: 2, cooldown: 1h}
`);
	const page = await browser.page();
	await enter(page, site, "?view=limits");
	const holds = async () => (await site.client.call("scheduler.status", {})).holds.map(({ kind, scope }) => `${kind} ${scope}`);
	const panel = page.getByRole("region", { name: "Holds" });
	const clear = (name: string) => panel.getByRole("button", { name: `Clear: ${name}` }).click();

	const ghosts = [await site.sh("true", { repo: "ghost" }), await site.sh("true", { repo: "ghost" })];
	await panel.getByText("breaker open").waitFor();
	await panel.getByText(/nonexistent/).waitFor();
	await until(async () => (await holds()).includes("breaker_open repo:ghost"));
	await site.client.call("job.cancel", { ids: ghosts });
	await clear("breaker open, repo:ghost");
	await toast(page, "The breaker of repo ghost is closed: its jobs start again.").waitFor();
	expect(await holds()).toEqual([]);

	await site.client.call("scheduler.pause", { account: "spare", reason: "holiday" });
	await panel.getByText("holiday").waitFor();
	await clear("paused, account:spare");
	await toast(page, "Resumed account spare").waitFor();
	expect(await holds()).toEqual([]);

	for (const [kind, report] of [
		["rate limited", { retry_after_ms: 3_600_000 }],
		["account closed", { closed: "no money" }],
	] as const) {
		await site.client.call("account.limit", { name: "work", ...report });
		await clear(`${kind}, account:work`);
		await page.getByRole("dialog").getByRole("button", { name: "Open it" }).click();
		await until(async () => (await holds()).length === 0);
		await toast(page, "Account work is open").last().waitFor();
	}
	await site.client.call("account.limit", { name: "work", retry_after_ms: 3_600_000 });
	const accounts = page.getByRole("region", { name: "Accounts" });
	await accounts
		.getByText(/59 m \d|1 h 00 m/)
		.first()
		.waitFor();
	await accounts.getByRole("button", { name: "Open…" }).click();
	await page.getByRole("button", { name: "Keep as it is" }).click();
	expect(await holds()).toEqual(["rate_limited account:work"]);
	await accounts.getByRole("button", { name: "Open…" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Open it" }).click();
	await until(async () => (await holds()).length === 0);

	await site.client.call("budget.report", { subject: "owner:ann", dim: "cost_micro", amount: 2_500_000 });
	await site.client.call("scheduler.pause", {});
	const limit = () => page.getByRole("button", { name: "Limit of cost_micro for owner:ann" }).click();
	await limit();
	await page.getByLabel("Limit in dollars").fill("nine");
	await page.getByLabel("Limit in dollars").press("Enter");
	await toast(page, "An amount is like 5 or 2.50").waitFor();
	// Dollars, as on the command line.
	await limit();
	await page.getByLabel("Limit in dollars").fill("$9");
	await page.getByLabel("Limit in dollars").press("Enter");
	await toast(page, "owner ann: cost up to $9.00").waitFor();
	expect((await site.client.call("budget.list", { subject: "owner:ann" })).budgets[0]?.limit).toBe(9_000_000);
	await page.getByText("$2.50 of $9.00").waitFor();
});

test("hosts: what runs there, their last sign of life; drained and undrained", async () => {
	const site = await openSite("max_concurrent: 2\n");
	const runs = await site.sh("sleep 60");
	const page = await browser.page();
	await enter(page, site, "?view=limits");
	const hosts = async () => (await site.client.call("host.list", {})).hosts;
	const [{ name } = { name: "" }] = await hosts();
	const host = page.getByRole("region", { name: "Hosts" }).locator("li", { hasText: name });
	await host.getByText(/1( of \d+)? running/).waitFor();
	await host.getByText(/last heard of \d+ s ago/).waitFor();
	await host.getByRole("button", { name: "Drain…" }).click();
	await page.getByLabel("Why (for the record)").fill("new disk");
	await page.getByRole("button", { name: "Drain it" }).click();
	await toast(page, `Host ${name} takes no more jobs.`).waitFor();
	await host.getByText("drained by page: new disk").waitFor();
	expect((await hosts())[0]?.drain).toMatchObject({ reason: "new disk" });
	const waits = await site.sh("true");
	await host.getByRole("button", { name: "Undrain" }).click();
	await toast(page, `Host ${name} takes jobs again.`).waitFor();
	expect((await hosts())[0]?.drain).toBe(null);
	await until(async () => (await site.client.call("job.show", { id: waits })).job.status === "succeeded");
	await site.client.call("job.cancel", { id: runs });
});
