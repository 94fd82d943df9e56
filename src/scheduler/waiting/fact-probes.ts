// Probes facts through the host: which facts are requested, which are watched, and which answers still count when they arrive.

import type { Facts, Host } from "../../contracts/host.ts";
import { messageOf } from "../../core/errors.ts";
import type { EventRow } from "../../core/event.ts";
import { patchKey } from "../../core/fact.ts";
import type { Core } from "../operations/core.ts";
import type { ProbedFacts } from "../operations/observe.ts";

type News = { probes: ReadonlySet<string>; doubted: ReadonlySet<string>; events: readonly EventRow[] };
/** The results of a probe as they count now: a commit may have brought some of the facts into doubt since the probe. */
export type Probed = () => ProbedFacts;
/** Probes these keys and passes the answers to `then`. */
export type LookFor = <T>(keys: string[], then: (seen: Probed) => Promise<T>) => Promise<T>;

export function createFactProber(host: Host, core: Core) {
	const watched = new Set<string>();
	const asked = new Set<string>();
	/** One set for each probe that is under way: the facts that came into doubt since it began. Its answers about them do not count. */
	const underWay = new Set<Set<string>>();

	async function look<T>(keys: string[], then: (seen: Probed) => Promise<T>): Promise<T> {
		const stale = new Set<string>();
		underWay.add(stale);
		const since = core.lastHeard?.();
		try {
			const facts = await find(keys);
			return await then(() => ({ facts, stale: [...stale], ...(since === undefined ? {} : { since }) }));
		} finally {
			underWay.delete(stale);
		}
	}

	/** Probes the keys. If the host fails altogether, each key gets the error, so that only the jobs that wait for these facts are affected. */
	async function find(keys: string[]): Promise<Facts> {
		try {
			return await host.probe(keys);
		} catch (error) {
			const message = messageOf(error);
			return Object.fromEntries(keys.map((key) => [key, { error: message }]));
		}
	}

	async function probe(keys: string[]): Promise<void> {
		for (const key of keys) asked.delete(key);
		await look(keys, async (seen) => {
			if (Object.keys(seen().facts).length > 0) await core.call("observe", seen);
		});
	}

	return {
		/** Probed again at each pass of the timer loop. */
		watched: watched as ReadonlySet<string>,
		/** To be probed as soon as possible. */
		asked: asked as ReadonlySet<string>,

		/** After a commit: records the facts that it requests, and those it brought into doubt. */
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

		/** Watches a fact that the store had when the scheduler was opened. */
		watch(key: string, as: "asked" | "known"): void {
			watched.add(key);
			if (as === "asked") asked.add(key);
		},

		async again(): Promise<void> {
			if (watched.size > 0) await probe([...watched]);
		},

		asking: () => probe([...asked]),

		/** Probes these keys and passes the answers to `then`; from now on the keys are watched. */
		async lookFor<T>(keys: string[], then: (seen: Probed) => Promise<T>): Promise<T> {
			if (keys.length === 0) return then(() => ({ facts: {}, stale: [] }));
			for (const key of keys) watched.add(key);
			return look(keys, then);
		},
	};
}
