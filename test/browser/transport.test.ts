// The page's connections: many tabs with one stream, calls that get no answer, loads that fail, files that are small and cached, a search in a live log.

import { request } from "node:http";
import { gunzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite, type Site } from "../make/daemons/site.ts";
import { card, enter, openProxy, pauseAll, TestBrowser, watch } from "../make/pages/browser.ts";

const browser = new TestBrowser();

test("nine tabs, each with its own sign-in, some of them live logs: every one loads, follows and acts", async () => {
	const site = await openSite();
	const id = await site.sh("echo begins; sleep 600", { name: "long" });
	const first = await browser.page();
	await enter(first, site);
	const tabs: Page[] = [first];
	for (let n = 2; n <= 9; n++) {
		const tab = await first.context().newPage();
		watch(tab);
		await enter(tab, site, n % 3 === 0 ? `?job=${id}&tab=log` : "?view=board");
		tabs.push(tab);
	}
	for (const [index, tab] of tabs.entries()) {
		await tab.locator(".fresh.live").waitFor({ state: "attached" });
		if ((index + 1) % 3 === 0) await tab.locator(".lines").getByText("begins").waitFor();
		else await card(tab, id).waitFor();
	}
	await pauseAll(first);
	expect((await site.client.call("scheduler.status", {})).paused).toBe(true);
	await (tabs[7] as Page).getByText("Paused by page").waitFor();
	// The tab that reads the stream goes: another one takes over.
	await first.close();
	await site.client.call("scheduler.resume", {});
	const added = await site.sh("sleep 600", { name: "after-that" });
	for (const tab of [tabs[1], tabs[7]] as Page[]) await card(tab, added).waitFor();
	await site.client.call("job.cancel", { ids: [id, added] });
});

test("a first load that fails says why, and heals by itself", async () => {
	const site = await openSite();
	const id = await site.sh("true", { name: "there" });
	const page = await browser.page();
	let isRefused = true;
	await page.route("**/rpc", (route) => (isRefused ? route.fulfill({ status: 429, body: "{}" }) : route.continue()));
	await page.goto(await link(site));
	await page.getByRole("alert").getByText("too many wrong tokens").waitFor();
	isRefused = false;
	await card(page, id).waitFor();
});

/** A sign-in link to the board. */
async function link({ url, client }: Site): Promise<string> {
	const { code } = await client.call("session.code", { role: "operator" });
	return `${url}?view=board#code=${code}`;
}

test("runs that could not be loaded while the daemon was away are there when it is back", async () => {
	const site = await openSite();
	const id = await site.sh("true");
	await site.client.call("job.wait", { ids: [id] });
	const proxy = await openProxy(site.url);
	const page = await browser.page();
	await enter(page, { ...site, url: proxy.url }, `?job=${id}`);
	await page.getByRole("heading", { name: "How it ended" }).waitFor();
	proxy.cut();
	await page.getByRole("alert").getByText("cannot be reached").waitFor();
	await page.getByRole("tab", { name: "Attempts" }).click();
	await page.getByText("This could not be loaded").waitFor();
	proxy.mend();
	await page.getByRole("rowheader", { name: `${id}.1` }).waitFor();
});

/** One GET or POST with headers of our own. */
const ask = (url: string, headers: Record<string, string>, body?: string) =>
	new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
		const call = request(url, { method: body === undefined ? "GET" : "POST", headers }, (reply) => {
			const pieces: Buffer[] = [];
			reply.on("data", (piece: Buffer) => pieces.push(piece));
			reply.on("end", () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(pieces) }));
		});
		call.on("error", reject);
		call.end(body);
	});

test("the first view takes at most 60 kB of code; files have an ETag; large answers are compressed", async () => {
	const site = await openSite();
	const page = await browser.page();
	let bytes = 0;
	const files: string[] = [];
	page.on("response", async (response) => {
		if (!response.url().endsWith(".js")) return;
		files.push(response.url());
		bytes += (await response.request().sizes()).responseBodySize;
	});
	await enter(page, site, "");
	await page.getByRole("heading", { name: "Nothing here yet" }).waitFor();
	await until(async () => files.length > 0 && bytes > 0);
	expect(bytes).toBeLessThan(60_000);

	const file = await ask(`${site.url}app.js`, { "Accept-Encoding": "br, gzip" });
	expect([file.status, file.headers["content-encoding"], file.headers["cache-control"]]).toEqual([200, "br", "no-cache"]);
	const again = await ask(`${site.url}app.js`, { "If-None-Match": String(file.headers.etag) });
	expect([again.status, again.body.length]).toEqual([304, 0]);

	for (let n = 0; n < 30; n++) await site.sh("true", { title: `number ${n}`, requires_approval: true });
	const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "job.list", params: {} });
	const headers = { Authorization: `Bearer ${site.token}`, "Content-Type": "application/json" };
	const [small, plain] = [
		await ask(`${site.url}rpc`, { ...headers, "Accept-Encoding": "gzip" }, call),
		await ask(`${site.url}rpc`, headers, call),
	];
	expect([small.headers["content-encoding"], plain.headers["content-encoding"]]).toEqual(["gzip", undefined]);
	expect(gunzipSync(small.body).length).toBe(plain.body.length);
	expect(small.body.length * 5).toBeLessThan(plain.body.length);
});

test("a search in a live log goes to its line, and Start to the first line, while more is waited for", async () => {
	const site = await openSite();
	const id = await site.sh("seq 1 60000 | sed 's/^/line /'; echo needle here; seq 60001 130000 | sed 's/^/line /'; sleep 600");
	await until(async () => (await site.client.call("job.logs", { id, tail: 1 })).text.includes("line 130000"));
	const page = await browser.page();
	await enter(page, site, `?job=${id}&tab=log`);
	await page.locator(".lines").getByText("line 130000").waitFor();
	await page.getByRole("searchbox", { name: "Search the log" }).fill("needle");
	await page.getByRole("button", { name: "Find" }).click();
	await page.locator(".lines .hit").getByText("needle here").waitFor();
	await page.getByRole("button", { name: "End" }).click();
	await page.locator(".lines").getByText("line 130000").waitFor();
	await page.getByRole("button", { name: "Start" }).click();
	await page.locator(".lines").getByText("line 1", { exact: true }).waitFor();
	await site.client.call("job.cancel", { id });
});
