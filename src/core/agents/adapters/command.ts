// Any other program: its output is plain text, its exit code decides.

import type { Adapter } from "../adapter.ts";

export const COMMAND: Adapter = {
	profile: {
		output: "command",
		command: [],
		resume: [],
		open: [],
		model: [],
		permissions: { ask: [], edit: [], full: [] },
		allow: [],
		allow_tool: [],
		ruled: [],
		mcp: "none",
		stop_signal: "SIGINT",
		env: {},
		home_variable: null,
	},
	known: null,
	interpret: () => [],
	knows: () => true,
	tools: { shell: [], file: [], web: [] },
	mcp: () => ({ options: [] }),
};
