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

export function openSources(parts: SourceParts): Sources {
	const open = new Map<string, { source: Source; settings: string }>();
	const beads = () => [...open.values()].flatMap(({ source }) => (source.settings.kind === "beads" ? [source as BeadsSource] : []));

	function make(name: string, settings: SourceSettings): Source {
		switch (settings.kind) {
			case "cards":
				return openCards(name, settings, { host: parts.host });
			case "beads":
				return openBeads(name, settings, {
					bd: openBd(settings.root, parts.env),
					clock: parts.clock,
					others: () => beads().filter((one) => one.name !== name),
				});
			case "folder":
				return openFolder(name, settings);
		}
	}

	const get = (name: string): Source => {
		const found = open.get(name)?.source;
		if (found) return found;
		const known =
			open.size === 0 ? "none is configured; add it under sources in the configuration" : `known: ${[...open.keys()].join(", ")}`;
		throw new SluiceError("not_found", `there is no source "${name}"`, {
			field: "source",
			hint: suggest(name, [...open.keys()], known),
		});
	};

	async function find(id: string, since: number): Promise<Item | null> {
		const [, name, rest] = /^([^:]+):(.+)$/s.exec(id) ?? [];
		if (name !== undefined && rest !== undefined && open.has(name)) return get(name).read(rest, since);
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

	function survey(): (id: string) => Promise<Item | null> {
		const since = parts.clock.monotonic();
		return (id) => find(id, since);
	}

	return {
		all: () => [...open.values()].map(({ source }) => source),
		get,
		find: (id) => survey()(id),
		survey,
		async probe(keys) {
			const facts: Facts = {};
			for (const key of keys) {
				const [, name = "", id = ""] = /^item:([^:]+):(.+)$/s.exec(key) ?? [];
				const source = open.get(name)?.source;
				if (!source) continue;
				try {
					const item = await (source.peek ?? source.read)(id);
					facts[key] = item ? factOf(item) : { error: `there is no item ${id} in source ${name}` };
				} catch (error) {
					facts[key] = { error: messageOf(error) };
				}
			}
			return facts;
		},
		async confirm(key) {
			const [, name = "", id = ""] = /^([^:]+):(.+)$/s.exec(key) ?? [];
			const item = await open
				.get(name)
				?.source.read(id)
				.catch(() => null);
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
				open.set(name, { source: make(name, one), settings: JSON.stringify(one) });
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
