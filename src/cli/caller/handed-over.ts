// What the caller's shell has and runs do not get: keys of agents, and variables of tools. Runs get the variables that the setting `env` allows, and those
// of `agents.<name>.env` and `accounts.<name>.env`; a key in the caller's shell is not among them. Pure.

import type { AgentDocument, Checkup } from "../../api/context.ts";
import { matchesAny } from "../../core/text/stars.ts";

type Env = Record<string, string | undefined>;

/** The line to type for each key that the caller has and runs of this agent do not get. */
export function keyHints({ name, path, keys = [] }: AgentDocument, env: Env): string[] {
	if (path === null) return [];
	return keys
		.filter((key) => !key.handed && (env[key.name] ?? "") !== "")
		.map((key) => {
			const line = `sluice config set agents.${name}.env.${key.name} env:${key.name}`;
			const again = key.daemon ? "" : ", then from this shell: sluice down && sluice up --detach";
			return `${key.name} is set in your shell, but runs of ${name} do not get it: ${line}${again}`;
		});
}

/** Variables that locate tools: without them a run may find another compiler, or none. */
const TOOLS =
	/^(?:VIRTUAL_ENV|CONDA_PREFIX|GOPATH|GOROOT|JAVA_HOME|NVM_\w+|PYENV_ROOT|RBENV_ROOT|CARGO_HOME|RUSTUP_HOME|VOLTA_HOME|SDKMAN_DIR|ANDROID_HOME)$/;

/** Null if runs get all of them. */
export function toolNote(env: Env, allowed: readonly string[]): Checkup | null {
	const missing = Object.keys(env)
		.filter((name) => TOOLS.test(name) && (env[name] ?? "") !== "" && !matchesAny(allowed, name))
		.sort();
	if (missing.length === 0) return null;
	return {
		name: "environment",
		ok: true,
		optional: true,
		detail: `runs do not get ${missing.join(", ")} of your shell (PATH they do get)`,
		hint: `for one job: sluice add --env ${missing[0]} …; for all: sluice config set env '${JSON.stringify([...allowed, ...missing])}'`,
	};
}
