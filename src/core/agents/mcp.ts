// Sluice's own MCP server for a run: how each program is told of it, under the name `sluice`, and that its tools need no approval, whatever the permission mode.
//
// | program  | is told of it by                     | allows its tools by                         | the run's variables                  |
// |----------|--------------------------------------|---------------------------------------------|--------------------------------------|
// | claude   | `--mcp-config`                       | `--allowedTools`                            | handed on, all of them               |
// | codex    | `-c mcp_servers.sluice…`             | `default_tools_approval_mode`               | handed on where they are named       |
// | gemini   | its settings alone: `gemini mcp add` | `--allowed-tools`                           | handed on, but for the token         |
// | opencode | OPENCODE_CONFIG_CONTENT              | the rules of opencode-config.ts, or `--auto` | handed on, all of them              |
//
// Servers that the user or the project has registered stay: all of these add to them. Nothing secret is among the arguments; the token stays in the environment.

import type { Format } from "./profile.ts";

export const MCP_MODES = ["run", "all", "none"] as const;
/** `run`: the few tools that a run needs. `all`: every tool of `sluice mcp`. */
export type McpMode = (typeof MCP_MODES)[number];

/** What the server needs to know of the run that it is started by. */
export const MCP_VARIABLES = ["SLUICE_HOME", "SLUICE_SOCKET", "SLUICE_TOKEN", "SLUICE_JOB_ID", "SLUICE_RUN_ID", "SLUICE_ATTEMPT"] as const;

export type McpEquipment = {
	/** For the command line. */
	options: string[];
	/** opencode's `mcp`. */
	servers?: Record<string, unknown>;
};

/** `sluice`: argv that starts Sluice's command; null where it is not known, then the run gets no server. */
export function mcpEquipment(format: Format, mode: McpMode, sluice: readonly string[] | null): McpEquipment {
	if (sluice === null || mode === "none") return { options: [] };
	const [command = "", ...args] = [...sluice, "mcp", ...(mode === "run" ? ["--for", "run"] : [])];
	switch (format) {
		case "claude": {
			const config = { mcpServers: { sluice: { type: "stdio", command, args } } };
			return { options: [`--mcp-config=${JSON.stringify(config)}`, "--allowedTools=mcp__sluice"] };
		}
		case "codex": {
			const server = { command, args, env_vars: MCP_VARIABLES, default_tools_approval_mode: "approve" };
			// Strings and lists of strings are the same in TOML as in JSON.
			const words = Object.entries(server).flatMap(([key, value]) => ["-c", `mcp_servers.sluice.${key}=${JSON.stringify(value)}`]);
			return { options: words };
		}
		case "gemini":
			// A policy file would do, too, but it would take the place of the user's own policies.
			return { options: ["--allowed-tools=mcp_sluice_*"] };
		case "opencode":
			return { options: [], servers: { sluice: { type: "local", command: [command, ...args], enabled: true } } };
		case "command":
			return { options: [] };
	}
}
