// Computes what a run is started with: argv, folder, environment, and the files that are written to its run folder first. Pure, except that it reads
// secrets where they are kept.

import type { Claimed, ResultView } from "../../contracts/scheduler.ts";
import type { EnteredWorkspace } from "../../contracts/workspace.ts";
import { type Before, continues, promptForResumed } from "../../core/agents/continuing.ts";
import { isFormat, knownOf, profileOf } from "../../core/agents/index.ts";
import { mcpEquipment } from "../../core/agents/mcp.ts";
import { allowedOf, type Permit, permissionOptions, permitOf } from "../../core/agents/permissions/allowing.ts";
import { AGENT_NAMES, commandLine, isTooLong, type Profile } from "../../core/agents/profile.ts";
import { permissionProblem } from "../../core/agents/version.ts";
import { nearest } from "../../core/input/nearest.ts";
import { payloadText } from "../../core/input/payload.ts";
import { fillPlaces } from "../../core/recipes/after-result.ts";
import { promptFor } from "../../core/recipes/prompt-context.ts";
import { pendingOf, wordsForFresh } from "../../core/runs/told.ts";
import { agentOf, homeOf, type RunAgentRecord } from "../agent.ts";
import type { SupervisorSettings } from "../settings.ts";
import { environmentOf } from "./environment.ts";
import type { Prior } from "./prior.ts";

export type PreparedStart = {
	argv: string[];
	cwd: string;
	env: Record<string, string>;
	stdin: "prompt.md" | null;
	files: [name: string, text: string][];
	agent: RunAgentRecord | null;
	/** The jobs whose results are in the prompt; `bytes` is null for a job without a result. */
	results: { job: number; name: string | null; bytes: number | null }[];
	/** Numbers of the told texts that are in the prompt and that no run has got before. */
	told: number[];
	/** Returns why this version of the program must not be started, or null. Absent if every version may. */
	versionProblem?: (version: string | null) => string | null;
};

export type StartInput = {
	run: string;
	dir: string;
	socket: string;
	home: string | null;
	token: string;
	/** Random letters that no file of a project can contain beforehand. */
	tag: string;
};
/** The context of earlier attempts, the workspace, and the results for the prompt. */
export type StartConditions = {
	prior?: Prior | null;
	before?: Before | null;
	place?: EnteredWorkspace | null;
	results?: readonly ResultView[];
};

/** Returns `refused` with the reason if nothing can be started. */
export function prepare(
	claimed: Claimed,
	settings: SupervisorSettings,
	given: StartInput,
	{ prior = null, before = null, place = null, results = [] }: StartConditions = {},
): PreparedStart | { refused: string } {
	const { job, spec } = claimed;
	const files: PreparedStart["files"] = prior === null ? [] : [["prior.json", prior.text]];
	const feedback = place?.feedback ?? null;
	if (feedback !== null) files.push(["told.md", feedback]);
	if (spec.payload !== undefined) files.push(["payload.json", payloadText(spec)]);
	if (spec.input_patch !== undefined) files.push(["input.patch", spec.input_patch]);
	const agent = agentOf(claimed, settings);
	const refused = agent === null ? null : agentProblem(agent.name, settings);
	if (refused !== null) return { refused };
	const profile = agent === null ? null : profileOf(agent.name, settings.agents);
	const permit = permitOf(spec, job.granted, [...allowedOf(place?.verify ?? []), ...(place?.allow ?? [])], profile?.output ?? "command");
	const { permission } = permit;
	const mcp = profile === null ? { options: [] } : mcpEquipment(profile.output, profile.mcp, settings.sluice);
	const ownAgent = `sluice-${given.tag}`;
	const work =
		profile === null
			? { argv: spec.command ?? [], stdin: null, prompt: withFeedback(filled(spec.prompt, results), feedback) }
			: ofAgent(
					profile,
					claimed,
					permit,
					{ prior, before, place, results },
					{ agent: ownAgent, options: mcp.options, prompt_file: `${given.dir}/prompt.md` },
				);
	const tooLong = agent === null ? null : promptProblem(agent.name, work.prompt ?? "", settings);
	if (tooLong !== null) return { refused: tooLong };
	if (work.argv.length === 0) return { refused: "there is nothing to run: the job has no command" };
	if (work.prompt !== undefined || work.stdin !== null) files.push(["prompt.md", work.prompt ?? ""]);
	const environment = environmentOf(claimed, settings, given, { profile, place, prior, permit, mcp, ownAgent });
	if ("problem" in environment) return { refused: environment.problem };
	const { env } = environment;
	const { argv } = work;
	const program = { name: argv[0] as string, path: env.PATH ?? "" };
	const record = agent && profile ? { ...agent, home: homeOf(profile, env), session: work.session ?? null, program } : null;
	return {
		argv,
		stdin: work.stdin === null ? null : "prompt.md",
		cwd: place?.cwd ?? spec.cwd ?? env.HOME ?? "/",
		env,
		files,
		agent: record,
		told: agent === null ? [] : pendingOf(job.told).map(({ number }) => number),
		results: results.map((one) => ({ job: one.job, name: one.name, bytes: one.result === null ? null : bytesOf(one.result) })),
		...(profile?.ruled.includes(permission)
			? { versionProblem: (version) => permissionProblem(argv[0] as string, knownOf(profile), permission, version) }
			: {}),
	};
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const filled = (prompt: string | undefined, results: readonly ResultView[]): string | undefined =>
	prompt === undefined ? undefined : fillPlaces(prompt, results);

/** Why an agent cannot be started for any job; null if its command is known. */
export function agentProblem(agent: string, { agents }: Pick<SupervisorSettings, "agents">): string | null {
	const profile = profileOf(agent, agents);
	if (profile !== null && profile.command.length > 0) return null;
	const guess = isFormat(agent) ? undefined : nearest(agent, [...AGENT_NAMES, ...Object.keys(agents)]);
	return `nothing says how to start the agent "${agent}": set agents.${agent}.command${guess ? `, or did you mean "${guess}"?` : ""}`;
}

/** Why an agent cannot be given this prompt; null if it can. */
export function promptProblem(agent: string, prompt: string, { agents }: Pick<SupervisorSettings, "agents">): string | null {
	const profile = profileOf(agent, agents);
	if (profile === null || !isTooLong(profile, prompt)) return null;
	return `the prompt is longer than one argument of a program may be (128 KiB): take {prompt} out of agents.${agent}.command, and it comes through standard input`;
}

type Work = { argv: string[]; stdin: "prompt" | null; prompt: string | undefined; session?: string };

/** Resumes the session if that is possible, with only what is new in the prompt. Otherwise starts afresh, with the context of earlier attempts. */
function ofAgent(
	profile: Profile,
	{ job, spec, run }: Claimed,
	permit: Permit,
	{ prior, before, place, results }: Required<StartConditions>,
	own: { agent: string; options: readonly string[]; prompt_file: string },
): Work {
	const wish = { ...own, model: spec.model, permitted: permissionOptions(profile, permit), title: `Sluice job ${job.id}` };
	const feedback = place?.feedback ?? null;
	// Mode `ralph` starts each run with a fresh context.
	const next = profile.resume.length === 0 || spec.mode === "ralph" ? null : continues(before, job.session);
	if (before !== null && next !== null && "session" in next) {
		const prompt = promptForResumed(before, before.awaits_answer ? job.answer : undefined, feedback, pendingOf(job.told));
		return { ...commandLine(profile, { ...wish, prompt, session: next.session }), prompt, session: next.session };
	}
	const full = promptFor(spec.prompt ?? "", spec.recipe === undefined ? "text" : "template", {
		attempt: run.attempt,
		past: prior?.past ?? null,
		branch: place?.env.SLUICE_PRIOR_BRANCH ?? null,
		asked: job.asked ?? null,
		answer: job.answer ?? null,
		left: next !== null && "left" in next ? next.left : null,
		results,
		verify: verifyLine(place?.verify ?? [], permit),
	});
	const told = (job.told ?? []).length === 0 ? null : wordsForFresh(job.told ?? []);
	const prompt = [full, told, feedback].filter((part) => part !== null && part !== "").join("\n\n");
	return { ...commandLine(profile, { ...wish, prompt }), prompt: spec.prompt === undefined && prompt === "" ? undefined : prompt };
}

/** The repo's verify command as a shell line; null if there is none, or if the agent may not run all of it. */
function verifyLine(verify: readonly string[], { permission, allow }: Permit): string | null {
	const commands = allowedOf(verify);
	const may = commands.length > 0 && (permission === "full" || commands.every((one) => allow.includes(one)));
	return may ? commands.join(" && ") : null;
}

const withFeedback = (prompt: string | undefined, feedback: string | null) =>
	feedback === null || prompt === undefined ? prompt : `${prompt}\n\n${feedback}`;
