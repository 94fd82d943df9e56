// What an agent is started with: the flags of its profile, its variables, its prompt.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MINUTE } from "../../test/make/fakes.ts";
import { argvOf, envOf, play, promptOf, stand } from "../../test/make/played.ts";
import { supervise } from "../../test/make/supervised.ts";
import { promptProblem } from "./prepare.ts";

/** Its log on stderr is where it tells of retries. */
const LOUD_OPENCODE = ["opencode", "run", "--format", "json", "--print-logs", "--log-level", "ERROR"];

/** What a shell, an option parser or a JSON reader could take for something else. */
const ODD = "--help \"Fix\" 'the' $HOME `date` \\n é漢😀\n\n\n-x\n  parser \n";

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
		expect(argvOf(on, "2.1")).toEqual(["codex", "exec", "--json", "--skip-git-repo-check", "-c", 'sandbox_mode="workspace-write"', "-"]);
		expect(argvOf(on, "3.1")).toEqual(["gemini", "-o", "stream-json", "--skip-trust", "--approval-mode=default"]);
		expect(argvOf(on, "4.1")).toEqual([...LOUD_OPENCODE, "--title", "Sluice job 4"]);
		expect(envOf(on, "4.1").OPENCODE_PERMISSION).toBe('{"edit":"allow"}');
	});

	test("with its own retries turned down, unless the job says otherwise", async () => {
		const on = await supervise();
		await on.add({ agent: "claude", prompt: "x" });
		await on.add({ agent: "claude", prompt: "x", env: { CLAUDE_CODE_MAX_RETRIES: "5" } });
		await on.add({ agent: "gemini", prompt: "x" });
		expect([envOf(on, "1.1").CLAUDE_CODE_MAX_RETRIES, envOf(on, "2.1").CLAUDE_CODE_MAX_RETRIES]).toEqual(["2", "5"]);
		const defaults = envOf(on, "3.1").GEMINI_CLI_SYSTEM_DEFAULTS_PATH as string;
		expect(JSON.parse(readFileSync(defaults, "utf8"))).toEqual({ general: { maxAttempts: 2 } });
	});

	test("in the folder of its account, whatever the job brought", async () => {
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

	test.each([
		["short", "Fix the parser"],
		["of odd characters", ODD],
		["long", `${"y".repeat(200_000)} Fix the parser`],
	])("with its prompt on standard input, and no word of it in arguments, environment or run.json: %s", async (_, prompt) => {
		const on = await supervise();
		for (const agent of ["claude", "codex", "gemini", "opencode"]) await on.add({ agent, prompt });
		for (const run of ["1.1", "2.1", "3.1", "4.1"]) {
			expect(promptOf(on, run)).toBe(prompt);
			expect(JSON.stringify([argvOf(on, run), envOf(on, run), on.file(run, "run.json")])).not.toMatch(/yy|Fix|parser/);
		}
	});

	test("from the configuration, read as it says", async () => {
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

	test("not at all when it is not installed, and says how to get it", async () => {
		const on = await supervise();
		const job = await on.add({ agent: "claude", prompt: "x" });
		on.processes.exit("1.1", 127, "claude: not found");
		await on.settle();
		expect(await on.show(job)).toMatchObject({ status: "queued", exit_kind: "launch_failed", dispatch_failures: 1 });
		expect((await on.show(job)).last_failure).toMatch(/^claude: not found; install it: npm install -g @anthropic-ai\/claude-code/);
	});
});

test("a prompt that is longer than an argument may be is refused where the agent's own command takes it as one", () => {
	const agents = { mine: { command: ["mine", "{prompt}"] }, piped: { command: ["piped"] } } as unknown as Parameters<
		typeof promptProblem
	>[2]["agents"];
	const long = "x".repeat(128 * 1024);
	expect(promptProblem("mine", long, { agents })).toContain("take {prompt} out of agents.mine.command");
	expect(promptProblem("mine", "short", { agents })).toBeNull();
	expect(promptProblem("piped", long, { agents })).toBeNull();
	expect(promptProblem("claude", long, { agents })).toBeNull();
});
