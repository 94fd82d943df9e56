// Before the first test: the programs are there, or it is said why one is not; its own tests then fail, the others go on.

import { AGENT_NAMES } from "../../src/core/agents/profile.ts";
import { binFolder, cacheFolder, install } from "./install.ts";
import { versionsOf } from "./programs.ts";

export default async function setup(): Promise<void> {
	for (const name of AGENT_NAMES) {
		for (const version of versionsOf(name)) {
			try {
				binFolder([await install(name, version, cacheFolder())], cacheFolder());
			} catch (error) {
				process.stderr.write(`${name} ${version} cannot be installed: ${(error as Error).message}\n`);
			}
		}
	}
}
