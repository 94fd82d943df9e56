// A real Chromium, one for each test file, and pages of it that may not make a mistake: an error in one fails the test.

import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import chromium from "@sparticuz/chromium";
import { type Browser, type BrowserContextOptions, chromium as driver, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, vi } from "vitest";
import type { Site } from "../daemons/site.ts";

export class TestBrowser {
	private browser: Browser | undefined;

	constructor() {
		// A browser beside a busy simulation is slow: what is waited for comes, or the test's own limit ends it.
		vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });
		beforeAll(async () => {
			this.browser = await driver.launch({ executablePath: await chromium.executablePath(), args: ["--no-sandbox", "--disable-gpu"] });
		});
		afterAll(() => this.browser?.close());
	}

	/** A page with a store of its own. */
	async page(options: BrowserContextOptions = {}): Promise<Page> {
		const context = await (this.browser as Browser).newContext({ viewport: { width: 1280, height: 800 }, ...options });
		onTestFinished(() => context.close());
		context.setDefaultTimeout(90_000);
		const page = await context.newPage();
		watch(page);
		return page;
	}
}

/** What the browser itself says about a refused request or a cut connection is no mistake of the page. */
const EXPECTED = /Failed to load resource|net::ERR_/;

export function watch(page: Page): void {
	const mistakes: string[] = [];
	page.on("pageerror", (error) => mistakes.push(error.stack ?? error.message));
	page.on("console", (message) => {
		if (message.type() === "error" && !EXPECTED.test(message.text())) mistakes.push(message.text());
	});
	// Whatever was injected would ask.
	page.on("dialog", (dialog) => {
		mistakes.push(`a dialog: ${dialog.message()}`);
		void dialog.dismiss();
	});
	onTestFinished(() => expect(mistakes).toEqual([]));
}

/** Something between the browser and the daemon that can be cut, and that can hold streams back. */
export async function openProxy(url: string): Promise<{ url: string; cut(): void; mend(): void; buffer(): void }> {
	const { hostname, port, host } = new URL(url);
	let state: "open" | "cut" | "buffering" = "open";
	const server: Server = createServer((inward: IncomingMessage, outward: ServerResponse) => {
		if (state === "cut") return void inward.socket.destroy();
		const { origin: _, ...headers } = inward.headers;
		const onward = request({ hostname, port, path: inward.url, method: inward.method, headers: { ...headers, host } }, (reply) => {
			const pieces: Buffer[] = [];
			if (state === "buffering" && inward.url?.startsWith("/events")) {
				reply.on("data", (piece: Buffer) => pieces.push(piece));
				reply.on("end", () => outward.writeHead(reply.statusCode ?? 500, reply.headers).end(Buffer.concat(pieces)));
				return;
			}
			outward.writeHead(reply.statusCode ?? 500, reply.headers);
			reply.pipe(outward);
		});
		onward.on("error", () => outward.destroy());
		outward.on("close", () => onward.destroy());
		inward.pipe(onward);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
		cut() {
			state = "cut";
			server.closeAllConnections();
		},
		mend() {
			state = "open";
		},
		buffer() {
			state = "buffering";
		},
	};
}

/** A link that signs in once, by way of the address at which the browser will open it. */
async function linkTo(
	{ url, token }: Pick<Site, "url" | "token">,
	path = "",
	role: "admin" | "operator" | "viewer" = "admin",
): Promise<string> {
	const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session.code", params: { role } });
	const answer = await fetch(`${url}rpc`, { method: "POST", headers: { Authorization: `Bearer ${token}` }, body });
	const { result } = (await answer.json()) as { result: { code: string } };
	return `${url}${path}#code=${result.code}`;
}

/** Signed in, with the first list on the screen: by default the board. */
export async function enter(page: Page, site: Pick<Site, "url" | "token">, path = "?view=board"): Promise<void> {
	await page.goto(await linkTo(site, path));
	await page.locator(".top").waitFor();
	await page.locator(".loading, .boot").waitFor({ state: "detached" });
}

export const card = (page: Page, id: number) => page.locator(`[data-card="${id}"]`);
export const column = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
export const toast = (page: Page, text: string | RegExp) => page.locator(".toast", { hasText: text });

/** Pauses everything from the head of the page, which asks first. */
export async function pauseAll(page: Page): Promise<void> {
	await page.getByRole("banner").getByRole("button", { name: "Pause" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Pause everything" }).click();
	await toast(page, "Paused everything").last().waitFor();
}
