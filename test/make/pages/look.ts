// Looks at a page: nothing that axe calls serious, nothing that sticks out of it. SLUICE_PICTURES=FOLDER keeps a picture of each look.

import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
export const PICTURES = process.env.SLUICE_PICTURES;

export const LOOKS = [
	{ colorScheme: "light", width: 1200, height: 720, as: "light-wide" },
	{ colorScheme: "dark", width: 1200, height: 720, as: "dark-wide" },
	{ colorScheme: "light", width: 390, height: 780, as: "light-phone" },
	{ colorScheme: "dark", width: 390, height: 780, as: "dark-phone" },
] as const;

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

export async function look(page: Page, name: string): Promise<void> {
	if (PICTURES) {
		mkdirSync(PICTURES, { recursive: true });
		await page.screenshot({ path: join(PICTURES, `${name}.png`) });
	}
	expect([name, await findings(page)]).toEqual([name, []]);
	expect([name, await page.evaluate("document.documentElement.scrollWidth <= innerWidth")]).toEqual([name, true]);
}
