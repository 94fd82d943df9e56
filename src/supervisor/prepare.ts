// What a run is started with: argv, folder, environment, and the files that go into its folder first. Pure.

import type { Claimed } from "../scheduler.ts";
import type { Place } from "../workspace.ts";
import type { Prior } from "./prior.ts";
import type { SupervisorSettings } from "./settings.ts";

/** Longer prompts come through standard input: the system bounds each argument. */
const MAX_ARGUMENT = 128 * 1024 - 1;
const USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export type Prepared = {
	argv: string[];
	cwd: string;
	env: Record<string, string>;
	stdin: "prompt.md" | null;
	files: [name: string, text: string][];
};

export type Given = { run: string; socket: string; home: string | null; token: string; dir: string };

/** The reason, in words, when nothing can be started. */
export function prepare(
	{ job, spec, run }: Claimed,
	settings: SupervisorSettings,
	given: Given,
	prior: Prior | null = null,
	place: Place | null = null,
): Prepared | { refused: string } {
	const files: Prepared["files"] = prior === null ? [] : [["prior.json", prior.text]];
	const told = place?.told ?? null;
	if (told !== null) files.push(["told.md", told]);
	const prompt = told === null || spec.prompt === undefined ? spec.prompt : `${spec.prompt}\n\n${told}`;
	if (spec.payload !== undefined) files.push(["payload.json", JSON.stringify(spec.payload)]);
	if (spec.input_patch !== undefined) files.push(["input.patch", spec.input_patch]);
	const started = job.kind === "agent" ? agentCommand(job.agent ?? "", prompt ?? "", settings) : { argv: spec.command ?? [], stdin: null };
	if ("refused" in started) return started;
	if (started.argv.length === 0) return { refused: "there is nothing to run: the job has no command" };
	if (prompt !== undefined) files.push(["prompt.md", prompt]);
	const env: Record<string, string> = {
		PATH: USUAL_PATH,
		...settings.env,
		...spec.env,
		...place?.env,
		...prior?.env,
		SLUICE_JOB_ID: String(job.id),
		SLUICE_RUN_ID: given.run,
		SLUICE_ATTEMPT: String(run.attempt),
		SLUICE_SOCKET: given.socket,
		SLUICE_TOKEN: given.token,
	};
	if (spec.input_patch !== undefined) env.SLUICE_INPUT_PATCH = `${given.dir}/input.patch`;
	if (given.home !== null) env.SLUICE_HOME = given.home;
	// A job that was added from inside a run may have brought that run's mark: it would be stopped along with it.
	delete env.SLUICE_MARK;
	return { ...started, cwd: place?.cwd ?? spec.cwd ?? env.HOME ?? "/", env, files };
}

/** Why an agent cannot be started whatever the job; null when its command is known. */
export function agentProblem(agent: string, { agents }: Pick<SupervisorSettings, "agents">): string | null {
	const profile = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
	if (profile && profile.command.length > 0) return null;
	return `nothing says how to start the agent "${agent}": set agents.${agent}.command`;
}

function agentCommand(agent: string, prompt: string, settings: SupervisorSettings): Pick<Prepared, "argv" | "stdin"> | { refused: string } {
	const refused = agentProblem(agent, settings);
	if (refused !== null) return { refused };
	const { command } = settings.agents[agent] as { command: string[] };
	const wanted = command.some((word) => word.includes("{prompt}"));
	const argv = command.map((word) => word.replaceAll("{prompt}", () => prompt));
	if (wanted && argv.every(fits)) return { argv, stdin: null };
	return { argv: command.filter((word) => word !== "{prompt}").map((word) => word.replaceAll("{prompt}", "")), stdin: "prompt.md" };
}

/** Bytes count, not characters: at most three of them to one. */
const fits = (word: string) => word.length * 3 <= MAX_ARGUMENT || new TextEncoder().encode(word).length <= MAX_ARGUMENT;
