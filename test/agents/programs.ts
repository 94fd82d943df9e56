// The agent programs that are tried for real: which package, which version, and where in it the program lies.
//
// Nothing here runs an install script: where a program is a native binary, the package of this platform holds it, and that package alone is installed.

import { ADAPTERS } from "../../src/core/agents/index.ts";
import { AGENT_NAMES, type AgentName, type Known } from "../../src/core/agents/profile.ts";

export type AgentProgram = {
	name: AgentName;
	version: string;
	/** What is asked of the registry, `name@version`. */
	packages: string[];
	/** The program, from `node_modules`. */
	path: string;
};

/** The versions that are tried: those that the adapters say they were tested with, the newest first. */
export const versionsOf = (name: AgentName): [newest: string, older: string] => {
	const { tested, tested_older } = ADAPTERS[name].known as Known;
	return [tested, tested_older];
};

export const newestOf = (name: AgentName): string => versionsOf(name)[0];

/** Each program in each version, as the suites are named: `claude 2.1.212`. */
export const TRIED: readonly { agent: AgentName; version: string; title: string }[] = AGENT_NAMES.flatMap((agent) =>
	versionsOf(agent).map((version) => ({ agent, version, title: `${agent} ${version}` })),
);

/** What to install where; `platform` and `arch` are Node's words, which are also the packages'. */
export function agentProgram(name: AgentName, version: string, { platform, arch }: { platform: string; arch: string }): AgentProgram {
	const here = `${platform}-${arch}`;
	switch (name) {
		case "claude": {
			const packaged = `@anthropic-ai/claude-code-${here}`;
			return { name, version, packages: [`${packaged}@${version}`], path: `${packaged}/claude` };
		}
		case "codex":
			// The wrapper in Node is what people have on their path, and it starts the binary as its child: both are tried.
			return {
				name,
				version,
				packages: [`@openai/codex@${version}`, `@openai/codex-${here}@npm:@openai/codex@${version}-${here}`],
				path: "@openai/codex/bin/codex.js",
			};
		case "gemini":
			return { name, version, packages: [`@google/gemini-cli@${version}`], path: "@google/gemini-cli/bundle/gemini.js" };
		case "opencode":
			return { name, version, packages: [`opencode-${here}@${version}`], path: `opencode-${here}/bin/opencode` };
	}
}
