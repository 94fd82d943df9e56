// Every action on a batch in a real browser, with a thousand jobs and a job with a thousand reasons.

import { expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { column, enter, TestBrowser, toast } from "../make/pages/browser.ts";

const browser = new TestBrowser();

test("on batches; a job with a thousand reasons; one that is not there", async () => {
	const site = await openSite("max_concurrent: 1\n");
	await site.client.call("scheduler.pause", {});
	const jobs = Array.from({ length: 1000 }, (_, n) => ({ name: `part-${n}`, command: ["true"] }));
	const { names } = await site.client.call("job.apply", {
		manifest: {
			defaults: { batch: "many", cwd: "/" },
			jobs: [...jobs, { name: "last", command: ["true"], after: jobs.map(({ name }) => name) }],
		},
	});
	const page = await browser.page();
	await enter(page, site, `?job=${names.last}`);
	await page.getByRole("button", { name: /Show all 1,00\d reasons/ }).click();
	await until(async () => (await page.locator(".reasons li").count()) > 999);
	const few = await site.sh("true", { batch: "few" });
	await page.keyboard.press("6");
	await page.getByText("1,000 queued").waitFor();
	const batch = (name: string) => page.locator(".batches li", { hasText: name });
	await batch("many").getByRole("button", { name: "Pause" }).click();
	await toast(page, "Paused batch many").waitFor();
	await batch("many").getByRole("button", { name: "Resume" }).click();
	await toast(page, "Resumed batch many").waitFor();
	await batch("few").getByRole("button", { name: "Cancel…" }).click();
	await page.getByRole("button", { name: "Cancel the batch" }).click();
	await toast(page, `Cancelled job ${few}`).waitFor();
	await batch("few").getByRole("button", { name: "Retry…" }).click();
	await page.getByRole("button", { name: "Retry", exact: true }).click();
	await toast(page, `Put back job ${few}`).waitFor();
	await batch("many").getByRole("button", { name: "Graph" }).click();
	await page.getByRole("application", { name: /Graph of 1,?001 jobs/ }).waitFor();
	expect(page.url()).toContain("batch=many");
	await page.getByRole("button", { name: /batch: many/ }).click();
	await page.keyboard.press("6");
	await batch("many").getByRole("button", { name: "Cancel…" }).click();
	await page.getByRole("button", { name: "Cancel the batch" }).click();
	await toast(page, "Cancelled 1,001 jobs").waitFor();
	await batch("many").getByRole("button", { name: "Retry…" }).click();
	await page.getByRole("button", { name: "Retry", exact: true }).click();
	await toast(page, "Put back 1,001 jobs").waitFor();
	await site.sh("true", { batch: "held", owned: true });
	await batch("held").getByRole("button", { name: "Close" }).click();
	await toast(page, "Batch held closes when its last job has ended").waitFor();
	const { batches } = await site.client.call("batch.list", {});
	expect(batches.find(({ name }) => name === "held")?.owned).toBe(false);
	await page.goto(`${site.url}?view=board&job=999999`);
	await page.getByRole("alert").getByText("there is no job 999999").waitFor();
	await page.getByRole("button", { name: "Back" }).click();
	await column(page, "Queued").getByText("1,002").waitFor();
});
