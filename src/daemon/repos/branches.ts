// Whether a repo of this machine has a branch: a mistyped base is refused when a job is added, instead of failing the job's first run.

import { type Git, GitError, headOf } from "../../contracts/git.ts";
import { SluiceError } from "../../core/errors.ts";
import { suggest } from "../../core/input/nearest.ts";

const NAMED_BRANCHES = 20;

/** `folder`: the path of a repo on this machine; null for others, which are not checked. */
export const branchCheck =
	(git: Git, folder: (repo: string) => string | null) =>
	async (repo: string, branch: string): Promise<void> => {
		const path = folder(repo);
		if (path === null) return;
		try {
			if ((await headOf(git, path, branch)) !== null) return;
			const names = (await git.ask(path, ["for-each-ref", "--format=%(refname:short)", "refs/heads"])).split("\n").filter(Boolean);
			const known = names.length === 0 ? "it has no branch yet" : `known: ${names.slice(0, NAMED_BRANCHES).join(", ")}`;
			throw new SluiceError("not_found", `base_branch: repo ${repo} has no branch ${JSON.stringify(branch)}`, {
				field: "base_branch",
				hint: suggest(branch, names, known),
			});
		} catch (error) {
			// A repo that cannot be read is reported when a job starts there; a name that git does not accept is refused by the job's own check.
			if (!(error instanceof GitError)) throw error;
		}
	};
