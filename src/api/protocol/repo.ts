// Methods of repos and of what their jobs leave behind.

import type { RepoDocument } from "../context.ts";
import type { Doc } from "../documents.ts";
import { adminMethod, choice, flag, maybe, orNull, text, viewerMethod, whole, word } from "../fields.ts";

const name = word("the repo");

export const REPO_METHODS = {
	"repo.list": viewerMethod<Doc<{ repos: RepoDocument[] }>>()({
		about: "Repos: where they are, how they merge, whether anything can be done there now.",
		params: {},
		result:
			"{repos: [{name, path, url, hosts, base, head, merge, problem, busy, file, recipes, changes: [{file, change, commands}], trust_problem, digest, worktrees, …}]}",
	}),
	"repo.show": viewerMethod<Doc<{ repo: RepoDocument }>>()({
		about: "One repo with its settings in force, its worktrees, and whether its own sluice.yml and recipes count.",
		params: { name },
		result: "{repo}",
	}),
	"repo.add": adminMethod<Doc<{ repo: RepoDocument }>>()({
		about: "Registers a git repository, by its folder or by a URL, or changes one: kept in the configuration file, in force at once.",
		params: {
			path: maybe(text("its folder: absolute", 4096)),
			url: maybe(text("instead of a folder: where each host that needs it clones it from", 2000)),
			name: maybe(word("how it is called; else by its folder")),
			prefix: maybe(word("prefix of the ids of its items")),
			base_branch: maybe(word("jobs begin and merge here; else the branch that is checked out now. It is written down")),
			merge: maybe(choice("what becomes of branches (direct)", ["direct", "mr", "local"])),
			max: maybe(orNull(whole("live runs at most; null = no cap", 0, 1_000_000))),
		},
		result: "{repo}",
	}),
	"repo.trust": adminMethod<Doc<{ repo: RepoDocument }>>()({
		about: "From now on the repo's own sluice.yml and recipes count, as they stand; any change of them has to be trusted again.",
		params: {
			name,
			off: maybe(flag("no longer")),
			digest: maybe(word("`digest` of `repo.show`: refused when the files are no longer those")),
		},
		result: "{repo}",
	}),
	"repo.remove": adminMethod<Doc<{ removed: string }>>()({
		about: "Takes a repo out of the configuration. Its folder, branches and worktrees stay.",
		params: { name },
		result: "{removed}",
	}),
} as const;
