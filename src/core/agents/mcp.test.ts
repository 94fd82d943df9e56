// How each program gets Sluice's own MCP server. test/agents/mcp.real.ts shows that the real programs accept it.

import { describe, expect, test } from "vitest";
import { profileOf } from "./index.ts";
import { mcpEquipment } from "./mcp.ts";

const SLUICE = ["/usr/bin/node", "/opt/my sluice/bin/sluice.js"];

describe("a run's own server", () => {
	test("claude: configuration and permission as options", () => {
		const [config = "", allowed] = mcpEquipment("claude", "run", SLUICE).options;
		expect(JSON.parse(config.replace("--mcp-config=", ""))).toEqual({
			mcpServers: { sluice: { type: "stdio", command: "/usr/bin/node", args: ["/opt/my sluice/bin/sluice.js", "mcp", "--for", "run"] } },
		});
		expect(allowed).toBe("--allowedTools=mcp__sluice");
	});

	test("codex: the same as values of TOML, with the names of the variables and no value of them", () => {
		expect(mcpEquipment("codex", "all", SLUICE).options.filter((word) => word !== "-c")).toEqual([
			'mcp_servers.sluice.command="/usr/bin/node"',
			'mcp_servers.sluice.args=["/opt/my sluice/bin/sluice.js","mcp"]',
			'mcp_servers.sluice.env_vars=["SLUICE_HOME","SLUICE_SOCKET","SLUICE_TOKEN","SLUICE_JOB_ID","SLUICE_RUN_ID","SLUICE_ATTEMPT"]',
			'mcp_servers.sluice.default_tools_approval_mode="approve"',
		]);
	});

	test("gemini: permission alone; opencode: its configuration", () => {
		expect(mcpEquipment("gemini", "run", SLUICE)).toEqual({ options: ["--allowed-tools=mcp_sluice_*"] });
		expect(mcpEquipment("opencode", "all", SLUICE).servers).toEqual({
			sluice: { type: "local", command: [...SLUICE, "mcp"], enabled: true },
		});
	});

	test("none if it is not wanted, or if the command is unknown", () => {
		expect(mcpEquipment("claude", "none", SLUICE)).toEqual({ options: [] });
		expect(mcpEquipment("claude", "run", null)).toEqual({ options: [] });
		expect(mcpEquipment("command", "all", SLUICE)).toEqual({ options: [] });
	});

	test("is for the four programs; an agent with its own command has to ask for it", () => {
		expect(["claude", "codex", "gemini", "opencode", "command"].map((name) => profileOf(name, {})?.mcp)).toEqual([
			...Array(4).fill("run"),
			"none",
		]);
		const mine = { command: ["mine", "{options}"], output: "claude" as const };
		expect([profileOf("a", { a: mine })?.mcp, profileOf("a", { a: { ...mine, mcp: "all" } })?.mcp]).toEqual(["none", "all"]);
		expect(profileOf("claude", { claude: { mcp: "none" } })?.mcp).toBe("none");
	});
});
