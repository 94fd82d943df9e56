// The scheduler's settings: this process's own, or one record in the store for all processes that have it open. Each transaction begins with what other
// processes have committed, so it reads shared settings there.

import type { Act, ConfigInput, Scheduler } from "../../contracts/scheduler.ts";
import { type Config, DEFAULTS, readConfig } from "../../core/config.ts";

import { copy } from "../../core/text/copy.ts";
import type { Memory } from "../transaction/cache.ts";
import type { Engine, Task } from "../transaction/group-commit.ts";
import type { Tx } from "../transaction/tx.ts";
import { continueLater } from "../waiting/continuation.ts";

/** `version` grows with each change. */
export type StoredSettings = { version: number; config: Config; more: Record<string, unknown> };

export type LibrarySettings = {
	/** The settings in force. */
	now(): Config;
	/** The settings of a transaction that begins now. */
	in(memory: Memory): Config;
	/** Writes shared settings into a store that has none yet. */
	found(tx: Tx, keys: string[]): void;
	methods(parts: MethodParts): Pick<Scheduler, "configure" | "config" | "more">;
};
type MethodParts = {
	engine: Engine;
	run: <T>(task: Task<T>, act: Act | undefined) => Promise<T>;
	/** Other settings are in force. */
	changed: () => void;
};

export function createSettings(first: Config, kind: "own" | "shared" = "own"): LibrarySettings {
	let config = first;
	const shared = kind === "shared" ? createSharedSettings(first) : null;

	async function configure(
		{ engine, run, changed }: MethodParts,
		input: ConfigInput,
		act: (Act & { more?: Record<string, unknown> }) | undefined,
	) {
		const before = config;
		let next = readConfig(input, config);
		await run(function* (tx) {
			const change = (stored: Config) => {
				next = readConfig(input, stored);
				return next;
			};
			shared?.write(tx, change, act?.more);
			if (JSON.stringify(before.order) !== JSON.stringify(next.order)) {
				tx.memory.windows.clear();
				continueLater(tx, { do: "rekey", of: null, after: 0 });
			}
			tx.event("configured", null, { keys: Object.keys(input) });
			yield* [];
		}, act);
		// The settings apply once they are committed; jobs that a raised cap admits start at once.
		config = next;
		if (shared) await engine.run(function* () {});
		changed();
	}

	return {
		now: () => config,
		in(memory) {
			// Another process may have changed shared settings. Consumers of settings learn of that from the `configured` event.
			if (shared) config = shared.in(memory);
			return config;
		},
		found(tx, keys) {
			if (!shared || shared.isThere(tx)) return;
			shared.write(tx, (stored) => stored);
			tx.event("configured", null, { keys });
		},
		methods: (parts) => ({
			configure: async (input, act) => configure(parts, input, act),
			config: () => copy(config),
			more: () => copy(shared?.more() ?? {}),
		}),
	};
}

type SharedSettings = {
	/** The settings of a transaction that begins now. */
	in(memory: Memory): Config;
	/** Writes the record for the first time, or changes it. */
	write(tx: Tx, change: (before: Config) => Config, more?: Record<string, unknown>): void;
	isThere(tx: Tx): boolean;
	more(): Record<string, unknown>;
};

function createSharedSettings(first: Config): SharedSettings {
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
