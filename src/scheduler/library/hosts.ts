// The library's methods for hosts, and what one scheduler knows of itself as a host: the token of its current life, and the difference between its clock and
// the store's.

import type { Scheduler } from "../../contracts/scheduler.ts";
import type { Store } from "../../contracts/store.ts";
import { copy } from "../../core/text/copy.ts";
import * as hosts from "../operations/hosts.ts";
import type { Tx } from "../transaction/tx.ts";
import type { LibraryParts } from "./parts.ts";

/** How much later than the leader the other hosts run timers, as a fallback. */
export const LAG_MS = 2000;

/** A smaller difference between our clock and the store's counts as none: it is one clock, read at two moments. */
const SAME_MS = 1000;

type Parts = Pick<LibraryParts, "engine" | "clock"> & { store: Store; name: string };

export function createFleet({ engine, clock, store, name }: Parts) {
	let life: hosts.Life;
	/** The life that a heartbeat began in a transaction that is not committed yet: other operations of the same transaction must use that token. */
	const begun = new WeakMap<Tx, hosts.Life>();
	const lifeIn = (tx: Tx) => (begun.has(tx) ? begun.get(tx) : life);
	let skew = 0;

	function see(tx: Tx): void {
		const ahead = tx.now - clock.now();
		skew = Math.abs(ahead) < SAME_MS ? 0 : ahead;
	}

	return {
		see,
		join(tx: Tx, host: hosts.Joining): void {
			see(tx);
			life = hosts.joinHost(tx, host);
		},
		lag: async () => (store.lead && !(await store.lead()) ? LAG_MS : 0),
		/** Throws unless this host still holds its name. */
		check: (tx: Tx) => hosts.checkLife(tx, name, lifeIn(tx)),
		methods: ({ run, runPlain }: LibraryParts) =>
			({
				heartbeat: async (host = name) => {
					const { life: next, ...answer } = await engine.runPlain((tx) => {
						see(tx);
						const beaten = hosts.beat(tx, host, host === name ? lifeIn(tx) : undefined);
						if (host === name) begun.set(tx, beaten.life);
						return beaten;
					});
					if (host === name) life = next;
					return answer;
				},
				hosts: () => engine.lookPlain((tx) => copy(hosts.viewHosts(tx))),
				drain: async (host, act) => {
					const view = await runPlain((tx) => hosts.drain(tx, host, act?.reason ?? ""), act);
					const stopping: number[] = [];
					for (let after: number | null = act?.stop ? 0 : null; after !== null; ) {
						const from: number = after;
						const some: { stopping: number[]; next: number | null } = await run((tx) => hosts.stopSome(tx, host, from), act);
						stopping.push(...some.stopping);
						after = some.next;
					}
					return { host: copy(view), stopping };
				},
				undrain: async (host, act) => copy(await runPlain((tx) => hosts.undrain(tx, host), act)),
				removeHost: async (host, act) => runPlain((tx) => hosts.remove(tx, host), act),
				leave: () => engine.runPlain((tx) => hosts.leave(tx, name, lifeIn(tx))),
				leads: async () => {
					if (store.lead) return store.lead();
					if (life === undefined) return true;
					return engine.runPlain((tx) => hosts.isFirst(tx, name, life));
				},
				offer: (repos) => engine.runPlain((tx) => hosts.offer(tx, name, repos)),
				now: () => clock.now() + skew,
				identify: (wanted) =>
					engine.runPlain((tx) => {
						const known = tx.memory.meta("identity");
						if (known) return known.id;
						tx.putMeta("identity", { id: wanted });
						return wanted;
					}),
			}) satisfies Partial<Scheduler>,
	};
}
