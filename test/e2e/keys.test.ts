// API keys: what doctor and agent list say of a login is what a run will get; keys are handed over by reference, and written down nowhere.

import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";

const KEY = "sk-ant-not-a-real-key-0123456789";

/** A folder with a `claude` that says which key it got, as a result that the real one could print. */
function fakeClaude(): string {
	const bin = makeFolder();
	const said = '{"type":"result","subtype":"success","is_error":false,"result":"key=%s","session_id":"s"}\\n';
	writeFileSync(
		join(bin, "claude"),
		`#!/bin/sh\n[ "$1" = --version ] && { echo 2.1.0; exit; }\n[ -n "$ANTHROPIC_API_KEY" ] && got="\${#ANTHROPIC_API_KEY} letters" || got=none\nprintf '${said}' "$got"\n`,
	);
	chmodSync(join(bin, "claude"), 0o755);
	return `${bin}:${process.env.PATH}`;
}

async function told(client: Client, more: Record<string, unknown> = {}): Promise<string> {
	const result = await client.call("job.add", { agent: "claude", prompt: "hi", cwd: "/", ...more });
	if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
	const { id } = result.job as { id: number };
	await until(async () => (await client.call("job.show", { id })).job.status === "succeeded");
	return (await client.call("job.logs", { id })).text;
}

test("neither the prompt nor the key of a built-in agent is in the arguments of its run's processes", async () => {
	const bin = makeFolder();
	const said = '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s"}';
	const script = `[ "$1" = --version ] && { echo 2.1.0; exit; }
grep -q read-this-prompt - && [ -n "$ANTHROPIC_API_KEY" ] && echo "got both" >${bin}/got
for pid in $$ $PPID; do tr '\\0' ' ' </proc/$pid/cmdline; echo; done >${bin}/arguments
echo '${said}'`;
	writeFileSync(join(bin, "claude"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
	const home = new TestHome();
	home.make("agents: { claude: { env: { ANTHROPIC_API_KEY: env:ANTHROPIC_API_KEY } } }\n");
	const { client } = await home.up({ PATH: `${bin}:${process.env.PATH}`, ANTHROPIC_API_KEY: KEY });
	expect(await told(client, { prompt: "read-this-prompt" })).toContain("done");
	expect(readFileSync(join(bin, "got"), "utf8")).toBe("got both\n");
	const shown = readFileSync(join(bin, "arguments"), "utf8");
	expect(shown).toContain("claude -p");
	for (const hidden of ["read-this-prompt", KEY]) expect(shown).not.toContain(hidden);
});

/** Every file of the home, read whole. */
function filesWith(folder: string, text: string): string[] {
	return readdirSync(folder, { recursive: true, encoding: "utf8" })
		.map((name) => join(folder, name))
		.filter((path) => statSync(path).isFile() && readFileSync(path, "latin1").includes(text));
}

test("a key of the shell is no login for runs; a reference hands it over, and it is written down nowhere", async () => {
	const PATH = fakeClaude();
	const home = new TestHome();
	const { client } = await home.up({ PATH, ANTHROPIC_API_KEY: KEY });
	expect(await told(client)).toContain("key=none");
	const caller = { env: { PATH, ANTHROPIC_API_KEY: KEY, GOPATH: "/go" } };
	const line = "sluice config set agents.claude.env.ANTHROPIC_API_KEY env:ANTHROPIC_API_KEY";
	const before = await home.run(["doctor"], caller);
	expect(before.out).toMatch(/agent claude\s+2\.1\.0 .*, runs find no login/);
	expect(before.out).toContain(line);
	expect(before.out).toContain("runs do not get GOPATH of your shell");
	const listed = await home.run(["agent", "list"], caller);
	expect(listed.out).toMatch(/claude\s+2\.1\.0\s+not found/);
	expect(listed.err).toContain(line);
	expect((await home.run(line.split(" ").slice(1), caller)).code).toBe(0);
	expect(await told(client)).toContain(`key=${KEY.length} letters`);
	const after = await home.run(["doctor"], caller);
	expect(after.out).toMatch(/agent claude\s+2\.1\.0 .*, logged in, runs get ANTHROPIC_API_KEY/);
	expect((await home.run(["agent", "list"], caller)).out).toMatch(/claude\s+2\.1\.0\s+yes/);
	const shown = [
		["agent", "show", "claude"],
		["agent", "show", "claude", "--json"],
		["config", "list"],
		["show", "2", "--json"],
	];
	for (const args of shown) expect((await home.run(args, caller)).out).not.toContain(KEY);
	expect(filesWith(home.path, KEY)).toEqual([]);
});

test("a key in a file is read at each start; an account has its own; what cannot be had is said, and nothing runs", async () => {
	const PATH = fakeClaude();
	const home = new TestHome();
	const [file, other] = [join(makeFolder(), "key"), join(makeFolder(), "key")];
	writeFileSync(file, "12345\n");
	writeFileSync(other, "1234567\n");
	home.make(`
accounts: { work: { env: { ANTHROPIC_API_KEY: file:${other} } }, plain: {} }
agents: { claude: { env: { ANTHROPIC_API_KEY: file:${file} } } }
dispatch_backoff: 10ms
`);
	const { client } = await home.up({ PATH });
	expect(await told(client)).toContain("key=5 letters");
	writeFileSync(file, "123456");
	expect(await told(client)).toContain("key=6 letters");
	expect(await told(client, { account: "work", env: { ANTHROPIC_API_KEY: "x" } })).toContain("key=7 letters");
	await client.call("config.set", { key: "agents.claude.env.ANTHROPIC_API_KEY", value: "env:NOWHERE" });
	const { job } = (await client.call("job.add", { agent: "claude", prompt: "hi", cwd: "/" })) as { job: { id: number } };
	const failed = await until(async () => {
		const { job: one } = await client.call("job.show", { id: job.id });
		return one.last_failure ?? undefined;
	});
	expect(failed).toContain("agents.claude.env.ANTHROPIC_API_KEY: NOWHERE is not set in the daemon's environment");
	expect((await home.run(["doctor"])).out).toContain("NOWHERE is not set in the daemon's environment");
});

test("a key itself is refused, with the reference to write instead, and is not repeated", async () => {
	const home = new TestHome();
	await home.up();
	for (const key of ["agents.claude.env.ANTHROPIC_API_KEY", "accounts.work.env.ANTHROPIC_API_KEY", "agents.claude.env.HARMLESS"]) {
		const said = await home.run(["config", "set", key, KEY]);
		expect([said.code, said.err.includes(KEY), said.err.includes("looks like a secret")]).toEqual([2, false, true]);
		expect(said.err).toContain(`env:${key.split(".").at(-1)}`);
	}
	expect((await home.run(["config", "set", "agents.claude.env.CLAUDE_CODE_MAX_RETRIES", "0"])).code).toBe(0);
	expect((await home.run(["config", "set", "agents.claude.env.X_KEY", "file:relative"])).err).toContain(
		"no reference that can be followed",
	);
	expect(filesWith(home.path, KEY)).toEqual([]);
});

test("runs reach the network as their daemon does: through its proxy, whose password is written down nowhere", async () => {
	const proxy = "http://ann:not-a-real-password@127.0.0.1:9";
	const home = new TestHome();
	const { client } = await home.up({ HTTPS_PROXY: proxy, https_proxy: proxy, NO_PROXY: "localhost", SSL_CERT_FILE: "/etc/own.pem" });
	const command = ["sh", "-c", 'echo "$(echo $HTTPS_PROXY$https_proxy | tr a-z A-Z) $NO_PROXY $SSL_CERT_FILE"'];
	const caller = { env: { HTTPS_PROXY: "http://the-shells-own:1" } };
	const added = await home.run(["add", "--json", "--", ...command], caller);
	const { id } = (JSON.parse(added.out) as { job: { id: number } }).job;
	await until(async () => (await client.call("job.show", { id })).job.status === "succeeded");
	expect((await client.call("job.logs", { id })).text).toBe(`${`${proxy}${proxy}`.toUpperCase()} localhost /etc/own.pem\n`);
	expect(filesWith(home.path, "not-a-real-password")).toEqual([]);
	// What a job is given by name is the job's.
	const own = await home.run(["add", "--json", "--env", "HTTPS_PROXY", "--", "sh", "-c", "echo $HTTPS_PROXY"], caller);
	const { id: second } = (JSON.parse(own.out) as { job: { id: number } }).job;
	await until(async () => (await client.call("job.show", { id: second })).job.status === "succeeded");
	expect((await client.call("job.logs", { id: second })).text).toBe("http://the-shells-own:1\n");
});
