// What a job takes along from its caller: the folder, and the variables that the setting `env` allows.

import { ALLOWED } from "../../core/input/environment.ts";
import { matchesStars } from "../../core/text/stars.ts";
import { usage } from "../failure.ts";
import { type AsksConfig, settingOf } from "../io.ts";

/** Our own variables about the run that we are called from: a job gets its own. */
const OURS = /^SLUICE_(?:JOB_ID|RUN_ID|ATTEMPT|STARTED_BY|SOCKET|TOKEN|MARK)$/;

export function capture(env: Record<string, string | undefined>, allowed: readonly string[]): Record<string, string> {
	const taken: Record<string, string> = {};
	for (const [name, value] of Object.entries(env))
		if (value !== undefined && !OURS.test(name) && allowed.some((pattern) => matchesStars(pattern, name))) taken[name] = value;
	return taken;
}

/** The name patterns in force; costs one round trip on an open socket. */
export async function allowedNames(io: AsksConfig): Promise<readonly string[]> {
	const value = await settingOf(io, "env");
	return Array.isArray(value) ? value.map(String) : ALLOWED;
}

/** `--env NAME=VALUE` sets a variable, `--env NAME` takes the caller's value. */
export function chosen(options: readonly string[], env: Record<string, string | undefined>): Record<string, string> {
	const taken: Record<string, string> = {};
	for (const option of options) {
		const equals = option.indexOf("=");
		const name = equals < 0 ? option : option.slice(0, equals);
		if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
			throw usage(`--env: ${JSON.stringify(name)} is not the name of a variable`, "write --env NAME=VALUE");
		const value = equals < 0 ? env[name] : option.slice(equals + 1);
		if (value === undefined) throw usage(`--env: ${name} is not set here`, `write --env ${name}=VALUE`);
		taken[name] = value;
	}
	return taken;
}
