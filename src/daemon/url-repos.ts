// Repos of this host: which it offers to the scheduler, and when those that are registered by URL are fetched because a waiting job hangs on what they show.

import { existsSync } from "node:fs";
import type { Clock } from "../host.ts";
import { settingsOf } from "./repos.ts";

type InForce = Parameters<typeof settingsOf>[0];

/** By URL, by a folder that is there, or only a name: what this host can work in. A repo that its configuration does not name is none of them. */
export const offeredRepos = (config: InForce): string[] =>
	Object.keys(config.engine().repos)
		.filter((name) => {
			const path = settingsOf(config, name)?.path ?? null;
			return path === null || existsSync(path);
		})
		.sort();

const AGAIN_MS = 30_000;

/** `look` is called with what is about to be looked at; it fetches in the background, so what comes of it is seen by a later look. */
export function createFetching(parts: {
	clock: Clock;
	/** Names of repos that are registered by URL. */
	names: () => string[];
	/** Facts that some waiting job hangs on. */
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
				// Nobody waits for it: a store that fails now says so to whoever wants something of it.
				void attend(name, mine).catch(() => {});
			}
		},
	};
}
