// Which repo an item belongs to, by the prefix of its id. Pure.

import { SluiceError } from "../core/errors.ts";

/** The part of the repos' configuration that items need. */
export type Repos = Record<string, { prefix?: string | null; path?: string | null; recipe?: string | null }>;

/** What decides about an item's repo: the caller's word, and the configuration of its source. */
type RepoChoice = { named: string | undefined; usual: string | null; repos: Repos; force: boolean; prefixed: boolean };

/** The repo with the longest prefix that the id begins with. */
export function repoOfPrefix(id: string, repos: Repos): string | null {
	let best: [name: string, length: number] | null = null;
	for (const [name, { prefix }] of Object.entries(repos))
		if (prefix && id.startsWith(prefix) && prefix.length > (best?.[1] ?? 0)) best = [name, prefix.length];
	return best?.[0] ?? null;
}

/**
 * The repo for an item. `named` must be the repo of its prefix, unless forced. `prefixed`: the source's ids begin with the prefix of their repo, so an id
 * with none of these prefixes is a mistake; if no repo has a prefix at all, ids say nothing about repos.
 */
export function repoFor(id: string, { named, usual, repos, force, prefixed }: RepoChoice): string | null {
	const own = repoOfPrefix(id, repos);
	if (named === undefined) {
		const repo = own ?? usual;
		if (repo === null && prefixed) refusePrefix(id, repos);
		return repo;
	}
	const prefix = repos[named]?.prefix ?? null;
	if (force || own === named || (own === null && prefix === null)) return named;
	const said =
		own === null
			? `does not begin with ${JSON.stringify(prefix)}, the prefix of repo ${named}`
			: `has the prefix of repo ${own}, not of ${named}`;
	throw new SluiceError("forbidden", `${id} ${said}`, {
		field: "repo",
		hint:
			own === null
				? `sluice sling ${id} ${named} --force`
				: `sluice sling ${id} ${own}, or with --force: sluice sling ${id} ${named} --force`,
	});
}

function refusePrefix(id: string, repos: Repos): void {
	const known = Object.entries(repos).flatMap(([name, { prefix }]) => (prefix ? [`${prefix} (${name})`] : []));
	if (known.length === 0) return;
	const prefix = /^[^-]*-/.exec(id)?.[0];
	const said = prefix === undefined ? `${id} begins with the prefix of no repo` : `${id}: no repo has the prefix ${JSON.stringify(prefix)}`;
	const free = Object.keys(repos).find((name) => !repos[name]?.prefix);
	const whose = free === undefined ? "sluice repo add FOLDER --prefix" : `sluice config set repos.${free}.prefix`;
	const once = free ?? (Object.keys(repos).length === 1 ? Object.keys(repos)[0] : "REPO");
	throw new SluiceError("not_found", `${said}; known: ${known.join(", ")}`, {
		field: "repo",
		hint: `say whose it is: ${whose} ${prefix ?? "PREFIX"}; or for this once: sluice sling ${id} --repo ${once} --force`,
	});
}
