// What an engine is made with.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Op, Store } from "../../contracts/store.ts";
import type { Config } from "../../core/config.ts";
import type { Memory } from "./cache.ts";
import type { Upkeep } from "./pending.ts";
import type { HighestIds } from "./restored.ts";
import type { Tx } from "./tx.ts";

export type EngineOptions = {
	store: Store;
	clock: Clock;
	host: Host;
	chance: () => number;
	by: string;
	config: (memory: Memory) => Config;
	/** Numbers that an earlier process gave out and that the store no longer has (it was restored from a backup). */
	seen?: HighestIds;
	/** "skip": the engine only reads; another process does what is due. */
	upkeep?: Upkeep;
	/** "renew at first": workers could not renew their leases before this engine was opened, so they get time for it. */
	leases?: "renew at first";
	/** Run in each transaction: `first` before what is due, `last` after the operations. */
	first?: (tx: Tx) => Op<void>;
	last?: (tx: Tx) => Op<void>;
};
