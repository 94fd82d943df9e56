// Looking at the world through the host: what is asked for, what is watched, and which answers still count when they come.

import type { Facts, Host } from "../host.ts";
import type { EventRecord } from "../store.ts";
import type { Engine } from "./engine.ts";
import { always, patchKey, record, type Seen } from "./observe.ts";

type News = { probes: ReadonlySet<string>; doubted: ReadonlySet<string>; events: readonly EventRecord[] };

export function createLooks(host: Host, engine: Engine) {
	const watched = new Set<string>();
	const asked = new Set<string>();
	/** One for each look that is under way: the facts that came into doubt since it began. What it finds of them does not count. */
	const underWay = new Set<Set<string>>();

	async function look<T>(keys: string[], then: (seen: Seen) => Promise<T>): Promise<T> {
		const stale = new Set<string>();
		underWay.add(stale);
		try {
			return await then({ facts: await find(keys), counts: (key) => !stale.has(key) });
		} finally {
			underWay.delete(stale);
		}
	}

	/** A host that fails altogether concerns only those that wait for it: each key gets the error. */
	async function find(keys: string[]): Promise<Facts> {
		try {
			return await host.probe(keys);
		} catch (error) {
			const message = error instanceof Error ? error.message : String(error);
			return Object.fromEntries(keys.map((key) => [key, { error: message }]));
		}
	}

	async function probe(keys: string[]): Promise<void> {
		for (const key of keys) asked.delete(key);
		await look(keys, async (seen) => {
			if (Object.keys(seen.facts).length > 0) await engine.run((tx) => record(tx, seen));
		});
	}

	return {
		/** Looked at again now and then. */
		watched: watched as ReadonlySet<string>,
		/** To be looked at as soon as may be. */
		asked: asked as ReadonlySet<string>,

		/** After a commit: what it asks for, and what it brought into doubt. */
		note({ probes, doubted, events }: News): void {
			for (const key of probes) {
				watched.add(key);
				asked.add(key);
			}
			for (const stale of underWay) {
				for (const key of [...probes, ...doubted]) stale.add(key);
				for (const { kind, job } of events) if (kind === "ended") stale.add(patchKey(job));
			}
		},

		/** Found in the store at the beginning. */
		watch(key: string, as: "asked" | "known"): void {
			watched.add(key);
			if (as === "asked") asked.add(key);
		},

		async again(): Promise<void> {
			if (watched.size > 0) await probe([...watched]);
		},

		asking: () => probe([...asked]),

		/** What a host sees of these, for as long as `then` takes; from now on they are looked at again now and then. */
		async lookFor<T>(keys: string[], then: (seen: Seen) => Promise<T>): Promise<T> {
			if (keys.length === 0) return then({ facts: {}, counts: always });
			for (const key of keys) watched.add(key);
			return look(keys, then);
		},
	};
}
