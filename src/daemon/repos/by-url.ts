// Repos of this host: which it offers to the scheduler, and when repos registered by URL are fetched because a waiting job depends on their facts.

import { existsSync } from "node:fs";
import type { Clock } from "../../contracts/host.ts";
import { settingsOf } from "./repos.ts";

type InForce = Parameters<typeof settingsOf>[0];

/**
 * The repos in which this host can work: registered by URL, with an existing folder, or only by name. Repos that its configuration does not name are left
 * out.
 */
export const offeredRepos = (config: InForce): string[] =>
	Object.keys(config.engine().repos)
		.filter((name) => {
			const path = settingsOf(config, name)?.path ?? null;
			return path === null || existsSync(path);
		})
		.sort();

const AGAIN_MS = 30_000;

/** `look` is called with the keys that are about to be probed. It fetches in the background, so a later probe sees the result. */
export function createFetching(parts: {
	clock: Clock;
	/** Names of repos that are registered by URL. */
	names: () => string[];
	/** Facts that waiting jobs depend on. */
	wanted: () => Promise<ReadonlySet<string>>;
	freshen: (repo: string) => Promise<void>;
}): { look(keys: readonly string[]): void } {
	const { clock, names, wanted, freshen } = parts;
	const last = new Map<string, number>();
	const isOf = (name: string) => (key: string) => key.startsWith(`head:${name}:`) || key.endsWith(`@${name}`);

	async function attend(name: string, keys: readonly string[]): Promise<void> {
		const now = await wanted();
		if (keys.some((key) => now.has(key))) await freshen(name);
		else last.delete(name);
	}

	return {
		look(keys) {
			for (const name of names()) {
				const mine = keys.filter(isOf(name));
				const before = last.get(name) ?? Number.NEGATIVE_INFINITY;
				if (mine.length === 0 || before + AGAIN_MS > clock.monotonic()) continue;
				last.set(name, clock.monotonic());
				// Not awaited, and errors are dropped: if the store fails, the caller's own operations report it.
				void attend(name, mine).catch(() => {});
			}
		},
	};
}
