// Agents under a real daemon: programs that play what the real ones were recorded to print.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { usualCommands } from "../../src/core/agents/permissions/allowing.ts";
import { CAPTURES, capture } from "../make/agents/capture.ts";
import { Player } from "../make/agents/player.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

const CONFIG = `
max_concurrent: 1
accounts: { work: {}, other: {} }
lanes: { default: { accounts: [work] } }
rate_limit: { margin: 100ms, stagger: 0s }
`;

async function stage(player: Player, more = "") {
	const home = new TestHome();
	home.make(CONFIG + more);
	return { home, ...(await home.up({ PATH: player.path })) };
}
const add = async (client: Client, input: Record<string, unknown> = {}): Promise<number> => {
	const result = await client.call("job.add", { agent: "claude", prompt: "the task", cwd: makeFolder(), ...input });
	if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
	return (result.job as { id: number }).id;
};
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const becomes = (client: Client, id: number, status: string) =>
	until(async () => {
		const job = await show(client, id);
		if (job.status !== status && ["succeeded", "failed", "cancelled"].includes(job.status)) throw new Error(JSON.stringify(job));
		return job.status === status ? job : undefined;
	});
/** Played with a reset that is so far away when it is played. */
const resetIn = (name: string, seconds: number) => ({
	before: `sed "s/\\"resetsAt\\":[0-9]*/\\"resetsAt\\":$(($(date +%s) + ${seconds}))/g" '${join(CAPTURES, name, "stdout")}'`,
	code: 1,
});
const accountOf = (home: TestHome, job: number, attempt: number) =>
	JSON.parse(readFileSync(join(home.path, "runs", String(job), String(attempt), "outcome.json"), "utf8"));

describe("a run", () => {
	test("that goes well: session, cost, a log for people, and how to go on by hand", async () => {
		const player = new Player("claude").plays("claude-tool");
		const { home, client } = await stage(player);
		await client.call("budget.grant", { subject: "owner:ann", dim: "cost_micro", limit: 1_000_000 });
		const job = await add(client, { owner: "ann", model: "opus" });
		expect(await becomes(client, job, "succeeded")).toMatchObject({
			session: "71f8750c-7fdf-49fd-b9f5-c4230759226c",
			exit_kind: "completed",
		});
		expect(player.argv(1)).toEqual([
			"-p",
			"--output-format",
			"stream-json",
			"--verbose",
			"--model",
			"opus",
			"--permission-mode",
			"acceptEdits",
			...usualCommands("claude").map((command) => `--allowedTools=Bash(${command}:*)`),
			expect.stringMatching(/^--mcp-config=.*bin\/sluice\.js.*"--for","run"/),
			"--allowedTools=mcp__sluice",
		]);
		expect(player.prompt(1)).toBe("the task");
		expect((await client.call("budget.list", {})).budgets).toMatchObject([{ subject: "owner:ann", used: 16725 }]);
		const shown = await home.run(["logs", String(job)]);
		expect(shown.out).toBe("▸ Bash echo hi-from-tool > out.txt && cat out.txt\n  hi-from-tool\ndone\n· 8449 tokens, $0.0167\n");
		expect((await home.run(["logs", String(job), "--raw"])).out).toBe(capture("claude-tool").stdout.toString());
		const opened = await home.run(["open", String(job)]);
		expect(opened.err).toMatch(/go on with it: cd \S+ && claude --resume 71f8750c-7fdf-49fd-b9f5-c4230759226c/);
	});

	test("that hits a limit: held until the reset, then gone on with by itself; others go on", async () => {
		const player = new Player("claude")
			.next(resetIn("claude325-limit1", 2))
			.plays("claude-ok")
			.plays("claude325-ok", (text) => text.replaceAll("f11f37fc-9856-4ab9-98d3-120ab3662d0e", "e33a9a84-e14e-4c13-bf2e-f46e5a3d3916"));
		const { home, client } = await stage(player);
		const job = await add(client);
		await until(() => existsSync(join(home.path, "runs", String(job), "1", "outcome.json")));
		// Another account has nothing to do with it.
		await becomes(client, await add(client, { account: "other" }), "succeeded");
		expect(await becomes(client, job, "succeeded")).toMatchObject({
			attempt: 2,
			failures: 0,
			session: "e33a9a84-e14e-4c13-bf2e-f46e5a3d3916",
		});
		expect(player.starts).toBe(3);
		expect(player.argv(3)).toEqual(expect.arrayContaining(["--resume", "e33a9a84-e14e-4c13-bf2e-f46e5a3d3916"]));
		expect(player.prompt(3)).not.toMatch(/^the task/);
		const limited = accountOf(home, job, 1);
		expect(limited).toMatchObject({ outcome: "limited", account: "work", until: expect.any(Number) });
		expect(accountOf(home, job, 2).started_at).toBeGreaterThanOrEqual(limited.until + 100);
	});

	test("whose login is refused: the account is closed until a person clears it", async () => {
		const player = new Player("claude")
			.plays("claude-429-r2", (text) => text.replaceAll("rate_limit", "authentication_failed").replaceAll("429", "401"))
			.plays("claude-ok");
		const { client } = await stage(player);
		const job = await add(client);
		await until(async () => (await client.call("account.list", {})).accounts.find((one) => one.name === "work")?.state === "closed");
		expect((await client.call("job.why", { id: job })).reasons[0]).toMatchObject({ code: "account_closed" });
		expect(await show(client, job)).toMatchObject({ status: "queued", failures: 0 });
		await client.call("account.clear", { name: "work" });
		expect(await becomes(client, job, "succeeded")).toMatchObject({ attempt: 2 });
		expect(player.argv(2)).toContain("--resume");
	});

	test("that was not allowed something: its slot is free, the question waits, the answer resumes it", async () => {
		const player = new Player("claude").plays("claude-tool-denied").plays("claude-ok").plays("claude-tool");
		const { client } = await stage(player);
		const job = await add(client);
		const asked = await until(async () => {
			const view = await show(client, job);
			return view.question === null ? undefined : view;
		});
		expect(asked.question).toMatch(/^it was not allowed to:\n- Bash: echo hi-from-tool/);
		// There is one slot.
		await becomes(client, await add(client), "succeeded");
		await client.call("job.answer", { id: job, text: "yes, do" });
		await becomes(client, job, "succeeded");
		expect(player.argv(3)).toEqual(expect.arrayContaining(["--resume", "a46c1682-db6b-4112-a746-a09dcd5b4627"]));
		expect(player.prompt(3)).toBe("yes, do");
	});

	test("whose tool is silent longer than it may be silent itself", async () => {
		const lines = capture("claude-tool").stdout.toString().trimEnd().split("\n");
		const call = lines.findIndex((line) => line.includes('"tool_use"'));
		const rest = join(makeFolder(), "rest");
		writeFileSync(rest, `${lines.slice(call + 1).join("\n")}\n`);
		const player = new Player("claude")
			.next({ stdout: `${lines.slice(0, call + 1).join("\n")}\n`, after: `sleep 2\ncat '${rest}'` })
			.next({ stdout: `${lines[0]}\n`, after: "sleep 30" });
		const { client } = await stage(player);
		const patient = await add(client, { stall_timeout: "700ms", retry: 0 });
		await until(async () => (await show(client, patient)).run?.progress?.tool);
		await becomes(client, patient, "succeeded");
		const silent = await add(client, { stall_timeout: "700ms", retry: 0 });
		expect(await becomes(client, silent, "failed")).toMatchObject({ exit_kind: "stalled" });
	});

	test("that goes on is charged only what is new", async () => {
		const limit = '{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}\n';
		const player = new Player("codex").plays("codex-ok", (text) => text + limit, { code: 1 }).plays("codex-resume");
		const { home, client } = await stage(player);
		await client.call("budget.grant", { subject: "owner:ann", dim: "tokens", limit: 1_000_000 });
		const job = await add(client, { agent: "codex", owner: "ann" });
		await becomes(client, job, "succeeded");
		expect(player.argv(2).slice(0, 2)).toEqual(["exec", "resume"]);
		expect((await client.call("budget.list", {})).budgets).toMatchObject([{ used: 2510 }]);
		expect([accountOf(home, job, 1).usage.tokens, accountOf(home, job, 2).usage.tokens]).toEqual([1255, 1255]);
	});

	test("with an account that has a folder of its own", async () => {
		const folder = makeFolder();
		const player = new Player("claude").plays("claude-ok");
		const { home, client } = await stage(player, `\nagents: { claude: { env: { EXTRA: "1" } } }\n`);
		await client.call("config.set", { key: "accounts.work.home", value: folder });
		await becomes(client, await add(client), "succeeded");
		expect(player.env(1)).toMatchObject({ CLAUDE_CONFIG_DIR: folder, CLAUDE_CODE_MAX_RETRIES: "2", EXTRA: "1" });
		writeFileSync(join(folder, ".credentials.json"), "{}");
		const { agents } = JSON.parse((await home.run(["agent", "list", "--json"])).out);
		expect(agents.find((one: { name: string }) => one.name === "claude")).toMatchObject({
			path: join(player.bin, "claude"),
			accounts: [{ account: "work", home: folder, logged_in: true }],
		});
		expect((await home.run(["agent", "show", "claude"])).out).toMatch(/command {10}claude -p --output-format stream-json --verbose/);
	});
});

describe("bad agents have a stated end", () => {
	test("not installed", async () => {
		const { client } = await stage(new Player("other"));
		const job = await add(client);
		const view = await until(async () => {
			const one = await show(client, job);
			return one.dispatch_failures > 0 ? one : undefined;
		});
		expect(view.last_failure).toMatch(/claude.*install it: npm install -g @anthropic-ai\/claude-code/);
	});

	test.each<[string, Parameters<Player["next"]>[0], RegExp]>([
		["says nothing and exits with 0", {}, /^crashed: it exited with 0 and said nothing$/],
		["forks and exits", { before: "(trap '' HUP; sleep 300) & echo $! > \"$FORKED\"" }, /^crashed: it exited with 0 and said nothing$/],
		["breaks off", { stdout: capture("claude-tool").stdout.toString().slice(0, -400), code: 0, after: "kill -9 $$" }, /killed by SIGKILL/],
	])("%s", async (name, part, why) => {
		const forked = join(makeFolder(), "pid");
		const player = new Player("claude").next(part);
		const { client } = await stage(player);
		const job = await add(client, { retry: 0, env: { FORKED: forked } });
		const view = await becomes(client, job, "failed");
		expect(view.end_reason).toMatch(why);
		if (!name.startsWith("forks")) return;
		// What it left behind is ended.
		await until(() => !existsSync(`/proc/${readFileSync(forked, "utf8").trim()}`));
	});

	test.each<[string, Parameters<Player["next"]>[0], RegExp]>([
		["prints garbage", { before: "head -c 5000 /dev/urandom; echo" }, /it wrote \d+ lines? \(\d+ kB\) that Sluice does not understand/],
		[
			"prints events that are not known",
			{
				stdout: capture("claude-tool")
					.stdout.toString()
					.replaceAll(/^(.*)$/gm, '{"event":$1}')
					.replaceAll('{"event":}', ""),
			},
			/it wrote \d+ lines \(\d+ kB\) that Sluice does not understand/,
		],
	])("%s, and exits with 0: it may be done, so it is not repeated, and a person is told the version", async (_name, part, words) => {
		const player = new Player("claude").next(part).next({ stdout: "2.9.999 (Claude Code)\n" });
		const { home, client } = await stage(player);
		const job = await add(client);
		const asked = await until(async () => (await show(client, job)).question ?? undefined);
		expect(asked).toMatch(words);
		expect(asked).toMatch(
			/claude 2\.9\.999 is newer than 2\.1\.\d+, which Sluice was tested with; see sluice logs 1 --raw and sluice diff 1$/,
		);
		expect([player.starts, player.argv(2)]).toEqual([2, ["--version"]]);
		expect(accountOf(home, job, 1)).toMatchObject({ outcome: "needs_human", exit_kind: "needs_human" });
		expect((await client.call("job.why", { id: job })).reasons[0]).toMatchObject({ code: "needs_human" });
	});

	test("prints hundreds of megabytes: read to its end, in little memory", async () => {
		const player = new Player("claude").plays("claude-ok", undefined, {
			before: "yes 'not an event at all, but a line of some length' | head -c 300000000",
		});
		const { client, child } = await stage(player);
		const job = await add(client, { retry: 0 });
		await becomes(client, job, "succeeded");
		const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]);
		expect(peak).toBeLessThan(500_000);
	});

	test("was denied a tool, but has changed files: that is work", async () => {
		const repo = makeRepository();
		const player = new Player("claude")
			.plays("claude-tool-denied", undefined, { before: "echo work > made.txt" })
			.plays("claude-tool-denied");
		const { client } = await stage(player, `repos: { r: { path: ${repo.path}, merge: local } }\n`);
		expect(await becomes(client, await add(client, { repo: "r" }), "succeeded")).toMatchObject({ question: null });
		const idle = await add(client, { repo: "r" });
		await until(async () => (await show(client, idle)).question !== null);
	});
});

describe("agent judge", () => {
	const at = (name: string, file: string) => join(CAPTURES, name, file);

	test("tells what a recorded run was, without a daemon", async () => {
		const home = new TestHome();
		const said = await home.run(["agent", "judge", "claude", "--stdout", at("claude-unirej", "stdout"), "--exit", "1", "--json"]);
		expect([said.code, said.err]).toEqual([0, ""]);
		expect(JSON.parse(said.out)).toMatchObject({
			schema_version: 1,
			outcome: "limited",
			until: "2026-11-15T22:01:32.000Z",
			session_id: "191c7cfb-ad52-4a60-bd8b-af3be61dba6f",
			usage: { tokens: 0 },
			cost_micro: 0,
			message: "You've hit your session limit · resets 10:01pm (UTC)",
		});
		const files = ["--stdout", at("gemini-json-429", "stdout"), "--stderr", at("gemini-json-429", "stderr")];
		const text = await home.run(["agent", "judge", "gemini", ...files, "--exit", "124"]);
		expect(text.out).toMatch(/^outcome {8}throttled$/m);
		expect(text.out).toMatch(/^retry_after {4}35\.82$/m);
		expect(existsSync(home.path)).toBe(false);
	});

	test("refuses what it cannot judge", async () => {
		const home = new TestHome();
		const file = at("claude-ok", "stdout");
		for (const words of [
			["claude", "--exit", "0"],
			["claude", "--stdout", file],
			["claude", "--stdout", "/nowhere", "--exit", "0"],
			["claude", "--stdout", file, "--exit", "256"],
		]) {
			const said = await home.run(["agent", "judge", ...words]);
			expect([words, said.code, said.out]).toEqual([words, 2, ""]);
			expect(said.err).toMatch(/^sluice: [^\n]+\n/);
		}
		const { client } = await stage(new Player("x"));
		await expect(client.call("agent.judge", { name: "claud", stdout: "", exit: 0 })).rejects.toThrow(/there is no agent "claud"/);
		expect(
			await client.call("agent.judge", { name: "codex", stdout: readFileSync(at("codex-ok", "stdout"), "utf8"), exit: 0 }),
		).toMatchObject({
			outcome: "ok",
			usage: { tokens: 1255 },
		});
	});
});
