// The library's methods for hosts, and what one scheduler knows of itself as a host: the token of its current life.

import type { Scheduler } from "../../contracts/scheduler.ts";
import { copy } from "../../core/text/copy.ts";
import * as hosts from "../operations/hosts.ts";
import { reading } from "../transaction/pending.ts";
import type { LibraryParts } from "./parts.ts";

type Parts = Pick<LibraryParts, "core" | "clock" | "hostName">;

export function createFleet({ core, clock, hostName: name }: Parts) {
	let life: hosts.Life;
	/** The life of this process's host; other hosts have none here. */
	const lifeOf = (host: string | undefined): hosts.Life => (host === name ? life : undefined);

	return {
		lifeOf,
		joined(own: hosts.Life): void {
			life = own;
		},
		methods: {
			heartbeat: async (host = name) => {
				const { life: next, ...answer } = await core.call("beat", () => ({ host, life: lifeOf(host) }));
				if (host === name) life = next;
				return answer;
			},
			hosts: () => core.look(reading((tx) => copy(hosts.viewHosts(tx)))),
			drain: async (host, act) => {
				const view = await core.call("drain", { host, reason: act?.reason ?? "" }, act);
				const stopping: number[] = [];
				for (let after: number | null = act?.stop ? 0 : null; after !== null; ) {
					const some: { stopping: number[]; next: number | null } = await core.call("stopSome", { host, after }, act);
					stopping.push(...some.stopping);
					after = some.next;
				}
				return { host: copy(view), stopping };
			},
			undrain: async (host, act) => copy(await core.call("undrain", { host }, act)),
			removeHost: async (host, act) => core.call("removeHost", { host }, act),
			leave: () => core.call("leave", () => ({ host: name, life })),
			leads: async () => {
				if (core.leads) return core.leads();
				if (life === undefined) return true;
				return core.look(reading((tx) => hosts.isFirst(tx, name, life)));
			},
			offer: (repos) => core.call("offer", { host: name, repos }),
			now: () => clock.now(),
			identify: (wanted) => core.call("identify", { id: wanted }),
		} satisfies Partial<Scheduler>,
	};
}
