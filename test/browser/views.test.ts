// Every view of a night in full swing, in light and dark, wide and on a phone: nothing that axe calls serious, nothing that sticks out of the page.
// SLUICE_PICTURES=FOLDER keeps a picture of each.

import type { Page } from "playwright-core";
import { test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { isLong } from "../make/long.ts";
import { enter, pauseAll, TestBrowser, toast } from "../make/pages/browser.ts";
import { LOOKS, look, PICTURES } from "../make/pages/look.ts";
import { openNight } from "../make/pages/night.ts";
import { makeRepository } from "../make/repository.ts";

const browser = new TestBrowser();

const width = (page: Page): number => page.viewportSize()?.width ?? 0;

const ONCE: readonly string[] = ["light-wide", "dark-phone"];

test.each(["light", "dark"] as const)("all of them in %s", async (colours) => {
	const site = await openNight(PICTURES ? 15 : 1);
	const { ids } = site;
	const places: [name: string, path: string, ready: (page: Page) => Promise<unknown>][] = [
		["now", "", (page) => page.getByRole("region", { name: "Needs you" }).getByText("Which colour").waitFor()],
		["wall", "?wall", (page) => page.getByRole("region", { name: "Running" }).getByText("Both tables lack an index").waitFor()],
		[
			"board",
			"?view=board",
			(page) =>
				page
					.locator(width(page) > 700 ? ".card:has-text('held by job')" : "[data-card]")
					.first()
					.waitFor(),
		],
		["graph", "?view=graph", (page) => until(async () => Number(await page.getByRole("application").getAttribute("data-drawn")) > 0)],
		[
			"timeline",
			"?view=timeline",
			(page) =>
				page
					.getByText(/all done by|half of the plays|no run/i)
					.first()
					.waitFor(),
		],
		["limits", "?view=limits", (page) => page.getByRole("region", { name: "Hosts" }).waitFor()],
		["batches", "?view=batches", (page) => page.locator(".batches li").first().waitFor()],
		["trends", "?view=trends", (page) => page.getByRole("img", { name: /Cost: \$1\.87, by lane/ }).waitFor()],
		["job", `?job=${ids.release}`, (page) => page.getByRole("heading", { name: "Why it waits" }).waitFor()],
		["job-failed", `?job=${ids.broken}`, (page) => page.getByRole("heading", { name: "How it ended" }).waitFor()],
		["question", `?job=${ids.colour}`, (page) => page.getByLabel(/^Your answer to job/).waitFor()],
		["log", `?job=${ids.writes}&tab=log`, (page) => page.locator(".lines").getByText("▸ Bash npm run migrate").waitFor()],
		["runs", `?job=${ids.parser}&tab=runs`, (page) => page.getByRole("rowheader", { name: /\.1$/ }).waitFor()],
		["diff", `?job=${ids.greeting}&tab=diff`, (page) => page.locator(".code").getByText("hello, dear reader").waitFor()],
		["history", `?job=${ids.parser}&tab=history`, (page) => page.getByRole("rowheader", { name: /started/ }).waitFor()],
		["details", `?job=${ids.parser}&tab=details`, (page) => page.getByText("Port the parser to streams").first().waitFor()],
	];
	// Colours do not depend on the width: each of both is shown once, all four of them in the long run.
	const looks = LOOKS.filter(({ colorScheme, as }) => colorScheme === colours && (isLong || PICTURES || ONCE.includes(as)));
	for (const { colorScheme, width, height, as } of looks) {
		const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
		await enter(page, site);
		await page.locator(".fresh.live").waitFor({ state: "attached" });
		for (const [name, path, ready] of places) {
			await page.goto(`${site.url}${path}`);
			await page.locator(".loading").waitFor({ state: "detached" });
			await page.locator("main h1, main h2").first().waitFor({ state: "attached" });
			await ready(page);
			await look(page, `${name}-${as}`);
		}
		await page.goto(`${site.url}?job=${ids.build}`);
		await page.getByRole("button", { name: "Cancel…" }).click();
		await page.getByRole("dialog").waitFor();
		await look(page, `asking-${as}`);
		await page.keyboard.press("Escape");
		await page.getByRole("dialog").waitFor({ state: "detached" });
		await page.getByRole("button", { name: "Show the keys" }).click();
		await page.getByRole("dialog", { name: "Keys" }).waitFor();
		await look(page, `keys-${as}`);
		await page.keyboard.press("Escape");
		await page.goto(site.url);
		await pauseAll(page);
		await look(page, `paused-${as}`);
		await page.getByRole("banner").getByRole("button", { name: "Resume" }).click();
		await toast(page, "Resumed everything").waitFor();
	}
	await site.over();
});

test("before anything is there: signing in, a used link, the first steps, empty views", async () => {
	const site = await openSite();
	for (const { colorScheme, width, height, as } of LOOKS) {
		const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
		await page.goto(site.url);
		await page.getByRole("heading", { name: "Sign in" }).waitFor();
		await look(page, `sign-in-${as}`);
		await page.goto(`${site.url}#code=0123456789012345678901`);
		await page.getByRole("alert").getByText("This link was used already").waitFor();
		await look(page, `used-link-${as}`);
		await enter(page, site);
		await page.getByRole("heading", { name: "Nothing here yet" }).waitFor();
		await look(page, `first-${as}`);
		for (const [view, words] of [
			["graph", "Nothing waits for anything"],
			["timeline", "Nothing ran in this time"],
			["batches", "No batches"],
			["trends", "Nothing to draw yet"],
		] as const) {
			await page.goto(`${site.url}?view=${view}`);
			await page.getByRole("heading", { name: words }).waitFor();
			await look(page, `empty-${view}-${as}`);
		}
		await page.goto(`${site.url}?job=4711`);
		await page.getByRole("alert").getByText("there is no job 4711").waitFor();
		await look(page, `no-job-${as}`);
	}
});

test("a repo whose recipes were changed since they were trusted: the page names the file, and what to type", async () => {
	const repo = makeRepository({ "recipes/own.yml": "command: ['true']\n" });
	const site = await openSite(`repos: {app: {path: ${repo.path}}}\n`);
	await site.client.call("repo.trust", { name: "app" });
	await site.client.call("job.add", { recipe: "own", repo: "app", requires_approval: true, name: "own" });
	repo.commit({ "recipes/own.yml": "command: ['false']\n" });
	const page = await browser.page();
	await enter(page, site);
	await page.keyboard.press("5");
	const said =
		"the recipes of repo app do not count: recipes/own.yml was changed since they were trusted; read the files, then: sluice repo trust app";
	await page.getByRole("region", { name: "Repos" }).getByText(said).waitFor();
});
