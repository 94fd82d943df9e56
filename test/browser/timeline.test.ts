// The timeline: every attempt of a job that was tried again, slots as lines, names of what is expected.

import { expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { enter, TestBrowser } from "../make/pages/browser.ts";
import { LOOKS, look } from "../make/pages/look.ts";

const browser = new TestBrowser();

test.each(LOOKS)("all attempts, the forecast, no more lines than slots: $as", async ({ colorScheme, width, height, as }) => {
	const site = await openSite("max_concurrent: 2\nlanes: {code: {max: 2}, docs: {}}\n");
	const { client } = site;
	for (let n = 0; n < 4; n++) await client.call("job.wait", { ids: [await site.sh("sleep 0.2", { lane: "code", name: `quick-${n}` })] });
	const flaky = await site.sh("sleep 0.3; exit 1", { lane: "code", name: "flaky-upload", retry: { max: 2, base_ms: 10 } });
	await client.call("job.wait", { ids: [flaky] });
	expect((await client.call("job.show", { id: flaky })).job.attempt).toBe(3);
	const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
	await enter(page, site, "?view=timeline");
	const chart = page.getByRole("application");
	await until(async () => /(?:^| )\d+\.1 .*\d+\.2/.test((await chart.getAttribute("data-bars")) ?? ""));
	expect((await chart.getAttribute("data-bars"))?.split(" ")).toEqual(expect.arrayContaining([`${flaky}.1`, `${flaky}.2`, `${flaky}`]));
	expect(await chart.getAttribute("data-lines")).toBe("code 1");
	// Ten that wait are forecast on the two slots of their lane.
	await client.call("job.apply", {
		manifest: { jobs: Array.from({ length: 10 }, (_, n) => ({ name: `wait-${n}`, command: ["sleep", "600"], cwd: "/", lane: "code" })) },
	});
	await page.reload();
	await until(async () => /\?/.test((await chart.getAttribute("data-bars")) ?? ""));
	expect(Number(/code (\d+)/.exec((await chart.getAttribute("data-lines")) ?? "")?.[1])).toBeLessThanOrEqual(3);
	await look(page, `timeline-attempts-${as}`);
	await client.call("scheduler.clear", {});
	const { jobs } = await client.call("job.list", {});
	if (jobs.length > 0) await client.call("job.cancel", { ids: jobs.map(({ id }) => id) });
});
