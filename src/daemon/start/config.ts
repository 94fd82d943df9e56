// Second stage: the settings of config.yml and the layers above it, the store that they name, and what this host's programs are started with.

import { localHost } from "../../host/local.ts";
import { openConfigFile } from "../config/file.ts";
import { givenTo } from "../config/options.ts";
import { hostNameOf, storeOf } from "../fleet/store.ts";
import { writeMissingBases } from "../repos/base.ts";
import { createProgramEnvironment } from "../repos/environment.ts";
import type { HomeStage } from "./home.ts";
import type { Undo } from "./undo.ts";

export type ConfigStage = Awaited<ReturnType<typeof openConfig>>;

export async function openConfig({ options, env, home, log }: HomeStage, undo: Undo) {
	// This host's own settings. In a shared store, the scheduler's settings are the store's: `QueueStage.config`.
	const file = openConfigFile({ path: home.config, env, ...givenTo(options, home), host: localHost, log });
	undo.push(() => file.close());
	log.mask({ secrets: () => file.settings().secrets });
	const store = storeOf(file.settings(), home);
	log.mask({ masked: store.secrets });
	const { allowed, git } = createProgramEnvironment({ config: file, home, env });
	await writeMissingBases({ config: file, git, log });
	return { file, store, hostName: hostNameOf(file.settings(), store), allowed, git };
}
