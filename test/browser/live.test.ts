// The dashboard in a real browser: coming in, jobs that appear by themselves, connections that are cut, logs, hostile texts.

import { describe, expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { card, column, enter, openProxy, TestBrowser, toast, watch } from "../make/pages/browser.ts";

const browser = new TestBrowser();

describe("coming in", () => {
	test("without a link, with something else, with a link; a viewer only looks", async () => {
		const site = await openSite();
		const page = await browser.page();
		const response = await page.goto(site.url);
		expect(response?.headers()["content-security-policy"]).toContain("default-src 'none'");
		await page.getByRole("heading", { name: "Sign in" }).waitFor();
		await page.getByLabel("Link").fill("wrong");
		await page.getByRole("button", { name: "Sign in" }).click();
		await page.getByRole("alert").getByText("This is no link of sluice open").waitFor();

		await page.goto((await site.home.run(["open"])).out.trim());
		await page.getByRole("heading", { name: "Nothing here yet" }).waitFor();
		expect(page.url()).toBe(site.url);
		await page.reload();
		await page.getByRole("heading", { name: "Nothing here yet" }).waitFor();
		await page.getByText("sluice add -- echo hello").waitFor();

		const id = await site.sh("sleep 60");
		const viewer = await browser.page();
		await viewer.goto((await site.home.run(["open", "--viewer"])).out.trim());
		await card(viewer, id).click();
		await viewer.getByText("read only").waitFor();
		expect(await viewer.getByRole("button", { name: /Cancel|Pause|Retry/ }).count()).toBe(0);
		await viewer.keyboard.press("c");
		await toast(viewer, "can only look").waitFor();
		await viewer.keyboard.press("p");
		await until(async () => (await toast(viewer, "can only look").count()) === 2);
		expect((await site.client.call("scheduler.status", {})).paused).toBe(false);
		await site.client.call("job.cancel", { id });
	});
});

describe("what is shown", () => {
	test("a job added on the command line appears without a reload, in two tabs; search and filters are in the address", async () => {
		const site = await openSite("lanes: {code: {}, docs: {}}\n");
		const first = await site.sh("sleep 60", { name: "long", lane: "code" });
		const page = await browser.page();
		await enter(page, site);
		const tab = await page.context().newPage();
		watch(tab);
		await enter(tab, site);
		for (const one of [page, tab]) await column(one, "Running").getByText("long").waitFor();
		const said = await site.home.run(["add", "--name", "fresh", "--lane", "docs", "--after", "long", "--json", "--", "true"]);
		const { id } = JSON.parse(said.out).job;
		for (const one of [page, tab]) {
			await column(one, "Waiting").getByText("fresh").waitFor();
			await column(one, "Waiting").getByText(`waiting on job ${first}`).waitFor();
		}
		await site.client.call("job.cancel", { id: first });
		for (const one of [page, tab]) await column(one, "Failed").getByText("fresh").waitFor();

		await page.locator("#search").fill("fresh");
		await card(page, first).waitFor({ state: "detached" });
		expect(new URL(page.url()).search).toBe("?view=board&q=fresh");
		await page.locator("#search").fill("");
		await card(page, first).waitFor();
		await page.locator(".chip.lane", { hasText: "docs" }).first().click();
		await card(page, first).waitFor({ state: "detached" });
		const address = page.url();
		expect(address).toContain("lane=docs");
		await tab.goto(address);
		await card(tab, id).waitFor();
		expect(await card(tab, first).count()).toBe(0);
		await tab.locator(".chip.filter").click();
		await card(tab, first).waitFor();
	});

	test("details say what a job's runs may add, where that is not the job's own permission", async () => {
		const site = await openSite();
		const [bounded, usual] = [await site.sh("true", { may_add: "ask" }), await site.sh("true")];
		const page = await browser.page();
		await enter(page, site);
		await page.goto(`${site.url}?job=${bounded}&tab=details`);
		await page.getByText("may add jobs with permission ask at most").waitFor();
		await page.goto(`${site.url}?job=${usual}&tab=details`);
		await page.locator("dl.pairs dt", { hasText: /^lane$/ }).waitFor();
		expect(await page.locator("dl.pairs dt", { hasText: "its runs" }).count()).toBe(0);
	});

	test("hostile titles, names, branches and logs are text", async () => {
		const site = await openSite();
		const evil = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
		const quoted = evil.replaceAll('"', '\\"');
		const log = await site.sh(`printf '%s\\n' "${quoted}"; printf '\\033[31mred\\033[0m\\n'`, {
			title: evil,
			base_branch: 'x"><svg/onload=alert(3)>',
			batch: "night",
		});
		await site.client.call("job.wait", { ids: [log] });
		const page = await browser.page();
		await enter(page, site);
		await card(page, log).getByText(evil, { exact: false }).waitFor();
		expect(await page.locator("main img, main script, main b").count()).toBe(0);
		await card(page, log).click();
		for (const tab of ["Details", "History", "Attempts", "Diff", "Log"]) await page.getByRole("tab", { name: tab }).click();
		await page.locator(".lines").getByText(evil, { exact: false }).waitFor();
		await page.locator(".lines").getByText("red", { exact: true }).waitFor();
		await page.goto(`${site.url}?q=${encodeURIComponent(evil)}&lane=${encodeURIComponent(evil)}`);
		await page.getByText("No job fits this search.").waitFor();
		expect(await page.locator("main img, main script, main b").count()).toBe(0);
	});
});

describe("the connection", () => {
	test("is cut and comes back, with nothing missed; while it is gone the page says how old it is", async () => {
		const site = await openSite();
		const proxy = await openProxy(site.url);
		const running = await site.sh("sleep 60", { name: "runs" });
		const page = await browser.page();
		await enter(page, { url: proxy.url, token: site.token });
		await column(page, "Running").getByText("runs").waitFor();
		proxy.cut();
		await page.getByText(/^stale \d+ s$/).waitFor();
		await page.getByRole("alert").getByText("cannot be reached").waitFor();
		const missed = await site.sh("exit 3", { name: "missed" });
		await site.client.call("job.wait", { ids: [missed] });
		await site.client.call("job.cancel", { id: running });
		await site.client.call("job.wait", { ids: [running] });
		proxy.mend();
		await column(page, "Failed").getByText("missed").waitFor();
		await column(page, "Done").getByText("runs").waitFor();
		await page.getByText(/^stale/).waitFor({ state: "detached" });
	});

	test("through something that holds streams back, by asking now and then", async () => {
		const site = await openSite();
		const proxy = await openProxy(site.url);
		proxy.buffer();
		const page = await browser.page();
		await enter(page, { url: proxy.url, token: site.token });
		await page.getByText("every 2 s").waitFor();
		const id = await site.sh("true", { name: "asked-for" });
		await column(page, "Done").getByText("asked-for").waitFor();
		await card(page, id).waitFor();
	});

	test("to a daemon whose clock differs by hours: times are the daemon's", async () => {
		const site = await openSite();
		const id = await site.sh("sleep 60", { name: "timed" });
		const page = await browser.page();
		await page.addInitScript("{ const real = Date.now; Date.now = () => real() + 5 * 3600_000; }");
		await enter(page, site);
		await until(async () => /^\d+ s$/.test((await page.locator(".card", { hasText: "timed" }).locator(".end").textContent()) ?? ""));
		await site.client.call("job.cancel", { id });
	});
});

describe("a log", () => {
	test("follows while it grows, and can be let go", async () => {
		const site = await openSite();
		const id = await site.sh("i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo line $i; sleep 0.03; done");
		const page = await browser.page();
		await enter(page, site, `?job=${id}&tab=log`);
		const seen = async () => Number(/line (\d+)\s*$/.exec((await page.locator(".lines pre").textContent()) ?? "")?.[1] ?? 0);
		const first = await until(seen);
		await until(async () => (await seen()) > first + 20);
		const atEnd = () => page.locator(".lines").evaluate((e) => e.scrollHeight - e.clientHeight - e.scrollTop < 40);
		await until(atEnd);
		await page.getByRole("button", { name: "Start" }).click();
		await page.locator(".lines").getByText("line 1", { exact: true }).waitFor();
		expect(await page.getByLabel("follow").isChecked()).toBe(false);
		await site.client.call("job.cancel", { id });
	});

	test("of 100 MB is read by ranges, and searched", async () => {
		const site = await openSite();
		const filler = "yes 'nothing to see on this line, nor on the next' | head -c 50000000";
		const id = await site.sh(`echo the beginning; ${filler}; echo; echo NEEDLE in the middle; ${filler}; echo; echo the end`);
		await site.client.call("job.wait", { ids: [id] });
		const page = await browser.page();
		await enter(page, site, `?job=${id}&tab=log`);
		await page.locator(".lines").getByText("the end", { exact: true }).waitFor();
		await page.getByText("95.4 MB").waitFor();
		expect(await page.locator(".lines .row").count()).toBeLessThan(200);
		await page.getByLabel("Search the log").fill("needle in");
		await page.getByLabel("Search the log").press("Enter");
		await page.locator(".lines .hit").getByText("NEEDLE in the middle").waitFor();
		await page.getByRole("button", { name: "Start" }).click();
		await page.locator(".lines").getByText("the beginning").waitFor();
		await page.getByLabel("Search the log").fill("it is not there");
		await page.getByLabel("Search the log").press("Enter");
		await page.getByText("not found").waitFor();
	});
});
