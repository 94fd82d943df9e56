// Whether a job's program exists, as far as this machine can know when the job is added. Only ever a warning: the program may be made or installed before the
// job starts, or exist on the host that gets the job.

import { statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Startable } from "../api/context.ts";
import { type CustomProfile, knownOf, profileOf } from "../core/agents/index.ts";
import { canAllow } from "../core/agents/permissions/denied.ts";
import { orElse } from "../core/errors.ts";
import { shellCommandFor } from "../core/input/shell-line.ts";
import { type Env, find, isProgram } from "../host/program-path.ts";
import { agentProblem } from "../supervisor/start/prepare.ts";

/** Why this job could not start here now; null when it could, or when this machine cannot know. */
export function startProblem(job: Startable, agents: Record<string, CustomProfile>, env: Env): string | null {
	if (job.agent === undefined) {
		const [program] = job.command ?? [];
		const missing = program === undefined ? null : missingProgram(program, job, env);
		const shell = shellCommandFor(job.command ?? []);
		return missing === null || shell === null ? missing : `${missing}; for a shell line: ${shell}`;
	}
	const unknown = agentProblem(job.agent, { agents });
	if (unknown !== null) return unknown;
	const profile = profileOf(job.agent, agents);
	const [program = ""] = profile?.command ?? [];
	const missing = missingProgram(program, job, { ...env, ...profile?.env });
	const install = profile ? knownOf(profile)?.install : undefined;
	if (missing === null && profile !== null && (job.allow ?? []).length > 0 && !canAllow(profile))
		return `agent ${job.agent} cannot be allowed single commands: "allow" does nothing`;
	if (missing === null && job.permission === "ask" && (job.allow ?? []).length > 0)
		return 'at permission ask only what a person grants is allowed: "allow" does nothing';
	return missing === null ? null : `agent ${job.agent}: ${missing}${install === undefined ? "" : `; install it: ${install}`}`;
}

/** Uses the same words as the error of a failed launch. */
function missingProgram(program: string, job: Startable, env: Env): string | null {
	// The name is a template, filled in later by a manifest's for_each or a recipe.
	if (program === "" || program.includes("${") || program.includes("{{")) return null;
	if (program.includes("/")) {
		const folder = job.repo === undefined ? job.cwd : undefined;
		const path = isAbsolute(program) ? program : folder !== undefined && isAbsolute(folder) ? join(folder, program) : null;
		return path === null || isProgram(path) ? null : `${wordsFor(path)}: ${program}`;
	}
	const search = job.env?.PATH ?? env.PATH ?? "";
	const folders = search.split(delimiter).filter((one) => one !== "");
	// A PATH with relative folders cannot be searched, since they depend on the folder of the run.
	if (folders.length === 0 || !folders.every(isAbsolute) || find(program, { PATH: search }) !== null) return null;
	return `no such program in PATH: ${program}`;
}

const wordsFor = (path: string): string =>
	orElse(() => (statSync(path).isDirectory() ? "a folder, not a program" : "not executable"), "no such program");
