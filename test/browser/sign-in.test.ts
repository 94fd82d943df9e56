// Signing the page in and out, in a real browser: links that count once, tabs, restarts of the daemon, and another program that has the port meanwhile.

import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { startOther } from "../make/daemons/second-user.ts";
import { card, column, TestBrowser, toast, watch } from "../make/pages/browser.ts";
import { LOOKS, look } from "../make/pages/look.ts";

const browser = new TestBrowser();

async function freePort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as { port: number };
	await new Promise<void>((resolve) => void server.close(() => resolve()));
	return port;
}

/** A daemon that is started and stopped as a user does, always on the same port. */
async function openHome() {
	const home = new TestHome();
	home.make("down_grace_ms: 0\n");
	const port = await freePort();
	const must = async (...args: string[]) => {
		const said = await home.run(args);
		expect([args, said.code, said.err]).toEqual([args, 0, said.err]);
		return said.out.trim();
	};
	const up = () => must("up", "--detach", "--port", String(port));
	await up();
	const token = (name: "token" | "viewer-token") => readFileSync(join(home.path, name), "utf8").trim();
	const add = async (name: string) => JSON.parse(await must("add", "--name", name, "--json", "--", "sleep", "60")).job.id as number;
	return { home, must, up, url: `http://127.0.0.1:${port}/`, port, token, add, link: (...args: string[]) => must("open", ...args) };
}

const post = (url: string, path: string, token: string) =>
	fetch(`${url}${path}`, {
		method: "POST",
		headers: { Authorization: `Bearer ${token}` },
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "scheduler.version" }),
	});

/** Prints each request as JSON, and answers the address of the page with one that hands over what the browser keeps for it. */
const LISTENER = `
const page = '<!doctype html><title>another program</title><script>fetch("/kept", { method: "POST", body: JSON.stringify([{ ...localStorage }, { ...sessionStorage }]) })</script>';
require("node:http").createServer((request, response) => {
	let body = "";
	request.on("data", (piece) => { body += piece; });
	request.on("end", () => {
		console.log(JSON.stringify({ url: request.url, authorization: request.headers.authorization, body }));
		if (request.url === "/") response.writeHead(200, { "Content-Type": "text/html" }).end(page);
		else response.writeHead(503).end();
	});
}).listen(Number(process.argv[1]), "127.0.0.1", () => console.log("{}"));
`;

type Heard = { url?: string; authorization?: string; body?: string };

test("another user's program that takes the port while the daemon is down gets nothing that works when the daemon is back", async () => {
	const site = await openHome();
	const id = await site.add("long");
	const operator = await browser.page();
	await operator.goto(await site.link());
	const viewer = await browser.page();
	await viewer.goto(await site.link("--viewer"));
	for (const page of [operator, viewer]) await card(page, id).waitFor();
	await site.must("down");

	const other = await startOther(LISTENER, String(site.port));
	const heard = () => other.lines.map((line) => JSON.parse(line) as Heard);
	const sent = () => new Set(heard().flatMap(({ authorization }) => (authorization ? [authorization.replace(/^Bearer /, "")] : [])));
	// Both pages try again by themselves, with what they have; then a person reloads one of them.
	await until(() => sent().size === 2);
	await operator.reload();
	const kept = await until(() => heard().find(({ url }) => url === "/kept"));
	await other.end();
	await site.up();

	const values = [...sent(), ...(JSON.parse(kept.body ?? "[]") as Record<string, string>[]).flatMap((store) => Object.values(store))];
	expect(values.length).toBeGreaterThan(2);
	for (const home of [site.token("token"), site.token("viewer-token")]) {
		expect(other.lines.some((line) => line.includes(home))).toBe(false);
		expect((await post(site.url, "rpc", home)).status).toBe(200);
	}
	for (const value of values)
		for (const path of ["rpc", "sign-in"]) expect([value, (await post(site.url, path, value)).status]).toEqual([value, 401]);
	await site.must("down", "--stop-runs");
});

test("a restart of the daemon signs the page out in plain words; what is in the page stays, nothing more is sent, and a new link goes on there", async () => {
	const site = await openHome();
	const id = await site.add("long");
	const page = await browser.page();
	await page.goto(await site.link());
	await card(page, id).waitFor();
	await page.locator("#search").fill("long");
	await site.must("down");
	await page.getByRole("alert").getByText("cannot be reached").waitFor();
	await site.up();
	await page.getByRole("alert").getByText("The daemon was restarted, so this page is signed out").waitFor();
	await page.getByText("sluice open").waitFor();
	await card(page, id).waitFor();
	expect(await page.locator("#search").inputValue()).toBe("long");

	const asked: string[] = [];
	page.on("request", (request) => asked.push(request.url()));
	await page.getByRole("button", { name: "Pause" }).click();
	await page.getByRole("dialog").getByRole("alert").getByText("The daemon was restarted").waitFor();
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "detached" });
	await page.locator(".banner.out").getByLabel("Link").fill(site.token("token"));
	await page.getByRole("button", { name: "Sign in" }).click();
	await page.getByText("A token of the home does not sign a page in").waitFor();
	expect(asked).toEqual([]);

	await page.getByLabel("Link").fill(await site.link());
	await page.getByRole("button", { name: "Sign in" }).click();
	await page.locator(".banner.out").waitFor({ state: "detached" });
	await page.locator(".fresh.live").waitFor();
	expect(await page.locator("#search").inputValue()).toBe("long");
	await site.must("cancel", String(id));
	await column(page, "Done").getByText("long").waitFor();
});

test("signed out, in light and dark, wide and on a phone", async () => {
	const site = await openHome();
	const id = await site.add("long");
	const pages: [as: string, page: Page][] = [];
	for (const { colorScheme, width, height, as } of LOOKS) {
		const page = await browser.page({ colorScheme, viewport: { width, height }, bypassCSP: true });
		await page.goto(await site.link());
		await card(page, id).waitFor();
		pages.push([as, page]);
	}
	await site.must("down");
	await site.up();
	for (const [as, page] of pages) {
		await page.getByRole("alert").getByText("The daemon was restarted").waitFor();
		await look(page, `signed-out-${as}`);
	}
	await site.must("down", "--stop-runs");
});

test("an answer that is half written when the sign-in ends can still be copied, and is not sent into the void", async () => {
	const site = await openHome();
	const id = JSON.parse(await site.must("add", "--name", "asks", "--needs-approval", "--json", "--", "true")).job.id as number;
	const page = await browser.page();
	await page.goto(await site.link());
	await card(page, id).click();
	await page.getByRole("button", { name: "Reject" }).click();
	await page.getByRole("dialog").getByRole("textbox").fill("half of a reason");
	await site.must("down");
	await site.up();
	await page.getByRole("dialog").getByText("The daemon was restarted, so this page is signed out").waitFor();
	expect(await page.getByRole("dialog").getByRole("textbox").inputValue()).toBe("half of a reason");
	expect(await page.getByRole("dialog").getByRole("button", { name: "Reject" }).isDisabled()).toBe(true);
});

const stored = (page: Page) => page.evaluate("({ browser: { ...localStorage }, tab: { ...sessionStorage } })");

test("a link signs in once; a reload keeps the sign-in; the browser keeps nothing of it beyond the tab, and forgets a token of before", async () => {
	const site = await openHome();
	const link = await site.link();
	expect(link).toMatch(new RegExp(`^${site.url}#code=[\\w-]{22}$`));
	const page = await browser.page();
	await page.goto(site.url);
	await page.getByRole("heading", { name: "Sign in" }).waitFor();
	await page.evaluate(`localStorage.setItem("sluice.token", ${JSON.stringify(site.token("token"))})`);
	await page.goto(link);
	await page.getByRole("heading", { name: "Nothing here yet" }).waitFor();
	expect(page.url()).toBe(site.url);
	await page.reload();
	await page.getByRole("heading", { name: "Nothing here yet" }).waitFor();
	expect(await stored(page)).toEqual({ browser: {}, tab: { "sluice.page": expect.stringMatching(/^page\./) } });

	// The refusal may come before the page is painted for the first time: several pages, so that one of them meets that.
	for (let tries = 0; tries < 8; tries++) {
		const refused = await browser.page();
		await refused.goto(link);
		await refused.getByRole("alert").getByText("This link was used already, or is too old").waitFor();
		await refused.close();
	}
	const second = await browser.page();
	await second.goto(link);
	await second.getByRole("alert").waitFor();
	expect(await stored(second)).toEqual({ browser: {}, tab: {} });
	// In a page that is signed in, a link that is worth nothing changes nothing.
	await page.goto(link);
	await toast(page, "You are signed in as before").waitFor();
	await page.getByRole("heading", { name: "Nothing here yet" }).waitFor();
});

test("a tab that is opened from the page is signed in, and cannot reach the tab it came from; one that is opened by address is not", async () => {
	const site = await openHome();
	const id = await site.add("long");
	const page = await browser.page();
	await page.goto(await site.link());
	await card(page, id).waitFor();
	for (const how of [{ modifiers: ["ControlOrMeta"] }, { modifiers: ["Shift"] }, { button: "middle" }] as const) {
		const [tab] = await Promise.all([page.context().waitForEvent("page"), card(page, id).click(how as Parameters<Page["click"]>[1])]);
		watch(tab);
		await tab.getByRole("tab", { name: "Details" }).waitFor();
		expect(new URL(tab.url()).search).toBe(`?job=${id}`);
		expect(await tab.evaluate("window.opener")).toBeNull();
		await tab.reload();
		await tab.getByRole("tab", { name: "Details" }).waitFor();
		await tab.close();
	}
	const apart = await page.context().newPage();
	watch(apart);
	await apart.goto(site.url);
	await apart.getByRole("heading", { name: "Sign in" }).waitFor();
	await site.must("down", "--stop-runs");
});
