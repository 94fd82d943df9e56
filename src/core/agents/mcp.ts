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

import { ADAPTERS } from "./index.ts";
import type { Format } from "./profile.ts";

export const MCP_MODES = ["run", "all", "none"] as const;
/** `run`: the few tools that a run needs. `all`: every tool of `sluice mcp`. */
export type McpMode = (typeof MCP_MODES)[number];

/** How the server is started. */
export type McpServer = { command: string; args: string[] };

export type McpEquipment = {
	/** For the command line. */
	options: string[];
	/** Servers by name, for a program that takes them in its environment. */
	servers?: Record<string, unknown>;
};

/** `sluice`: argv that starts Sluice's command; null if unknown, then the run gets no server. */
export function mcpEquipment(format: Format, mode: McpMode, sluice: readonly string[] | null): McpEquipment {
	if (sluice === null || mode === "none") return { options: [] };
	const [command = "", ...args] = [...sluice, "mcp", ...(mode === "run" ? ["--for", "run"] : [])];
	return ADAPTERS[format].mcp({ command, args });
}
