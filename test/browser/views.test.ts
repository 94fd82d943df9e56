// Every view of a night in full swing, in light and dark, wide and on a phone: nothing that axe calls serious, nothing that sticks out of the page.
// SLUICE_PICTURES=FOLDER keeps a picture of each.

import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { enter, TestBrowser, toast } from "../make/browser.ts";
import { until } from "../make/daemon.ts";
import { isLong } from "../make/long.ts";
import { openNight } from "../make/night.ts";
import { openSite } from "../make/site.ts";

const browser = new TestBrowser();
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const PICTURES = process.env.SLUICE_PICTURES;

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

const width = (page: Page): number => page.viewportSize()?.width ?? 0;

async function look(page: Page, name: string): Promise<void> {
	if (PICTURES) {
		mkdirSync(PICTURES, { recursive: true });
		await page.screenshot({ path: join(PICTURES, `${name}.png`) });
	}
	expect([name, await findings(page)]).toEqual([name, []]);
	expect([name, await page.evaluate("document.documentElement.scrollWidth <= innerWidth")]).toEqual([name, true]);
}

const LOOKS = [
	{ colorScheme: "light", width: 1200, height: 720, as: "light-wide" },
	{ colorScheme: "dark", width: 1200, height: 720, as: "dark-wide" },
	{ colorScheme: "light", width: 390, height: 780, as: "light-phone" },
	{ colorScheme: "dark", width: 390, height: 780, as: "dark-phone" },
] as const;

const ONCE: readonly string[] = ["light-wide", "dark-phone"];

test.each(["light", "dark"] as const)("all of them in %s", async (colours) => {
	const site = await openNight(PICTURES ? 15 : 1);
	const { ids } = site;
	const places: [name: string, path: string, ready: (page: Page) => Promise<unknown>][] = [
		[
			"board",
			"",
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
		["trends", "?view=trends", (page) => page.getByRole("img", { name: /Cost, last: cost \$1\.87/ }).waitFor()],
		["job", `?job=${ids.release}`, (page) => page.getByRole("heading", { name: "Why it waits" }).waitFor()],
		["job-failed", `?job=${ids.broken}`, (page) => page.getByRole("heading", { name: "How it ended" }).waitFor()],
		["question", `?job=${ids.colour}`, (page) => page.getByRole("button", { name: "Answer…" }).waitFor()],
		["log", `?job=${ids.writes}&tab=log`, (page) => page.locator(".lines").getByText("▸ Bash npm run migrate").waitFor()],
		["runs", `?job=${ids.parser}&tab=runs`, (page) => page.getByRole("rowheader", { name: /\.1$/ }).waitFor()],
		["diff", `?job=${ids.greeting}&tab=diff`, (page) => page.getByText("+hello, dear reader").waitFor()],
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
		await page.getByRole("banner").getByRole("button", { name: "Pause" }).click();
		await toast(page, "Paused everything").waitFor();
		await look(page, `paused-${as}`);
		await page.getByRole("banner").getByRole("button", { name: "Resume" }).click();
		await toast(page, "Resumed everything").waitFor();
	}
	await site.over();
});

test("before anything is there: signing in, a wrong token, the first steps, empty views", async () => {
	const site = await openSite();
	for (const { colorScheme, width, height, as } of LOOKS) {
		const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
		await page.goto(site.url);
		await page.getByRole("heading", { name: "Sign in" }).waitFor();
		await look(page, `sign-in-${as}`);
		await page.goto(`${site.url}#token=wrong`);
		await page.getByRole("heading", { name: "This token does not open this daemon" }).waitFor();
		await look(page, `wrong-token-${as}`);
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
