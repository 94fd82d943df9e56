// The scheduler's settings: this process's own, or one record in the store for all processes that have it open. Each transaction begins with what other
// processes have committed, so it reads shared settings there.

import type { Scheduler } from "../../contracts/scheduler.ts";
import { type Config, DEFAULTS, readConfig } from "../../core/config.ts";
import { copy } from "../../core/text/copy.ts";
import type { Memory } from "../transaction/cache.ts";
import type { Tx } from "../transaction/tx.ts";
import { continueLater } from "../waiting/continuation.ts";
import type { LibraryParts } from "./parts.ts";

/** `version` grows with each change. */
export type StoredSettings = { version: number; config: Config; more: Record<string, unknown> };

export function createSettings(first: Config, kind: "own" | "shared" = "own") {
	let config = first;
	/** The shared settings that were last read. */
	let seen: StoredSettings | undefined;

	/** Writes the shared settings for the first time, or changes them. */
	function write(tx: Tx, change: (before: Config) => Config, more: Record<string, unknown> = {}): void {
		const kept = tx.memory.meta("config");
		const all = Object.entries({ ...kept?.more, ...more }).filter(([, value]) => value !== null);
		const next = change(kept ? known(kept.config) : first);
		tx.putMeta("config", { version: (kept?.version ?? 0) + 1, config: next, more: Object.fromEntries(all) });
	}

	return {
		/** The settings in force. */
		now: () => config,
		/** The settings of a transaction that begins now. */
		in(memory: Memory): Config {
			if (kind === "own") return config;
			// Another process may have changed shared settings. Consumers of settings learn of that from the `configured` event.
			const kept = memory.meta("config");
			if (!kept) config = first;
			else if (seen?.version !== kept.version) [seen, config] = [kept, known(kept.config)];
			return config;
		},
		/** Writes shared settings into a store that has none yet. */
		found(tx: Tx, keys: string[]): void {
			if (kind === "own" || tx.memory.meta("config") !== null) return;
			write(tx, (stored) => stored);
			tx.event("configured", null, { keys });
		},
		/** `changed`: called when other settings are in force. */
		methods: ({ engine, runPlain }: LibraryParts, changed: () => void) =>
			({
				configure: async (input, act) => {
					const before = config;
					let next = readConfig(input, config);
					await runPlain((tx) => {
						const change = (stored: Config) => {
							next = readConfig(input, stored);
							return next;
						};
						if (kind === "shared") write(tx, change, act?.more);
						if (JSON.stringify(before.order) !== JSON.stringify(next.order)) {
							tx.memory.windows.clear();
							continueLater(tx, { do: "rekey", of: null, after: 0 });
						}
						tx.event("configured", null, { keys: Object.keys(input) });
					}, act);
					// The settings apply once they are committed; jobs that a raised cap admits start at once.
					config = next;
					if (kind === "shared") await engine.run(function* () {});
					changed();
				},
				config: () => copy(config),
				more: () => copy(seen?.more ?? {}),
			}) satisfies Partial<Scheduler>,
	};
}

/** Reads settings that another version may have written: keys that it did not know get their defaults, keys that are unknown here are dropped. */
function known(stored: Config): Config {
	const given = Object.entries(stored).filter(([key]) => Object.hasOwn(DEFAULTS, key));
	return readConfig({ ...Object.fromEntries(given), lanes: { default: null, ...stored.lanes } }, DEFAULTS);
}
