// Descriptions of the `agent` commands.

import { AGENT_NAMES } from "../../core/agents/profile.ts";
import { commandsOf, number, text } from "../command.ts";

const NAME = { name: "NAME", help: `The agent: ${AGENT_NAMES.join(", ")}, command, or one of the configuration.`, take: "one" } as const;

export const AGENT = commandsOf("agent", () => import("../commands/agent.ts"), {
	list: {
		help: "Agents: installed where, which version, and whether their runs will be logged in.",
		examples: [["sluice agent list", "what can be given to --agent"]],
	},
	show: {
		help: "One agent: how it is started, resumed, stopped and read.",
		args: [NAME],
		examples: [["sluice agent show claude", "its profile in force"]],
	},
	judge: {
		help: "What is made of recorded output: for writing and debugging profiles.",
		more: [
			"By the rules of the configuration (agents.NAME.outcomes, usage, session) and the agent's output.",
			"Built-in agents are judged without a daemon, and files may be of any size.",
		],
		args: [NAME],
		options: [
			text("stdout", "FILE", "What it wrote; - for standard input."),
			text("stderr", "FILE", "What it wrote to stderr."),
			number("exit", "N", "Its exit code; 128 + n for a signal."),
			text("format", "NAME", `Read it as ${AGENT_NAMES.join(", ")} or command prints.`),
		],
		examples: [["sluice agent judge claude --stdout out.jsonl --exit 1", "limited, until when?"]],
	},
});
