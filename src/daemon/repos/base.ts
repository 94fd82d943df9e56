// The base of a repo: the branch that its jobs start from and merge into. It is written into config.yml when the repo is added, so that jobs keep it when a
// person checks out another branch later. A repo without one (added by hand, or by an earlier version) gets the branch that is checked out when the daemon
// starts or the configuration changes.

import { currentBranch, type Git } from "../../contracts/git.ts";
import type { Log } from "../../contracts/log.ts";
import { SluiceError } from "../../core/errors.ts";
import type { ConfigFile } from "../config/file.ts";

const ASK_MS = 20_000;

/** The branch that is checked out. Refuses a detached HEAD, which has no branch to record. */
export async function baseOfFolder(git: Git, root: string): Promise<string> {
	const branch = await currentBranch(git, root);
	if (branch !== null) return branch;
	throw new SluiceError("invalid", `HEAD is detached in ${root}: no branch is checked out that jobs could begin from and merge into`, {
		field: "base_branch",
		hint: `name the branch: sluice repo add ${root} --base-branch main`,
	});
}

/** The remote's default branch; null when it has none yet, or does not name it. */
export async function baseOfRemote(git: Git, url: string): Promise<string | null> {
	const { code, stdout } = await git.run("/", ["ls-remote", "--symref", "--", url, "HEAD"], { timeoutMs: ASK_MS });
	return code === 0 ? (/^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(stdout)?.[1] ?? null) : null;
}

/** A value for `config.set`, which parses text as YAML: quoted, because a branch may be called `1.0` or `on`. */
export const branchText = (branch: string): string => JSON.stringify(branch);

type Config = Pick<ConfigFile, "settings" | "set">;

/** Only config.yml counts here: a trusted sluice.yml that names another base overrides it anyway. */
export async function writeMissingBases({ config, git, log }: { config: Config; git: Git; log: Log }): Promise<void> {
	for (const [repo, { path, base_branch }] of Object.entries(config.settings().repos)) {
		if (path === null || base_branch !== null) continue;
		try {
			const base = await currentBranch(git, path);
			if (base === null) continue;
			await config.set(`repos.${repo}.base_branch`, branchText(base), "daemon");
			log.info("a repo had no base written down; the branch that is checked out is its base from now on", { repo, base });
		} catch (error) {
			log.warn("the base of a repo could not be written down; until then it is the branch that is checked out", { repo, error });
		}
	}
}
