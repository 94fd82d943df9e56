// Settings that live in the store: one record for all who have it open. Each transaction begins with what the others have committed, so it is looked at there.

import { type Config, DEFAULTS } from "../core/config.ts";
import { readConfig } from "../core/config-input.ts";
import type { RecordKind } from "../store.ts";
import type { Memory } from "./memory.ts";
import type { Tx } from "./tx.ts";

const AT = ["meta", "config"] as const satisfies [RecordKind, string];
/** `version` grows with each change. */
type Kept = { version: number; config: Config; more: Record<string, unknown> };

export type SharedSettings = {
	/** In force in a transaction that begins now. */
	in(memory: Memory): Config;
	/** Writes what is not there yet, or what has changed. */
	write(tx: Tx, change: (before: Config) => Config, more?: Record<string, unknown>): void;
	isThere(tx: Tx): boolean;
	more(): Record<string, unknown>;
};

export function createSharedSettings(first: Config): SharedSettings {
	let seen: { kept: Kept; config: Config } | undefined;
	const keptIn = (memory: Memory) => memory.recall(...AT) as Kept | null;
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
			tx.put(...AT, { version: (kept?.version ?? 0) + 1, config, more: Object.fromEntries(all) } satisfies Kept);
		},
		isThere: (tx) => keptIn(tx.memory) !== null,
		more: () => seen?.kept.more ?? {},
	};
}

/** Written by a version with other keys: those that are new have their defaults, those that are unknown here stay out. */
function known(stored: Config): Config {
	const given = Object.entries(stored).filter(([key]) => Object.hasOwn(DEFAULTS, key));
	return readConfig({ ...Object.fromEntries(given), lanes: { default: null, ...stored.lanes } }, DEFAULTS);
}
