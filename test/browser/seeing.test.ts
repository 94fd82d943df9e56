// What each view tells of real jobs: costs, reasons, the critical path, what is expected, an agent's log.

import { expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { column, enter, TestBrowser } from "../make/pages/browser.ts";
import { openNight } from "../make/pages/night.ts";

const browser = new TestBrowser();

test("what agents cost, wherever it counts; why, when and what a job did; its log for people, and raw", async () => {
	const site = await openNight();
	const { ids } = site;
	// Tall enough for every card of a column.
	const page = await browser.page({ viewport: { width: 1280, height: 1600 } });
	await enter(page, site);
	// The board: reasons, lanes, cost, time.
	await column(page, "Done").locator(".card", { hasText: "parser" }).getByText("$1.42").waitFor();
	await column(page, "Waiting").locator(".card", { hasText: "import" }).getByText(`lock db, held by job ${ids.build}`).waitFor();
	await column(page, "Waiting").locator(".card", { hasText: "release" }).getByText(`waiting on job ${ids.test}`).waitFor();
	await column(page, "Failed").locator(".card", { hasText: "count-rows" }).getByText("expected 42 rows, found 41").waitFor();
	await column(page, "Needs you").getByText("Which colour, green or blue?").waitFor();
	await column(page, "Needs you").getByText("waits for approval").waitFor();
	await column(page, "Running").locator(".card", { hasText: "build" }).locator(".chip.lane", { hasText: "code" }).waitFor();
	await until(async () => /^\d+ (s|m)/.test((await column(page, "Running").locator(".end").first().textContent()) ?? ""));

	// A job that waits: all reasons, the sum, when it is expected.
	await page.goto(`${site.url}?job=${ids.release}`);
	await page.locator(".reasons li").first().getByText(`waiting on job ${ids.test}`).waitFor();
	expect(await page.locator(".reasons li").count()).toBe(2);
	await page.getByRole("region", { name: "Expected" }).getByText("Ends").waitFor();
	await page.goto(`${site.url}?job=${ids.import}`);
	await page.getByRole("rowheader", { name: "lane" }).waitFor();
	await page.locator("h2", { hasText: "Priority" }).getByText("20").waitFor();

	// One that ended: its cost, its runs, what it changed.
	await page.goto(`${site.url}?job=${ids.parser}`);
	await page.locator(".jobhead").getByText("$1.42").waitFor();
	await page.getByRole("tab", { name: "Attempts" }).click();
	await page.getByRole("rowheader", { name: `${ids.parser}.1` }).waitFor();
	await page.getByRole("tab", { name: "Log" }).click();
	await page.locator(".lines .tool").getByText("▸ Bash echo hi-from-tool > out.txt && cat out.txt").waitFor();
	await page.locator(".lines .aside").getByText("8449 tokens, $1.4200").waitFor();
	expect(await page.locator(".lines").getByText('"type":"assistant"').count()).toBe(0);
	await page.getByLabel("raw").check();
	await page.locator(".lines").getByText('"type":"assistant"').first().waitFor();
	await page.getByLabel("raw").uncheck();
	await page.locator(".lines .tool").first().waitFor();
	expect(await page.getByLabel("Which output").inputValue()).toBe("both");
	await page.getByLabel("Which output").selectOption("stderr");
	await page.getByText("It has written nothing here.").waitFor();
	expect(await page.getByLabel("raw").count()).toBe(0);
	await page.goto(`${site.url}?job=${ids.greeting}&tab=diff`);
	await page.locator(".code tr.plus").getByText("hello, dear reader").waitFor();
	await page.locator(".code tr.minus").getByText("hello").waitFor();

	// An agent that is at work, live.
	await page.goto(`${site.url}?job=${ids.writes}&tab=log`);
	await page.locator(".lines").getByText("Both tables lack an index").waitFor();
	await page.locator(".lines").getByText("… 1 line more").waitFor();
	await page.getByText(/ B, live$/).waitFor();

	// Sums: the batch, the budget, the chart.
	await page.goto(`${site.url}?view=batches`);
	await page.locator(".batches li", { hasText: "night" }).getByText("$1.87").waitFor();
	await page.goto(`${site.url}?view=limits`);
	const budget = page.getByRole("region", { name: "Budgets" }).locator("tr", { hasText: "batch night" });
	await budget.getByText("$1.87 of $2.00").waitFor();
	await page.goto(`${site.url}?view=trends`);
	await page.getByRole("img", { name: /Cost: \$1\.87, by lane/ }).waitFor();
	await page.getByRole("img", { name: /Throughput: \d+ ended, \d+ failed/ }).waitFor();
	await page.getByRole("img", { name: /Start latency: p90 \d/ }).waitFor();
	await page.getByRole("img", { name: /Slots in use: \d+ % of \d/ }).waitFor();
	await page.getByRole("img", { name: /Waits by cause: / }).waitFor();
	await page.getByRole("combobox", { name: /^by/ }).selectOption("agent");
	await page.getByRole("row", { name: /claude.*\$1\.87/ }).waitFor();
	await page.getByRole("combobox", { name: /^by/ }).selectOption("cause");
	await page.getByRole("columnheader", { name: "Waited" }).waitFor();
	await site.over();
});

test("a log goes on with the next run, and one can go back to the first", async () => {
	const site = await openSite();
	const id = await site.sh("echo attempt $SLUICE_ATTEMPT; exit 1");
	await site.client.call("job.wait", { ids: [id] });
	const page = await browser.page();
	await enter(page, site, `?job=${id}&tab=log`);
	await page.locator(".lines").getByText("attempt 1").waitFor();
	await site.client.call("job.rerun", { id });
	await page.locator(".lines").getByText("attempt 2").waitFor();
	expect(await page.locator(".lines").getByText("attempt 1").count()).toBe(0);
	await page.getByLabel("Which run").selectOption("1");
	await page.locator(".lines").getByText("attempt 1").waitFor();
});

test("the graph: its critical path, moved, zoomed, chosen and opened by pointer; ended jobs on demand", async () => {
	const site = await openSite("max_concurrent: 1\n");
	const first = await site.sh("sleep 60", { name: "first" });
	const side = await site.sh("true", { name: "side", after: [first] });
	const middle = await site.sh("true", { name: "middle", after: [first] });
	const last = await site.sh("true", { name: "last", after: [middle] });
	const page = await browser.page();
	await enter(page, site, "?view=graph");
	const canvas = page.getByRole("application");
	const ink = () => canvas.evaluate((c) => (c as unknown as { toDataURL(): string }).toDataURL());
	await until(async () => (await canvas.getAttribute("data-drawn")) === "4");
	await page.getByText(`Critical path: ${first} → ${middle} → ${last}`).waitFor();
	let before = await ink();
	await page.getByRole("button", { name: "Zoom in" }).click();
	await until(async () => (await ink()) !== before);
	before = await ink();
	const box = (await canvas.boundingBox())!;
	const [x, y] = [box.x + box.width / 2, box.y + box.height - 60];
	await page.mouse.move(x, y);
	await page.mouse.down();
	await page.mouse.move(x + 80, y - 40, { steps: 4 });
	await page.mouse.up();
	await until(async () => (await ink()) !== before);
	before = await ink();
	await page.mouse.wheel(0, 300);
	await until(async () => (await ink()) !== before);
	await page.getByRole("button", { name: "All", exact: true }).click();
	// The job in focus stands in the middle: it is chosen with keys, and opened there with a double click.
	await canvas.focus();
	await page.keyboard.press("ArrowRight");
	await page.locator(".beside").getByText("first").waitFor();
	await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 2);
	await page.getByRole("heading", { name: /first/ }).waitFor();
	expect(page.url()).toContain(`job=${first}`);

	await site.client.call("job.cancel", { id: side });
	await page.keyboard.press("Escape");
	await until(async () => (await canvas.getAttribute("data-drawn")) === "3");
	// Each time a new canvas, whose size is known only after its first frame was asked for: it is drawn without waiting for news.
	for (let round = 0; round < 4; round++) {
		await page.getByLabel("ended jobs too").check();
		await until(async () => (await canvas.getAttribute("data-drawn")) === "4");
		await page.getByLabel("ended jobs too").uncheck();
		await until(async () => (await canvas.getAttribute("data-drawn")) === "3");
	}
	await site.client.call("job.cancel", { id: first });
});

test("the timeline: waits and runs by lane, now, what is expected; moved, and a job opened", async () => {
	const site = await openSite("max_concurrent: 1\nlanes: {code: {}, docs: {}}\n");
	for (const lane of ["code", "docs"]) await site.client.call("job.wait", { ids: [await site.sh("sleep 0.2", { lane })] });
	const runs = await site.sh("sleep 60", { name: "endless", lane: "code" });
	await site.sh("true", { name: "later", lane: "docs", after: [runs] });
	const page = await browser.page();
	await enter(page, site, "?view=timeline");
	const stage = page.getByRole("application", { name: /Timeline of 2 lanes/ });
	await stage.waitFor();
	await page.getByText(/^all done by .*\(p90\)$/).waitFor();
	const ink = () => page.locator("canvas").evaluate((c) => (c as unknown as { toDataURL(): string }).toDataURL());
	// What runs goes up to now, in the middle of the chart or right of it: its bar is found under the pointer.
	const box = (await page.locator("canvas").boundingBox())!;
	const over = async () => {
		for (let x = box.x + box.width; x > box.x + 100; x -= 3) {
			await page.mouse.move(x, box.y + 45);
			if ((await page.locator(".tip", { hasText: "endless" }).count()) > 0) return x;
		}
		return undefined;
	};
	const found = await until(over);
	await page.locator(".tip", { hasText: "code" }).waitFor();
	await page.mouse.click(found, box.y + 45);
	await page.getByRole("heading", { name: /endless/ }).waitFor();
	await page.keyboard.press("Escape");
	await stage.focus();
	const before = await ink();
	await page.keyboard.press("ArrowLeft");
	await until(async () => (await ink()) !== before);
	await page.getByRole("button", { name: "Now" }).click();
	await page.getByRole("button", { name: "1 d" }).click();
	await page.keyboard.press("d");
	expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("light");
	await site.client.call("job.cancel", { id: runs });
});

test("the kernel's queue: offered once something is in it, by state, with whom it is for; an entry can be cancelled", async () => {
	const site = await openSite();
	const page = await browser.page();
	await enter(page, site);
	expect(await page.getByRole("link", { name: "Kernel" }).count()).toBe(0);
	const { pid } = await site.client.call("kernel.agent.create", { name: "researcher" });
	const deadline = 4_102_444_800;
	await site.client.call("kernel.sched.enqueue", { pid, priority: 7, trigger: "cron", deadline });
	await site.client.call("kernel.sched.enqueue", { pid });
	await site.client.call("kernel.sched.enqueue", { pid });
	await site.client.call("kernel.sched.claim", { worker_id: "sup-7" });
	await page.getByRole("link", { name: "Kernel" }).click();
	const rows = page.getByRole("table", { name: "Entries" }).locator("tbody tr");
	await until(async () => (await rows.count()) === 2);
	await rows.first().getByText("researcher").waitFor();
	await rows.first().getByRole("button", { name: "Cancel…" }).click();
	await page.getByRole("button", { name: "Cancel it" }).click();
	await until(async () => (await rows.count()) === 1);
	await page.getByLabel("State").selectOption("dispatched");
	await rows.filter({ hasText: "sup-7" }).filter({ hasText: "cron" }).getByRole("cell", { name: "7", exact: true }).waitFor();
	await page.getByLabel("State").selectOption("");
	await until(async () => (await rows.count()) === 3);
});
