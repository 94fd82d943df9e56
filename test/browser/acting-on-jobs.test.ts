// Every action on a job in a real browser; what it did is asked of the daemon.

import { expect, test } from "vitest";
import { Player } from "../make/agents/player.ts";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { card, column, enter, TestBrowser, toast } from "../make/pages/browser.ts";
import { makeRepository, Repository } from "../make/repository.ts";

const browser = new TestBrowser();
const CONFIG = "max_concurrent: 2\nlanes: {code: {max: 2}, docs: {}}\naccounts: {work: {}}\n";

test("on jobs: promote, cancel after asking, retry, approve, reject, answer, priority", async () => {
	const site = await openSite(CONFIG);
	await site.client.call("scheduler.pause", { lane: "code" });
	const [one, two] = [await site.sh("true", { lane: "code", name: "one" }), await site.sh("true", { lane: "code", name: "two" })];
	const approval = await site.sh("true", { requires_approval: true, name: "careful" });
	const refused = await site.sh("true", { requires_approval: true, name: "refused" });
	const bad = await site.sh("exit 9", { name: "bad" });
	const asks = await site.add({ payload: { n: 1 }, lane: "docs", name: "curious", command: undefined });
	const { claimed } = await site.client.call("job.claim", { worker: "w", lanes: ["docs"] });
	await site.client.call("job.complete", {
		job: asks,
		token: claimed[0]!.run.token,
		exit_kind: "needs_human",
		question: "Which <b>colour</b>?",
	});
	const show = async (id: number) => (await site.client.call("job.show", { id })).job;
	const page = await browser.page();
	await enter(page, site);

	await card(page, two).click();
	await page.getByText("paused", { exact: false }).first().waitFor();
	await page.getByRole("button", { name: "To the front" }).click();
	await toast(page, `Job ${two} is first`).waitFor();
	expect((await show(two)).rank).toBeGreaterThan(0);
	await page.getByRole("button", { name: "To the end" }).click();
	await toast(page, `Job ${two} is last`).waitFor();
	expect((await show(two)).rank).toBeLessThan(0);
	await page.getByRole("button", { name: "Run next" }).click();
	await toast(page, `Job ${two} goes first of all as soon as it can: `).waitFor();
	expect((await show(two)).rank).toBeGreaterThan(1_000_000);
	await page.getByRole("button", { name: "Priority…" }).click();
	await page.getByLabel("A whole number").fill("12.5");
	await page.getByLabel("A whole number").press("Enter");
	await toast(page, "A priority is a whole number").waitFor();
	expect((await show(two)).priority).toBe(0);
	await page.getByRole("button", { name: "Priority…" }).click();
	await page.getByLabel("A whole number").fill("12");
	await page.getByLabel("A whole number").press("Enter");
	await toast(page, "has priority 12").waitFor();
	expect((await show(two)).priority).toBe(12);
	await page.getByRole("button", { name: "Cancel…" }).click();
	await page.getByRole("button", { name: "Keep as it is" }).click();
	expect((await show(two)).status).toBe("queued");
	await page.getByRole("button", { name: "Cancel…" }).click();
	await page.getByLabel("Why (for the record)").fill("no longer needed");
	await page.getByRole("button", { name: "Cancel the job" }).click();
	await toast(page, `Cancelled job ${two}`).waitFor();
	expect(await show(two)).toMatchObject({ status: "cancelled", end_reason: "no longer needed" });
	await page.getByRole("button", { name: "Retry…" }).click();
	await page.getByRole("button", { name: "Retry", exact: true }).click();
	await toast(page, `Put back job ${two}`).waitFor();
	expect((await show(two)).status).toBe("queued");
	await page.keyboard.press("Escape");

	await column(page, "Needs you").getByText("careful").click();
	await page.getByRole("button", { name: "Approve" }).click();
	await toast(page, `Approved job ${approval}`).waitFor();
	await until(async () => (await show(approval)).status === "succeeded");
	await page.keyboard.press("Escape");
	await card(page, refused).click();
	await page.keyboard.press("x");
	await page.getByRole("dialog").getByRole("button", { name: "Reject" }).click();
	await toast(page, `Rejected job ${refused}`).waitFor();
	expect((await show(refused)).status).toBe("cancelled");
	await page.keyboard.press("Escape");
	await card(page, asks).click();
	await page.locator(".question").getByText("Which <b>colour</b>?").waitFor();
	await page.getByLabel(`Your answer to job ${asks}`).fill("green");
	await page.getByRole("button", { name: "Send" }).click();
	await toast(page, `Answered job ${asks}`).waitFor();
	expect((await show(asks)).answer).toBe("green");

	await page.goto(`${site.url}?job=${bad}&tab=runs`);
	await page.getByText("failed (9)").first().waitFor();
	await page.getByRole("tab", { name: "History" }).click();
	await page.getByRole("rowheader", { name: /started/ }).waitFor();
	await page.getByRole("tab", { name: "Overview" }).click();
	await page.getByRole("button", { name: "Run again alone…" }).click();
	await page.getByRole("button", { name: "Run again", exact: true }).click();
	await toast(page, `Job ${bad} runs again`).waitFor();
	await until(async () => (await show(bad)).attempt === 2);
	const runs = await site.sh("sleep 60", { name: "endless" });
	await page.goto(`${site.url}?job=${runs}`);
	await page.getByText("runs for").waitFor();
	await page.getByRole("button", { name: "Cancel…" }).click();
	await page.getByRole("dialog").getByText("it is asked to stop, then made to").waitFor();
	await page.getByRole("button", { name: "Cancel the job" }).click();
	await toast(page, `Asked job ${runs} to stop`).waitFor();
	await page.locator(".chip.status", { hasText: "cancelled" }).waitFor();
	await page.goto(`${site.url}?view=limits`);
	await page.getByRole("button", { name: "Clear the queue…" }).click();
	await page.getByRole("button", { name: "Keep as it is" }).click();
	expect((await show(one)).status).toBe("queued");
	await page.getByRole("button", { name: "Clear the queue…" }).click();
	await page.getByRole("button", { name: "Clear the queue", exact: true }).click();
	await toast(page, "Cleared").waitFor();
	expect((await show(one)).status).toBe("cancelled");
});

test("on merges that need a person: once more, and given up after asking", async () => {
	const repo = makeRepository();
	const site = await openSite(`${CONFIG}repos: ${JSON.stringify({ r: { path: repo.path } })}\n`);
	const [mended, unwanted] = [
		await site.sh("touch a.txt", { repo: "r", name: "mended" }),
		await site.sh("touch b.txt", { repo: "r", name: "unwanted" }),
	];
	const show = async (id: number) => (await site.client.call("job.show", { id })).job;
	for (const id of [mended, unwanted]) await until(async () => (await show(id)).merge_report?.uncommitted);
	const page = await browser.page();
	await enter(page, site);
	new Repository((await site.client.call("job.open", { id: mended })).path).commit({});
	await column(page, "Needs you").getByText("mended").click();
	await page.getByRole("button", { name: "Merge again" }).click();
	await toast(page, `Job ${mended} is in line to be merged`).waitFor();
	await until(async () => (await show(mended)).merge_status === "merged");
	expect(repo.has("a.txt")).toBe(true);
	await page.keyboard.press("Escape");
	await column(page, "Needs you").getByText("unwanted").click();
	await page.getByRole("button", { name: "Give up the merge…" }).click();
	await page.getByLabel("Why (for the record)").fill("done otherwise");
	await page.getByRole("button", { name: "Give it up" }).click();
	await toast(page, `Gave up the merge of job ${unwanted}`).waitFor();
	expect(await show(unwanted)).toMatchObject({
		merge_status: "kept",
		merge_report: { message: expect.stringContaining("done otherwise") },
	});
	await page.getByRole("button", { name: "Merge again" }).waitFor({ state: "detached" });
});

test("an answer grants what was denied, and a job that went well tells what it was denied", async () => {
	const player = new Player("claude").plays("claude326-denied").plays("claude-ok").plays("claude326-denied");
	const site = await openSite(CONFIG, { PATH: player.path });
	const id = await site.add({ agent: "claude", prompt: "the task" });
	const show = async () => (await site.client.call("job.show", { id })).job;
	await until(async () => (await show()).question !== null);
	const page = await browser.page();
	await enter(page, site);
	await card(page, id).click();
	await page.locator(".question").getByText("Bash: python3 -m pytest -q").first().waitFor();
	const send = page.getByRole("button", { name: "Send" });
	expect(await send.isDisabled()).toBe(true);
	await page.getByLabel("It may now do without asking").selectOption("asked");
	await send.click();
	await toast(page, `Answered job ${id}`).waitFor();
	await until(async () => (await show()).granted?.allow[0] === "Bash: python3 -m pytest -q");

	await page.keyboard.press("Escape");
	const review = await site.add({ agent: "claude", prompt: "look", expect: "none" });
	await until(async () => (await site.client.call("job.show", { id: review })).job.status === "succeeded");
	await page.locator("article.card", { hasText: "was not allowed Bash: python3 -m pytest -q" }).waitFor();
	await card(page, review).click();
	await page.getByText("Its last run was not allowed: Bash: python3 -m pytest -q").waitFor();
});
