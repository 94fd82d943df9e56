// The scheduler's settings: this process's own, or one record in the store for all processes that have it open. Each transaction begins with what other
// processes have committed, so it reads shared settings there.

import type { OpenOptions, Scheduler } from "../../contracts/scheduler.ts";
import { type Config, presetConfig, readConfig } from "../../core/config.ts";
import { copy } from "../../core/text/copy.ts";
import { knownConfig, type Opening, type StoredSettings } from "../operations/settings.ts";
import type { Memory } from "../transaction/cache.ts";
import type { LibraryParts } from "./parts.ts";

export type LibrarySettings = ReturnType<typeof createSettings>;

/** "found": the store's settings if it has some, otherwise the process's own. */
export type SettingsKind = NonNullable<OpenOptions["settings"]> | "found";

export function createSettings(options: Pick<OpenOptions, "config" | "preset"> & { settings?: SettingsKind }) {
	const first = readConfig(options.config ?? {}, presetConfig(options.preset));
	const kind = options.settings ?? "own";
	const areOwn = () => kind === "own" || (kind === "found" && seen === undefined);
	let config = first;
	/** The shared settings that were last read. */
	let seen: StoredSettings | undefined;

	return {
		/** The settings in force. */
		now: () => config,
		/** The settings of a transaction that begins now. */
		in(memory: Memory): Config {
			if (kind === "own") return config;
			// Another process may have changed shared settings. Consumers of settings learn of that from the `configured` event.
			const kept = memory.meta("config");
			if (!kept) config = kind === "shared" ? first : config;
			else if (seen?.version !== kept.version) [seen, config] = [kept, knownConfig(kept.config)];
			return config;
		},
		/** Shared settings for a store that has none yet. */
		shared: (): Opening["shared"] => (kind !== "shared" ? null : { config: first, keys: Object.keys(options.config ?? {}) }),
		/** `changed`: called when other settings are in force. */
		methods: ({ core }: Pick<LibraryParts, "core">, changed: () => void) =>
			({
				configure: async (input, act) => {
					const next = readConfig(input, config);
					// The settings apply once they are committed; jobs that a raised cap admits start at once.
					config = await core.call("configure", { input, own: areOwn() ? next : null, first, more: act?.more }, act);
					if (kind !== "own") await core.look(function* () {});
					changed();
				},
				config: () => copy(config),
				more: () => copy(seen?.more ?? {}),
			}) satisfies Partial<Scheduler>,
	};
}
