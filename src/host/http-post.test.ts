// One request and its bounded answer, against real servers on loopback.

import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { makeCertificates } from "../../test/make/stores/certificate.ts";
import type { HttpPost } from "../contracts/webhook.ts";
import { httpPost } from "./http-post.ts";

async function listen(server: Server): Promise<string> {
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}
const serve = (answer: RequestListener) => listen(createServer(answer));
const post = (url: string, more: Partial<HttpPost> = {}) =>
	httpPost({ url, headers: { "content-type": "application/json" }, body: '{"é":1}', timeoutMs: 2000, ...more });

test("sends body and headers, and reads the answer", async () => {
	const url = await serve((request, response) => {
		let body = "";
		request.on("data", (chunk) => {
			body += chunk;
		});
		request.on("end", () => {
			response.setHeader("retry-after", "7");
			response.end(`${request.method} ${request.url} ${request.headers["content-length"]} ${body}`);
		});
	});
	expect(await post(url)).toEqual({ status: 200, retryAfter: "7", text: 'POST /hook 8 {"é":1}' });
});

test("a redirect is an answer like any other", async () => {
	let calls = 0;
	const url = await serve((_request, response) => {
		calls++;
		response.writeHead(307, { location: "/elsewhere" }).end();
	});
	expect((await post(url)).status).toBe(307);
	expect(calls).toBe(1);
});

test("a receiver that never answers, or never ends its answer, is left after the time", async () => {
	const silent = await serve(() => {});
	await expect(post(silent, { timeoutMs: 100 })).rejects.toThrow("no answer within 100 ms");
	const slow = await serve((_request, response) => response.write("x"));
	await expect(post(slow, { timeoutMs: 100 })).rejects.toThrow();
});

test("a huge answer is cut", async () => {
	let isClosed = false;
	const url = await serve((_request, response) => {
		const more = () => {
			while (!response.destroyed && response.write("x".repeat(10_000)));
		};
		response.on("drain", more);
		response.on("close", () => {
			isClosed = true;
		});
		more();
	});
	const { status, text } = await post(url);
	expect([status, text.length]).toEqual([200, 1000]);
	await expect.poll(() => isClosed).toBe(true);
});

test("a refused connection and a broken-off answer are errors", async () => {
	await expect(post("http://127.0.0.1:1/")).rejects.toThrow("ECONNREFUSED");
	const url = await serve((_request, response) => {
		response.writeHead(200, { "content-length": "100" });
		response.write("x");
		response.socket?.destroy();
	});
	await expect(post(url)).rejects.toThrow();
});

test("an idle connection that the receiver has closed is no failure", async () => {
	const server = createServer((_request, response) => response.end("ok"));
	const url = await listen(server);
	expect((await post(url)).status).toBe(200);
	server.closeIdleConnections();
	expect((await post(url)).status).toBe(200);
});

test("a certificate that no known authority has signed is refused, whatever the environment says", async ({ skip }) => {
	const made = makeCertificates(makeFolder(), "localhost");
	if (!made) return skip("openssl is not installed");
	const server = createTlsServer({ cert: made.cert, key: made.key }, (_request, response) => response.end());
	const url = (await listen(server as unknown as Server)).replace("http:", "https:");
	const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
	process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
	onTestFinished(() => {
		if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
		else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
	});
	await expect(post(url)).rejects.toMatchObject({ code: expect.stringMatching(/SELF_SIGNED|UNABLE_TO_VERIFY/) });
});
