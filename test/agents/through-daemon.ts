// What has to be seen of an agent program behind a daemon: the suites, run for both versions of each of them by <name>.real.ts.

import { describe } from "vitest";
import type { AgentName } from "../../src/core/agents/profile.ts";
import { versionsOf } from "./programs.ts";
import { faults } from "./suites/faults.ts";
import { limits } from "./suites/limits.ts";
import { questions } from "./suites/questions.ts";
import { stops } from "./suites/stops.ts";
import { surroundings } from "./suites/surroundings.ts";
import { telling } from "./suites/telling.ts";
import { turns } from "./suites/turns.ts";

export function throughDaemon(agent: AgentName): void {
	for (const version of versionsOf(agent))
		describe(`${agent} ${version}, behind a daemon`, () => {
			for (const suite of [turns, limits, faults, stops, telling, questions, surroundings]) suite({ agent, version });
		});
}
