// sluice agent: what it asks, prints and refuses.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { capture } from "../../../test/make/capture.ts";
import { openCommandLine } from "../../../test/make/command-line.ts";

const AGENT = {
	name: "claude",
	built_in: true,
	output: "claude",
	program: "claude",
	path: "/bin/claude",
	version: "2.1.325",
	tested: "2.1.325",
	resumes: true,
	logged_in: false,
	accounts: [],
	problem: null,
	hint: null,
};

describe("agent", () => {
	test("list", async () => {
		const line = await openCommandLine({
			"agent.list": { agents: [AGENT, { ...AGENT, name: "codex", version: null, logged_in: null, problem: "codex is not there" }] },
		});
		const { out } = await line.run("agent list");
		expect(out).toBe(
			"AGENT   VERSION  LOGIN      RESUMES  PROGRAM\nclaude  2.1.325  not found  yes      /bin/claude\ncodex                       yes      codex is not there\n",
		);
	});

	test("judge reads files of a custom agent the way the daemon says", async () => {
		const line = await openCommandLine({ "agent.show": { agent: { ...AGENT, profile: { output: "codex" } } } });
		writeFileSync(join(line.home, "out"), capture("codex-usagelimit").stdout);
		const { code, out } = await line.run("agent judge mine --stdout out --exit 1 --json");
		expect([code, JSON.parse(out)]).toMatchObject([0, { outcome: "limited", session_id: "01a1e099-6041-7513-9d4c-3a45c29d04d0" }]);
		expect(line.asked).toEqual([{ method: "agent.show", params: { name: "mine" } }]);
	});

	test("judge takes what is piped in", async () => {
		const line = await openCommandLine(undefined);
		const stdin = (async function* () {
			yield capture("claude-ok").stdout;
		})();
		const { out } = await line.run("agent judge claude --stdout - --exit 0", { stdin: stdin as never });
		expect(out).toBe(
			"outcome      ok\nexit_kind    completed\nsession_id   f72b124d-8e7a-4e2d-9d41-19f139e61c30\ncost_micro   7925\nmessage      hello from fake\ntokens       4207\n",
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
