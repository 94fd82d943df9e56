// Sluice's own MCP server for a run: how each program gets it, under the name `sluice`, with tools that need no approval in any permission mode.
//
// | program  | gets the server by                   | allows its tools by                         | the run's variables                  |
// |----------|--------------------------------------|---------------------------------------------|--------------------------------------|
// | claude   | `--mcp-config`                       | `--allowedTools`                            | all are passed on                    |
// | codex    | `-c mcp_servers.sluice…`             | `default_tools_approval_mode`               | passed on if they are named          |
// | gemini   | its settings alone: `gemini mcp add` | `--allowed-tools`                           | passed on, except the token          |
// | opencode | OPENCODE_CONFIG_CONTENT              | the rules of opencode-config.ts, or `--auto` | all are passed on                   |
//
// Servers that the user or the project has registered remain: all of these add to them. No argument is secret; the token stays in the environment.

import type { Format } from "./profile.ts";

export const MCP_MODES = ["run", "all", "none"] as const;
/** `run`: the few tools that a run needs. `all`: every tool of `sluice mcp`. */
export type McpMode = (typeof MCP_MODES)[number];

/** What the server has to know of its run. */
const MCP_VARIABLES = ["SLUICE_HOME", "SLUICE_SOCKET", "SLUICE_TOKEN", "SLUICE_JOB_ID", "SLUICE_RUN_ID", "SLUICE_ATTEMPT"] as const;

export type McpEquipment = {
	/** For the command line. */
	options: string[];
	/** opencode's `mcp`. */
	servers?: Record<string, unknown>;
};

/** `sluice`: argv that starts Sluice's command; null if unknown, then the run gets no server. */
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
			// Strings and lists of strings are written the same in TOML and JSON.
			const words = Object.entries(server).flatMap(([key, value]) => ["-c", `mcp_servers.sluice.${key}=${JSON.stringify(value)}`]);
			return { options: words };
		}
		case "gemini":
			// A policy file would work, too, but it would replace the user's own policies.
			return { options: ["--allowed-tools=mcp_sluice_*"] };
		case "opencode":
			return { options: [], servers: { sluice: { type: "local", command: [command, ...args], enabled: true } } };
		case "command":
			return { options: [] };
	}
}
