// The configured sources: opens them, finds items by id, and probes the facts that jobs wait for.

import type { Clock, Facts, Host } from "../contracts/host.ts";
import { factOf, type Item, type Source, type SourceSettings, type Sources } from "../contracts/source.ts";
import { messageOf, SluiceError } from "../core/errors.ts";
import { suggest } from "../core/input/nearest.ts";
import { openBd } from "./beads/bd.ts";
import { type BeadsSource, openBeads } from "./beads/index.ts";
import { openCards } from "./cards/index.ts";
import { openFolder } from "./folder.ts";

export type SourceParts = {
	host: Pick<Host, "after">;
	clock: Clock;
	/** The environment for other programs that sources start. */
	env: () => Record<string, string>;
};

/** The open sources by name, each with the settings that it was opened with, as JSON. */
type OpenSources = Map<string, { source: Source; settings: string }>;

/** How a source is opened: one row for each kind. */
const OPENERS: Record<
	SourceSettings["kind"],
	(name: string, settings: SourceSettings, parts: SourceParts & { open: OpenSources }) => Source
> = {
	cards: (name, settings, { host }) => openCards(name, settings, { host }),
	beads: (name, settings, { env, clock, open }) =>
		openBeads(name, settings, { bd: openBd(settings.root, env), clock, others: () => beadsIn(open).filter((one) => one.name !== name) }),
	folder: openFolder,
};

const beadsIn = (open: OpenSources): BeadsSource[] =>
	[...open.values()].flatMap(({ source }) => (source.settings.kind === "beads" ? [source as BeadsSource] : []));

export function openSources(parts: SourceParts): Sources {
	const open: OpenSources = new Map();

	function survey(): (id: string) => Promise<Item | null> {
		const since = parts.clock.monotonic();
		return (id) => findItem(open, id, since);
	}

	return {
		all: () => [...open.values()].map(({ source }) => source),
		get: (name) => mustGet(open, name),
		find: (id) => survey()(id),
		survey,
		probe: (keys) => probeItems(open, keys),
		async confirm(key) {
			const [source, id = ""] = splitKey(open, key) ?? [];
			const item = await source?.read(id).catch(() => null);
			return item ? factOf(item) : null;
		},
		configure(settings) {
			let changed = false;
			for (const [name, { source, settings: text }] of open) {
				if (JSON.stringify(settings[name]) === text) continue;
				source.close();
				open.delete(name);
				changed = true;
			}
			for (const [name, one] of Object.entries(settings)) {
				if (open.has(name)) continue;
				open.set(name, { source: OPENERS[one.kind](name, one, { ...parts, open }), settings: JSON.stringify(one) });
				changed = true;
			}
			return changed;
		},
		close() {
			for (const { source } of open.values()) source.close();
			open.clear();
		},
	};
}

function mustGet(open: OpenSources, name: string): Source {
	const found = open.get(name)?.source;
	if (found) return found;
	const names = [...open.keys()];
	const known = names.length === 0 ? "none is configured; add it under sources in the configuration" : `known: ${names.join(", ")}`;
	throw new SluiceError("not_found", `there is no source "${name}"`, { field: "source", hint: suggest(name, names, known) });
}

/** Splits `source:id`; undefined when no open source has that name. */
function splitKey(open: OpenSources, key: string): [source: Source, id: string] | undefined {
	const [, name = "", id = ""] = /^([^:]+):(.+)$/s.exec(key) ?? [];
	const source = open.get(name)?.source;
	return source && [source, id];
}

async function findItem(open: OpenSources, id: string, since: number): Promise<Item | null> {
	const [named, rest = ""] = splitKey(open, id) ?? [];
	if (named) return named.read(rest, since);
	const asked = await Promise.allSettled([...open.values()].map(({ source }) => source.read(id, since)));
	const found = asked.flatMap((one) => (one.status === "fulfilled" && one.value !== null ? [one.value] : []));
	if (found.length > 1)
		throw new SluiceError("conflict", `${id} is an item of ${found.map(({ source }) => source).join(" and of ")}`, {
			field: "item",
			hint: `say which: ${found.map(({ source }) => `${source}:${id}`).join(" or ")}`,
		});
	// If one source cannot be read, another may still have the item.
	const trouble = asked.find((one) => one.status === "rejected");
	if (found.length === 0 && trouble) throw trouble.reason;
	return found[0] ?? null;
}

async function probeItems(open: OpenSources, keys: readonly string[]): Promise<Facts> {
	const facts: Facts = {};
	for (const key of keys) {
		const [source, id = ""] = (key.startsWith("item:") && splitKey(open, key.slice("item:".length))) || [];
		if (!source) continue;
		try {
			const item = await (source.peek ?? source.read)(id);
			facts[key] = item ? factOf(item) : { error: `there is no item ${id} in source ${source.name}` };
		} catch (error) {
			facts[key] = { error: messageOf(error) };
		}
	}
	return facts;
}
