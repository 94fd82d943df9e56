// Probes facts through the host: which facts are requested, which are watched, and which answers still count when they arrive.

import type { Facts, Host } from "../../contracts/host.ts";
import { messageOf } from "../../core/errors.ts";
import type { EventRow } from "../../core/event.ts";
import { always, type ProbedFacts, patchKey, record } from "../operations/observe.ts";
import type { Engine } from "../transaction/group-commit.ts";

type News = { probes: ReadonlySet<string>; doubted: ReadonlySet<string>; events: readonly EventRow[] };

export function createFactProber(host: Host, engine: Engine) {
	const watched = new Set<string>();
	const asked = new Set<string>();
	/** One set for each probe that is under way: the facts that came into doubt since it began. Its answers about them do not count. */
	const underWay = new Set<Set<string>>();

	async function look<T>(keys: string[], then: (seen: ProbedFacts) => Promise<T>): Promise<T> {
		const stale = new Set<string>();
		underWay.add(stale);
		try {
			return await then({ facts: await find(keys), counts: (key) => !stale.has(key) });
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
			if (Object.keys(seen.facts).length > 0) await engine.run((tx) => record(tx, seen));
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
		async lookFor<T>(keys: string[], then: (seen: ProbedFacts) => Promise<T>): Promise<T> {
			if (keys.length === 0) return then({ facts: {}, counts: always });
			for (const key of keys) watched.add(key);
			return look(keys, then);
		},
	};
}
