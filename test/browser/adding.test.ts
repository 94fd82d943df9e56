// Adding a job from the page: an agent, a command, a recipe, a copy; what the daemon says while it is filled in; what is wrong, at its field.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { until } from "../make/daemons/daemon.ts";
import { openSite } from "../make/daemons/site.ts";
import { card, enter, TestBrowser, toast } from "../make/pages/browser.ts";
import { LOOKS, look } from "../make/pages/look.ts";

const browser = new TestBrowser();

/** Sends the form from a field until this answer is there: a key that comes while the form is drawn anew is lost. */
async function sent(field: Locator, answer: Locator): Promise<void> {
	for (;;) {
		await field.press("ControlOrMeta+Enter", { timeout: 5000 }).catch(() => {});
		const came = await answer
			.first()
			.waitFor({ timeout: 5000 })
			.then(() => true)
			.catch(() => false);
		if (came) return;
	}
}
const CONFIG = "max_concurrent: 1\nlanes: {code: {max: 2}, docs: {}}\naccounts: {work: {}}\n";

test("with keys alone: a command, with completion of the job before it, and a forecast; undone from the message", async () => {
	const site = await openSite(CONFIG);
	const { client } = site;
	for (let n = 0; n < 3; n++) await client.call("job.wait", { ids: [await site.sh("sleep 0.1", { lane: "code" })] });
	const build = await site.sh("sleep 600", { lane: "code", name: "build-all" });
	const page = await browser.page();
	await enter(page, site);
	await card(page, build).waitFor();
	await page.keyboard.press("n");
	const form = page.getByRole("dialog", { name: "Add a job" });
	await form.waitFor();
	await form.getByRole("button", { name: "Command" }).press("Enter");
	await form.getByLabel("Command", { exact: true }).fill("make test && echo done");
	await form
		.getByRole("status")
		.getByText(/^starts/)
		.waitFor();
	await form.getByLabel("After", { exact: true }).focus();
	await page.keyboard.type("buil");
	await form.getByRole("option", { name: /build-all/ }).waitFor();
	await page.keyboard.press("Tab");
	expect(await form.getByLabel("After", { exact: true }).inputValue()).toBe("build-all ");
	await form.getByLabel("Lane").selectOption("docs");
	await form.getByLabel("Priority").fill("high");
	await form.getByRole("alert").getByText("must be a whole number").waitFor();
	await form.getByLabel("Priority").fill("7");
	await form.getByLabel("A person has to approve").check();
	await form.getByRole("status").getByText("waits: ").waitFor();
	// Escape keeps what was typed, also through a reload.
	await page.keyboard.press("Escape");
	await form.waitFor({ state: "detached" });
	await page.reload();
	await page.getByRole("button", { name: "Add", exact: true }).click();
	expect(await form.getByLabel("Command", { exact: true }).inputValue()).toBe("make test && echo done");
	await sent(form.getByLabel("Command", { exact: true }), toast(page, /Added job \d+/));
	await form.waitFor({ state: "detached" });
	const { jobs } = await client.call("job.list", {});
	const added = jobs.find(({ lane }) => lane === "docs");
	expect(added).toMatchObject({ command: ["/bin/sh", "-c", "make test && echo done"], priority: 7, requires_approval: true });
	expect(added?.after).toMatchObject([{ job: build, policy: "success" }]);
	// The draft is gone with it.
	await page.keyboard.press("n");
	await form.getByLabel("Prompt").waitFor();
	expect(await form.getByLabel("After", { exact: true }).inputValue()).toBe("");
	await page.keyboard.press("Escape");
	await toast(page, /Added job/)
		.getByRole("button", { name: "Undo" })
		.click();
	await until(async () => (await client.call("job.show", { id: added!.id })).job.status === "cancelled");
	await client.call("job.cancel", { id: build });
});

test("an agent, a recipe with its variables, what is wrong at its field, and a copy of a job", async () => {
	const site = await openSite(`${CONFIG}agents: {ghost: {command: [/nonexistent/ghost]}}\n`);
	const { client, home } = site;
	mkdirSync(join(home.path, "recipes"), { recursive: true });
	writeFileSync(
		join(home.path, "recipes/greet.yml"),
		"description: Says hello\nvars:\n  whom: {about: the person, required: true}\nagent: ghost\nprompt: 'Greet {{whom}}'\nrequires_approval: true\n",
	);
	await client.call("scheduler.pause", {});
	const page = await browser.page();
	await enter(page, site);
	await page.keyboard.press("n");
	const form = page.getByRole("dialog", { name: "Add a job" });
	await form.getByLabel("Prompt").fill("<script>alert(1)</script> do it");
	// Without an agent it is refused, and the form stays.
	await sent(form.getByLabel("Prompt"), form.getByRole("alert").getByText("choose the agent"));
	await form.getByLabel("Agent").selectOption("ghost");
	await form.getByRole("status").getByText("/nonexistent/ghost").waitFor();
	await form.getByText("More", { exact: true }).click();
	await form.getByLabel("Title").fill("A greeting");
	await form.getByLabel("Timeout").fill("soon");
	await form.locator("#job-timeout-fault").waitFor();
	await form.getByLabel("Timeout").fill("5m");
	await form.getByLabel("Name").fill("hello");
	await form.getByRole("button", { name: "Add", exact: true }).click();
	await toast(page, /Added job \d+/).waitFor();
	const one = (await client.call("job.list", {})).jobs[0]!;
	expect(one).toMatchObject({
		agent: "ghost",
		prompt: "<script>alert(1)</script> do it",
		timeout: 300_000,
		name: "hello",
		title: "A greeting",
	});

	// A copy has everything but the name.
	await page.keyboard.press("ControlOrMeta+k");
	await page.getByRole("combobox", { name: "Find a job" }).waitFor();
	await page.keyboard.type("hello");
	await page.getByRole("option", { selected: true }).getByText("hello").waitFor();
	await page.keyboard.press("Tab");
	await page.keyboard.type("clone");
	await page.keyboard.press("Enter");
	const copy = page.getByRole("dialog", { name: `Add a copy of job ${one.id}` });
	await copy.getByLabel("Prompt").waitFor();
	expect([await copy.getByLabel("Name").inputValue(), await copy.getByLabel("Timeout").inputValue()]).toEqual(["", "300000ms"]);
	await copy.getByRole("button", { name: "Add", exact: true }).click();
	await toast(page, `Added job ${one.id + 1}`).waitFor();
	const two = (await client.call("job.show", { id: one.id + 1 })).job;
	expect(two).toMatchObject({ agent: "ghost", prompt: one.prompt, timeout: 300_000, name: null, title: "A greeting" });

	await page.keyboard.press("n");
	await form.getByRole("button", { name: "Recipe" }).click();
	await form.getByLabel("Recipe").selectOption("greet");
	await form.getByLabel("whom").fill("Ann");
	await form.getByRole("button", { name: "Add", exact: true }).click();
	await toast(page, `Added job ${one.id + 2}`).waitFor();
	expect((await client.call("job.show", { id: one.id + 2 })).job).toMatchObject({
		recipe: "greet",
		prompt: "Greet Ann",
		requires_approval: true,
	});
});

test("a job that waits is changed: only what was changed, what is taken away, and what the daemon refuses", async () => {
	const site = await openSite(CONFIG);
	const { client } = site;
	await client.call("scheduler.pause", {});
	const first = await site.sh("true", { name: "first" });
	const id = await site.sh("make", {
		name: "second",
		after: [first],
		lane: "code",
		locks: ["db"],
		retry: 2,
		env: { TOKEN: "abc", PLAIN: "1" },
	});
	const show = async () => (await client.call("job.show", { id })).job;
	const page = await browser.page();
	await enter(page, site, `?job=${id}`);
	await page.getByRole("button", { name: "Edit…" }).click();
	const form = page.getByRole("dialog", { name: `Change job ${id}` });
	await form.getByLabel("Command", { exact: true }).waitFor();
	expect(await form.getByLabel("Lane").inputValue()).toBe("code");
	await form.getByLabel("Lane").selectOption("docs");
	await form.getByLabel("Priority").fill("much");
	await form.getByRole("button", { name: "Save" }).click();
	await form.locator("#job-priority-fault").waitFor();
	await form.getByLabel("Priority").fill("9");
	await form.getByLabel("After", { exact: true }).fill("");
	await form.getByRole("button", { name: "Save" }).click();
	await toast(page, /Changed .* of job/).waitFor();
	expect(await show()).toMatchObject({
		lane: "docs",
		priority: 9,
		after: [],
		locks: [{ key: "db" }],
		command: ["/bin/sh", "-c", "make"],
		name: "second",
	});
	expect(Object.keys((await show()).env ?? {})).toEqual(["TOKEN", "PLAIN"]);
	await page.getByRole("button", { name: "Edit…" }).click();
	expect(await form.getByLabel("Priority").inputValue()).toBe("9");
	await form.getByRole("button", { name: "Save" }).click();
	await toast(page, `Job ${id} stays as it is`).waitFor();
});

test.each(LOOKS)("how it looks: $as", async ({ colorScheme, width, height, as }) => {
	const site = await openSite(CONFIG);
	await site.client.call("job.wait", { ids: [await site.sh("true", { lane: "code" })] });
	await site.sh("sleep 600", { lane: "code", name: "build" });
	const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
	await enter(page, site);
	await page.getByRole("button", { name: "Add", exact: true }).click();
	const form = page.getByRole("dialog", { name: "Add a job" });
	await form.getByLabel("Prompt").fill("Find out why the login test is flaky, and fix it.");
	await form.getByLabel("Agent").selectOption("claude");
	await form.getByLabel("Lane").selectOption("code");
	await form.getByLabel("Priority").fill("x");
	await form.getByRole("alert").waitFor();
	await look(page, `add-${as}`);
	await form.getByLabel("Priority").fill("");
	await form
		.getByRole("status")
		.getByText(/^starts/)
		.waitFor();
	await form.getByText("More", { exact: true }).click();
	await form.getByLabel("After", { exact: true }).focus();
	await page.keyboard.type("bui");
	await form.getByRole("option", { name: /build/ }).waitFor();
	await look(page, `add-more-${as}`);
});
