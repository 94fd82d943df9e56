// Connections of another user of the machine that never finish a request, against a daemon that may open few files.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { get, request } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { startOther } from "../make/daemons/second-user.ts";

/** Opens connections, sends half of a request on each, and opens a new one for each that is closed. Says how many were opened and how many were closed. */
const HALVES = `
const { connect } = require("node:net");
const [port, most] = process.argv.slice(1).map(Number);
let [opened, closed] = [0, 0];
const open = () => {
	const socket = connect(port, "127.0.0.1", () => {
		socket.write("POST /rpc HTTP/1.1\\r\\nHost: 127.0.0.1:" + port + "\\r\\nContent-Length: 1000\\r\\n");
		opened++;
		console.log(JSON.stringify({ opened, closed }));
	});
	socket.on("error", () => {});
	socket.on("close", () => {
		closed++;
		setTimeout(open, 100);
	});
};
for (let count = 0; count < most; count++) open();
`;

/** The daemon gets the limit of the shell that started it. */
async function upWithFewFiles(home: TestHome, files: number): Promise<void> {
	const script = `ulimit -n ${files}; exec "$0" "$@"`;
	const child = spawn("/bin/sh", ["-c", script, process.execPath, TestHome.command(), "up", "--detach"], {
		env: { PATH: process.env.PATH ?? "", HOME: home.path, SLUICE_HOME: home.path, SLUICE_PORT: "0" },
		stdio: "ignore",
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	expect(await new Promise((resolve) => void child.once("close", resolve))).toBe(0);
}

const descriptors = (pid: number): string => readFileSync(`/proc/${pid}/limits`, "utf8").match(/^Max open files\s+(\d+)/m)?.[1] ?? "";

test("300 half requests of another user, with 200 files: the command line gets its answers, the event stream of an open page goes on, a token comes through", async () => {
	const home = new TestHome();
	home.make("down_grace_ms: 0\n");
	await upWithFewFiles(home, 200);
	await until(() => existsSync(join(home.path, "daemon.json")));
	const { port, pid } = JSON.parse(readFileSync(join(home.path, "daemon.json"), "utf8")) as { port: number; pid: number };
	expect(descriptors(pid)).toBe("200");
	const headers = { Authorization: `Bearer ${readFileSync(join(home.path, "token"), "utf8").trim()}` };
	let events = "";
	// As a page does that has signed in.
	const code = (await home.run(["open", "-q"])).out.trim().split("#code=")[1];
	const signed = await fetch(`http://127.0.0.1:${port}/sign-in`, { method: "POST", headers: { Authorization: `Bearer ${code}` } });
	const page = { Authorization: `Bearer ${((await signed.json()) as { token: string }).token}` };
	const stream = get({ host: "127.0.0.1", port, path: "/events?since=0", headers: page, agent: false }, (response) => {
		response.on("data", (chunk) => {
			events += chunk;
		});
		response.on("close", () => {
			events += "CLOSED";
		});
	});
	onTestFinished(() => void stream.destroy());
	await until(() => events.includes(": here"));

	const other = await startOther(HALVES, String(port), "300");
	const counted = () => JSON.parse(other.lines.at(-1) ?? "{}") as { opened: number; closed: number };
	await until(() => counted().opened >= 300);
	for (let count = 1; count <= 5; count++) {
		const added = await home.run(["add", "--name", `job-${count}`, "--", "true"]);
		expect([added.code, added.err]).toEqual([0, added.err]);
		await until(() => events.includes(`job-${count}`));
		// One that comes in the middle of the flood may be closed before its token was read: browsers try again, too.
		await until(async () => (await rpcStatus(port, headers).catch(() => 0)) === 200);
	}
	// More than may be open at once were closed, and the stream was not among them.
	await until(() => counted().closed >= 300);
	expect(events).not.toContain("CLOSED");
	await other.end();
	expect((await home.run(["down"])).code).toBe(0);
});

function rpcStatus(port: number, headers: Record<string, string>): Promise<number> {
	return new Promise((resolve, reject) => {
		const out = request({ host: "127.0.0.1", port, method: "POST", path: "/rpc", headers, agent: false }, (response) => {
			response.resume();
			resolve(response.statusCode ?? 0);
		});
		out.on("error", reject);
		out.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "scheduler.version" }));
	});
}
