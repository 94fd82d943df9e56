// What the page says is what the daemon says: counts of all jobs, why each waits, the order of the queue, a search through everything.

import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { card, column, enter, TestBrowser } from "../make/pages/browser.ts";
import { makeRepository } from "../make/repository.ts";

const browser = new TestBrowser();
const BOARD = "?view=board";

test("the word of a job that cannot start is its reason: budget, host, lane, machine", async () => {
	const site = await openSite(`
max_concurrent: 2
lanes: {code: {max: 1}, docs: {}}
repos: {infra: {path: ${makeRepository().path}}}
`);
	const { client } = site;
	await client.call("budget.grant", { subject: "repo:infra", dim: "cost_micro", limit: 400_000 });
	await client.call("budget.report", { subject: "repo:infra", dim: "cost_micro", amount: 617_000 });
	const runs = [await site.sh("sleep 600", { lane: "code" })];
	const dear = await site.sh("true", { repo: "infra", name: "dear" });
	const lane = await site.sh("true", { lane: "code", name: "second" });
	runs.push(await site.sh("sleep 600", { lane: "docs" }));
	const machine = await site.sh("true", { lane: "docs", name: "third" });
	const page = await browser.page();
	await enter(page, site, BOARD);
	const why = (id: number) => page.locator(".card", { has: card(page, id) }).locator(".why");
	await why(dear).getByText("repo:infra has used $0.617").waitFor();
	await why(lane).getByText("lane code is full: 1 of 1 running").waitFor();
	await why(machine).getByText("max_concurrent is full: 2 of 2 running").waitFor();
	const [host] = (await client.call("host.list", {})).hosts;
	await client.call("host.drain", { name: host?.name ?? "" });
	await why(machine).getByText(`no live host: ${host?.name} is draining`).waitFor();
	expect(await page.locator(".why", { hasText: /^ready$/ }).count()).toBe(0);
	await client.call("job.cancel", { ids: runs });
});

test("Queued is in the order of the starts, also after a promote", async () => {
	const site = await openSite("max_concurrent: 1\nlanes: {code: {priority: 5}, docs: {}}\n");
	const runs = await site.sh("sleep 600");
	const [late, soon] = [await site.sh("true", { lane: "docs" }), await site.sh("true", { lane: "docs" })];
	const first = await site.sh("true", { lane: "code" });
	const page = await browser.page();
	await enter(page, site, BOARD);
	const order = () =>
		column(page, "Queued")
			.locator("[data-card]")
			.evaluateAll((all) => all.map((one) => Number(one.dataset.card)));
	await until(async () => String(await order()) === String([first, late, soon]));
	await site.client.call("job.promote", { id: soon });
	await until(async () => String(await order()) === String([first, soon, late]));
	await site.client.call("job.cancel", { id: runs });
});

test("counts and failures survive thousands of later successes; a search reaches what the page has not loaded", async () => {
	const site = await openSite("max_concurrent: 8\n");
	const { client } = site;
	const bad = await site.sh("exit 3", { name: "old-failure" });
	const old = await site.sh("true", { name: "old-success", title: "Migrate the ledger" });
	await client.call("job.wait", { ids: [bad, old] });
	// Jobs that outside workers end, because 2,100 processes would take minutes.
	const more = 2100;
	for (let from = 0; from < more; from += 300) {
		const jobs = Array.from({ length: 300 }, () => ({ payload: { n: 1 } }));
		await client.call("job.apply", { manifest: { jobs } });
		for (;;) {
			const { claimed } = await client.call("job.claim", { worker: "w", max: 100 });
			if (claimed.length === 0) break;
			await Promise.all(
				claimed.map(({ job, run }) => client.call("job.complete", { job: job.id, token: run.token, exit_kind: "completed" })),
			);
		}
	}
	const page = await browser.page();
	await enter(page, site, BOARD);
	await column(page, "Done").getByRole("heading").getByText("2,101").waitFor();
	await column(page, "Failed").getByText("old-failure").waitFor();
	expect(await card(page, old).count()).toBe(0);
	await page.locator("#search").fill("ledger");
	await column(page, "Done").getByText("old-success").waitFor();
});

test("the page of a job shows what it would do, and the diff of a running job follows its files", async () => {
	const repository = makeRepository({ "a.txt": "one\n" });
	const site = await openSite(`repos: {app: {path: ${repository.path}}}\n`);
	const careful = await site.sh("./deploy --prod", { name: "deploy", requires_approval: true });
	const go = `${site.home.path}/go`;
	const works = await site.sh(`until [ -e ${go} ]; do sleep 0.2; done; echo two >> a.txt; sleep 600`, { repo: "app", cwd: undefined });
	const page = await browser.page();
	await enter(page, site, `?job=${careful}`);
	await page.getByText("./deploy --prod").waitFor();
	await page.goto(`${site.url}?job=${works}&tab=diff`);
	await page.getByText("It has changed nothing.").waitFor();
	writeFileSync(go, "");
	await page.locator(".review tr.plus").getByText("two").waitFor();
	await site.client.call("job.cancel", { id: works });
});
