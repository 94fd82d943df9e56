// What an agent is started with: the flags of its profile, its variables, its prompt.

import { describe, expect, test } from "vitest";
import { argvOf, envOf, play, promptOf, stand } from "../../test/make/agents/played.ts";
import { MINUTE } from "../../test/make/fakes.ts";
import { type Supervised, supervise } from "../../test/make/supervised.ts";
import { opencodePermission } from "../core/agents/adapters/opencode-config.ts";
import { usualCommands } from "../core/agents/permissions/allowing.ts";
import { promptProblem } from "./start/prepare.ts";

/** opencode reports retries only in its log, which these options send to stderr. */
const LOUD_OPENCODE = ["opencode", "run", "--format", "json", "--print-logs", "--log-level", "ERROR"];

/** The opencode agent that a run uses. */
const agentOf = (on: Supervised, run: string) => argvOf(on, run)[argvOf(on, run).indexOf("--agent") + 1];

/** Text that a shell, an option parser or a JSON reader could misread. */
const ODD = "--help \"Fix\" 'the' $HOME `date` \\n é漢😀\n\n\n-x\n  parser \n";

const configOf = (on: Supervised, run: string) => JSON.parse(envOf(on, run).OPENCODE_CONFIG_CONTENT ?? "null");

describe("an agent is started", () => {
	test("with the flags of its profile, its model and its permission mode", async () => {
		const on = await supervise();
		await on.add({ agent: "claude", prompt: "-x do it", model: "opus", permission: "full" });
		await on.add({ agent: "codex", prompt: "do it" });
		await on.add({ agent: "gemini", prompt: "do it", permission: "ask" });
		await on.add({ agent: "opencode", prompt: "do it" });
		expect(argvOf(on, "1.1")).toEqual([
			"claude",
			"-p",
			"--output-format",
			"stream-json",
			"--verbose",
			"--model",
			"opus",
			"--permission-mode",
			"bypassPermissions",
		]);
		expect(argvOf(on, "2.1")).toEqual([
			"codex",
			"exec",
			"--json",
			"--skip-git-repo-check",
			"-c",
			"allow_login_shell=false",
			"-c",
			'sandbox_mode="workspace-write"',
			"-",
		]);
		expect(argvOf(on, "3.1")).toEqual(["gemini", "-o", "stream-json", "--skip-trust", "--approval-mode=default"]);
		expect(argvOf(on, "4.1")).toEqual([...LOUD_OPENCODE, "--title", "Sluice job 4", "--agent", agentOf(on, "4.1")]);
		const rules = configOf(on, "4.1").agent[agentOf(on, "4.1") as string].permission;
		expect(rules).toMatchObject({ edit: { "*": "allow" }, bash: { "*": "deny", "git commit *": "allow" } });
	});

	test("with git and the job's commands allowed at edit; at ask and full with no such options", async () => {
		const on = await supervise();
		await on.add({ agent: "claude", prompt: "x", allow: ["npm test"] });
		await on.add({ agent: "gemini", prompt: "x", allow: ["npm test"] });
		await on.add({ agent: "claude", prompt: "x", allow: ["npm test"], permission: "ask" });
		await on.add({ agent: "gemini", prompt: "x", allow: ["npm test"], permission: "full" });
		const allowed = (run: string) => argvOf(on, run).filter((word) => /^--allowed/.test(word));
		expect(allowed("1.1")).toEqual(
			expect.arrayContaining([
				"--allowedTools=Bash(git commit:*)",
				"--allowedTools=Bash(sluice verdict:*)",
				"--allowedTools=Bash(npm test:*)",
			]),
		);
		expect(allowed("2.1")).toEqual(
			expect.arrayContaining(["--allowed-tools=run_shell_command(git commit)", "--allowed-tools=run_shell_command(npm test)"]),
		);
		expect([...allowed("3.1"), ...allowed("4.1")]).toEqual([]);
	});

	test("with its own retries turned down, unless the job says otherwise", async () => {
		const on = await supervise();
		await on.add({ agent: "claude", prompt: "x" });
		await on.add({ agent: "claude", prompt: "x", env: { CLAUDE_CODE_MAX_RETRIES: "5" } });
		expect([envOf(on, "1.1").CLAUDE_CODE_MAX_RETRIES, envOf(on, "2.1").CLAUDE_CODE_MAX_RETRIES]).toEqual(["2", "5"]);
	});

	test("in the folder of its account, whatever the job's environment says", async () => {
		const accounts = { work: { home: "/homes/work" } };
		const on = await stand({ settings: { accounts } });
		await on.add({ agent: "claude", prompt: "x", env: { CLAUDE_CONFIG_DIR: "/mine" } });
		await on.add({ agent: "codex", prompt: "x" });
		expect([envOf(on, "1.1").CLAUDE_CONFIG_DIR, envOf(on, "2.1").CODEX_HOME]).toEqual(["/homes/work", "/homes/work"]);
		expect(on.file("1.1", "run.json")).toMatchObject({
			agent: "claude",
			agent_run: { output: "claude", home: "/homes/work", account: "work" },
		});
	});

	test("with the login of its account's home, for Gemini CLI, which would find another .env file first", async () => {
		const accounts = { work: { home: "/homes/work", env: { GOOGLE_CLOUD_PROJECT: "env:PROJECT" } } };
		const kept: Record<string, string> = {
			"file:/homes/work/.gemini/.env": "GEMINI_API_KEY=key-w\nGOOGLE_CLOUD_PROJECT=x\n",
			"env:PROJECT": "p",
		};
		const reveal = (text: string) =>
			/^(?:env|file):/.test(text) && kept[text] === undefined ? { problem: "not there" } : { value: kept[text] ?? text };
		const on = await stand({ settings: { accounts, reveal } });
		await on.add({ agent: "gemini", prompt: "x", env: { GEMINI_API_KEY: "mine" } });
		await on.add({ agent: "claude", prompt: "x", env: { GEMINI_API_KEY: "mine" } });
		expect(envOf(on, "1.1")).toMatchObject({
			GEMINI_CLI_HOME: "/homes/work",
			GEMINI_API_KEY: "key-w",
			GOOGLE_CLOUD_PROJECT: "p",
			GOOGLE_API_KEY: "",
		});
		expect(envOf(on, "2.1").GEMINI_API_KEY).toBe("mine");
		// Without an account's home, Gemini CLI finds its own files.
		const plain = await supervise();
		await plain.add({ agent: "gemini", prompt: "x" });
		expect(envOf(plain, "1.1")).not.toHaveProperty("GEMINI_API_KEY");
	});

	test.each([
		["short", "Fix the parser"],
		["of odd characters", ODD],
		["long", `${"y".repeat(200_000)} Fix the parser`],
	])("with its prompt on standard input, and no word of it in arguments, environment or run.json: %s", async (_, prompt) => {
		const on = await supervise();
		for (const agent of ["claude", "codex", "gemini", "opencode"]) await on.add({ agent, prompt });
		for (const run of ["1.1", "2.1", "3.1", "4.1"]) {
			expect(promptOf(on, run)).toBe(prompt);
			// Long enough for no random part of a path to match.
			expect(JSON.stringify([argvOf(on, run), envOf(on, run), on.file(run, "run.json")])).not.toMatch(/y{20}|parser/);
		}
	});

	test("with the command of the configuration, and read in the format that it names", async () => {
		const agents = {
			mine: {
				command: ["/opt/mine", "{prompt}"],
				output: "claude" as const,
				resume: ["/opt/mine", "-r", "{session}", "{prompt}"],
				env: { A: "1" },
			},
		};
		const on = await stand({ settings: { agents } });
		const job = await on.add({ agent: "mine", prompt: "x" });
		expect([argvOf(on, "1.1"), envOf(on, "1.1").A]).toEqual([["/opt/mine", "x"], "1"]);
		await play(on, "1.1", "claude-429-r2");
		await on.pass(MINUTE);
		expect(argvOf(on, "1.2").slice(0, 3)).toEqual(["/opt/mine", "-r", "9b183aab-7da0-494e-85de-28f9bc391d39"]);
		expect((await on.show(job)).session).toBe("9b183aab-7da0-494e-85de-28f9bc391d39");
	});

	test("not at all if it is not installed; the message says how to install it", async () => {
		const on = await supervise();
		const job = await on.add({ agent: "claude", prompt: "x" });
		on.processes.exit("1.1", 127, "claude: not found");
		await on.settle();
		expect(await on.show(job)).toMatchObject({ status: "queued", exit_kind: "launch_failed", dispatch_failures: 1 });
		expect((await on.show(job)).last_failure).toMatch(/^claude: not found; install it: npm install -g @anthropic-ai\/claude-code/);
	});
});

describe("opencode is started", () => {
	test("with an agent of the run's own below full, whose name no file can know beforehand", async () => {
		const on = await supervise();
		for (const permission of ["ask", "edit", "full"] as const) await on.add({ agent: "opencode", prompt: "x", permission });
		const [asking, editing] = ["1.1", "2.1"].map((run) => agentOf(on, run));
		expect(asking).toMatch(/^sluice-.{10,}/);
		expect(editing).not.toBe(asking);
		expect(configOf(on, "1.1").agent[asking as string].permission).toMatchObject(opencodePermission("ask"));
		expect(configOf(on, "2.1").agent[editing as string].permission).toMatchObject(opencodePermission("edit", usualCommands("opencode")));
		expect(argvOf(on, "3.1")).toEqual([...LOUD_OPENCODE, "--title", "Sluice job 3", "--auto"]);
		expect(configOf(on, "3.1")).toBeNull();
	});

	test("with permissions that override the job's configuration; a configuration that cannot be read prevents the start", async () => {
		const on = await supervise();
		const brought = (text: string) => on.add({ agent: "opencode", prompt: "x", env: { OPENCODE_CONFIG_CONTENT: text } });
		await brought('{"theme":"x","default_agent":"build","agent":{"build":{"permission":"allow"}}}');
		expect(configOf(on, "1.1")).toMatchObject({ theme: "x", default_agent: agentOf(on, "1.1") });
		const bad = await brought("{// mine");
		expect(argvOf(on, "2.1")).toEqual([]);
		expect((await on.show(bad)).last_failure).toContain("OPENCODE_CONFIG_CONTENT is not a JSON object");
	});

	test("with the configuration's own options for a permission mode, if it has any", async () => {
		const on = await supervise({ settings: { agents: { opencode: { permissions: { edit: ["--agent", "mine"] } as never } } } });
		await on.add({ agent: "opencode", prompt: "x" });
		await on.add({ agent: "opencode", prompt: "x", permission: "ask" });
		expect([agentOf(on, "1.1"), configOf(on, "1.1")]).toEqual(["mine", null]);
		expect(configOf(on, "2.1")).toMatchObject({ default_agent: agentOf(on, "2.1") });
	});

	test("not at all below full in a version that may ignore permissions", async () => {
		const asked: string[] = [];
		const on = await supervise({
			versionOf: async (program, { env }) => {
				asked.push(program);
				return env.V === "none" ? { there: false } : { there: true, version: env.V ?? null };
			},
		});
		const add = (V: string, permission: "edit" | "full") => on.add({ agent: "opencode", prompt: "x", permission, env: { V } });
		const old = await add("1.18.2", "edit");
		expect((await on.show(old)).last_failure).toBe(
			"opencode 1.18.2 may not obey permission edit: 1.18.3 is the first version that is known to. Update it, or give the job --permission full",
		);
		expect(argvOf(on, "1.1")).toEqual([]);
		expect(asked).toEqual(["opencode"]);
		// The rest start. A missing program is launched too, and the launch reports it.
		await add("1.18.2", "full");
		await add("1.18.33", "edit");
		await add("none", "edit");
		await on.add({ agent: "claude", prompt: "x" });
		for (const run of ["2.1", "3.1", "4.1", "5.1"]) expect(argvOf(on, run)).not.toEqual([]);
		expect(asked.length).toBe(3);
	});
});

test("the four programs get the run's MCP server, and no argument contains its token", async () => {
	const on = await supervise({ settings: { sluice: ["/usr/bin/node", "/opt/sluice.js"], agents: { codex: { mcp: "none" } } } });
	for (const agent of ["claude", "codex", "gemini", "opencode"]) await on.add({ agent, prompt: "x" });
	expect(argvOf(on, "1.1").slice(-2)).toEqual([expect.stringMatching(/^--mcp-config=.*"--for","run"/), "--allowedTools=mcp__sluice"]);
	expect(argvOf(on, "2.1").join(" ")).not.toContain("mcp");
	expect(argvOf(on, "3.1").at(-1)).toBe("--allowed-tools=mcp_sluice_*");
	expect(JSON.parse(envOf(on, "4.1").OPENCODE_CONFIG_CONTENT as string).mcp.sluice.command).toContain("/opt/sluice.js");
	for (const run of ["1.1", "2.1", "3.1", "4.1"]) expect(argvOf(on, run).join(" ")).not.toContain(envOf(on, run).SLUICE_TOKEN);
});

test("a prompt longer than an argument may be is refused if the agent's command takes it as an argument", () => {
	const agents = { mine: { command: ["mine", "{prompt}"] }, piped: { command: ["piped"] } } as unknown as Parameters<
		typeof promptProblem
	>[2]["agents"];
	const long = "x".repeat(128 * 1024);
	expect(promptProblem("mine", long, { agents })).toContain("take {prompt} out of agents.mine.command");
	expect(promptProblem("mine", "short", { agents })).toBeNull();
	expect(promptProblem("piped", long, { agents })).toBeNull();
	expect(promptProblem("claude", long, { agents })).toBeNull();
});
