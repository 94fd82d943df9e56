// Computes what a run is started with: argv, folder, environment, and the files that are written to its run folder first. Pure, except that it reads
// secrets where they are kept.

import type { Claimed, ResultView } from "../../contracts/scheduler.ts";
import type { EnteredWorkspace } from "../../contracts/workspace.ts";
import { dotenvOfGeminiHome, geminiAccountEnv } from "../../core/agents/adapters/gemini-env.ts";
import { OPENCODE_CONFIG, opencodeConfig } from "../../core/agents/adapters/opencode-config.ts";
import { type Before, continues, promptForResumed } from "../../core/agents/continuing.ts";
import { isFormat, knownOf, profileOf } from "../../core/agents/index.ts";
import { type McpEquipment, mcpEquipment } from "../../core/agents/mcp.ts";
import { allowedBy, allowedOf, type Permit, permissionOptions, permitOf } from "../../core/agents/permissions/allowing.ts";
import { commandLine, FORMATS, isTooLong, type Permission, type Profile } from "../../core/agents/profile.ts";
import { permissionProblem } from "../../core/agents/version.ts";
import { type Revealed, revealed } from "../../core/input/env-reference.ts";
import { nearest } from "../../core/input/nearest.ts";
import { payloadText } from "../../core/input/payload.ts";
import { fillPlaces } from "../../core/recipes/after-result.ts";
import { promptFor } from "../../core/recipes/prompt-context.ts";
import { agentOf, homeOf, type RunAgentRecord } from "../agent.ts";
import type { SupervisorSettings } from "../settings.ts";
import type { Prior } from "./prior.ts";

const USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export type PreparedStart = {
	argv: string[];
	cwd: string;
	env: Record<string, string>;
	stdin: "prompt.md" | null;
	files: [name: string, text: string][];
	agent: RunAgentRecord | null;
	/** The jobs whose results are in the prompt; `bytes` is null for a job without a result. */
	results: { job: number; name: string | null; bytes: number | null }[];
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
	const { job, spec, run } = claimed;
	const files: PreparedStart["files"] = prior === null ? [] : [["prior.json", prior.text]];
	const told = place?.told ?? null;
	if (told !== null) files.push(["told.md", told]);
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
			? { argv: spec.command ?? [], stdin: null, prompt: withTold(filled(spec.prompt, results), told) }
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
	const ofProfile = revealed(profile?.env ?? {}, `agents.${agent?.name}.env`, settings.reveal);
	if ("problem" in ofProfile) return { refused: ofProfile.problem };
	const ofAccount = accountEnv(profile, run.account, settings);
	if ("problem" in ofAccount) return { refused: ofAccount.problem };
	const env: Record<string, string> = {
		PATH: USUAL_PATH,
		...settings.env,
		...ofProfile.env,
		...spec.env,
		...ofAccount.env,
		...place?.env,
		...prior?.env,
		SLUICE_JOB_ID: String(job.id),
		SLUICE_RUN_ID: given.run,
		SLUICE_ATTEMPT: String(run.attempt),
		SLUICE_STARTED_BY: run.started_by ?? "daemon",
		SLUICE_SOCKET: given.socket,
		SLUICE_TOKEN: given.token,
	};
	const accountHome = profile?.output === "gemini" && profile.home_variable !== null ? ofAccount.env[profile.home_variable] : undefined;
	if (accountHome !== undefined) Object.assign(env, geminiAccountEnv(dotenvOfGeminiHome(accountHome, settings.reveal), env), ofAccount.env);
	// A job that was added from inside a run may have inherited the path of that run's payload.
	delete env.SLUICE_PAYLOAD;
	if (spec.payload !== undefined) env.SLUICE_PAYLOAD = `${given.dir}/payload.json`;
	if (spec.input_patch !== undefined) env.SLUICE_INPUT_PATCH = `${given.dir}/input.patch`;
	if (given.home !== null) {
		env.SLUICE_HOME = given.home;
		env.PATH = withOwnCommand(env.PATH, `${given.home}/bin`);
	}
	// A job that was added from inside a run may have inherited that run's mark: with it, it would be stopped along with that run.
	delete env.SLUICE_MARK;
	if (profile?.output === "opencode") {
		const told = rulesFor(profile, permit, { agent: ownAgent, mcp, given: env[OPENCODE_CONFIG] });
		if ("problem" in told) return { refused: told.problem };
		if (told.text !== undefined) env[OPENCODE_CONFIG] = told.text;
	}
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
		results: results.map((one) => ({ job: one.job, name: one.name, bytes: one.result === null ? null : bytesOf(one.result) })),
		...(profile !== null && isRuled(profile, permission)
			? { versionProblem: (version) => permissionProblem(argv[0] as string, knownOf(profile), permission, version) }
			: {}),
	};
}

/**
 * Puts the daemon's own command first, so that a run calls the version that belongs to its daemon. A job that was added from inside a run may bring that
 * run's PATH.
 */
const withOwnCommand = (path: string | undefined, bin: string): string =>
	[bin, ...(path ?? "").split(":").filter((folder) => folder !== "" && folder !== bin)].join(":");

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const filled = (prompt: string | undefined, results: readonly ResultView[]): string | undefined =>
	prompt === undefined ? undefined : fillPlaces(prompt, results);

/** Why an agent cannot be started for any job; null if its command is known. */
export function agentProblem(agent: string, { agents }: Pick<SupervisorSettings, "agents">): string | null {
	const profile = profileOf(agent, agents);
	if (profile !== null && profile.command.length > 0) return null;
	const guess = isFormat(agent) ? undefined : nearest(agent, [...FORMATS.filter((one) => one !== "command"), ...Object.keys(agents)]);
	return `nothing says how to start the agent "${agent}": set agents.${agent}.command${guess ? `, or did you mean "${guess}"?` : ""}`;
}

/** Why an agent cannot be given this prompt; null if it can. */
export function promptProblem(agent: string, prompt: string, { agents }: Pick<SupervisorSettings, "agents">): string | null {
	const profile = profileOf(agent, agents);
	if (profile === null || !isTooLong(profile, prompt)) return null;
	return `the prompt is longer than one argument of a program may be (128 KiB): take {prompt} out of agents.${agent}.command, and it comes through standard input`;
}

type Work = { argv: string[]; stdin: "prompt" | null; prompt: string | undefined; session?: string };

/** opencode's permissions and MCP servers. A permission mode for which the configuration has its own options gets no rules: those options define it. */
function rulesFor(profile: Profile, permit: Permit, wish: { agent: string; mcp: McpEquipment; given: string | undefined }) {
	const { permission } = permit;
	const agent = isRuled(profile, permission) ? wish.agent : null;
	const { commands, tools } = allowedBy(permit);
	return opencodeConfig({ permission, allow: commands, tools, agent, mcp: wish.mcp.servers, given: wish.given });
}

const isRuled = (profile: Profile, permission: Permission) => profile.permission_env[permission]?.[OPENCODE_CONFIG] === "{rules}";

/** Resumes the session if that is possible, with only what is new in the prompt. Otherwise starts afresh, with the context of earlier attempts. */
function ofAgent(
	profile: Profile,
	{ job, spec, run }: Claimed,
	permit: Permit,
	{ prior, before, place, results }: Required<StartConditions>,
	own: { agent: string; options: readonly string[]; prompt_file: string },
): Work {
	const wish = { ...own, model: spec.model, permitted: permissionOptions(profile, permit), title: `Sluice job ${job.id}` };
	const told = place?.told ?? null;
	// Mode `ralph` starts each run with a fresh context.
	const next = profile.resume.length === 0 || spec.mode === "ralph" ? null : continues(before, job.session);
	if (before !== null && next !== null && "session" in next) {
		const prompt = promptForResumed(before.exit_kind, before.awaits_answer ? job.answer : undefined, told);
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
	const prompt = told === null ? full : `${full}\n\n${told}`;
	return { ...commandLine(profile, { ...wish, prompt }), prompt: spec.prompt === undefined && prompt === "" ? undefined : prompt };
}

/** The repo's verify command as a shell line; null if there is none, or if the agent may not run all of it. */
function verifyLine(verify: readonly string[], { permission, allow }: Permit): string | null {
	const commands = allowedOf(verify);
	const may = commands.length > 0 && (permission === "full" || commands.every((one) => allow.includes(one)));
	return may ? commands.join(" && ") : null;
}

const withTold = (prompt: string | undefined, told: string | null) =>
	told === null || prompt === undefined ? prompt : `${prompt}\n\n${told}`;

/** The account's own folder and keys, if it has them. They override what the job brought, because limits are counted by account. */
function accountEnv(profile: Profile | null, account: string | undefined, { accounts, reveal }: SupervisorSettings): Revealed {
	const known = account !== undefined && Object.hasOwn(accounts, account) ? accounts[account] : undefined;
	if (known === undefined || profile === null) return { env: {} };
	const own = revealed(known.env ?? {}, `accounts.${account}.env`, reveal);
	if ("problem" in own) return own;
	return { env: { ...own.env, ...(known.home && profile.home_variable ? { [profile.home_variable]: known.home } : {}) } };
}
