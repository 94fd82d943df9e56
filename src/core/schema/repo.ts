// What a host's settings say of a repo, one row a key; `max`, `max_open` and `prefix` belong to the scheduler (config.ts).

import { readAllow } from "../agents/permissions/allowing.ts";
import * as check from "../input/check.ts";
import { urlFault, withoutCredentials } from "../text/repo-url.ts";
import { readTrust, type Trust } from "../trust/repo-files.ts";
import { CONFIG } from "./config.ts";
import { group, setting, usualOf, type ValuesOf } from "./setting.ts";
import { argv, branchOrNone, folder, labelOrNone, length, oneOf, orNone } from "./setting-values.ts";

const url = orNone((value, field) => {
	if (typeof value !== "string") throw check.wrong(field, `must be text, not ${check.shown(value)}`);
	const fault = urlFault(value);
	if (fault !== undefined)
		throw check.wrong(field, `${check.shown(withoutCredentials(value))} ${fault}`, 'for example "git@example.org:team/app.git"');
	return value;
});

export const REPO = {
	path: setting(null, folder).about(
		"Its folder: absolute. `null` = the name is only a label: its jobs run in their own folders, and nothing is merged.",
	),
	url: setting(null, url).about(
		"Instead of `path`: each host that gets a job of it clones it from here, fetches before each worktree, and pushes merges back. A URL of git's (`https`, `ssh`, `git`, `file`, `user@host:path`) or an absolute path. The part before the `@` of a web address is never shown.",
	),
	base_branch: setting(null, branchOrNone).about(
		"Jobs begin from this branch and are merged into it. `repo add` writes it; if it is missing, the daemon writes the branch that is checked out when it starts. `null` = the default branch of `url`.",
	),
	verify: setting([], argv).about("Command (argv) that must exit with 0 on the result of a merge before the base moves. Empty = none."),
	verify_timeout_ms: setting(30 * 60_000, length()).about("After this time `verify` counts as failed."),
	allow: setting([], readAllow).about(
		'Beginnings of shell commands that agents may run here at permission `edit` without asking: `["npm run lint"]`. `verify` is always included.',
	),
	hooks: group({
		after_create: setting([], argv).about("In a new worktree: argv. If it fails, the run does not start."),
		before_run: setting([], argv).about("Before each run. If it fails, the run does not start."),
		after_run: setting([], argv).about("After each run; after a crash perhaps twice."),
		before_remove: setting([], argv).about("Before a worktree is removed."),
	}),
	hook_timeout_ms: setting(60_000, length()).about("Maximum time of each hook."),
	merge: setting("direct", oneOf("direct", "mr", "local")).about(
		'What happens to a successful run\'s branch: `"direct"`: it is rebased and verified, and the base moves to it; `"mr"`: it is pushed to `origin`, then `merge_command` runs; `"local"`: it stays as it is.',
	),
	merge_command: setting([], argv).about(
		'For `"mr"`: the command (argv) that opens the request; it gets `SLUICE_BRANCH`, `SLUICE_BASE_BRANCH`, `SLUICE_TITLE`. It may run more than once, so it must be idempotent.',
	),
	on_conflict: setting("report", oneOf("report", "follow_up")).about(
		'A merge in conflict, or one that `verify` refuses: `"report"` leaves it to a person; `"follow_up"` runs the job again in its worktree, with the problem in its prompt, twice at most.',
	),
	recipe: setting(null, labelOrNone).about("The recipe of its items, if none is named."),
	trusted: setting<Trust>(false, readTrust).about(
		"Whether its own `sluice.yml` and `recipes/` apply: `true` (whatever they say), or a list of the trusted files with the SHA-256 of each; [`sluice repo trust`](../repos.md#sluiceyml) writes it. The file may set every key of the repo except `path`, `url` and `trusted`.",
	),
};
export type RepoSettings = ValuesOf<typeof REPO>;
export const REPO_DEFAULT: RepoSettings = usualOf(REPO);

const { path: _path, url: _url, trusted: _trusted, ...OWN } = REPO;
const { max, max_open, prefix } = CONFIG.repos.entry;
/** The keys that a repo's own sluice.yml may have, the scheduler's too. */
export const REPO_FILE_KEYS = { ...OWN, max, max_open, prefix };
/** All settings of a repo. */
export type WholeRepo = RepoSettings & ValuesOf<typeof REPO_FILE_KEYS>;
