// The methods of agents, as a caller sees them.

import { describe, expect, test } from "vitest";
import { capture } from "../../../test/make/agents/capture.ts";
import { openDesk } from "../../../test/make/daemons/served.ts";
import { localHost } from "../../host/local.ts";

describe("agents", () => {
	test("are listed: built-in and configured ones", async () => {
		const desk = await openDesk();
		desk.pretended.agents = { mine: { command: ["/bin/sh", "-c", "{prompt}"] } };
		const { agents } = await desk.call("agent.list", {});
		expect(agents.map((one) => [one.name, one.built_in, one.output, one.resumes])).toEqual([
			["claude", true, "claude", true],
			["codex", true, "codex", true],
			["gemini", true, "gemini", true],
			["opencode", true, "opencode", true],
			["command", true, "command", false],
			["mine", false, "command", false],
		]);
		expect(agents.at(-1)).toMatchObject({ path: "/bin/sh", problem: null });
		expect(agents[0]).toMatchObject({ path: null, problem: "claude is not in PATH", hint: expect.stringMatching(/^npm install/) });
	});

	test("are shown with their profile; an unknown name is refused with the nearest one", async () => {
		const desk = await openDesk();
		desk.pretended.agents = {};
		const { agent } = await desk.call("agent.show", { name: "codex" });
		expect(agent.profile).toMatchObject({ output: "codex", home_variable: "CODEX_HOME", stop_signal: "SIGINT" });
		expect(await desk.refused("agent.show", { name: "coddex" })).toMatchObject({
			code: -32004,
			data: { code: "not_found", hint: 'did you mean "codex"?' },
		});
	});

	test("judge: known values only", async () => {
		const desk = await openDesk();
		desk.pretended.agents = { odd: { command: ["x"], output: "opencode" } as never };
		const { stdout, code } = capture("opencode-429");
		expect(await desk.call("agent.judge", { name: "odd", stdout: stdout.toString(), exit: code })).toEqual({
			schema_version: 1,
			outcome: "throttled",
			exit_kind: "rate_limited",
			retry_after: 2,
			session_id: "ses_e1f5ccab9ffekMyNqI3Ub7vTrB",
			usage: { tokens: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0 },
			message: "Rate limit reached",
		});
		expect(await desk.refused("agent.judge", { name: "odd", stdout: "", exit: 256 })).toMatchObject({ code: -32602 });
		expect(await desk.refused("agent.judge", { name: "odd", exit: 0 })).toMatchObject({ code: -32602, data: { field: "stdout" } });
	});

	test("long recorded output is judged in pieces, and other callers have their turn between them", async () => {
		const desk = await openDesk();
		let [turns, over] = [0, false];
		const counting = (async () => {
			while (!over) {
				await localHost.turn();
				turns++;
			}
		})();
		await desk.call("agent.judge", { name: "claude", stdout: "{}\n".repeat(300_000), exit: 0 });
		over = true;
		await counting;
		expect(turns).toBeGreaterThan(50);
	});
});
