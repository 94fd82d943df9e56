// Settings that live in the store: one record for all processes that have the store open. Each transaction begins with what other processes have committed,
// so it reads the settings there.

import { type Config, DEFAULTS } from "../../core/config.ts";
import { readConfig } from "../../core/input/config.ts";
import type { Memory } from "../transaction/cache.ts";
import type { Tx } from "../transaction/tx.ts";

/** `version` grows with each change. */
export type StoredSettings = { version: number; config: Config; more: Record<string, unknown> };

export type SharedSettings = {
	/** The settings of a transaction that begins now. */
	in(memory: Memory): Config;
	/** Writes the record for the first time, or changes it. */
	write(tx: Tx, change: (before: Config) => Config, more?: Record<string, unknown>): void;
	isThere(tx: Tx): boolean;
	more(): Record<string, unknown>;
};

export function createSharedSettings(first: Config): SharedSettings {
	let seen: { kept: StoredSettings; config: Config } | undefined;
	const keptIn = (memory: Memory) => memory.meta("config");
	return {
		in(memory) {
			const kept = keptIn(memory);
			if (!kept) return first;
			if (seen?.kept.version !== kept.version) seen = { kept, config: known(kept.config) };
			return seen.config;
		},
		write(tx, change, more = {}) {
			const kept = keptIn(tx.memory);
			const config = change(kept ? known(kept.config) : first);
			const all = Object.entries({ ...kept?.more, ...more }).filter(([, value]) => value !== null);
			tx.putMeta("config", { version: (kept?.version ?? 0) + 1, config, more: Object.fromEntries(all) });
		},
		isThere: (tx) => keptIn(tx.memory) !== null,
		more: () => seen?.kept.more ?? {},
	};
}

/** Reads settings that another version may have written: keys that it did not know get their defaults, keys that are unknown here are dropped. */
function known(stored: Config): Config {
	const given = Object.entries(stored).filter(([key]) => Object.hasOwn(DEFAULTS, key));
	return readConfig({ ...Object.fromEntries(given), lanes: { default: null, ...stored.lanes } }, DEFAULTS);
}
