// Agents as jobs added from this shell find them: a job takes along the PATH of the shell that adds it, and the daemon may have another one.

import type { AgentDocument } from "../../api/context.ts";
import { numberOf } from "../../core/agents/version.ts";
import { type Env, find } from "../../host/program-path.ts";

/** `note`: why it differs from what the daemon reports. */
export type CallersAgent = AgentDocument & { note?: string };

export function asCaller(agent: AgentDocument, env: Env): CallersAgent {
	const { program, path } = agent;
	if (path !== null || program === null || program.includes("/")) return agent;
	const found = find(program, env);
	if (found === null) return agent;
	const note = `${program} is in your PATH, not in the daemon's: jobs that you add from this shell find it, those of cron and watches do not`;
	return { ...agent, path: found, problem: null, hint: null, note };
}

/** "claude 2.1.400 is newer than 2.1.326, which Sluice was tested with": a note, not an error. Null if it is not newer. */
export const newerWords = ({ name, version, tested, newer }: AgentDocument): string | null =>
	newer && version !== null ? `${name} ${numberOf(version)} is newer than ${tested}, which Sluice was tested with` : null;
