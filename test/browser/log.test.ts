// A job's log in a real browser: colours, both streams, links to lines, wrapping, copies, the search, folding, following, hostile text.

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { Player } from "../make/agents/player.ts";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { enter, TestBrowser, toast } from "../make/pages/browser.ts";
import { LOOKS, look } from "../make/pages/look.ts";

const browser = new TestBrowser();
const lines = (page: Page) => page.locator(".lines");
const row = (page: Page, line: number) => page.locator(".lines .row", { has: page.locator(`[data-n="${line}"]`) });
const visible = (page: Page) => page.locator(".lines .text").allTextContents();
/** Which part of the log is in sight. */
const inSight = async (page: Page, line: number): Promise<boolean> => {
	const [box, outer] = [await row(page, line).boundingBox(), await lines(page).boundingBox()];
	return box !== null && outer !== null && box.y >= outer.y - 1 && box.y + box.height <= outer.y + outer.height + 1;
};

const E = "\\033";
const COLOURS = [
	`printf '${E}[1;32mPASS${E}[0m price.test.ts ${E}[2m(12 tests)${E}[0m\\n'`,
	`printf '${E}[31mFAIL${E}[39m cart.test.ts\\n' >&2`,
	`printf '${E}[38;5;208mpalette${E}[0m ${E}[38;2;255;255;0mtrue colour${E}[0m ${E}[7minverse${E}[0m ${E}[4;3munderlined${E}[0m\\n'`,
	"printf '10%%\\r50%%\\r100%% built\\n'",
	`printf 'a ${E}[2J${E}[10;5H${E}]0;title\\007b\\n'`,
].join("; ");

test("colours, the last state of a progress bar, stderr in its place and marked; either stream alone", async () => {
	const site = await openSite();
	const id = await site.sh(`${COLOURS}; sleep 0.3; echo out; sleep 0.3; echo err >&2; sleep 0.3; echo end; exit 3`);
	await site.client.call("job.wait", { ids: [id] });
	for (const { colorScheme, width, height, as } of LOOKS) {
		const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
		await enter(page, site, `?job=${id}&tab=log`);
		await lines(page).getByText("100% built", { exact: true }).waitFor();
		await lines(page).getByText("a b", { exact: true }).waitFor();
		expect(await page.locator(".lines .f2.a-bold").textContent()).toBe("PASS");
		expect(await page.locator(".lines .err").allTextContents()).toEqual(["FAIL cart.test.ts\n", "err\n"]);
		expect((await visible(page)).slice(-3)).toEqual(["out\n", "err\n", "end\n"]);
		await look(page, `log-colours-${as}`);
		await page.getByLabel("Which output").selectOption("stderr");
		await until(async () => (await visible(page)).join("") === "FAIL cart.test.ts\nerr\n");
	}
});

test("lines are links: chosen, a range, opened from the address, copied without numbers; wrapped; downloaded", async () => {
	const site = await openSite();
	const id = await site.sh(
		`i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "line $i"; done; ${"printf 'wide %.0s'; ".repeat(120)} echo; echo last`,
	);
	await site.client.call("job.wait", { ids: [id] });
	const page = await browser.page({ permissions: ["clipboard-read", "clipboard-write"] });
	await enter(page, site, `?job=${id}&tab=log`);
	await lines(page).getByText("last", { exact: true }).waitFor();
	expect(await row(page, 300).locator(".text").textContent()).toBe("line 300\n");
	await page.locator('.lines [data-n="290"]').click();
	await page.locator('.lines [data-n="293"]').click({ modifiers: ["Shift"] });
	expect(new URL(page.url()).hash).toBe("#L290-L293");
	expect(new URL(page.url()).search).toContain("run=1");
	expect(await page.locator(".lines .chosen").count()).toBe(4);
	await page.getByRole("button", { name: "Copy lines 290–293" }).click();
	await toast(page, "Copied 4 lines").waitFor();
	const clipboard = () => page.evaluate("navigator.clipboard.readText()");
	expect(await clipboard()).toBe("line 290\nline 291\nline 292\nline 293");
	// What is selected with the mouse is copied without numbers, too.
	await page.evaluate(`(() => {
		const texts = [...document.querySelectorAll(".lines .text")].filter((one) => /^line 29[45]\\n/.test(one.textContent));
		getSelection().setBaseAndExtent(texts[0].firstChild, 5, texts[1].firstChild, 8);
	})()`);
	await page.keyboard.press("Control+c");
	await until(async () => (await clipboard()) === "294\nline 295");

	const other = await browser.page();
	await enter(other, site);
	await other.goto(`${site.url}?job=${id}&tab=log&run=1#L20`);
	await other.locator(".lines .chosen").getByText("line 20", { exact: true }).waitFor();
	await until(() => inSight(other, 20));
	expect(await other.getByLabel("follow").isChecked()).toBe(false);
	await other.evaluate("location.hash = '#L150-L152'");
	await until(() => inSight(other, 150));

	await page.getByRole("button", { name: "End" }).click();
	const wide = () => row(page, 301).evaluate((element) => element.getBoundingClientRect().height);
	expect(await wide()).toBe(18);
	await page.getByLabel("wrap").check();
	await until(async () => (await wide()) > 18);
	await until(() => lines(page).evaluate((element) => element.scrollWidth <= element.clientWidth));
	await until(() => inSight(page, 302));
	const waiting = page.waitForEvent("download");
	await page.getByRole("button", { name: "Download" }).click();
	const saved = await waiting;
	expect(saved.suggestedFilename()).toBe(`sluice-${id}.1.log`);
	expect(readFileSync(await saved.path(), "utf8")).toMatch(/^line 1\nline 2\n/);
});

describe("a live log of 120,000 lines", () => {
	test("is searched both ways with numbers, opens at a line, and follows again at its bottom", async () => {
		const site = await openSite();
		const needles =
			"seq 1 50000 | sed 's/^/line /'; echo needle one; seq 50001 90000 | sed 's/^/line /'; echo Needle two; seq 90001 120000 | sed 's/^/line /'";
		const id = await site.sh(`${needles}; i=0; while :; do sleep 0.2; i=$((i+1)); echo live $i; done`);
		await until(async () => (await site.client.call("job.logs", { id, tail: 5 })).text.includes("live 2"));
		const page = await browser.page();
		await enter(page, site, `?job=${id}&tab=log`);
		const found = page.locator(".found");
		await lines(page).getByText(/^live/).last().waitFor();
		await page.getByLabel("Search the log").fill("needle");
		await found.getByText("2 hits").waitFor();
		await page.keyboard.press("Enter");
		await found.getByText("1 of 2").waitFor();
		await page.locator(".lines .hit").getByText("needle one").waitFor();
		await until(() => inSight(page, 50_001));
		await page.keyboard.press("Enter");
		await found.getByText("2 of 2").waitFor();
		await page.locator(".lines .hit").getByText("Needle two").waitFor();
		await until(() => inSight(page, 90_002));
		await page.keyboard.press("Shift+Enter");
		await found.getByText("1 of 2").waitFor();
		await page.keyboard.press("Shift+Enter");
		await found.getByText("2 of 2").waitFor();
		expect(await page.locator(".lines mark").first().textContent()).toBe("Needle");
		// At its bottom it follows again, at any other place it does not.
		expect(await page.getByLabel("follow").isChecked()).toBe(false);
		await page.getByRole("button", { name: "End" }).click();
		await lines(page).hover();
		await page.mouse.wheel(0, -2000);
		await until(async () => !(await page.getByLabel("follow").isChecked()));
		await until(async () => {
			await page.mouse.wheel(0, 4000);
			return page.getByLabel("follow").isChecked();
		});
		const last = async () => Number(/live (\d+)/.exec((await visible(page)).at(-1) ?? "")?.[1] ?? 0);
		const before = await last();
		await until(async () => (await last()) > before + 3);
		await page.locator("body").press("f");
		expect(await page.getByLabel("follow").isChecked()).toBe(false);
		await page.goto(`${site.url}?job=${id}&tab=log#L50001`);
		await page.locator(".lines .chosen").getByText("needle one").waitFor();
		await site.client.call("job.cancel", { id });
	});
});

test("folding: sections, and an agent's tools with their results; times where its lines have them", async () => {
	const at = (event: object, second: number) => `${JSON.stringify({ ...event, timestamp: `2026-01-02T10:41:0${second}.000Z` })}\n`;
	const tool = { type: "assistant", message: { content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "npm test" } }] } };
	const result = { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t1", content: "12 passed\n0 failed" }] } };
	const said = { type: "assistant", message: { content: [{ type: "text", text: "All of it passes." }] } };
	const end = { type: "result", subtype: "success", is_error: false, result: "All of it passes.", session_id: "s" };
	const player = new Player("claude").next({ stdout: at(tool, 1) + at(result, 2) + at(said, 3) + at(end, 4) });
	const site = await openSite("", { PATH: player.path });
	const id = await site.add({ agent: "claude", prompt: "test it" });
	const sections = await site.sh("echo before; echo '::group::Install'; echo added 12 packages; echo '::endgroup::'; echo after");
	await site.client.call("job.wait", { ids: [id, sections] });
	const page = await browser.page();
	await enter(page, site, `?job=${id}&tab=log`);
	await lines(page).getByText("All of it passes.").waitFor();
	const clock = new Date("2026-01-02T10:41:03Z").toLocaleTimeString("en", {
		hour: "2-digit",
		minute: "2-digit",
		second: "2-digit",
		hourCycle: "h23",
	});
	expect(await page.locator(".lines .tm").last().getAttribute("data-t")).toBe(clock);
	await lines(page).getByText("12 passed").waitFor();
	await page.getByLabel("fold tools").check();
	await lines(page).getByText("12 passed").waitFor({ state: "detached" });
	await lines(page).getByRole("button", { name: "Unfold" }).click();
	await lines(page).getByText("12 passed").waitFor();
	await page.goto(`${site.url}?job=${sections}&tab=log`);
	await lines(page).getByText("added 12 packages").waitFor();
	await lines(page).getByRole("button", { name: "Fold" }).click();
	await lines(page).getByText("added 12 packages").waitFor({ state: "detached" });
	expect((await visible(page)).join("")).toBe("before\nInstall\nafter\n");
});

test("hostile text: lines of 10 MB, a bomb of sequences, text that turns its direction: few elements, all of it named", async () => {
	const site = await openSite();
	const bomb = `awk 'BEGIN { for (i = 0; i < 200000; i++) printf "\\033[3%dmx", i % 8; print "" }'`;
	const id = await site.sh(
		`echo begin; head -c 10000000 /dev/zero | tr '\\0' 'z'; echo; ${bomb}; printf 'user\\342\\200\\256gnp.exe <b>x</b>\\n'; printf 'a\\342\\200\\213b\\n'; echo the end`,
	);
	await site.client.call("job.wait", { ids: [id] });
	const page = await browser.page();
	await enter(page, site, `?job=${id}&tab=log`);
	await lines(page).getByText("the end", { exact: true }).waitFor();
	await lines(page).getByText("usergnp.exe <b>x</b>", { exact: true }).waitFor();
	expect(await page.locator(".lines b").count()).toBe(0);
	expect(await page.locator(".lines pre *").count()).toBeLessThan(15_000);
	await until(async () => (await page.locator('.lines [data-n="6"]').count()) === 1);
	await page.getByRole("button", { name: "Start" }).click();
	await lines(page).getByText("begin", { exact: true }).waitFor();
	await lines(page)
		.getByText(/this line goes on for .* download the log/)
		.waitFor();
	await page.getByLabel("wrap").check();
	await until(() => lines(page).evaluate((element) => element.scrollWidth <= element.clientWidth));
});
