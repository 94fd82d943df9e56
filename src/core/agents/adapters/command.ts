// Any other program: its output is plain text, its exit code decides.

import type { Profile } from "../profile.ts";
import type { Interpret } from "../stream/happening.ts";

export const COMMAND: Profile = {
	output: "command",
	command: [],
	resume: [],
	open: [],
	model: [],
	permissions: { ask: [], edit: [], full: [] },
	allow: [],
	allow_tool: [],
	permission_env: {},
	mcp: "none",
	stop_signal: "SIGINT",
	env: {},
	home_variable: null,
};

export const interpretCommand: Interpret = () => [];
