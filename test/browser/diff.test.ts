// The review of a job's changes in a real browser: files, colours, split lines, marks, comments that reach the agent, huge and hostile patches, the merge.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Player } from "../make/agents/player.ts";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { enter, TestBrowser, toast } from "../make/pages/browser.ts";
import { LOOKS, look } from "../make/pages/look.ts";
import { makeRepository } from "../make/repository.ts";

const browser = new TestBrowser();
const SLUICE = fileURLToPath(new URL("../../bin/sluice.js", import.meta.url));

const PRICE = 'export function price(cents: number): string {\n\t// in dollars\n\treturn "$" + cents / 100;\n}\n';
/** What the agent does to the repository before it speaks. */
const CHANGES = [
	`printf '%s\\n' 'export function price(cents: number): string {' '\t// in dollars, with two digits' '\treturn "$" + (cents / 100).toFixed(2);' '}' > src/price.ts`,
	"rm notes.txt",
	"printf '<b>new</b> \\342\\200\\256 file\\n' > 'src/new file.md'",
	"seq 1 600 > package-lock.json",
].join("\n");

const repository = () => makeRepository({ "src/price.ts": PRICE, "notes.txt": "old\nnotes\n", "package-lock.json": "{}\n" });
const file = (page: Page, path: string) => page.locator(".file", { has: page.locator("header .path", { hasText: path }) });

test("files with counts, colours, unified and split; folded when large; viewed marks are kept until the file changes", async () => {
	const { path } = repository();
	const player = new Player("claude").plays("claude-ok", (text) => text, { before: CHANGES });
	const site = await openSite(`repos: {app: {path: ${path}}}\n`, { PATH: player.path });
	const id = await site.add({ agent: "claude", prompt: "two digits", repo: "app", merge: "local", no_merge: true });
	await site.client.call("job.wait", { ids: [id] });
	for (const { colorScheme, width, height, as } of LOOKS) {
		const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
		await enter(page, site, `?job=${id}&tab=diff`);
		await page.getByText("4 files").waitFor();
		const price = file(page, "src/price.ts");
		await price.locator("tr.plus").getByText("two digits").waitFor();
		expect(await price.locator(".c-keyword").first().textContent()).toBe("export");
		expect(await price.locator(".c-comment").allTextContents()).toContain("// in dollars, with two digits");
		await price.locator(".c-string").first().waitFor();
		// A sign that turns the direction of the text is shown by its number, and markup is text.
		await file(page, "src/new file.md").getByText("<b>new</b> ⟨U+202E⟩ file").waitFor();
		expect(await page.locator(".review b").count()).toBe(0);
		// The large and generated file is folded.
		expect(await file(page, "package-lock.json").locator(".code").count()).toBe(0);
		await look(page, `diff-unified-${as}`);
		await page.getByLabel("How lines are shown").selectOption("split");
		await price.locator("table.split td.minus").first().waitFor();
		await look(page, `diff-split-${as}`);
		await page.getByRole("button", { name: "Unfold package-lock.json" }).click();
		await file(page, "package-lock.json").getByText("599", { exact: true }).first().waitFor();
	}
	const page = await browser.page();
	await enter(page, site, `?job=${id}&tab=diff`);
	await file(page, "src/price.ts").getByLabel("viewed").check();
	await page.getByText("1 viewed").waitFor();
	expect(await file(page, "src/price.ts").locator(".code").count()).toBe(0);
	await page.reload();
	await page.getByText("1 viewed").waitFor();
	await page.getByRole("navigation", { name: "Changed files" }).getByText("notes.txt").click();
	await file(page, "notes.txt").locator("tr.minus").first().waitFor();
});

test("comments: written on lines, kept through a reload, sent as the answer of a job that asks", async () => {
	const { path } = repository();
	const site = await openSite(`repos: {app: {path: ${path}}}\n`);
	const ask = `"${process.execPath}" "${SLUICE}" verdict ask 'Which currency?'`;
	const id = await site.sh(`[ -e asked ] && exec sleep 600\n${CHANGES}\ntouch asked\n${ask}`, { repo: "app", cwd: undefined });
	const show = async () => (await site.client.call("job.show", { id })).job;
	await until(async () => (await show()).question !== null);
	const page = await browser.page({ bypassCSP: true });
	await enter(page, site, `?job=${id}&tab=diff`);
	const price = file(page, "src/price.ts");
	await price.locator("tr.plus .ln button").last().click();
	await page.getByRole("textbox", { name: "Comment on line 3", exact: true }).fill("Use Intl.NumberFormat.\nIt knows <b>locales</b>.");
	await page.keyboard.press("ControlOrMeta+Enter");
	await price.locator("tr.comment").getByText("Use Intl.NumberFormat.").waitFor();
	await price.getByRole("button", { name: "Comment…" }).click();
	await page.getByRole("dialog").getByLabel("Like 12: use the lock").fill("1: Name it formatPrice.");
	await page.keyboard.press("ControlOrMeta+Enter");
	await page.reload();
	const bar = page.getByRole("region", { name: "Comments" });
	await bar.getByText("2 comments").waitFor();
	await price.locator("tr.comment").getByText("Name it formatPrice.").waitFor();
	await look(page, "diff-comments");
	await bar.getByRole("button", { name: "Answer with them" }).click();
	await toast(page, `Answered job ${id}`).waitFor();
	await bar.waitFor({ state: "detached" });
	expect((await show()).answer).toBe(
		"Comments of a reviewer on your changes:\nsrc/price.ts:1: Name it formatPrice.\nsrc/price.ts:3: Use Intl.NumberFormat.\n  It knows <b>locales</b>.",
	);
	await site.client.call("job.cancel", { id });
});

test("a job that runs: its changes appear by themselves; a job without an agent takes no comments, and says so", async () => {
	const { path } = repository();
	const site = await openSite(`repos: {app: {path: ${path}}}\n`);
	const id = await site.sh("until [ -e go ]; do sleep 0.1; done; rm go; echo changed >> notes.txt; sleep 600", {
		repo: "app",
		cwd: undefined,
	});
	const open = () => site.client.call("job.open", { id });
	const folder = await until(async () => ((await open().catch(() => null))?.there ? (await open()).path : undefined));
	const page = await browser.page();
	await enter(page, site, `?job=${id}&tab=diff`);
	await page.getByText("It has changed nothing.").waitFor();
	await page.locator(".review .tools").getByText("live", { exact: true }).waitFor();
	const { writeFileSync } = await import("node:fs");
	writeFileSync(`${folder}/go`, "");
	await file(page, "notes.txt").locator("tr.plus").getByText("changed").waitFor();
	await file(page, "notes.txt").locator("tr.plus .ln button").last().click();
	await page.getByRole("textbox", { name: "Comment on line 3", exact: true }).fill("why?");
	await page.keyboard.press("ControlOrMeta+Enter");
	const bar = page.getByRole("region", { name: "Comments" });
	expect(await bar.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
	await bar.getByText("This job runs no agent that could take them").waitFor();
	expect(readFileSync(`${folder}/notes.txt`, "utf8")).toContain("changed");
	await site.client.call("job.cancel", { id });
});
