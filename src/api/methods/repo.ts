// The methods of repos.

import { doc, type Handlers } from "../call.ts";
import type { Context, RepoDocument } from "../context.ts";
import { maskedDeep } from "../secrets.ts";

/** Commands of verify, hooks and recipes may contain addresses with a password. */
const shownRepo = (repo: RepoDocument, { config }: Context): RepoDocument =>
	maskedDeep(repo, { names: config.settings().secrets }) as RepoDocument;

export const repoMethods: Handlers<"repo"> = {
	"repo.list": async (_params, { context }) => doc({ repos: (await context.repos.list()).map((repo) => shownRepo(repo, context)) }),
	"repo.show": async ({ name }, { context }) => doc({ repo: shownRepo(await context.repos.show(name), context) }),
	"repo.add": async ({ by: _by, ...repo }, { context, by }) => doc({ repo: await context.repos.add(repo, by) }),
	"repo.trust": async ({ name, off, digest }, { context, by }) => doc({ repo: await context.repos.trust(name, off !== true, by, digest) }),
	"repo.remove": async ({ name }, { context, by }) => {
		await context.repos.remove(name, by);
		return doc({ removed: name });
	},
};
