// Who may do what, and what is never shown: a real daemon, its doors, its files, its log, and the programs that it starts.

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";

type Reply = { status: number; body: string };

async function open(config = "", env: Record<string, string> = {}) {
	const home = new TestHome();
	home.make(config);
	const up = await home.up(env);
	await until(() => existsSync(join(home.path, "daemon.json")));
	const { port } = JSON.parse(readFileSync(join(home.path, "daemon.json"), "utf8")) as { port: number };
	const token = (name: "token" | "viewer-token") => readFileSync(join(home.path, name), "utf8").trim();
	const post = (method: string, params: object, headers: Record<string, string>) =>
		new Promise<Reply>((resolve, reject) => {
			const out = request({ host: "127.0.0.1", port, method: "POST", path: "/rpc", headers, agent: false }, (response) => {
				let body = "";
				response.on("data", (chunk) => {
					body += chunk;
				});
				response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
			});
			out.on("error", reject);
			out.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
		});
	return { home, port, token, post, ...up };
}

const add = async (client: Client, command: string[], more: Record<string, unknown> = {}): Promise<number> => {
	const { job } = (await client.call("job.add", { command, ...more })) as { job: { id: number } };
	return job.id;
};
const ended = (client: Client, id: number) =>
	until(async () => {
		const { job } = await client.call("job.show", { id });
		return ["succeeded", "failed", "cancelled"].includes(job.status) ? job : undefined;
	});

describe("the doors", () => {
	test("no token: 401; wrong Host or Origin: 403; a viewer cannot act", async () => {
		const { client, port, token, post } = await open();
		const [operator, viewer] = [{ Authorization: `Bearer ${token("token")}` }, { Authorization: `Bearer ${token("viewer-token")}` }];
		expect((await post("scheduler.status", {}, {})).status).toBe(401);
		expect((await post("scheduler.status", {}, { Authorization: "Bearer nonsense" })).status).toBe(401);
		expect((await post("scheduler.status", {}, operator)).status).toBe(200);
		expect((await post("scheduler.status", {}, { ...operator, Host: `evil.example:${port}` })).status).toBe(403);
		expect((await post("scheduler.status", {}, { ...operator, Origin: "https://evil.example" })).status).toBe(403);
		expect((await post("scheduler.status", {}, { ...operator, Origin: `http://localhost:${port}` })).status).toBe(200);
		const acts: [string, object][] = [
			["job.add", { command: ["true"] }],
			["job.cancel", { id: 1 }],
			["scheduler.pause", {}],
			["scheduler.run", {}],
			["scheduler.down", {}],
			["config.set", { key: "max_concurrent", value: 9 }],
			["budget.grant", { subject: "owner:ann", dim: "tokens", limit: 1 }],
			["job.approve", { id: 1 }],
			["session.auth", { token: token("token") }],
		];
		for (const [method, params] of acts) {
			const { error } = JSON.parse((await post(method, params, viewer)).body) as { error?: { code: number } };
			expect([method, error === undefined ? 0 : error.code < 0]).toEqual([method, true]);
		}
		expect((await client.call("scheduler.status", {})).paused).toBe(false);
		expect((await client.call("job.list", { all: true })).jobs).toEqual([]);
		expect(JSON.parse((await post("scheduler.status", {}, viewer)).body)).toMatchObject({ result: { paused: false } });
	});

	test("HTTP listens on the loopback interface alone", async () => {
		const { port } = await open();
		const hex = port.toString(16).toUpperCase().padStart(4, "0");
		const listening = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
			existsSync(file)
				? readFileSync(file, "utf8")
						.split("\n")
						.map((line) => line.trim().split(/\s+/))
						.filter((fields) => fields[1]?.endsWith(`:${hex}`) && fields[3] === "0A")
						.map((fields) => fields[1])
				: [],
		);
		expect(listening).toEqual([`0100007F:${hex}`]);
	});

	test("home, socket, tokens and everything that holds a secret are their owner's alone", async () => {
		const { client, home } = await open();
		const id = await add(client, ["true"], { env: { MY_TOKEN: "s" } });
		await ended(client, id);
		const mode = (path: string) => (statSync(join(home.path, path)).mode & 0o777).toString(8);
		expect(mode("")).toBe("700");
		for (const path of ["sluice.sock", "token", "viewer-token", "exits", "daemon.log", "daemon.json", `runs/${id}/1/run.json`])
			expect([path, mode(path)]).toEqual([path, "600"]);
		for (const path of ["runs", "worktrees", "recipes", `runs/${id}`, `runs/${id}/1`]) expect([path, mode(path)]).toEqual([path, "700"]);
	});
});

describe("secrets", () => {
	test("in a job's environment reach its program, and nobody else", async () => {
		const { client, home, port, token } = await open();
		const secrets = { DEPLOY_TOKEN: "first-of-the-hidden", PLAIN: "sk-hidden-by-its-looks", db_password: "third-of-the-hidden" };
		const hidden = Object.values(secrets);
		const events: string[] = [];
		const stream = request(
			{ host: "127.0.0.1", port, path: "/events?since=0", headers: { Authorization: `Bearer ${token("viewer-token")}` }, agent: false },
			(response: IncomingMessage) => void response.on("data", (chunk) => events.push(String(chunk))),
		);
		stream.on("error", () => {});
		stream.end();
		onTestFinished(() => void stream.destroy());
		// Only their lengths: a command is shown as it is.
		const script = `test "\${#DEPLOY_TOKEN} \${#PLAIN} \${#db_password}" = "${hidden.map((value) => value.length).join(" ")}"`;
		const given = Object.entries(secrets).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
		const added = await home.run(["--json", "add", "--name", "job", "--retries", "0", ...given, "--", "sh", "-c", script]);
		expect(added.code).toBe(0);
		const retried = await home.run(["add", "--name", "bad", ...given, "--", "no-such-program-x"]);
		expect((await ended(client, 1)).status).toBe("succeeded");
		await until(async () => (await client.call("job.history", { id: "bad" })).events.some(({ kind }) => kind === "requeued"));
		const said = [added, retried];
		const looks = [
			["show", "job"],
			["show", "job", "--json"],
			["list", "--all", "--json"],
			["why", "bad"],
			["why", "bad", "--json"],
			["history", "bad"],
			["history", "bad", "--json"],
			["export"],
			["config", "list", "--json"],
			["status", "--json"],
			["logs", "job"],
		];
		for (const line of looks) said.push(await home.run(line));
		await until(() => events.join("").includes('"requeued"'));
		const status = await client.call("scheduler.status", {});
		const everything = [...said.flatMap(({ out, err }) => [out, err]), ...events, JSON.stringify(status), home.log()].join("\n");
		expect(hidden.filter((value) => everything.includes(value))).toEqual([]);
		// Nor do they stand in a file of ours but the store, or in a command line that others may read.
		const files = readdirSync(join(home.path, "runs"), { recursive: true, encoding: "utf8" })
			.map((name) => join(home.path, "runs", name))
			.filter((path) => statSync(path).isFile());
		expect(files.length).toBeGreaterThan(4);
		expect(files.filter((path) => hidden.some((value) => readFileSync(path, "utf8").includes(value)))).toEqual([]);
		expect(JSON.parse((await home.run(["show", "job", "--json"])).out).job.env).toMatchObject({ DEPLOY_TOKEN: "***", PLAIN: "***" });
	});

	test("of a cron's job and of a recipe are masked for a viewer, in the configuration too", async () => {
		const { home, post, token } = await open(
			'cron:\n  nightly: {schedule: "0 3 * * *", add: {command: ["true"], env: {API_KEY: SECRETCRON}}}\nrepos:\n  r: {url: "https://u:pa\'SECRETURL@h/x"}\n',
		);
		writeFileSync(join(home.path, "recipes", "wild.yml"), "command: [make]\nenv: {DATABASE_PWD: SECRETRECIPE}\n");
		const viewer = { Authorization: `Bearer ${token("viewer-token")}`, "Content-Type": "application/json" };
		for (const [method, params] of [
			["config.list", {}],
			["config.get", { key: "cron" }],
			["cron.list", {}],
			["recipe.list", {}],
			["recipe.show", { name: "wild" }],
			["repo.list", {}],
		] as const) {
			const { status, body } = await post(method, params, viewer);
			expect([method, status, /SECRET[A-Z]+/.exec(body)?.[0]]).toEqual([method, 200, undefined]);
		}
	});

	test("of the daemon's own never reach a program, and a wrong token is not written down", async () => {
		const own = { MY_API_KEY: "the-daemons-key", DATABASE_PASSWORD: "the-daemons-password", HARMLESS_NAME: "the-daemons-word" };
		const { client, home, token, post } = await open("", own);
		const id = await add(client, ["sh", "-c", "env; cat /proc/self/environ /proc/$PPID/environ"]);
		const { text } = await ended(client, id).then(() => client.call("job.logs", { id }));
		expect(text).toContain("SLUICE_TOKEN=");
		for (const secret of [token("token"), token("viewer-token"), ...Object.values(own)])
			expect([secret, text.includes(secret)]).toEqual([secret, false]);
		await post("scheduler.status", {}, { Authorization: "Bearer guessed-by-somebody" });
		// One line a minute for all of them, and what is left when the daemon stops.
		await client.call("scheduler.down", {});
		await until(() => home.log().includes("requests with a wrong token were refused"));
		expect(home.log()).not.toContain("guessed-by-somebody");
	});
});

describe("what comes from outside is data", () => {
	test("arguments, names and folders go past every shell", async () => {
		const { client, home } = await open();
		const odd = [
			"$(touch pwned)",
			"`touch pwned`",
			"; touch pwned",
			"| touch pwned",
			"\n touch pwned \n",
			"'",
			'"',
			"\\",
			"-n",
			"*",
			"~",
			"$HOME",
			"",
		];
		const id = await add(client, ["printf", "[%s]", ...odd], { cwd: home.path, env: { ODD: "$(touch pwned)'; touch pwned" } });
		expect((await ended(client, id)).status).toBe("succeeded");
		expect((await client.call("job.logs", { id })).text).toBe(odd.map((word) => `[${word}]`).join(""));
		const there = await home.run(["add", "--wait", "--title", "$(touch pwned)", "--", "printf", "%s", ...odd.slice(0, 3)], {
			cwd: home.path,
		});
		expect(there.code).toBe(0);
		const folder = await add(client, ["true"], { cwd: `${home.path}/$(touch pwned)` });
		await until(async () => (await client.call("job.history", { id: folder })).events.some(({ kind }) => kind === "requeued"));
		expect(existsSync(join(home.path, "pwned"))).toBe(false);
	});

	const OPTIONS = [
		"--name=--upload-pack=touch pwned",
		"--name=../../etc/passwd",
		"--name=a/b",
		"--lane=--all",
		"--batch=-rf",
		"--item=../x",
		"--owner=--x",
		"--account=-x",
		"--repo=--upload-pack=x",
		"--repo=../other",
		"--base-branch=--upload-pack=x",
		"--base-branch=a..b",
		"--base-branch=main.lock",
		"--pin=--exec=x@abc",
		"--if=branch_exists:--output=x",
		"--lock=-x",
		"--serial=--x",
		"--recipe=../../x",
		"--phase=-x",
		"--unique=-x",
		"--host=--x",
	];

	test("names, refs and keys that look like options or paths are refused, and nothing is added", { timeout: 180_000 }, async () => {
		const { client, home } = await open();
		for (const option of OPTIONS) {
			const { code, out, err } = await home.run(["add", option, "--", "true"]);
			// One message and perhaps a hint; a lane or a repo that is no name can also simply not be there.
			expect([option, [2, 3].includes(code), out, err.split("\n").length <= 3]).toEqual([option, true, "", true]);
			expect([option, err]).toEqual([option, expect.stringMatching(/^sluice: /)]);
		}
		for (const id of ["--upload-pack", "../1", "1/../2", "$(id)", "1;2"])
			for (const method of ["job.show", "job.cancel", "job.logs", "job.history"] as const)
				await expect(client.call(method, { id })).rejects.toMatchObject({ code: "invalid" });
		expect((await client.call("job.list", { all: true })).jobs).toEqual([]);
	});
});

test("a run's own token lets it add, read and wait, and nothing else", async () => {
	const { client, home } = await open();
	const sluice = [process.execPath, TestHome.command()];
	const waiting = await add(client, ["true"], { requires_approval: true, name: "gated" });
	const script = `
		try() { name=$1; shift; "$@" >>out 2>>err; echo "$name $?" >>codes; }
		try add "$@" add --name child --wait -- true
		try show "$@" show child
		try list "$@" list
		try wait "$@" wait child
		try logs "$@" logs child
		for verb in "approve gated" "cancel gated" "config set max_concurrent 9" "pause" "down" "budget grant owner:ann tokens 5" "clear --yes" "lane set x --max 1" "retry child" "gc" "artifact mark custom:a:b"; do
			try "$verb" "$@" $verb
		done
	`;
	const job = await add(client, ["sh", "-c", script, "sh", ...sluice], { cwd: home.path });
	expect((await ended(client, job)).status).toBe("succeeded");
	const codes = readFileSync(join(home.path, "codes"), "utf8").trim().split("\n");
	const err = readFileSync(join(home.path, "err"), "utf8");
	expect([codes.slice(0, 5), codes.slice(5).filter((line) => !line.endsWith(" 2")), err.includes("Error")]).toEqual([
		["add 0", "show 0", "list 0", "wait 0", "logs 0"],
		[],
		false,
	]);
	expect(err.match(/is not allowed inside a job/g)).toHaveLength(codes.length - 5);
	expect((await client.call("job.show", { id: "child" })).job).toMatchObject({ parent: job, depth: 1 });
	expect((await client.call("job.show", { id: waiting })).job.approval).not.toBe("given");
	expect(await client.call("scheduler.status", {})).toMatchObject({ paused: false, max_concurrent: 4 });
});
