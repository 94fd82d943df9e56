// sluice agent: what it sends, prints and refuses.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { capture } from "../../../test/make/agents/capture.ts";
import { openCommandLine, Refusal } from "../../../test/make/daemons/command-line.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { CLAUDE } from "../../core/agents/adapters/claude.ts";

const AGENT = {
	name: "claude",
	built_in: true,
	output: "claude",
	program: "claude",
	path: "/bin/claude",
	version: "2.1.325",
	tested: "2.1.325",
	newer: false,
	resumes: true,
	logged_in: false,
	accounts: [],
	problem: null,
	hint: null,
};

describe("agent", () => {
	test("list", async () => {
		const line = await openCommandLine({
			"agent.list": {
				agents: [
					AGENT,
					{ ...AGENT, name: "codex", version: null, logged_in: null, path: null, program: "codex", problem: "codex is not in PATH" },
				],
			},
		});
		const { out } = await line.run("agent list");
		expect(out).toBe(
			"AGENT   VERSION  LOGIN      RESUMES  PROGRAM\nclaude  2.1.325  not found  yes      /bin/claude\ncodex                       yes      codex is not in PATH\n",
		);
	});

	test("list and show: a newer version than the tested one, and a program that is only in the caller's PATH", async () => {
		const bin = makeFolder();
		writeFileSync(join(bin, "qwen"), "#!/bin/sh\n", { mode: 0o755 });
		const newer = { ...AGENT, version: "2.1.400 (Claude Code)", newer: true };
		const qwen = {
			...AGENT,
			name: "qwen",
			program: "qwen",
			path: null,
			version: null,
			tested: null,
			logged_in: null,
			problem: "qwen is not in PATH",
		};
		const line = await openCommandLine({
			"agent.list": { agents: [newer, qwen] },
			"agent.show": { agent: { ...qwen, profile: CLAUDE.profile } },
		});
		const { out, err } = await line.run("agent list", { env: { PATH: bin } });
		expect(out).toMatch(new RegExp(`qwen .*${bin}/qwen\n`));
		expect(err).toBe(
			"claude 2.1.400 is newer than 2.1.325, which Sluice was tested with\nqwen is in your PATH, not in the daemon's: jobs that you add from this shell find it, those of cron and watches do not\n",
		);
		const shown = await line.run("agent show qwen", { env: { PATH: bin } });
		expect(shown.out).toMatch(new RegExp(`program +${bin}/qwen\n`));
		expect(shown.out).not.toMatch(/tested with|problem/);
	});

	test("judge by configured rules, and by another format", async () => {
		const profile = {
			output: "command",
			command: ["aider"],
			outcomes: [{ exit: [75], is: "throttled", retry_after: "in (\\d+)s" }],
			usage: { tokens: "(\\d+) used" },
		};
		const line = await openCommandLine({ "agent.show": { agent: { ...AGENT, profile } } });
		writeFileSync(join(line.home, "out"), "7 used\ntry again in 30s\n");
		expect(JSON.parse((await line.run("agent judge aider --stdout out --exit 75 --json")).out)).toMatchObject({
			outcome: "throttled",
			exit_kind: "rate_limited",
			by: "agents.aider.outcomes[0]",
			retry_after: 30,
			usage: { tokens: 7 },
		});
		writeFileSync(join(line.home, "out"), '{"event":{"type":"result"}}\n');
		const { out } = await line.run("agent judge aider --stdout out --exit 0 --format claude");
		expect(out).toMatch(/outcome +needs_human\n[\s\S]*not_understood 1\n/);
		expect((await line.run("agent judge aider --stdout out --exit 0 --format prose")).err).toMatch(/--format: there is no "prose"/);
	});

	test("judge reads files of a custom agent the way the daemon says", async () => {
		const line = await openCommandLine({ "agent.show": { agent: { ...AGENT, profile: { output: "codex", command: ["mine"] } } } });
		writeFileSync(join(line.home, "out"), capture("codex-usagelimit").stdout);
		const { code, out } = await line.run("agent judge mine --stdout out --exit 1 --json");
		expect([code, JSON.parse(out)]).toMatchObject([0, { outcome: "limited", session_id: "01a1e099-6041-7513-9d4c-3a45c29d04d0" }]);
		expect(line.asked).toEqual([{ method: "agent.show", params: { name: "mine" } }]);
	});

	test("judge reports an unknown agent before missing options", async () => {
		const refuse = () => {
			throw new Refusal("there is no agent nope", { code: "not_found" });
		};
		const line = await openCommandLine({ "agent.show": refuse });
		const { code, err } = await line.run("agent judge nope --exit 1");
		expect(code).toBe(3);
		expect(err).toMatch(/there is no agent nope/);
		expect(err).not.toMatch(/--stdout/);
	});

	test("judge reads standard input", async () => {
		const line = await openCommandLine(undefined);
		const stdin = (async function* () {
			yield capture("claude-ok").stdout;
		})();
		const { out } = await line.run("agent judge claude --stdout - --exit 0", { stdin: stdin as never });
		expect(out).toBe(
			"outcome        ok\nexit_kind      completed\nsession_id     f72b124d-8e7a-4e2d-9d41-19f139e61c30\ncost_micro     7925\nmessage        hello from fake\nversion        2.1.197\ntokens         4207\n",
		);
	});

	test.each([
		["agent judge claude --exit 0", /--stdout is missing/],
		["agent judge claude --stdout x", /--exit is missing/],
		["agent judge claude --stdout /nowhere/x --exit 0", /--stdout: ENOENT/],
		["agent judge claude --stdout / --exit 0", /--stdout: EISDIR/],
		["agent judge claude --stdout /dev/null --stderr /nowhere/x --exit 0", /--stderr: ENOENT/],
		["agent judge claude --stdout /dev/null --exit 300", /--exit goes from 0 to 255/],
		["agent judge claude --stdout /dev/null --exit one", /--exit/],
		["agent judge --stdout /dev/null --exit 0", /NAME/],
	])("refuses: %s", async (words, why) => {
		const line = await openCommandLine(undefined);
		const { code, out, err } = await line.run(words);
		expect([code, out]).toEqual([2, ""]);
		expect(err).toMatch(why);
	});
});
