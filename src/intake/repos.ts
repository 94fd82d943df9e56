// Which repo an item belongs to, by the prefix of its id. Pure.

import { SluiceError } from "../core/errors.ts";

/** What the configuration says of repos, as far as items need it. */
export type Repos = Record<string, { prefix?: string | null; path?: string | null; recipe?: string | null; trusted?: boolean | string }>;

/** The repo with the longest prefix that the id begins with. */
export function repoOfPrefix(id: string, repos: Repos): string | null {
	let best: [name: string, length: number] | null = null;
	for (const [name, { prefix }] of Object.entries(repos))
		if (prefix && id.startsWith(prefix) && prefix.length > (best?.[1] ?? 0)) best = [name, prefix.length];
	return best?.[0] ?? null;
}

/** The repo for an item. `named` must be the one of its prefix, unless forced. */
export function repoFor(
	id: string,
	{ named, usual, repos, force }: { named: string | undefined; usual: string | null; repos: Repos; force: boolean },
): string | null {
	const own = repoOfPrefix(id, repos);
	if (named === undefined) return own ?? usual;
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
