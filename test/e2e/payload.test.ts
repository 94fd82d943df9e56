// A payload through every door of the built product: the command line, a manifest, MCP, and the file that a run finds.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";

const SLUICE = join(fileURLToPath(new URL("../..", import.meta.url)), "bin/sluice.js");
const PAYLOAD = '{"message_id":1234567890123456789,"10":1,"9":2,"share":1.0,"nul":"\\u0000"}';

test("add --payload, list, show and export, and payload.json of a run", { timeout: 120_000 }, async () => {
	const home = new TestHome();
	const added = await home.run(["add", "--json", "--payload", PAYLOAD, "--", "true"]);
	expect([added.code, added.out.includes(`"payload":${PAYLOAD},`)]).toEqual([0, true]);
	expect((await home.run(["wait", "1"])).code).toBe(0);
	expect(readFileSync(join(home.path, "runs/1/1/payload.json"), "utf8")).toBe(PAYLOAD);
	for (const words of [["show", "1", "--json"], ["list", "--all", "--json"], ["export"]])
		expect([words, (await home.run(words)).out.includes(`"payload":${PAYLOAD},`)]).toEqual([words, true]);
	expect((await home.run(["show", "1"])).out).toContain(`payload  ${PAYLOAD}`);
});

test("a manifest in JSON keeps it as it is, one in YAML keeps whole numbers of any size", { timeout: 120_000 }, async () => {
	const home = new TestHome();
	home.make();
	const json = join(home.path, "jobs.json");
	writeFileSync(json, `{"jobs": [{"name": "one", "payload": ${PAYLOAD}}]}`);
	expect((await home.run(["apply", json])).code).toBe(0);
	expect((await home.run(["show", "one", "--json"])).out).toContain(`"payload":${PAYLOAD},`);
	const yaml = join(home.path, "jobs.yml");
	writeFileSync(yaml, "jobs:\n  two:\n    priority: 3\n    payload: {id: 1234567890123456789, small: 7}\n");
	expect((await home.run(["apply", yaml])).code).toBe(0);
	expect((await home.run(["show", "two", "--json"])).out).toContain('"payload":{"id":1234567890123456789,"small":7},');
});

test("MCP: what a client sends as payload is what it reads", { timeout: 120_000 }, async () => {
	const home = new TestHome();
	const child = spawn(process.execPath, [SLUICE, "mcp"], {
		env: { PATH: process.env.PATH ?? "", HOME: home.path, USER: "ann", SLUICE_HOME: home.path, SLUICE_PORT: "0" },
		cwd: tmpdir(),
		stdio: ["pipe", "pipe", "ignore"],
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	let said = "";
	child.stdout.on("data", (chunk) => {
		said += chunk;
	});
	const ask = async (id: number, method: string, params: string) => {
		child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`);
		return until(() => said.split("\n").find((line) => line.includes(`"id":${id}`)));
	};
	await ask(1, "initialize", '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}');
	child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
	expect(await ask(2, "tools/call", `{"name":"job_add","arguments":{"payload":${PAYLOAD}}}`)).toContain(`"payload":${PAYLOAD}`);
	expect(await ask(3, "tools/call", '{"name":"job_show","arguments":{"id":1}}')).toContain(`"payload":${PAYLOAD}`);
	child.stdin.end();
	await until(() => child.exitCode !== null);
});
