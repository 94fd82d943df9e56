// Before the first test: the programs are there, or it is said why one is not; its own tests then fail, the others go on.

import { binFolder, cacheFolder, install } from "./install.ts";
import { AGENT_NAMES } from "./programs.ts";

export default async function setup(): Promise<void> {
	for (const name of AGENT_NAMES) {
		try {
			binFolder([await install(name, cacheFolder())], cacheFolder());
		} catch (error) {
			process.stderr.write(`${name} cannot be installed: ${(error as Error).message}\n`);
		}
	}
}
