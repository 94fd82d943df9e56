// The environment of a run. Later ones override earlier ones: the daemon's, the agent's profile, the job's, the account's, the workspace's, what earlier
// attempts left, what the agent's adapter adds, and Sluice's own variables.

import type { Claimed } from "../../contracts/scheduler.ts";
import type { EnteredWorkspace } from "../../contracts/workspace.ts";
import { ADAPTERS } from "../../core/agents/index.ts";
import type { McpEquipment } from "../../core/agents/mcp.ts";
import { allowedBy, type Permit } from "../../core/agents/permissions/allowing.ts";
import type { Profile } from "../../core/agents/profile.ts";
import { type Revealed, revealed } from "../../core/input/env-reference.ts";
import type { SupervisorSettings } from "../settings.ts";
import type { StartInput } from "./prepare.ts";
import type { Prior } from "./prior.ts";

const USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

type Start = {
	/** Null for a command. */
	profile: Profile | null;
	place: EnteredWorkspace | null;
	prior: Prior | null;
	permit: Permit;
	mcp: McpEquipment;
	/** The name of an agent for this run alone. */
	ownAgent: string;
};

/** Returns the problem if a variable's value is not available, or if the program's rules cannot be set. */
export function environmentOf({ job, spec, run }: Claimed, settings: SupervisorSettings, given: StartInput, start: Start): Revealed {
	const { profile, place, prior } = start;
	const ofProfile = revealed(profile?.env ?? {}, `agents.${job.agent}.env`, settings.reveal);
	if ("problem" in ofProfile) return ofProfile;
	const ofAccount = accountEnv(profile, run.account, settings);
	if ("problem" in ofAccount) return ofAccount;
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
	const ofAdapter = profile === null ? { env: {} } : adapterEnv(profile, env, ofAccount.env, settings, start);
	if ("problem" in ofAdapter) return ofAdapter;
	Object.assign(env, ofAdapter.env);
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
	return { env };
}

function adapterEnv(
	profile: Profile,
	env: Readonly<Record<string, string>>,
	accountEnv: Readonly<Record<string, string>>,
	{ reveal }: SupervisorSettings,
	{ permit, mcp, ownAgent }: Start,
): Revealed {
	const { permission } = permit;
	const accountHome = profile.home_variable === null ? undefined : accountEnv[profile.home_variable];
	// A permission mode for which the configuration has its own options gets no rules: those options define it.
	const agent = profile.ruled.includes(permission) ? ownAgent : null;
	const start = { env, accountEnv, accountHome, reveal, permission, ...allowedBy(permit), agent, mcp };
	return ADAPTERS[profile.output].environment?.(start) ?? { env: {} };
}

/**
 * Puts the daemon's own command first, so that a run calls the version that belongs to its daemon. A job that was added from inside a run may bring that
 * run's PATH.
 */
const withOwnCommand = (path: string | undefined, bin: string): string =>
	[bin, ...(path ?? "").split(":").filter((folder) => folder !== "" && folder !== bin)].join(":");

/** The account's own folder and keys, if it has them. They override what the job brought, because limits are counted by account. */
function accountEnv(profile: Profile | null, account: string | undefined, { accounts, reveal }: SupervisorSettings): Revealed {
	const known = account !== undefined && Object.hasOwn(accounts, account) ? accounts[account] : undefined;
	if (known === undefined || profile === null) return { env: {} };
	const own = revealed(known.env ?? {}, `accounts.${account}.env`, reveal);
	if ("problem" in own) return own;
	return { env: { ...own.env, ...(known.home && profile.home_variable ? { [profile.home_variable]: known.home } : {}) } };
}
