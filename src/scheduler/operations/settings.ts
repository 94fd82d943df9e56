// Opening the store, and changes to settings and people, which are one record each. Settings are a process's own, or one record in the store for all processes that have it open.

import type { ConfigInput } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import { type Config, DEFAULTS, readConfig } from "../../core/config.ts";
import { isProbed } from "../../core/fact.ts";
import { afterChange, type PeopleChange, type PeopleResult } from "../../core/trust/people.ts";
import { storedRecords } from "../transaction/record-map.ts";
import type { Tx } from "../transaction/tx.ts";
import { continueLater } from "../waiting/continuation.ts";
import { type Joining, joinHost, type Life } from "./hosts.ts";

/** `version` grows with each change. */
export type StoredSettings = { version: number; config: Config; more: Record<string, unknown> };

/** `shared`: the settings for a store that has none yet, and the keys that the caller gave; null if settings are not shared. */
export type Opening = { host: Joining; shared: { config: Config; keys: string[] } | null };
/** `watched`: the probed facts that the store has. `asked`: those of them that are to be probed as soon as possible. */
export type Opened = { life: Life; watched: string[]; asked: string[] };

/** A process opens the store: shared settings are written if there are none, and its host joins. */
export function* open(tx: Tx, { host, shared }: Opening): Op<Opened> {
	const facts = (yield* storedRecords("fact")).filter(([key]) => isProbed(key));
	if (shared && tx.memory.meta("config") === null) {
		write(tx, shared.config, {});
		tx.event("configured", null, { keys: shared.keys });
	}
	return {
		life: joinHost(tx, host),
		watched: facts.map(([key]) => key),
		asked: facts.flatMap(([key, { asked }]) => (asked ? [key] : [])),
	};
}

/**
 * `own`: the settings of the calling process once they are changed, if settings are not shared. `first`: shared settings that are changed if the store has none.
 * `more`: other values stored with the shared settings, by key; null removes a key.
 */
export type Configuring = { input: ConfigInput; own: Config | null; first: Config; more?: Record<string, unknown> | undefined };

/** Changes the settings; returns them as they are from then on. */
export function configure(tx: Tx, { input, own, first, more }: Configuring): Config {
	const kept = tx.memory.meta("config");
	const next = own ?? readConfig(input, kept ? knownConfig(kept.config) : first);
	if (own === null) write(tx, next, more ?? {});
	if (JSON.stringify(tx.config.order) !== JSON.stringify(next.order)) {
		tx.memory.windows.clear();
		continueLater(tx, { do: "rekey", of: null, after: 0 });
	}
	tx.event("configured", null, { keys: Object.keys(input) });
	return next;
}

function write(tx: Tx, config: Config, more: Record<string, unknown>): void {
	const kept = tx.memory.meta("config");
	const all = Object.entries({ ...kept?.more, ...more }).filter(([, value]) => value !== null);
	tx.putMeta("config", { version: (kept?.version ?? 0) + 1, config, more: Object.fromEntries(all) });
}

/** Reads settings that another version may have written: keys that it did not know get their defaults, keys that are unknown here are dropped. */
export function knownConfig(stored: Config): Config {
	const given = Object.entries(stored).filter(([key]) => Object.hasOwn(DEFAULTS, key));
	return readConfig({ ...Object.fromEntries(given), lanes: { default: null, ...stored.lanes } }, DEFAULTS);
}

/** People who share the daemons of the store: core/trust/people.ts has the rules. */
export function changePeople(tx: Tx, change: PeopleChange): PeopleResult {
	const { people, result, changed } = afterChange(tx.memory.meta("people") ?? {}, change, tx.now, tx.by);
	if (changed === null) return result;
	tx.putMeta("people", people);
	tx.event("people_changed", null, { person: changed, change: change.do });
	return result;
}

/** The store's permanent id; the first caller sets it. */
export function identify(tx: Tx, id: string): string {
	const known = tx.memory.meta("identity");
	if (known) return known.id;
	tx.putMeta("identity", { id });
	return id;
}
