// Webhooks of a real daemon: a receiver that fails, hangs, goes away and comes back, and a daemon that is killed in between. Every event arrives, signed.

import { spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";

const SECRET = "the-secret-of-this-test-0123456789";

type Got = { id: string; seq: number; kind: string; job: number | null; body: string; signature: string; isSigned: boolean };

const isSigned = (signature: string, body: string): boolean => {
	const [, time, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
	return v1 !== undefined && createHmac("sha256", SECRET).update(`${time}.${body}`).digest("hex") === v1;
};

class Receiver {
	readonly got: Got[] = [];
	/** How each request is answered; `hang` never answers. */
	mood: "ok" | "fail" | "hang" | "huge" = "ok";
	private server: Server | undefined;
	port = 0;

	async up(): Promise<void> {
		const server = createServer((request, response) => {
			let body = "";
			request.on("data", (chunk) => {
				body += chunk;
			});
			request.on("end", () => {
				if (this.mood === "hang") return;
				if (this.mood === "fail") return void response.writeHead(500).end("broken");
				const { id, event } = JSON.parse(body);
				const signature = String(request.headers["sluice-signature"]);
				this.got.push({ id, seq: event.seq, kind: event.kind, job: event.job, body, signature, isSigned: isSigned(signature, body) });
				if (this.mood === "huge") for (let index = 0; index < 100; index++) response.write("x".repeat(10_000));
				response.end();
			});
		});
		await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", resolve));
		this.port = (server.address() as AddressInfo).port;
		this.server = server;
		onTestFinished(() => this.down());
	}

	down(): void {
		this.server?.closeAllConnections();
		this.server?.close();
		this.server = undefined;
	}
}

const add = async (client: Client, name: string): Promise<number> => {
	const { job } = (await client.call("job.add", {
		command: ["true"],
		name,
		env: { MY_PLAIN: "plain-value", MY_TOKEN: "hidden-value" },
	})) as {
		job: { id: number };
	};
	return job.id;
};
const addSome = async (client: Client, names: string[]) => {
	const ids: number[] = [];
	for (const name of names) ids.push(await add(client, name));
	await client.call("job.wait", { ids, timeout_ms: 25_000 });
	return ids;
};

function configured(url: string): { home: TestHome; secret: string } {
	const secret = join(makeFolder(), "secret");
	writeFileSync(secret, `${SECRET}\n`);
	chmodSync(secret, 0o600);
	const home = new TestHome();
	home.make(`webhooks:\n  ci: {url: "${url}", secret: "file:${secret}", timeout: 2s, events: [added, started, ended]}\n`);
	return { home, secret };
}

const KINDS = ["added", "started", "ended"];
const kindsOf = (receiver: Receiver, id: number) => [...new Set(receiver.got.filter(({ job }) => job === id).map(({ kind }) => kind))];
/** Asks for an attempt now and again until the condition holds: on a slow machine back-offs grow beyond the time of a test. */
const whileRetried = (client: Client, look: () => boolean | Promise<boolean>) => {
	let asked = 0;
	return until(async () => {
		if (await look()) return true;
		if (Date.now() - asked < 1000) return false;
		asked = Date.now();
		await client.call("webhook.retry", { name: "ci" });
		return false;
	});
};
const hasAll = (receiver: Receiver, ids: number[]) => ids.every((id) => kindsOf(receiver, id).length === KINDS.length);

test("every event arrives, signed and in order, though the receiver fails, hangs and restarts and the daemon is killed", async () => {
	const receiver = new Receiver();
	await receiver.up();
	const { home } = configured(`http://127.0.0.1:${receiver.port}/hook/key-in-path`);
	const first = await home.up();
	await until(async () => (await first.client.call("webhook.list", {})).webhooks[0]?.state === "idle");
	const well = await addSome(first.client, ["well-1", "well-2"]);
	await until(() => hasAll(receiver, well));

	receiver.mood = "fail";
	const failed = await addSome(first.client, ["failed-1", "failed-2"]);
	const failing = await until(async () => {
		const { webhooks } = await first.client.call("webhook.list", {});
		return webhooks.find(({ error }) => error === "it answered 500");
	});
	expect(failing).toMatchObject({ state: "failing", to: `http://127.0.0.1:${receiver.port}` });
	expect((await home.run(["doctor"])).out).toMatch(/BAD {2}webhook ci .*it answered 500/);
	expect((await home.run(["status"])).out).toContain("Webhook ci fails: it answered 500");

	// Killed while events wait; what happens to jobs meanwhile is in the log of the next daemon.
	await home.kill(first.child);
	receiver.mood = "hang";
	const second = await home.up();
	const hung = await addSome(second.client, ["hung-1"]);
	const errorOf = async (client: Client) => (await client.call("webhook.list", {})).webhooks[0]?.error ?? "";
	await whileRetried(second.client, async () => (await errorOf(second.client)).startsWith("no answer within"));
	await home.kill(second.child);

	receiver.down();
	const third = await home.up();
	const refused = await addSome(third.client, ["refused-1"]);
	await whileRetried(third.client, async () => (await errorOf(third.client)).includes("ECONNREFUSED"));

	receiver.mood = "huge";
	await receiver.up();
	expect((await home.run(["webhook", "retry", "ci"])).code).toBe(0);
	const all = [...well, ...failed, ...hung, ...refused];
	await whileRetried(third.client, () => hasAll(receiver, all));
	for (const id of all) expect(kindsOf(receiver, id)).toEqual(KINDS);
	expect(receiver.got.every((one) => one.isSigned)).toBe(true);
	// A repeat has the id of the first attempt.
	for (const { id, seq } of receiver.got) expect(id.endsWith(`/ci/${seq}`)).toBe(true);
	await whileRetried(third.client, async () => (await third.client.call("webhook.list", {})).webhooks[0]?.state === "idle");
	expect((await home.run(["webhook", "list"])).out).toMatch(/ci +http:\/\/127\.0\.0\.1:\d+ +idle +0/);

	// Neither the secrets nor the jobs' environment are anywhere that can be read.
	const read = [
		home.log(),
		JSON.stringify(receiver.got.map(({ body }) => body)),
		(await home.run(["webhook", "list", "--json"])).out,
		(await home.run(["config", "list", "--json"])).out,
		(await home.run(["config", "get", "webhooks.ci", "--json"])).out,
		(await home.run(["doctor", "--json"])).out,
	];
	for (const text of read) for (const word of [SECRET, "hidden-value", "key-in-path"]) expect(text).not.toContain(word);
	expect(read[1]).not.toContain("plain-value");
}, 120_000);

test("test events, mistakes in the configuration, and a change of it", async () => {
	const receiver = new Receiver();
	await receiver.up();
	const { home, secret } = configured(`http://127.0.0.1:${receiver.port}/`);
	const { client } = await home.up();
	const tried = await home.run(["webhook", "test", "ci"]);
	expect([tried.code, tried.err]).toEqual([0, expect.stringContaining("ci took the test event: 200")]);
	expect(receiver.got.at(-1)).toMatchObject({ kind: "test", job: null, isSigned: true });
	receiver.mood = "fail";
	const refused = await home.run(["webhook", "test", "ci"]);
	expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/not delivered: it answered 500[\s\S]*it said: broken/)]);
	expect((await home.run(["webhook", "test", "co"])).code).toBe(3);
	expect((await home.run(["webhook", "retry"])).code).toBe(2);

	const plain = await home.run(["config", "set", "webhooks.ci.secret", "plain-secret-in-the-file"]);
	expect([plain.code, plain.err]).toEqual([2, expect.stringContaining("where the secret is")]);
	expect(plain.err).not.toContain("plain-secret");
	expect((await home.run(["config", "set", "webhooks.ci.url", "ftp://example.org"])).code).toBe(2);
	expect((await home.run(["config", "set", "webhooks.ci.events", '["endet"]'])).err).toContain("ended");
	expect((await home.run(["config", "set", "webhooks.ci.headers.Sluice-Signature", "x"])).code).toBe(2);

	writeFileSync(secret, "");
	expect((await home.run(["webhook", "test", "ci"])).err).toContain("is empty");
	await client.call("config.unset", { key: "webhooks.ci" });
	expect((await client.call("webhook.list", {})).webhooks).toEqual([]);
}, 60_000);

/** The code block of this language in docs/webhooks.md. */
const example = (language: string): string =>
	new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(
		readFileSync(join(import.meta.dirname, "../../docs/webhooks.md"), "utf8"),
	)?.[1] ?? "";

test("the receivers of the docs page take what a daemon sends, and refuse what it did not sign", async () => {
	const receiver = new Receiver();
	await receiver.up();
	const { home } = configured(`http://127.0.0.1:${receiver.port}/`);
	await home.up();
	await home.run(["webhook", "test", "ci"]);
	const { body, signature } = receiver.got.at(-1) as Got;

	const file = join(makeFolder(), "receiver.mjs");
	writeFileSync(file, example("js"));
	receiver.down();
	const child = spawn(process.execPath, [file, String(receiver.port)], {
		env: { ...process.env, SECRET },
		stdio: ["ignore", "pipe", "inherit"],
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	let said = "";
	child.stdout.on("data", (chunk) => {
		said += chunk;
	});
	const post = (text: string) =>
		fetch(`http://127.0.0.1:${receiver.port}/`, { method: "POST", body: text, headers: { "sluice-signature": signature } }).then(
			({ status }) => status,
			() => 0,
		);
	await until(async () => (await post(body)) === 204);
	expect(await post(body.replace("test", "tost"))).toBe(401);
	expect((await home.run(["webhook", "test", "ci"])).code).toBe(0);
	await until(() => said.split("\n").length === 3);

	const script = `${example("python")}\nimport sys\nsecret, header, body = sys.argv[1:]\nprint(is_signed(secret.encode(), header, body.encode()), is_signed(b"other", header, body.encode()))\n`;
	const python = spawnSync("python3", ["-c", script, SECRET, signature, body], { encoding: "utf8" });
	if (python.error === undefined) expect([python.stdout, python.stderr]).toEqual(["True False\n", ""]);
}, 60_000);
