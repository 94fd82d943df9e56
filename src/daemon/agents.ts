// The agents of this machine: which are installed, in which version, and whether there are signs of a login. It only inspects this machine and asks no
// provider.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import type { AgentDocument, AgentHandle } from "../api/context.ts";
import { noSuch } from "../api/known.ts";
import { ADAPTERS, isFormat, knownOf, profileOf } from "../core/agents/index.ts";
import { AGENT_NAMES, type Profile } from "../core/agents/profile.ts";
import { isOlder, permissionProblem } from "../core/agents/version.ts";
import { type Reveal, revealed } from "../core/input/env-reference.ts";
import { isOneOf } from "../core/text/one-of.ts";
import { matchesAny } from "../core/text/stars.ts";
import { type Env, find, isProgram } from "../host/program-path.ts";
import type { Settings } from "./config/settings.ts";
import { createReveal } from "./reveal.ts";
import { startProblem } from "./start-check.ts";

const VERSION_MS = 5000;

/** `env`: which of the daemon's variables runs receive. Jobs capture the same names from their caller. */
export type AgentSettings = Pick<Settings, "agents" | "accounts" | "env">;

/** `env`: the daemon's environment. Programs are found by its PATH, and `env:` references are resolved in it. */
export function createAgents(settings: () => AgentSettings, env: Env): AgentHandle {
	const agents = () => settings().agents;
	const names = () => [...new Set([...AGENT_NAMES, "command", ...Object.keys(agents())])];
	const look = (name: string) => lookAt(name, profileOf(name, agents()) as Profile, settings(), env);
	return {
		names,
		list: () => Promise.all(names().map(look)),
		async show(name) {
			const profile = this.profile(name);
			const { ruled: _, ...shown } = profile;
			return { ...(await look(name)), profile: shown };
		},
		startProblem: (job) => startProblem(job, agents(), env),
		opening(name, session, account) {
			const profile = profileOf(name, agents());
			if (!profile || profile.open.length === 0) return null;
			const { accounts } = settings();
			const home = account !== null && Object.hasOwn(accounts, account) ? accounts[account]?.home : null;
			const env = home && profile.home_variable ? { [profile.home_variable]: home } : {};
			return { argv: profile.open.map((word) => word.replaceAll("{session}", () => session)), env };
		},
		profile(name) {
			const found = profileOf(name, agents());
			if (found) return found;
			throw noSuch("agent", name.slice(0, 60), names(), `known: ${names().join(", ")}`);
		},
	};
}

async function lookAt(name: string, profile: Profile, settings: AgentSettings, env: Env): Promise<AgentDocument> {
	const [program = ""] = profile.command;
	// Only known programs are started to ask for their version: others may do something else with the option.
	const found = programOf(program, env);
	const known = knownOf(profile);
	const asks = found !== null && isAsked(found);
	const version = asks ? await versionOf(found, env) : null;
	const reveal = createReveal(env);
	// The environment of a run: a variable of the daemon counts only if the setting `env` allows it or a reference names it.
	const handed = { ...pick(env, settings.env), ...held(profile.env, reveal) };
	const accountsHere = known
		? Object.entries(settings.accounts).filter(([, one]) => one.home !== null || Object.keys(one.env).length > 0)
		: [];
	const broken = revealed(profile.env, `agents.${name}.env`, reveal);
	return {
		name,
		built_in: isFormat(name) && !Object.hasOwn(settings.agents, name),
		output: profile.output,
		program: program === "" ? null : program,
		path: found,
		version: version && "version" in version ? version.version : null,
		tested: known?.tested ?? null,
		tested_older: known?.tested_older ?? null,
		newer: known !== null && version !== null && "version" in version && isOlder(known.tested, version.version) === true,
		resumes: profile.resume.length > 0,
		logged_in: known && found ? isLoggedIn(profile, handed, null) : null,
		accounts: accountsHere.map(([account, { home, env: keys }]) => ({
			account,
			home,
			logged_in: isLoggedIn(profile, { ...handed, ...held(keys, reveal) }, home, Object.keys(keys)),
		})),
		keys: (known?.logins.variables ?? []).map((variable) => ({
			name: variable,
			handed: (handed[variable] ?? "") !== "",
			daemon: (env[variable] ?? "") !== "",
		})),
		problem:
			program === ""
				? name === "command"
					? null
					: "nothing says how to start it"
				: "problem" in broken
					? broken.problem
					: version && "problem" in version
						? version.problem
						: (outdated(program, profile, version) ??
							(found === null && !isRelative(program) ? `${program} is not ${isAbsolute(program) ? "there" : "in PATH"}` : null)),
		hint: found === null && known ? known.install : null,
	};
}

/** Why runs with a permission below `full` are refused with this version; null when they are not. */
const outdated = (program: string, profile: Profile, version: { version: string } | { problem: string } | null): string | null =>
	version !== null && "version" in version && profile.ruled.includes("edit")
		? permissionProblem(program, knownOf(profile), "edit", version.version)
		: null;

const pick = (env: Env, wanted: readonly string[]): Env =>
	Object.fromEntries(Object.entries(env).filter(([name]) => matchesAny(wanted, name)));

const isRelative = (program: string) => program.includes("/") && !isAbsolute(program);

/** The program's path. Null for a relative path, since it depends on the job's folder. */
const programOf = (program: string, env: Env): string | null =>
	program === "" || isRelative(program) ? null : isAbsolute(program) ? (isProgram(program) ? program : null) : find(program, env);

/** The variables whose references can be resolved. */
const held = (env: Record<string, string>, reveal: Reveal): Record<string, string> =>
	Object.fromEntries(
		Object.entries(env).flatMap(([name, text]) => {
			const one = reveal(text);
			return "value" in one ? [[name, one.value]] : [];
		}),
	);

/**
 * Whether there are signs of a login: a file, or a variable of the run. For an account with its own folder, only the account's variables count. False may be
 * wrong, because some programs keep their login elsewhere.
 */
function isLoggedIn(profile: Profile, env: Env, home: string | null, ofAccount: readonly string[] = []): boolean {
	const { known } = ADAPTERS[profile.output];
	if (!known) return false;
	const counts = (name: string) => (env[name] ?? "") !== "" && (home === null || ofAccount.includes(name));
	if (known.logins.variables.some(counts)) return true;
	const named = profile.home_variable === null ? undefined : env[profile.home_variable];
	const folder = home ?? (named || join(env.HOME ?? "/", known.home));
	return known.logins.files.some((file) => existsSync(join(folder, file)));
}

const isAsked = (path: string) => isOneOf(basename(path), AGENT_NAMES);

export function versionOf(path: string, env: Env, timeoutMs = VERSION_MS): Promise<{ version: string } | { problem: string }> {
	return new Promise((resolve) => {
		const child = execFile(path, ["--version"], { timeout: timeoutMs, killSignal: "SIGKILL", env }, (error, stdout) => {
			const line = stdout.trim().split("\n")[0]?.slice(0, 100) ?? "";
			resolve(error ? { problem: `${path} --version fails: ${error.message.split("\n")[0]}` } : { version: line });
		});
		// Close standard input: a program that reads it would otherwise wait until the timeout. A program that could not be started has none.
		child.stdin?.on("error", () => {}).end();
	});
}
