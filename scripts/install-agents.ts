// Installs the agent programs that `npm run test:agents` tries: `node dist/scripts/install-agents.js [name…]`. Prints where each lies.

import { AGENT_NAMES, type AgentName } from "../src/core/agents/profile.ts";
import { cacheFolder, install } from "../test/agents/install.ts";
import { versionsOf } from "../test/agents/programs.ts";

async function main(names: string[]): Promise<number> {
	const wanted = names.length > 0 ? names : AGENT_NAMES;
	const unknown = wanted.find((name) => !(AGENT_NAMES as readonly string[]).includes(name));
	if (unknown !== undefined) {
		process.stderr.write(`there is no agent ${unknown}: ${AGENT_NAMES.join(", ")}\n`);
		return 2;
	}
	let code = 0;
	for (const name of wanted as AgentName[]) {
		for (const version of versionsOf(name)) {
			try {
				const { path } = await install(name, version, cacheFolder());
				process.stdout.write(`${name} ${version} ${path}\n`);
			} catch (error) {
				process.stderr.write(`${name} ${version}: ${(error as Error).message}\n`);
				code = 1;
			}
		}
	}
	return code;
}

process.exitCode = await main(process.argv.slice(2));
